package frontier

import "context"

// rowsAtOnce is how many rows a repair changes in one transaction.
const rowsAtOnce = 1000

// closeHostBudget ends what is left of a crawl on a host whose page budget is spent, once nothing of it
// is out any more and so nothing can be given back.
func (r *release) closeHostBudget(ctx context.Context, h *Host, c *Crawl) error {
	key := BudgetKey{c.ID, h.ID}
	if c.Spec.PagesPerHost == 0 || r.taken[key] < c.Spec.PagesPerHost {
		return nil
	}
	for _, u := range r.rows[h.ID][c.ID] {
		if u.State == Released {
			return nil
		}
	}
	out, err := r.tx.HostURLs(ctx, h.ID, c.ID, Released, "", 1)
	if err != nil || len(out) > 0 {
		return err
	}
	rest, err := r.openURLs(ctx, h.ID, c.ID)
	if err != nil {
		return err
	}
	for _, u := range rest {
		if u.Held {
			continue
		}
		r.urls[u.Key] = u
		r.change(u, func() {
			u.State, u.Reason, u.ClosedAt = Excluded, reasonHostBudget, r.now
		})
	}
	if len(rest) >= rowsAtOnce {
		h.HasReady = true
		r.turn(h)
	}
	return nil
}

// openURLs reads ready and waiting URLs of a host, at least rowsAtOnce if there are so many.
func (w *work) openURLs(ctx context.Context, host int64, crawl int32) ([]*URL, error) {
	ready, err := w.tx.HostURLs(ctx, host, crawl, Ready, "", rowsAtOnce)
	if err != nil || len(ready) == rowsAtOnce {
		return ready, err
	}
	waiting, err := w.tx.HostURLs(ctx, host, crawl, Waiting, "", rowsAtOnce)
	return append(ready, waiting...), err
}

// noteSpent remembers that hosts may have been passed over because the crawl's budget was spent: when
// pages are given back, its hosts must be looked at again.
func (f *Frontier) noteSpent(crawl int32) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.spent[crawl] = true
}

// wasSpent tells whether hosts may be asleep over a budget. A replica that has not met the crawl yet
// must assume so: another one may have died with the knowledge.
func (f *Frontier) wasSpent(crawl int32) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	spent, met := f.spent[crawl]
	return spent || !met
}

func (f *Frontier) awake(crawl int32) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.spent[crawl] = false
}
