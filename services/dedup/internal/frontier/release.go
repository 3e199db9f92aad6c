package frontier

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/warrenmq/warren/libs/contract"
)

// hostsAtOnce is how many hosts one transaction of Release serves at most.
const hostsAtOnce = 200

// urlsAtOnce is how many URLs one transaction releases at most, and the fair share per host is what
// of it falls to each.
const urlsAtOnce = 1000

// Release marks ready URLs released, round robin over the hosts whose turn has come, and returns their
// fetch messages. The transaction is committed; publishing is the caller's, and PutBack for what could
// not be published. more tells whether hosts may be left whose turn has come: release again at once.
func (f *Frontier) Release(ctx context.Context) (list []contract.Fetch, more bool, err error) {
	err = f.write(ctx, func(tx Tx) error {
		r := &release{work: f.newWork(tx), denied: map[int32]struct{}{}}
		list, more = nil, false
		if err := r.run(ctx); err != nil {
			return err
		}
		list, more = r.out, len(r.out) > 0 || r.budget > 0 && len(r.due) == hostsAtOnce
		return nil
	})
	if err != nil {
		return nil, false, err
	}
	return list, more, nil
}

type release struct {
	*work
	due    []*Host
	free   map[int64]int32            // what the host's window leaves open
	rows   map[int64]map[int32][]*URL // ready rows by host and crawl, best first
	taken  map[BudgetKey]int64
	denied map[int32]struct{} // crawls that may release nothing, their budget being spent
	lease  time.Duration
	out    []contract.Fetch
	budget int64 // what the cap on all that is outstanding leaves open
}

func (r *release) run(ctx context.Context) error {
	shards, err := r.tx.Shards(ctx)
	if err == nil && shards != r.f.cfg.Shards {
		err = fmt.Errorf("%d here, %d there: %w", r.f.cfg.Shards, shards, ErrShards)
	}
	if err != nil {
		return err
	}
	if r.due, err = r.tx.DueHosts(ctx, r.now, hostsAtOnce); err != nil || len(r.due) == 0 {
		return err
	}
	// Counters and crawls are read behind the hosts' locks: who frees a budget or resumes a crawl wakes
	// hosts after that, and waits for these locks.
	tallies, err := r.tx.Tallies(ctx, 0)
	if err != nil {
		return err
	}
	var outstanding int64
	for k, n := range tallies {
		if k.Key == Released.String() {
			outstanding += n
		}
	}
	r.budget = min(r.f.cfg.Outstanding-outstanding, urlsAtOnce)
	r.lease = r.f.lease(outstanding)
	if r.budget <= 0 {
		return nil
	}
	if err := r.loadAllCrawls(ctx); err != nil {
		return err
	}
	for _, h := range r.due {
		r.hosts[h.ID] = h
	}
	if err := r.readReady(ctx, tallies); err != nil {
		return err
	}
	if err := r.readBudgets(ctx); err != nil {
		return err
	}
	for _, h := range r.due {
		if err := r.serve(ctx, h); err != nil {
			return err
		}
	}
	return r.save(ctx)
}

// lease is long enough for all that is outstanding to pass four times at the recent rate.
func (f *Frontier) lease(outstanding int64) time.Duration {
	lease := f.cfg.Lease
	if rate := f.rate.perSecond(); rate > 0.1 {
		lease = max(lease, time.Duration(4*float64(outstanding)/rate*float64(time.Second)))
	}
	return min(lease, time.Hour)
}

// window is how many URLs of a host may be out: about two seconds of its pace, so that what a fetcher
// holds is served within its patience. A slower host has one out, and its next_at paces it.
func (f *Frontier) window(h *Host, alone bool) int32 {
	most := int64(max(f.cfg.Prefetch/4, 1))
	if alone {
		most = int64(max(f.cfg.Prefetch*3/4, 1))
	}
	pace := max(h.PaceMS, h.DelayMS)
	if pace <= 0 { // nothing has been heard of it yet
		pace = max(f.cfg.DefaultDelayMS, 1)
	}
	hold := f.cfg.Hold.Milliseconds()
	if pace > hold {
		return 1
	}
	return int32(min(hold/pace+1, most))
}

// readReady finds the best ready URLs of the hosts with room in their windows, of crawls that run.
func (r *release) readReady(ctx context.Context, tallies Tally) error {
	r.free, r.rows = map[int64]int32{}, map[int64]map[int32][]*URL{}
	share := max(int32(r.budget)/int32(len(r.due)), 4)
	alone := len(r.due) == 1
	var hosts []int64
	var want []int32
	for _, h := range r.due {
		free := r.f.window(h, alone) - h.Outstanding
		if free <= 0 || h.NextAt.After(r.now.Add(r.lead())) {
			continue
		}
		r.free[h.ID] = min(free, share)
		hosts, want = append(hosts, h.ID), append(want, r.free[h.ID]+1)
	}
	var crawls []int32
	for _, c := range r.crawls {
		if c.State != CrawlRunning {
			continue
		}
		if c.spent() && tallies[TallyKey{c.ID, tallyKept}] == 0 {
			r.denied[c.ID] = struct{}{}
			continue
		}
		crawls = append(crawls, c.ID)
	}
	if len(hosts) == 0 || len(crawls) == 0 {
		return nil
	}
	slices.Sort(crawls)
	rows, err := r.tx.ReadyURLs(ctx, hosts, want, crawls)
	for _, u := range rows {
		if r.rows[u.Host] == nil {
			r.rows[u.Host] = map[int32][]*URL{}
		}
		r.rows[u.Host][u.Crawl] = append(r.rows[u.Host][u.Crawl], u)
		r.urls[u.Key] = u
	}
	return err
}

// readBudgets locks the page budgets that these rows may draw on.
func (r *release) readBudgets(ctx context.Context) error {
	keys := map[BudgetKey]struct{}{}
	for crawl := range r.denied {
		keys[BudgetKey{Crawl: crawl}] = struct{}{}
	}
	for host, byCrawl := range r.rows {
		for crawl := range byCrawl {
			if c := r.crawls[crawl]; c.Spec.Pages > 0 {
				keys[BudgetKey{Crawl: crawl}] = struct{}{}
			}
			if r.crawls[crawl].Spec.PagesPerHost > 0 {
				keys[BudgetKey{crawl, host}] = struct{}{}
			}
		}
	}
	if len(keys) == 0 {
		return nil
	}
	list := make([]BudgetKey, 0, len(keys))
	for k := range keys {
		list = append(list, k)
	}
	var err error
	r.taken, err = r.tx.Budgets(ctx, list)
	return err
}

// serve releases what the host's window leaves open, one URL of each crawl in turn, and says when to
// look at the host again.
func (r *release) serve(ctx context.Context, h *Host) error {
	free, looked := r.free[h.ID]
	byCrawl := r.rows[h.ID]
	crawls := make([]int32, 0, len(byCrawl))
	for c := range byCrawl {
		crawls = append(crawls, c)
	}
	slices.Sort(crawls)
	first, _ := slices.BinarySearch(crawls, h.Turn+1)
	left := false
	for round := 0; ; round++ {
		more := false
		for i := range crawls {
			crawl := crawls[(first+i)%len(crawls)]
			rows := byCrawl[crawl]
			if round >= len(rows) {
				continue
			}
			if free == 0 || r.budget == 0 {
				left = true
				continue
			}
			more = true
			if r.take(rows[round]) {
				free--
				r.budget--
				h.Turn = crawl
			}
		}
		if !more {
			break
		}
	}
	r.rest(h, looked, left)
	for _, crawl := range crawls {
		if err := r.closeHostBudget(ctx, h, r.crawls[crawl]); err != nil {
			return err
		}
	}
	return nil
}

// rest says when the host is looked at next: at once where ready URLs are left, at its next answer
// (or after the hold) where its window is full, not before new ones come where it has none.
func (r *release) rest(h *Host, looked, left bool) {
	r.turn(h)
	switch {
	case !looked:
		h.TurnAt = later(h.TurnAt, r.now.Add(r.f.cfg.Hold))
	case !left:
		h.HasReady = false
		for crawl := range r.denied { // it may be over one of these that the host sleeps
			r.slept[crawl] = struct{}{}
		}
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// take releases one row, if the budgets allow.
func (r *release) take(u *URL) bool {
	c := r.crawls[u.Crawl]
	if !r.afford(u, c) {
		return false
	}
	r.change(u, func() {
		u.restRank()
		u.State, u.Held = Released, u.Held|c.budgets()
		u.Release++
		u.LeaseUntil = r.now.Add(r.lease << min(u.Expiries, 10))
		if u.TriedAt.IsZero() {
			u.TriedAt = r.now
		}
	})
	r.out = append(r.out, r.message(u, c))
	r.hosts[u.Host].Visited = true // to the next owner it is, whatever becomes of this request
	return true
}

// afford takes a page of each budget that the URL does not hold one of yet.
func (r *release) afford(u *URL, c *Crawl) bool {
	missing := c.budgets() &^ u.Held
	whole, host := BudgetKey{Crawl: u.Crawl}, BudgetKey{u.Crawl, u.Host}
	if missing&HeldCrawl != 0 && r.taken[whole] >= c.Spec.Pages {
		r.denied[c.ID] = struct{}{}
		return false
	}
	if missing&HeldHost != 0 && r.taken[host] >= c.Spec.PagesPerHost {
		return false
	}
	if missing&HeldCrawl != 0 {
		r.taken[whole]++
	}
	if missing&HeldHost != 0 {
		r.taken[host]++
	}
	return true
}

func (r *release) message(u *URL, c *Crawl) contract.Fetch {
	h := r.hosts[u.Host]
	delay := int64(0)
	if c.Spec.Delay != nil {
		if delay = time.Duration(*c.Spec.Delay).Milliseconds(); delay <= 0 {
			delay = -1
		}
	}
	return contract.Fetch{
		V: contract.Version, Crawl: c.Name, ID: u.ID().String(), URL: u.URL,
		Visit: int(u.Visit), Release: u.Release, Attempt: int(u.Attempts) + 1,
		Depth: int(u.Depth), Hops: int(u.Hops), LeaseUntil: u.LeaseUntil,
		ETag: u.ETag, LastModified: u.LastModified, DelayMS: delay,
		Host: contract.Host{
			Name: h.Name, Visited: h.Visited, DelayMS: h.DelayMS, PaceMS: h.PaceMS,
			NextAt: h.NextAt, Reason: h.Reason,
		},
	}
}
