package frontier

import (
	"context"
	"fmt"
	"time"

	"github.com/warrenmq/warren/libs/contract"
)

// close ends the visit that the outcome names, from any open state, and admits what its page led to.
// For a visit that has ended, or is not the row's, it does nothing: the outcome was here before.
func (a *apply) close(ctx context.Context, c *closing) error {
	u := a.urls[c.key]
	if !c.closable(u) {
		a.Stale++
		return nil
	}
	if !c.planned {
		return fmt.Errorf("url was opened meanwhile: %w", ErrAgain)
	}
	a.change(u, func() { a.end(u, c) })
	a.report(a.hosts[u.Host], c.Host)
	a.bookSkipped(c, u.Crawl)
	for _, link := range c.links {
		if fresh := a.fresh[link.Key]; fresh != nil && fresh.Visit == 0 {
			fresh.Visit = 1
		}
	}
	if c.Stored {
		a.tally[TallyKey{u.Crawl, tallyPages}]++
	}
	a.Closed++
	if c.extend != nil {
		return a.tx.SaveScopes(ctx, []*ScopeRow{c.extend})
	}
	return nil
}

func (a *apply) end(u *URL, c *closing) {
	crawl := a.crawls[u.Crawl]
	switch c.Status {
	case contract.StatusDone:
		u.State = Done
	case contract.StatusExcluded:
		u.State = Excluded
	default:
		u.State = Failed
	}
	u.Reason = contract.Clip(c.Reason, 80)
	u.Code = int16(min(max(c.Code, 0), 999))
	u.ClosedAt, u.DueAt, u.LeaseUntil = a.now, zeroTime, zeroTime
	u.restRank()
	if u.Held = 0; c.Stored {
		u.Held = crawl.budgets()
	}
	if u.State != Done {
		return
	}
	if c.Code != 304 || c.ETag != "" { // a 304 need not repeat its validators
		u.ETag = contract.Clip(c.ETag, 512)
	}
	if c.Code != 304 || c.LastModified != "" {
		u.LastModified = contract.Clip(c.LastModified, 100)
	}
	if again := time.Duration(crawl.Spec.Recrawl); again > 0 && crawl.State != CrawlCancelled && crawl.State != CrawlExpired {
		u.State, u.DueAt, u.ClosedAt = Waiting, a.now.Add(again), zeroTime
		u.Visit++
		u.Attempts, u.Expiries, u.TriedAt = 0, 0, zeroTime
		u.keepRank() // its page of the budget is its own for all visits
	}
}

// budgets are those that the crawl has.
func (c *Crawl) budgets() (h Held) {
	if c.Spec.Pages > 0 {
		h |= HeldCrawl
	}
	if c.Spec.PagesPerHost > 0 {
		h |= HeldHost
	}
	return h
}

// retry puts a released URL back, if the release is still the one that the fetcher had.
func (a *apply) retry(r *contract.Retry) {
	key, err := a.key(r.Crawl, r.ID)
	u := a.urls[key]
	if err != nil || u == nil || u.State != Released || u.Visit != int32(r.Visit) || u.Release != r.Release {
		a.Stale++
		return
	}
	a.report(a.hosts[u.Host], r.Host)
	a.change(u, func() {
		u.Reason = contract.Clip(r.Reason, 80)
		u.LeaseUntil, u.DueAt = zeroTime, zeroTime
		if r.Attempt {
			u.Attempts++
		}
		switch due := r.NotBefore; {
		case r.Attempt && u.Attempts >= a.f.cfg.MaxAttempts, a.now.Sub(u.TriedAt) > a.f.cfg.MaxAge:
			u.State, u.ClosedAt, u.Held = Failed, a.now, 0
			a.Closed++
		case due.After(a.now):
			u.State, u.DueAt = Waiting, minTime(due, a.now.Add(24*time.Hour))
			u.keepRank()
		default:
			u.State = Ready
			u.keepRank()
		}
	})
}

func minTime(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
