package frontiertest

import (
	"context"
	"time"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/services/dedup/internal/frontier"
)

// hooked calls at once, before the named statement.
type hooked struct {
	frontier.Store
	at func(what string, args any)
}
type hookedTx struct {
	frontier.Tx
	at func(string, any)
}

func (s *hooked) Write(ctx context.Context, do func(frontier.Tx) error) error {
	err := s.Store.Write(ctx, func(tx frontier.Tx) error { return do(&hookedTx{tx, s.at}) })
	s.at("committed", nil)
	return err
}
func (t *hookedTx) Tallies(ctx context.Context, c int32) (frontier.Tally, error) {
	t.at("tallies", c)
	return t.Tx.Tallies(ctx, c)
}
func (t *hookedTx) DueHosts(ctx context.Context, now time.Time, n int) ([]*frontier.Host, error) {
	t.at("duehosts", n)
	return t.Tx.DueHosts(ctx, now, n)
}
func (t *hookedTx) Crawls(ctx context.Context, names []string, lock bool) ([]*frontier.Crawl, error) {
	t.at("crawls", names)
	return t.Tx.Crawls(ctx, names, lock)
}
func (t *hookedTx) CrawlHosts(ctx context.Context, crawl int32, state frontier.State, reason string, after int64, limit int) ([]int64, error) {
	t.at("crawlhosts", after)
	return t.Tx.CrawlHosts(ctx, crawl, state, reason, after, limit)
}
func (t *hookedTx) LockHosts(ctx context.Context, h []frontier.Host) (map[int64]*frontier.Host, error) {
	t.at("lockhosts", len(h))
	return t.Tx.LockHosts(ctx, h)
}

// until sweeps and releases for a while: what is not released now never will be.
func (b *bench) settle(f *frontier.Frontier) (all []contract.Fetch) {
	for range 20 {
		if _, err := f.Sweep(b.ctx, true); err != nil {
			b.Fatal(err)
		}
		list, _, err := f.Release(b.ctx)
		b.must(err)
		all = append(all, list...)
		b.pass(time.Second)
	}
	return all
}

// Replica A puts hosts to sleep over a spent budget and dies; B, which has met the crawl, gives a page back.
func testReplicaDies(b *bench) {
	B := b.replica(config())
	b.start(contract.CrawlSpec{Name: "c", Pages: 1}, "https://a.test/", "https://b.test/")
	_, err := B.Sweep(b.ctx, true) // B has met the crawl
	b.must(err)
	out := b.releaseAll() // A takes the page, the other host sleeps; A dies now
	if len(out) != 1 {
		b.Fatal(out)
	}
	_, err = B.Apply(b.ctx, frontier.Batch{Outcomes: []contract.Outcome{failure(out[0], "dns")}})
	b.must(err)
	if got := b.settle(B); len(got) == 0 {
		b.Fatalf("the other URL is never released: %+v", b.status("c"))
	}
}

// One process: release refuses a host between wake's pass and awake.
func testAwakeRace(b *bench) {
	store := &hooked{Store: b.store, at: func(string, any) {}}
	f := frontier.New(config(), store, b.now)
	b.f = f
	b.start(contract.CrawlSpec{Name: "c", Pages: 1}, "https://a.test/", "https://b.test/")
	b.sweep(true)
	out := b.releaseAll()
	b.outcome(failure(out[0], "dns")) // a page is back; the sweep wakes the other host
	b.start(contract.CrawlSpec{Name: "c", Pages: 1}, "https://c.test/")
	_, err := f.Sweep(b.ctx, true) // clears crawl.wake
	b.must(err)
	out = b.releaseAll() // 1 of b, c; the other sleeps, spent noted
	b.outcome(failure(out[0], "dns"))
	passes, done := 0, false
	var taken []contract.Fetch
	store.at = func(what string, _ any) {
		if what == "crawlhosts" {
			passes++
		}
		if what == "committed" && passes == 2 && !done { // the pass is over, awake comes next
			done = true
			var err error
			b.start(contract.CrawlSpec{Name: "d"}, "https://zzz.test/") // unrelated
			b.seedInto("c", "https://x.test/", "https://y.test/")
			taken, _, err = f.Release(b.ctx)
			b.must(err)
		}
	}
	_, err = f.Sweep(b.ctx, true)
	b.must(err)
	store.at = func(string, any) {}
	n := 0
	for _, m := range taken {
		if m.Crawl == "c" {
			n++
			b.outcome(failure(m, "dns"))
		}
	}
	if n != 1 {
		b.Fatalf("setup: %d of c taken", n)
	}
	for _, m := range b.settle(f) {
		if m.Crawl == "c" {
			return
		}
	}
	b.Fatalf("URLs of c are never released: %+v", b.status("c"))
}

func (b *bench) seedInto(crawl string, urls ...string) {
	b.apply(frontier.Batch{Seeds: seeds(b.T, contract.Seed{Crawl: crawl}, urls...)})
}

// The lease sweep commits between Release's Tallies and its DueHosts.
func testKeptStale(b *bench) {
	store := &hooked{Store: b.store, at: func(string, any) {}}
	f := frontier.New(config(), store, b.now)
	sweeper := b.replica(config()) // the same would be with one frontier: it is another goroutine
	b.start(contract.CrawlSpec{Name: "c", Pages: 1}, "https://a.test/")
	_, err := sweeper.Sweep(b.ctx, true)
	b.must(err)
	list, _, err := f.Release(b.ctx)
	b.must(err)
	if len(list) != 1 {
		b.Fatal(list)
	}
	b.pass(3 * time.Minute)
	once := false
	store.at = func(what string, _ any) {
		if what == "duehosts" && !once {
			once = true
			_, err := sweeper.Sweep(b.ctx, true)
			b.must(err)
		}
	}
	list, _, err = f.Release(b.ctx)
	b.must(err)
	if len(list) > 0 {
		return
	}
	if got := b.settle(f); len(got) == 0 {
		b.Fatalf("the URL that keeps its page is never released again, the crawl hangs till max age: %+v", b.status("c"))
	}
}

func testWakeLost(b *bench) {
	store := &hooked{Store: b.store, at: func(string, any) {}}
	f := frontier.New(config(), store, b.now)
	verb := func(key string) { b.must(b.f.Command(b.ctx, key, contract.CrawlVerb{Name: "c"})) }
	b.start(contract.CrawlSpec{Name: "c"}, "https://a.test/", "https://b.test/")
	verb(contract.KeyCrawlPause)
	b.wantURLs(b.releaseAll()) // both hosts asleep
	verb(contract.KeyCrawlResume)
	passes, once := 0, false
	store.at = func(what string, _ any) {
		if what == "crawlhosts" {
			passes++
		}
		if what == "committed" && passes == 1 && !once { // hosts woken; crawl.wake not yet cleared
			once = true
			verb(contract.KeyCrawlPause)
			b.wantURLs(b.releaseAll()) // asleep again
			verb(contract.KeyCrawlResume)
		}
	}
	_, err := f.Sweep(b.ctx, true)
	b.must(err)
	store.at = func(string, any) {}
	if got := b.settle(f); len(got) != 2 {
		b.Fatalf("%d released, the crawl is running: %+v", len(got), b.status("c"))
	}
}
