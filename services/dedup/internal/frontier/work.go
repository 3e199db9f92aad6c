package frontier

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/warrenmq/warren/libs/contract"
)

// work is one transaction's rows in hand: loaded, changed, and written back at the end. All counters
// (a host's outstanding, the tallies, the budgets) follow from what change finds different in a row,
// so no path can forget one.
type work struct {
	f       *Frontier
	tx      Tx
	now     time.Time
	crawls  map[int32]*Crawl
	hosts   map[int64]*Host
	urls    map[Key]*URL
	dirtyH  map[int64]struct{}
	dirtyU  map[Key]struct{}
	tally   Tally
	budgets map[BudgetKey]int64
	slept   map[int32]struct{} // crawls over whose spent budget a host is put to sleep
}

func (f *Frontier) newWork(tx Tx) *work {
	return &work{
		f: f, tx: tx, now: f.now(),
		crawls: map[int32]*Crawl{}, hosts: map[int64]*Host{}, urls: map[Key]*URL{},
		dirtyH: map[int64]struct{}{}, dirtyU: map[Key]struct{}{},
		tally: Tally{}, budgets: map[BudgetKey]int64{}, slept: map[int32]struct{}{},
	}
}

// loadAllCrawls reads every crawl that has not ended.
func (w *work) loadAllCrawls(ctx context.Context) error {
	crawls, err := w.tx.Crawls(ctx, nil, false)
	for _, c := range crawls {
		w.crawls[c.ID] = c
	}
	return err
}

// lock locks the hosts of keys and then reads the rows, so that what is read stays true.
func (w *work) lock(ctx context.Context, keys []Key) error {
	hosts := make([]Host, len(keys))
	for i, k := range keys {
		hosts[i] = Host{ID: k.Host}
	}
	if err := w.lockHosts(ctx, hosts); err != nil {
		return err
	}
	if err := w.load(ctx, keys); err != nil {
		return err
	}
	return w.loadCrawls(ctx)
}

// loadCrawls reads the crawls of the rows in hand that are not read yet.
func (w *work) loadCrawls(ctx context.Context) error {
	missing := map[int32]struct{}{}
	for k := range w.urls {
		if w.crawls[k.Crawl] == nil {
			missing[k.Crawl] = struct{}{}
		}
	}
	if len(missing) == 0 {
		return nil
	}
	crawls, err := w.tx.CrawlsByID(ctx, slices.Sorted(maps.Keys(missing)))
	for _, c := range crawls {
		w.crawls[c.ID] = c
	}
	return err
}

func (w *work) lockHosts(ctx context.Context, hosts []Host) error {
	slices.SortFunc(hosts, func(a, b Host) int {
		if a.ID != b.ID {
			return sign(a.ID < b.ID)
		}
		return len(b.Name) - len(a.Name) // one with a name first: it may have to be inserted
	})
	hosts = slices.CompactFunc(hosts, func(a, b Host) bool { return a.ID == b.ID })
	if len(hosts) == 0 {
		return nil
	}
	for i := range hosts {
		hosts[i].TurnAt = w.now
	}
	locked, err := w.tx.LockHosts(ctx, hosts)
	if err != nil {
		return err
	}
	w.hosts = locked
	return nil
}

func (w *work) load(ctx context.Context, keys []Key) error {
	keys = slices.Clone(keys)
	slices.SortFunc(keys, Key.compare)
	keys = slices.Compact(keys)
	if len(keys) == 0 {
		return nil
	}
	urls, err := w.tx.URLs(ctx, keys)
	w.urls = urls
	return err
}

// change applies do to a row whose host is locked, and books every difference it makes.
func (w *work) change(u *URL, do func()) {
	w.book(u, -1)
	before, held := u.State, u.Held
	do()
	w.book(u, +1)
	w.dirtyU[u.Key] = struct{}{}
	host := w.hosts[u.Host]
	if u.State == Ready && !host.HasReady {
		host.HasReady = true
		w.turn(host)
	}
	left := before == Released && u.State != Released
	if left {
		w.turn(host)
	}
	// A page of the host's budget may be free again, or the budget is spent and nothing is out any more.
	if c := w.crawls[u.Crawl]; c != nil && c.Spec.PagesPerHost > 0 && (left || held != u.Held) && !host.HasReady {
		host.HasReady = true
		w.turn(host)
	}
}

// book adds n times what the row counts for.
func (w *work) book(u *URL, n int64) {
	w.tally[TallyKey{u.Crawl, stateKey(u.State, u.Reason)}] += n
	if u.State == Released {
		w.hosts[u.Host].Outstanding += int32(n)
		w.touch(w.hosts[u.Host])
	}
	if u.Held == 0 {
		return
	}
	if u.State == Waiting || u.State == Ready {
		w.tally[TallyKey{u.Crawl, tallyKept}] += n
	}
	if u.Held&HeldCrawl != 0 {
		w.budgets[BudgetKey{Crawl: u.Crawl}] += n
	}
	if u.Held&HeldHost != 0 {
		w.budgets[BudgetKey{u.Crawl, u.Host}] += n
	}
}

// Keys of the tally beside the states.
const (
	tallyKept  = "kept"     // open, not released, and still holding a page of the budget
	tallyPages = "pages"    // stored
	tallySkip  = "skipped/" // with the reason; never admitted
)

func stateKey(s State, reason string) string {
	if s == Failed || s == Excluded {
		return s.String() + "/" + reason
	}
	return s.String()
}

func (w *work) touch(h *Host) { w.dirtyH[h.ID] = struct{}{} }

// lead is how long before a host's next slot its URL is released, so that it is there in time.
func (w *work) lead() time.Duration { return w.f.cfg.Hold / 2 }

// turn puts the host where release finds it: now, or shortly before its next slot.
func (w *work) turn(h *Host) {
	h.TurnAt = w.now
	if next := h.NextAt.Add(-w.lead()); !h.NextAt.IsZero() && next.After(w.now) {
		h.TurnAt = next
	}
	w.touch(h)
}

// report takes over what a fetcher says of a host. A far time holds the host back; a near one is the
// fetcher's own pacing. A hold is never shortened: an answer that was under way when the host asked
// for silence must not end it.
func (w *work) report(h *Host, r contract.Host) {
	h.Visited = h.Visited || r.Visited
	if r.DelayMS > 0 || r.Reason == "" && r.Visited {
		h.DelayMS = min(max(r.DelayMS, 0), time.Hour.Milliseconds())
	}
	if r.PaceMS > 0 {
		h.PaceMS = min(r.PaceMS, time.Hour.Milliseconds())
	}
	if r.Reason == "" && r.Visited {
		h.BadSince = time.Time{}
	} else if r.Reason != "" && h.BadSince.IsZero() {
		h.BadSince = w.now
	}
	next := minTime(r.NextAt, w.now.Add(24*time.Hour))
	if next.After(w.now.Add(w.lead())) && next.After(h.NextAt) {
		h.NextAt = next
		h.Reason = contract.Clip(r.Reason, 80)
		w.turn(h)
	}
	if !h.NextAt.After(w.now) {
		h.NextAt, h.Reason = time.Time{}, ""
	}
	w.touch(h)
}

// save writes everything back, in lock order.
func (w *work) save(ctx context.Context) error {
	urls := make([]*URL, 0, len(w.dirtyU))
	for k := range w.dirtyU {
		urls = append(urls, w.urls[k])
	}
	slices.SortFunc(urls, func(a, b *URL) int { return a.Key.compare(b.Key) })
	hosts := make([]*Host, 0, len(w.dirtyH))
	for id := range w.dirtyH {
		hosts = append(hosts, w.hosts[id])
	}
	slices.SortFunc(hosts, func(a, b *Host) int { return sign(a.ID < b.ID) })
	if len(urls) > 0 {
		if err := w.tx.SaveURLs(ctx, urls); err != nil {
			return err
		}
	}
	if len(hosts) > 0 {
		if err := w.tx.SaveHosts(ctx, hosts); err != nil {
			return err
		}
	}
	return w.saveCounts(ctx)
}

func (w *work) saveCounts(ctx context.Context) error {
	for k, n := range w.budgets {
		if n == 0 {
			delete(w.budgets, k)
		}
	}
	if len(w.budgets)+len(w.slept) > 0 {
		if err := w.tx.AddBudgets(ctx, w.budgets, slices.Sorted(maps.Keys(w.slept))); err != nil {
			return err
		}
	}
	for k, n := range w.tally {
		if n == 0 {
			delete(w.tally, k)
		}
	}
	if len(w.tally) == 0 {
		return nil
	}
	return w.tx.AddTally(ctx, w.tally)
}
