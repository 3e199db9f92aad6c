package frontier

import (
	"context"
	"errors"
	"fmt"

	"github.com/warrenmq/warren/libs/contract"
)

// ErrNoCrawl is returned for a verb on a crawl that is not there.
var ErrNoCrawl = errors.New("there is no such crawl")

// ErrNoVerb is returned for a routing key that is no crawl verb.
var ErrNoVerb = errors.New("want crawl.start, pause, resume, cancel or requeue")

// crawls moves each crawl on: scheduled to running, running to expired, and to its end; and looks again
// at the hosts of those that were resumed or got pages back.
func (s *sweep) crawls(ctx context.Context) error {
	var open []*Crawl
	var tallies Tally
	err := s.f.store.Write(ctx, func(tx Tx) (err error) {
		if open, err = tx.Crawls(ctx, nil, false); err != nil {
			return err
		}
		tallies, err = tx.Tallies(ctx, 0)
		return err
	})
	if err != nil {
		return err
	}
	for _, c := range open {
		if s.f.moves(c, tallies) {
			if c, err = s.move(ctx, c); err != nil {
				return err
			}
		}
		if c.Wake != c.Woken || c.Slept != c.Roused && !c.spent() {
			if err := s.f.wake(ctx, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// moves tells whether the crawl's state should change, by what was read.
func (f *Frontier) moves(c *Crawl, t Tally) bool {
	now := f.now()
	switch {
	case c.State == CrawlScheduled && (c.Spec.NotBefore == nil || !c.Spec.NotBefore.After(now)):
		return true
	case c.State != CrawlCancelled && c.State != CrawlExpired && c.Spec.Expires != nil && !c.Spec.Expires.After(now):
		return true
	}
	return ended(c, t)
}

// ended is the exact end: nothing is out, and nothing is left or nothing left will be released.
func ended(c *Crawl, t Tally) bool {
	count := func(key string) int64 { return t[TallyKey{c.ID, key}] }
	if !c.FinishedAt.IsZero() || count(Released.String()) != 0 {
		return false
	}
	switch c.State {
	case CrawlCancelled, CrawlExpired:
		return true
	case CrawlRunning:
		return count(Waiting.String())+count(Ready.String()) == 0 || c.spent() && count(tallyKept) == 0
	}
	return false
}

// move decides again under the crawl's lock, which seeds take too: no seed can slip in between.
func (s *sweep) move(ctx context.Context, c *Crawl) (*Crawl, error) {
	finished := false
	err := s.f.write(ctx, func(tx Tx) error {
		finished = false
		crawls, err := tx.Crawls(ctx, []string{c.Name}, true)
		if err != nil || len(crawls) == 0 {
			return err
		}
		c = crawls[0]
		if c.Spec.Pages > 0 { // under its lock, so that counters and budget are of one moment
			taken, err := tx.Budgets(ctx, []BudgetKey{{Crawl: c.ID}})
			if err != nil {
				return err
			}
			c.Taken = taken[BudgetKey{Crawl: c.ID}]
		}
		t, err := tx.Tallies(ctx, c.ID)
		if err != nil || !s.f.moves(c, t) {
			return err
		}
		now := s.f.now()
		if c.State == CrawlScheduled {
			c.State = CrawlRunning
			c.Wake++
		}
		if c.State != CrawlCancelled && c.Spec.Expires != nil && !c.Spec.Expires.After(now) {
			c.State = CrawlExpired
		}
		if ended(c, t) {
			finished, c.FinishedAt = true, now
			if c.State == CrawlRunning {
				c.State = CrawlFinished
			}
		}
		return tx.SaveCrawl(ctx, c)
	})
	if finished && err == nil {
		s.Finished = append(s.Finished, c.Name)
	}
	return c, err
}

// wake lets release look again at every host on which the crawl has ready URLs. c was read before: hosts
// that go to sleep from now on raise Slept, a state that changes raises Wake, and the next sweep comes again.
func (f *Frontier) wake(ctx context.Context, c *Crawl) error {
	err := f.eachHost(ctx, c.ID, Ready, "", func(w *work, h *Host) error {
		h.HasReady = true
		w.turn(h)
		return nil
	})
	if err != nil {
		return err
	}
	return f.write(ctx, func(tx Tx) error { return tx.Woken(ctx, c) })
}

// eachHost runs do, some hosts a transaction, on the locked hosts of a crawl's URLs in a state.
func (f *Frontier) eachHost(ctx context.Context, crawl int32, state State, reason string, do func(*work, *Host) error) error {
	after := int64(-1 << 63)
	for {
		var ids []int64
		err := f.write(ctx, func(tx Tx) (err error) {
			if ids, err = tx.CrawlHosts(ctx, crawl, state, reason, after, 100); err != nil || len(ids) == 0 {
				return err
			}
			w := f.newWork(tx)
			hosts := make([]Host, len(ids))
			for i, id := range ids {
				hosts[i].ID = id
			}
			if err := w.lockHosts(ctx, hosts); err != nil {
				return err
			}
			for _, id := range ids {
				if err := do(w, w.hosts[id]); err != nil {
					return err
				}
			}
			return w.save(ctx)
		})
		if err != nil || len(ids) == 0 {
			return err
		}
		after = ids[len(ids)-1]
	}
}

// Command carries out crawl.pause, resume, cancel or requeue, named by its routing key.
func (f *Frontier) Command(ctx context.Context, key string, verb contract.CrawlVerb) error {
	var set func(*Crawl)
	switch key {
	case contract.KeyCrawlPause:
		set = func(c *Crawl) {
			if c.State == CrawlRunning || c.State == CrawlScheduled {
				c.State = CrawlPaused
			}
		}
	case contract.KeyCrawlResume:
		set = func(c *Crawl) {
			if c.State != CrawlPaused {
				return
			}
			c.State = CrawlRunning
			c.Wake++
			if c.Spec.NotBefore != nil && c.Spec.NotBefore.After(f.now()) {
				c.State = CrawlScheduled
			}
		}
	case contract.KeyCrawlCancel:
		set = func(c *Crawl) {
			if c.State != CrawlFinished {
				c.State = CrawlCancelled
			}
		}
	case contract.KeyCrawlRequeue:
		return f.requeue(ctx, verb)
	default:
		return fmt.Errorf("crawl verb %q: %w", contract.Clip(key, 80), ErrNoVerb)
	}
	return f.write(ctx, func(tx Tx) error {
		_, err := f.setCrawl(ctx, tx, verb.Name, set)
		return err
	})
}

func (f *Frontier) setCrawl(ctx context.Context, tx Tx, name string, set func(*Crawl)) (*Crawl, error) {
	crawls, err := tx.Crawls(ctx, []string{name}, true)
	if err != nil {
		return nil, err
	}
	if len(crawls) == 0 {
		return nil, fmt.Errorf("crawl %q: %w", name, ErrNoCrawl)
	}
	set(crawls[0])
	return crawls[0], tx.SaveCrawl(ctx, crawls[0])
}
