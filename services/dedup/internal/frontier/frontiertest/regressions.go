package frontiertest

import (
	"errors"
	"fmt"
	"time"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/services/dedup/internal/frontier"
)

func testRequeueWakes(b *bench) {
	verb := func(key string) { b.must(b.f.Command(b.ctx, key, contract.CrawlVerb{Name: "c"})) }
	b.start(contract.CrawlSpec{Name: "c"}, "https://a.test/")
	m := b.releaseAll()
	b.outcome(failure(m[0], "dns"))
	b.seedInto("c", "https://b.test/")
	b.sweep(true)
	verb(contract.KeyCrawlCancel)
	b.wantURLs(b.releaseAll())
	b.sweep(true)
	verb(contract.KeyCrawlRequeue)
	got := b.settle(b.f)
	if s := b.status("c"); len(got) != 2 {
		b.Fatalf("released %d, want a.test and b.test; the crawl is %s and never ends: %+v", len(got), s.State, s)
	}
}

func testResumeScheduled(b *bench) {
	verb := func(key string) { b.must(b.f.Command(b.ctx, key, contract.CrawlVerb{Name: "c"})) }
	from := b.now().Add(time.Hour)
	b.start(contract.CrawlSpec{Name: "c", NotBefore: &from}, "https://a.test/")
	verb(contract.KeyCrawlPause)
	verb(contract.KeyCrawlResume)
	b.sweep(true)
	b.wantURLs(b.releaseAll())
}

func testRecrawlBudget(b *bench) {
	b.start(contract.CrawlSpec{Name: "c", Pages: 3, Recrawl: contract.Duration(time.Hour)}, many("a.test", 10)...)
	for range 10 {
		for _, m := range b.releaseAll() {
			b.outcome(page(m))
		}
		b.sweep(true)
		b.pass(time.Second)
	}
	if s := b.status("c"); s.Pages > 3 {
		b.Fatalf("%d pages stored of a budget of 3: %+v", s.Pages, s)
	}
}

func testBadHostRecrawl(b *bench) {
	b.start(contract.CrawlSpec{Name: "c", Recrawl: contract.Duration(30 * 24 * time.Hour)}, many("a.test", 1001)...)
	var last contract.Fetch
	for n := 0; n < 1001; {
		list := b.release()
		for _, m := range list {
			n++
			if n == 1001 {
				last = m
			} else {
				b.outcome(page(m))
			}
		}
	}
	r := retry(last, "robots unreachable", false)
	r.Host.NextAt, r.Host.Reason = b.now().Add(23*time.Hour), "robots unreachable"
	b.apply(frontier.Batch{Retries: []contract.Retry{r}})
	b.pass(25 * time.Hour)
	for range 50 {
		if !b.sweep(true).More {
			return
		}
	}
	b.Fatalf("50 sweeps and still More: service.sweep never returns. %+v", b.status("c").URLs)
}

func testSmallPrefetch(b *bench) {
	cfg := config()
	cfg.Prefetch = 3
	b.f = b.replica(cfg)
	b.seed("https://a.test/", "https://b.test/")
	if got := b.settle(b.f); len(got) != 2 {
		b.Fatalf("%d released in 20 s", len(got))
	}
}

func testBudgetLater(b *bench) {
	b.start(contract.CrawlSpec{Name: "c", PagesPerHost: 50}, many("a.test", 20)...)
	out := b.releaseAll() // 3
	b.start(contract.CrawlSpec{Name: "c", PagesPerHost: 50, Pages: 2})
	for _, m := range out {
		b.outcome(failure(m, "dns"))
	}
	stored := 0
	for range 10 {
		b.sweep(true)
		for _, m := range b.releaseAll() {
			stored++
			b.outcome(page(m))
		}
	}
	if stored > 2 {
		b.Fatalf("%d pages of a budget of 2: %+v", stored, b.status("c"))
	}
}

func testHostBudgetHeld(b *bench) {
	b.start(contract.CrawlSpec{Name: "c", PagesPerHost: 1}, "https://a.test/1", "https://a.test/2")
	m := b.releaseAll()
	if len(m) != 1 {
		b.Fatal(m)
	}
	b.pass(3 * time.Minute)
	b.sweep(true)
	m = b.releaseAll()
	if len(m) != 1 {
		b.Fatal(m)
	}
	r := retry(m[0], "http 503", true)
	r.NotBefore = b.now().Add(time.Minute)
	b.apply(frontier.Batch{Retries: []contract.Retry{r}})
	b.releaseAll()
	b.outcome(failure(m[0], "dns")) // gives the page back
	b.sweep(true)
	if got := b.releaseAll(); len(got) != 1 {
		b.Fatalf("a page of the host's budget is free, but: %+v", b.status("c"))
	}
}

// testLostComesHome: a URL that was given up as lost is closed by its outcome all the same, and its links
// open the crawl again.
func testLostComesHome(b *bench) {
	b.seed("https://a.test/")
	m := b.releaseAll()[0]
	for range 10 {
		b.pass(100 * time.Hour / 4)
		b.sweep(true)
		b.releaseAll()
	}
	b.wantCounts("default", counts{"failed": 1})
	b.wantFinished("default", true)
	b.outcome(page(m, "https://a.test/1"))
	b.wantCounts("default", counts{"done": 1, "ready": 1})
	b.wantFinished("default", false)
	b.wantURLs(b.releaseAll(), "https://a.test/1")
}

// testRequeuedMeanwhile: a failed URL is requeued while its late outcome is on its way through the
// transaction that took it for closed. Its links must not be left out.
func testRequeuedMeanwhile(b *bench) {
	store := &hooked{Store: b.store, at: func(string, any) {}}
	f := frontier.New(config(), store, b.now)
	b.seed("https://a.test/", "https://b.test/")
	list := b.releaseAll()
	b.outcome(failure(list[0], "dns"))
	once := false
	store.at = func(what string, _ any) {
		if what == "lockhosts" && !once {
			once = true
			b.must(b.f.Command(b.ctx, contract.KeyCrawlRequeue, contract.CrawlVerb{Name: "default"}))
		}
	}
	link := list[0].URL + "1"
	_, err := f.Apply(b.ctx, frontier.Batch{Outcomes: []contract.Outcome{page(list[0], link)}})
	b.must(err)
	if b.url("default", list[0].URL).State != frontier.Done || b.url("default", link) == nil {
		b.Fatal("the page is done and its link was never admitted")
	}
}

func testRetryBudget(b *bench) {
	b.start(contract.CrawlSpec{Name: "c", Pages: 1}, "https://a.test/", "https://b.test/")
	one := b.releaseAll()
	// fetcher 1 fetched and published, died before its ack; fetcher 2 got the same message and sent it back
	b.apply(frontier.Batch{Retries: []contract.Retry{retry(one[0], "hold", false)}})
	b.sweep(true)
	two := b.releaseAll()
	b.outcome(page(one[0]))
	for _, m := range two {
		b.outcome(page(m))
	}
	if s := b.status("c"); s.Pages > 1 {
		b.Fatalf("%d pages of a budget of 1", s.Pages)
	}
}

func testCancelBudget(b *bench) {
	b.start(contract.CrawlSpec{Name: "c", Pages: 1}, "https://a.test/")
	b.releaseAll()
	b.pass(3 * time.Minute)
	b.must(b.f.Command(b.ctx, contract.KeyCrawlCancel, contract.CrawlVerb{Name: "c"}))
	b.sweep(true)
	b.sweep(true)
	b.pass(25 * time.Hour)
	b.sweep(true) // past its age: failed
	b.start(contract.CrawlSpec{Name: "c", Pages: 1})
	b.must(b.f.Command(b.ctx, contract.KeyCrawlRequeue, contract.CrawlVerb{Name: "c"}))
	if got := b.settle(b.f); len(got) != 1 {
		b.Fatalf("budget 1, nothing stored, nothing out, and nothing is released: %+v", b.status("c"))
	}
}

func testSleepersInFront(b *bench) {
	var urls []string
	for i := range 2000 {
		urls = append(urls, fmt.Sprintf("https://h%d.test/", i))
	}
	b.start(contract.CrawlSpec{Name: "paused"}, urls...)
	b.must(b.f.Command(b.ctx, contract.KeyCrawlPause, contract.CrawlVerb{Name: "paused"}))
	b.pass(time.Second)
	b.seed("https://live.test/")
	for range 50 {
		list, more, err := b.f.Release(b.ctx)
		b.must(err)
		if len(list) > 0 {
			return
		}
		if !more {
			b.Fatal("nothing released and no more to come, but a host is due")
		}
	}
	b.Fatal("never")
}

func testLeaseSlowStart(b *bench) {
	var urls []string
	for i := range 300 {
		urls = append(urls, fmt.Sprintf("https://h%d.test/", i))
	}
	b.seed(urls...)
	first := b.release()
	b.pass(6 * time.Second)
	b.outcome(page(first[0]), page(first[1])) // the first answers trickle in
	rest := b.release()
	if d := rest[0].LeaseUntil.Sub(b.now()); d > time.Hour/4 {
		b.Fatalf("lease %v", d)
	}
}

func testSeedWider(b *bench) {
	b.seed("https://a.test/")
	b.apply(frontier.Batch{Seeds: seeds(b.T, contract.Seed{Crawl: "default", Scope: contract.Scope{Kind: contract.ScopeAny}}, "https://a.test/")})
	b.outcome(page(b.releaseAll()[0], "https://far.test/"))
	b.wantURLs(b.releaseAll(), "https://far.test/")
}

func testPauseOld(b *bench) {
	b.start(contract.CrawlSpec{Name: "c"}, "https://a.test/")
	m := b.releaseAll()
	b.must(b.f.PutBack(b.ctx, m)) // the broker was away: never sent
	b.must(b.f.Command(b.ctx, contract.KeyCrawlPause, contract.CrawlVerb{Name: "c"}))
	b.pass(25 * time.Hour)
	b.sweep(true)
	b.wantCounts("c", counts{"ready": 1})
}

// testShards: the frontier is given another number of shards while a replica works with the old one.
func testShards(b *bench) {
	b.seed("https://a.test/")
	if recorded, _, err := b.store.SetShards(b.ctx, 16); err != nil || recorded != 16 {
		b.Fatalf("nothing is out: %d %v", recorded, err)
	}
	if _, _, err := b.f.Release(b.ctx); !errors.Is(err, frontier.ErrShards) {
		b.Fatalf("release for 8 shards: %v", err)
	}
	if _, _, err := b.store.SetShards(b.ctx, 8); err != nil {
		b.Fatal(err)
	}
	b.releaseAll()
	if recorded, out, err := b.store.SetShards(b.ctx, 16); err != nil || recorded != 8 || out != 1 {
		b.Fatalf("one is out: %d %d %v", recorded, out, err)
	}
}
