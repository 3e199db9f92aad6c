package frontier

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/warrenmq/warren/libs/contract"
)

// CrawlStatus is a crawl as the read API shows it. URLs past a spent budget, of a cancelled or of an
// expired crawl read as excluded with that reason; their rows are not rewritten.
type CrawlStatus struct {
	Name        string           `json:"name"`
	State       string           `json:"state"`
	CreatedAt   time.Time        `json:"created_at"`
	FinishedAt  *time.Time       `json:"finished_at"`
	PagesTaken  int64            `json:"pages_taken"`
	PagesBudget int64            `json:"pages_budget"`
	Pages       int64            `json:"pages"`
	URLs        map[string]int64 `json:"urls"`
	Failed      map[string]int64 `json:"failed"`
	Excluded    map[string]int64 `json:"excluded"`
	Skipped     map[string]int64 `json:"skipped"`
}

// NewCrawlStatus reads a crawl's counters.
func NewCrawlStatus(c *Crawl, t Tally) CrawlStatus {
	s := CrawlStatus{
		Name: c.Name, State: c.State, CreatedAt: c.CreatedAt, PagesTaken: c.Taken, PagesBudget: c.Spec.Pages,
		URLs:   map[string]int64{},
		Failed: map[string]int64{}, Excluded: map[string]int64{}, Skipped: map[string]int64{},
	}
	if !c.FinishedAt.IsZero() {
		s.FinishedAt = &c.FinishedAt
	}
	for state := Waiting; state <= Excluded; state++ {
		s.URLs[state.String()] = 0
	}
	for key, n := range t {
		if key.Crawl == c.ID {
			s.count(key.Key, n)
		}
	}
	if reason := c.endReason(); reason != "" {
		rest := s.URLs[Waiting.String()] + s.URLs[Ready.String()]
		s.URLs[Waiting.String()], s.URLs[Ready.String()] = 0, 0
		s.URLs[Excluded.String()] += rest
		if rest > 0 {
			s.Excluded[reason] += rest
		}
	}
	return s
}

func (s *CrawlStatus) count(key string, n int64) {
	kind, reason, found := strings.Cut(key, "/")
	switch {
	case key == tallyPages:
		s.Pages = n
	case !found:
		if _, state := s.URLs[key]; state {
			s.URLs[key] += n
		}
	case kind+"/" == tallySkip:
		s.Skipped[reason] += n
	case kind == Failed.String():
		s.URLs[kind] += n
		s.Failed[reason] += n
	case kind == Excluded.String():
		s.URLs[kind] += n
		s.Excluded[reason] += n
	}
}

// endReason is why open URLs of the crawl will not be fetched, "" if they will.
func (c *Crawl) endReason() string {
	switch {
	case c.State == CrawlCancelled:
		return contract.ReasonCancelled
	case c.State == CrawlExpired:
		return contract.ReasonExpired
	case c.State == CrawlFinished && c.Spec.Pages > 0:
		return contract.ReasonBudget
	}
	return ""
}

// Explain says in one sentence what a URL's state is and what it waits for.
func Explain(u *URL, h *Host, c *Crawl, now time.Time) string {
	wait := func(t time.Time) string { return max(t.Sub(now), 0).Round(time.Second).String() }
	switch u.State {
	case Done:
		return fmt.Sprintf("fetched, HTTP status %d", u.Code)
	case Failed:
		return "failed: " + u.Reason
	case Excluded:
		return "excluded: " + u.Reason
	}
	if reason := c.endReason(); reason != "" {
		return "excluded: " + reason
	}
	switch {
	case u.State == Released:
		return "released to the fetchers; taken back in " + wait(u.LeaseUntil) + " if nothing is heard of it"
	case c.State == CrawlPaused:
		return "the crawl is paused"
	case c.State == CrawlScheduled:
		return "the crawl has not begun yet"
	case u.State == Waiting && u.Reason != "":
		return fmt.Sprintf("tried %d times (%s); again in %s", u.Attempts, u.Reason, wait(u.DueAt))
	case u.State == Waiting:
		return "due in " + wait(u.DueAt)
	case h.NextAt.After(now) && h.Reason != "":
		return fmt.Sprintf("its host is held back for %s: %s", wait(h.NextAt), h.Reason)
	case h.NextAt.After(now):
		return "its host's next slot is in " + wait(h.NextAt)
	case c.spent():
		return "the page budget is taken; some may be given back"
	case h.Outstanding > 0:
		return fmt.Sprintf("ready; %d URLs of its host are out before it", h.Outstanding)
	}
	return "ready; it is released next"
}

// Reader is what the read API needs of a store. It takes no locks.
type Reader interface {
	// AllCrawls reads every crawl, or the one named, with the counters in the same snapshot.
	AllCrawls(ctx context.Context, name string) ([]*Crawl, Tally, error)
	// WaitingHosts reads the hosts that are held back longest, at most limit.
	WaitingHosts(ctx context.Context, now time.Time, limit int) ([]*Host, error)
	// Find reads one URL with its host and crawl; nil if it was never admitted.
	Find(ctx context.Context, crawl string, host, hash int64) (*URL, *Host, *Crawl, error)
}
