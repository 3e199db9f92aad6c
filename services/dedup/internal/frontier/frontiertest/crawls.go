package frontiertest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/services/dedup/internal/frontier"
)

func testScopes(b *bench) {
	two := 2
	links := []string{
		"http://www.a.test/docs/x", "https://www.a.test/docs/sub/y", "https://www.a.test/other", "https://a.test/",
		"https://deep.a.test/", "https://b.test/", "https://www.a.test:8443/", "https://www.a.test/docs/skip.pdf",
	}
	for i, c := range []struct {
		scope contract.Scope
		want  int
	}{
		{contract.Scope{}, 4},
		{contract.Scope{Kind: contract.ScopeHost, Exclude: []string{`\.pdf$`}}, 3},
		{contract.Scope{Kind: contract.ScopeHost, Include: []string{`/docs/`}}, 3},
		{contract.Scope{Kind: contract.ScopeDomain}, 7},
		{contract.Scope{Kind: contract.ScopePrefix}, 3},
		{contract.Scope{Kind: contract.ScopeAny}, 8},
		{contract.Scope{Kind: contract.ScopeAny, Depth: new(int)}, 0},
		{contract.Scope{Kind: contract.ScopeAny, Depth: &two}, 8},
	} {
		name := fmt.Sprintf("scope%d", i)
		b.start(contract.CrawlSpec{Name: name, Scope: c.scope}, "https://www.a.test/docs/")
		var mine contract.Fetch
		for _, m := range b.releaseAll() {
			if m.Crawl == name {
				mine = m
			}
		}
		applied := b.outcome(page(mine, links...))
		if applied.Admitted != c.want {
			b.Errorf("%+v: admitted %d, want %d; skipped %v", c.scope, applied.Admitted, c.want, b.status(name).Skipped)
		}
	}
	nofollow := b.seedOne("https://n.test/")
	o := page(nofollow, "https://n.test/1", "not a url")
	o.Links[0].NoFollow = true
	b.outcome(o)
	if s := b.status("default").Skipped; s["nofollow"] != 1 || s["not a web address"] != 1 {
		b.Fatalf("skipped %v", s)
	}
}

func testRedirectScope(b *bench) {
	m := b.seedOne("http://a.test/")
	b.outcome(redirect(m, "https://www.a.test/"))
	list := b.releaseAll()
	b.wantURLs(list, "https://www.a.test/")
	if list[0].Depth != 0 || list[0].Hops != 1 {
		b.Fatalf("a redirect keeps the depth and counts its hop: %+v", list[0])
	}
	other := b.replica(config()) // another replica must know the grown scope
	_, err := other.Apply(b.ctx, frontier.Batch{Outcomes: []contract.Outcome{page(list[0], "https://www.a.test/1", "http://a.test/1", "https://far.test/")}})
	b.must(err)
	list = b.releaseAll()
	if len(list) != 2 {
		b.Fatalf("released %+v", list)
	}
	for _, m := range list { // a page's redirect, not a seed's: the scope stays
		b.outcome(redirect(m, "https://far.test/"+m.Host.Name))
	}
	b.wantURLs(b.releaseAll())
	if n := b.status("default").Skipped["out of scope"]; n != 3 {
		b.Fatalf("%d out of scope, want 3", n)
	}
}

func testHops(b *bench) {
	m := b.seedOne("https://a.test/0")
	for i := 1; i <= 10; i++ {
		b.outcome(redirect(m, fmt.Sprintf("https://a.test/%d", i)))
		list := b.releaseAll()
		if len(list) != 1 || list[0].Hops != i {
			b.Fatalf("hop %d: %+v", i, list)
		}
		m = list[0]
	}
	b.outcome(redirect(m, "https://a.test/11"))
	if n := b.status("default").Skipped["too many redirects"]; n != 1 {
		b.Fatalf("skipped %v", b.status("default").Skipped)
	}
	b.wantFinished("default", true)
}

func testBudget(b *bench) {
	b.start(contract.CrawlSpec{Name: "small", Pages: 5}, many("a.test", 4)...)
	b.start(contract.CrawlSpec{Name: "small", Pages: 5}, many("b.test", 4)...)
	list := b.releaseAll()
	if len(list) != 5 {
		b.Fatalf("%d released, budget is 5", len(list))
	}
	for _, m := range list {
		b.outcome(page(m, "https://a.test/more"))
	}
	b.wantURLs(b.releaseAll())
	b.wantFinished("small", true)
	s := b.status("small")
	if s.URLs["done"] != 5 || s.Excluded[contract.ReasonBudget] != 4 || s.URLs["ready"] != 0 || s.PagesTaken != 5 {
		b.Fatalf("status %+v", s)
	}
	b.start(contract.CrawlSpec{Name: "small", Pages: 7})
	b.wantFinished("small", false)
	if more := b.releaseAll(); len(more) != 2 {
		b.Fatalf("%d more for a budget raised by 2", len(more))
	}
}

func testBudgetBack(b *bench) {
	b.start(contract.CrawlSpec{Name: "small", Pages: 3}, many("a.test", 6)...)
	list := b.releaseAll()
	if len(list) != 3 {
		b.Fatalf("%d released", len(list))
	}
	b.outcome(failure(list[0], "dns"))
	b.apply(frontier.Batch{Retries: []contract.Retry{retry(list[1], "hold", false)}})
	b.wantFinished("small", false) // the sweep wakes the hosts that slept over the budget
	again := b.releaseAll()
	if len(again) != 2 || again[0].URL != list[1].URL {
		b.Fatalf("released %+v: one page was given back, and the URL that was sent back keeps its own", again)
	}
	list = append(list[2:], again...)
	// an ended lease keeps its page of the budget, goes first, and is not counted twice
	b.outcome(page(list[0]), page(list[1]))
	b.pass(3 * time.Minute)
	b.wantFinished("small", false)
	again = b.releaseAll()
	b.wantURLs(again, list[2].URL)
	b.outcome(page(list[2])) // the old one comes home late
	b.wantFinished("small", true)
	if s := b.status("small"); s.PagesTaken != 3 || s.Pages != 3 {
		b.Fatalf("status %+v", s)
	}
}

func testHostBudget(b *bench) {
	b.start(contract.CrawlSpec{Name: "few", PagesPerHost: 2}, many("a.test", 10)...)
	b.start(contract.CrawlSpec{Name: "few", PagesPerHost: 2}, many("b.test", 1)...)
	for range 10 {
		for _, m := range b.releaseAll() {
			b.outcome(page(m))
		}
		b.sweep(true)
	}
	b.wantCounts("few", counts{"done": 3, "excluded": 8})
	if b.status("few").Excluded[contract.ReasonHostBudget] != 8 {
		b.Fatalf("status %+v", b.status("few"))
	}
	b.wantFinished("few", true)
}

func testVerbs(b *bench) {
	verb := func(key, name string) {
		b.Helper()
		b.must(b.f.Command(b.ctx, key, contract.CrawlVerb{Name: name}))
	}
	b.start(contract.CrawlSpec{Name: "c"}, many("a.test", 300)...)
	out := b.releaseAll()
	verb(contract.KeyCrawlPause, "c")
	b.outcome(page(out[0], "https://a.test/new"))
	b.wantURLs(b.releaseAll())
	b.wantFinished("c", false)
	verb(contract.KeyCrawlResume, "c")
	b.sweep(true)
	if len(b.releaseAll()) == 0 {
		b.Fatal("nothing released after resume")
	}
	verb(contract.KeyCrawlCancel, "c")
	b.wantFinished("c", false) // some are out
	for _, u := range append(many("a.test", 300), "https://a.test/new") {
		if row := b.url("c", u); row.State == frontier.Released {
			b.outcome(page(contract.Fetch{Crawl: "c", ID: row.ID().String(), Visit: 1}, "https://a.test/late"))
		}
	}
	b.wantFinished("c", true)
	s := b.status("c")
	if s.State != frontier.CrawlCancelled || s.Excluded[contract.ReasonCancelled] == 0 || s.Skipped["crawl has ended"] == 0 {
		b.Fatalf("status %+v", s)
	}
	applied := b.apply(frontier.Batch{Seeds: seeds(b.T, contract.Seed{Crawl: "c"}, "https://z.test/")})
	if !strings.Contains(applied.Refused[0], "crawl.start") {
		b.Fatalf("a seed for a cancelled crawl: %+v", applied)
	}
	b.start(contract.CrawlSpec{Name: "c"}, "https://z.test/")
	b.wantFinished("c", false)
	if err := b.f.Command(b.ctx, contract.KeyCrawlPause, contract.CrawlVerb{Name: "nobody"}); !errors.Is(err, frontier.ErrNoCrawl) {
		b.Fatalf("pause of no crawl: %v", err)
	}
	if err := b.f.Command(b.ctx, "crawl.explode", contract.CrawlVerb{Name: "c"}); !errors.Is(err, frontier.ErrNoVerb) {
		b.Fatalf("unknown verb: %v", err)
	}
}

func testSchedule(b *bench) {
	from, until := b.now().Add(time.Hour), b.now().Add(2*time.Hour)
	b.start(contract.CrawlSpec{Name: "later", NotBefore: &from, Expires: &until}, many("a.test", 9)...)
	b.sweep(true)
	b.wantURLs(b.releaseAll())
	b.pass(time.Hour)
	b.sweep(true)
	out := b.releaseAll()
	if len(out) == 0 {
		b.Fatal("nothing released when the crawl's time has come")
	}
	b.pass(time.Hour)
	b.sweep(false)
	b.wantURLs(b.releaseAll())
	for _, m := range out {
		b.outcome(page(m))
	}
	b.wantFinished("later", true)
	if s := b.status("later"); s.State != frontier.CrawlExpired || s.Excluded[contract.ReasonExpired] != 9-int64(len(out)) {
		b.Fatalf("status %+v", s)
	}
}

func testRequeue(b *bench) {
	b.seed("https://a.test/", "https://b.test/", "https://c.test/")
	for _, m := range b.releaseAll() {
		reason := "dns"
		if m.Host.Name == "c.test" {
			reason = "tls"
		}
		b.outcome(failure(m, reason))
	}
	b.wantFinished("default", true)
	requeue := func(v contract.CrawlVerb) {
		b.Helper()
		v.Name = "default"
		b.must(b.f.Command(b.ctx, contract.KeyCrawlRequeue, v))
	}
	requeue(contract.CrawlVerb{Reason: "dns", Host: "b.test"})
	b.wantFinished("default", false)
	list := b.releaseAll()
	b.wantURLs(list, "https://b.test/")
	b.outcome(page(list[0]))
	requeue(contract.CrawlVerb{Reason: "tls"})
	list = b.releaseAll()
	b.wantURLs(list, "https://c.test/")
	b.outcome(page(list[0]))
	requeue(contract.CrawlVerb{})
	b.outcome(page(b.releaseAll()[0]))
	b.wantCounts("default", counts{"done": 3})
	b.wantFinished("default", true)
}
