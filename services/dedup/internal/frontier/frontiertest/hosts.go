package frontiertest

import (
	"time"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/services/dedup/internal/frontier"
)

func testWindow(b *bench) {
	b.seed(many("slow.test", 50)...)
	list := b.releaseAll()
	if len(list) != 3 { // nothing known: one second assumed, two seconds' worth and one
		b.Fatalf("%d out of an unknown host, want 3", len(list))
	}
	o := page(list[0])
	o.Host = contract.Host{Name: "slow.test", Visited: true, DelayMS: 1000, PaceMS: 1000}
	b.outcome(o)
	if more := b.releaseAll(); len(more) != 1 {
		b.Fatalf("%d more, want 1", len(more))
	}
	o = page(list[1])
	o.Host = contract.Host{Name: "slow.test", Visited: true, DelayMS: 30_000, PaceMS: 30_000, NextAt: b.now().Add(30 * time.Second)}
	b.outcome(o)
	o.ID = list[2].ID
	b.outcome(o)
	b.pass(31 * time.Second)
	if more := b.releaseAll(); len(more) != 0 {
		b.Fatalf("%d more while one is out on a slow host", len(more))
	}
	b.seed(many("fast.test", 200)...)
	first := b.releaseAll()
	b.outcome(page(first[0]), page(first[1]), page(first[2]))
	if more := b.releaseAll(); len(more) != 96 { // alone with work: three quarters of the prefetch
		b.Fatalf("%d out of a fast host, want 96", len(more))
	}
}

func testHold(b *bench) {
	b.seed(many("a.test", 5)...)
	list := b.releaseAll()
	r := retry(list[0], "http 429", true)
	r.Host.NextAt, r.Host.Reason = b.now().Add(10*time.Minute), "http 429"
	b.apply(frontier.Batch{Retries: []contract.Retry{r}})
	o := page(list[1]) // was under way when the host asked for silence
	o.Host.NextAt = b.now().Add(time.Second)
	b.outcome(o, page(list[2]))
	b.wantURLs(b.releaseAll())
	hosts, err := b.store.WaitingHosts(b.ctx, b.now(), 10)
	b.must(err)
	if len(hosts) != 1 || hosts[0].Name != "a.test" || hosts[0].Reason != "http 429" {
		b.Fatalf("waiting hosts: %+v", hosts)
	}
	u, h, c := b.find("default", "https://a.test/000")
	for _, raw := range many("a.test", 5) {
		if u.State != frontier.Ready {
			u, h, c = b.find("default", raw)
		}
	}
	if got := frontier.Explain(u, h, c, b.now()); got != "its host is held back for 10m0s: http 429" {
		b.Fatalf("explained as %q", got)
	}
	b.pass(9*time.Minute + 58*time.Second)
	b.wantURLs(b.releaseAll())
	b.pass(time.Second) // one second ahead of the slot
	if more := b.releaseAll(); len(more) == 0 {
		b.Fatal("nothing released at the host's time")
	}
	far := retry(b.seedOne("https://far.test/"), "robots unreachable", false)
	far.Host.NextAt, far.Host.Reason = b.now().Add(1000*time.Hour), "robots unreachable"
	b.apply(frontier.Batch{Retries: []contract.Retry{far}})
	if _, h, _ := b.find("default", "https://far.test/"); h.NextAt.Sub(b.now()) != 24*time.Hour {
		b.Fatalf("host held for %v: a server's time must be clamped", h.NextAt.Sub(b.now()))
	}
}

// seedOne seeds and releases one URL.
func (b *bench) seedOne(raw string) contract.Fetch {
	b.Helper()
	b.seed(raw)
	for _, m := range b.releaseAll() {
		if m.URL == raw {
			return m
		}
	}
	b.Fatalf("%s was not released", raw)
	return contract.Fetch{}
}

func testBadHost(b *bench) {
	b.seed(many("dead.test", 8)...)
	b.seed("https://good.test/")
	for hour := range 30 {
		for _, m := range b.releaseAll() {
			if m.Host.Name == "good.test" {
				b.outcome(page(m))
				continue
			}
			r := retry(m, "robots unreachable", false)
			r.Host.NextAt, r.Host.Reason = b.now().Add(time.Hour), "robots unreachable"
			b.apply(frontier.Batch{Retries: []contract.Retry{r}})
		}
		b.pass(time.Hour)
		b.sweep(true)
		if done := b.status("default").FinishedAt != nil; done != (hour >= 24) && hour != 24 {
			b.Fatalf("after %d hours: %+v", hour+1, b.status("default"))
		}
	}
	b.wantCounts("default", counts{"failed": 8, "done": 1})
	if b.status("default").Failed["robots unreachable"] != 8 {
		b.Fatalf("status %+v", b.status("default"))
	}
}

func testMaxAge(b *bench) {
	b.seed("https://a.test/")
	m := b.releaseAll()[0]
	r := retry(m, "timeout", true)
	r.NotBefore = b.now().Add(20 * time.Hour)
	b.apply(frontier.Batch{Retries: []contract.Retry{r}})
	b.pass(23 * time.Hour)
	b.sweep(true)
	b.wantCounts("default", counts{"ready": 1})
	b.pass(2 * time.Hour)
	b.sweep(true)
	b.wantCounts("default", counts{"failed": 1})
	if b.status("default").Failed["timeout"] != 1 {
		b.Fatalf("status %+v", b.status("default"))
	}
	b.wantFinished("default", true)
}

func testTurns(b *bench) {
	b.start(contract.CrawlSpec{Name: "one"}, many("a.test", 20)...)
	b.start(contract.CrawlSpec{Name: "two"}, many("a.test", 20)...)
	served := map[string]int{}
	for range 20 {
		for _, m := range b.releaseAll() {
			served[m.Crawl]++
			o := page(m)
			o.Host = contract.Host{Name: m.Host.Name, Visited: true, DelayMS: 1000, PaceMS: 1000}
			b.outcome(o)
		}
		b.pass(time.Second)
		if served["one"] != served["two"] && abs(served["one"]-served["two"]) > 1 {
			b.Fatalf("served %v: crawls must take turns", served)
		}
	}
	b.wantCounts("one", counts{"done": 20})
	b.wantCounts("two", counts{"done": 20})
}

func abs(n int) int { return max(n, -n) }

func testOrder(b *bench) {
	b.seed("https://a.test/")
	root := b.release()[0]
	b.outcome(page(root, "https://a.test/deep"))
	b.apply(frontier.Batch{Seeds: seeds(b.T, contract.Seed{Crawl: "default", Priority: 5}, "https://a.test/urgent")})
	b.seed("https://a.test/plain")
	b.wantURLs(b.releaseAll(), "https://a.test/urgent", "https://a.test/plain", "https://a.test/deep")
}

func testRecount(b *bench) {
	b.seed("https://a.test/", "https://b.test/")
	b.releaseAll()
	wrong, err := b.f.Recount(b.ctx)
	b.must(err)
	if wrong != 0 {
		b.Fatalf("%d hosts wrong in a healthy frontier", wrong)
	}
	b.must(b.store.Write(b.ctx, func(tx frontier.Tx) error {
		_, h, _ := b.find("default", "https://a.test/")
		locked, err := tx.LockHosts(b.ctx, []frontier.Host{{ID: h.ID}})
		if err != nil {
			return err
		}
		locked[h.ID].Outstanding = 7
		return tx.SaveHosts(b.ctx, []*frontier.Host{locked[h.ID]})
	}))
	wrong, err = b.f.Recount(b.ctx)
	b.must(err)
	if _, h, _ := b.find("default", "https://a.test/"); wrong != 1 || h.Outstanding != 1 {
		b.Fatalf("%d wrong, outstanding %d", wrong, h.Outstanding)
	}
}
