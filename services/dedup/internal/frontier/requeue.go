package frontier

import (
	"context"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/weburl"
)

// requeue revives failed URLs, of one reason or host where the verb names them. Each transaction opens
// the crawl again under its lock, so that it cannot finish between two of them and strand the rest.
func (f *Frontier) requeue(ctx context.Context, verb contract.CrawlVerb) error {
	only := weburl.ID{}
	if verb.Host != "" {
		id := weburl.HostID(verb.Host)
		copy(only[:8], id[:])
	}
	onlyHost, _ := only.Ints()
	after := int64(-1 << 63)
	for {
		more := false
		err := f.write(ctx, func(tx Tx) error {
			more = false
			c, err := f.setCrawl(ctx, tx, verb.Name, func(c *Crawl) {
				c.FinishedAt = zeroTime
				switch c.State {
				case CrawlPaused, CrawlScheduled, CrawlRunning:
				default:
					c.State = CrawlRunning
					c.Wake++
				}
			})
			if err != nil {
				return err
			}
			ids, err := tx.CrawlHosts(ctx, c.ID, Failed, verb.Reason, after, 20)
			if err != nil || len(ids) == 0 {
				return err
			}
			w := f.newWork(tx)
			w.crawls[c.ID] = c
			last, err := w.revive(ctx, ids, onlyHost, c.ID, verb.Reason)
			if err != nil {
				return err
			}
			after, more = last, true
			return w.save(ctx)
		})
		if err != nil || !more {
			return err
		}
	}
}

// revive makes the failed URLs of these hosts ready and returns the last host that is through.
func (w *work) revive(ctx context.Context, ids []int64, only int64, crawl int32, reason string) (int64, error) {
	hosts := make([]Host, len(ids))
	for i, id := range ids {
		hosts[i].ID = id
	}
	if err := w.lockHosts(ctx, hosts); err != nil {
		return 0, err
	}
	for _, id := range ids {
		if only != 0 && id != only {
			continue
		}
		for {
			urls, err := w.tx.HostURLs(ctx, id, crawl, Failed, reason, rowsAtOnce)
			if err != nil {
				return 0, err
			}
			for _, u := range urls {
				w.urls[u.Key] = u
				w.change(u, func() {
					u.restRank()
					u.State, u.Reason, u.ClosedAt, u.TriedAt = Ready, "", zeroTime, zeroTime
					u.Attempts, u.Expiries, u.Held = 0, 0, 0
				})
			}
			if len(urls) < rowsAtOnce {
				break
			}
			if err := w.save(ctx); err != nil {
				return 0, err
			}
			w.forget()
		}
	}
	return ids[len(ids)-1], nil
}

// forget drops what has been saved, so that more rows can pass through one transaction.
func (w *work) forget() {
	clear(w.dirtyU)
	clear(w.dirtyH)
	clear(w.urls)
	clear(w.tally)
	clear(w.budgets)
}
