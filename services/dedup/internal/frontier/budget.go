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
		if u.State == Released || u.Held != 0 {
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
	if len(rest) > 0 && rest[0].Held != 0 {
		return nil // it may still give its page back
	}
	for _, u := range rest {
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
	// those that hold a page of a budget stay in front
	if len(waiting) > 0 && waiting[0].Held != 0 {
		return append(waiting, ready...), err
	}
	return append(ready, waiting...), err
}
