package frontiertest

import (
	"fmt"
	"time"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/services/dedup/internal/frontier"
)

func testEnd(b *bench) {
	b.seed("https://a.test/")
	b.wantCounts("default", counts{"ready": 1})
	list := b.release()
	b.wantURLs(list, "https://a.test/")
	if m := list[0]; m.Visit != 1 || m.Release != 1 || m.Attempt != 1 || m.Host.Visited || m.Crawl != "default" {
		b.Fatalf("first release: %+v", m)
	}
	b.wantFinished("default", false)
	applied := b.outcome(page(list[0], "https://a.test/1", "https://a.test/2", "https://a.test/1", "https://other.test/"))
	if applied.Admitted != 2 || applied.Closed != 1 {
		b.Fatalf("applied %+v", applied)
	}
	b.wantCounts("default", counts{"ready": 2, "done": 1})
	if n := b.status("default").Skipped["out of scope"]; n != 1 {
		b.Fatalf("%d out of scope, want 1", n)
	}
	for _, m := range b.releaseAll() {
		if !m.Host.Visited || m.Depth != 1 {
			b.Fatalf("later release: %+v", m)
		}
		b.outcome(page(m, "https://a.test/"))
	}
	b.wantCounts("default", counts{"done": 3})
	b.wantFinished("default", true)
	if s := b.status("default"); s.State != frontier.CrawlFinished || s.Pages != 3 {
		b.Fatalf("status %+v", s)
	}
}

func testOutcomeTwice(b *bench) {
	b.seed("https://a.test/")
	m := b.release()[0]
	o := page(m, "https://a.test/1", "https://b.test/")
	b.outcome(o, o)
	if applied := b.outcome(o); applied.Closed != 0 || applied.Stale != 1 || applied.Admitted != 0 {
		b.Fatalf("applied %+v", applied)
	}
	b.outcome(failure(m, "too late"))
	b.wantCounts("default", counts{"done": 1, "ready": 1})
	if n := b.status("default").Skipped["out of scope"]; n != 1 {
		b.Fatalf("%d out of scope, want 1", n)
	}
	if u := b.url("default", "https://a.test/"); u.State != frontier.Done {
		b.Fatalf("state %v", u.State)
	}
}

func testSeeds(b *bench) {
	b.seed("https://a.test/", "https://b.test/")
	if applied := b.seed("https://a.test/", "https://b.test/#x"); applied.Admitted != 0 {
		b.Fatalf("admitted again: %+v", applied)
	}
	for _, m := range b.releaseAll() {
		b.outcome(page(m))
	}
	b.wantFinished("default", true)
	b.seed("https://c.test/")
	b.wantFinished("default", false)
	m := b.release()
	b.outcome(page(m[0], "https://c.test/x"))
	// a URL that a link found becomes the seed it is asked for: its own scope, depth 0
	wide := seeds(b.T, contract.Seed{Crawl: "default", Scope: contract.Scope{Kind: contract.ScopeAny}}, "https://c.test/x")
	b.apply(frontier.Batch{Seeds: wide})
	m = b.release()
	if m[0].Depth != 0 {
		b.Fatalf("depth %d, want 0", m[0].Depth)
	}
	b.outcome(page(m[0], "https://far.test/"))
	b.wantURLs(b.releaseAll(), "https://far.test/")
}

func testAttempts(b *bench) {
	b.seed("https://a.test/")
	for attempt := 1; attempt <= 4; attempt++ {
		list := b.releaseAll()
		b.wantURLs(list, "https://a.test/")
		if list[0].Attempt != attempt {
			b.Fatalf("attempt %d, want %d", list[0].Attempt, attempt)
		}
		r := retry(list[0], "http 503", true)
		r.NotBefore = b.now().Add(10 * time.Second)
		b.apply(frontier.Batch{Retries: []contract.Retry{r}})
		if attempt == 4 {
			break
		}
		b.wantCounts("default", counts{"waiting": 1})
		b.wantURLs(b.releaseAll())
		b.pass(11 * time.Second)
		if swept := b.sweep(true); swept.Promoted != 1 {
			b.Fatalf("swept %+v", swept)
		}
	}
	b.wantCounts("default", counts{"failed": 1})
	if b.status("default").Failed["http 503"] != 1 {
		b.Fatalf("status %+v", b.status("default"))
	}
	b.wantFinished("default", true)
	// what is not counted goes on for ever
	b.seed("https://b.test/")
	for range 10 {
		list := b.releaseAll()
		b.wantURLs(list, "https://b.test/")
		b.apply(frontier.Batch{Retries: []contract.Retry{retry(list[0], "hold", false)}})
	}
	b.wantCounts("default", counts{"failed": 1, "ready": 1})
}

func testStaleRetry(b *bench) {
	b.seed("https://a.test/")
	first := b.release()[0]
	b.apply(frontier.Batch{Retries: []contract.Retry{retry(first, "hold", false)}})
	second := b.releaseAll()[0]
	if applied := b.apply(frontier.Batch{Retries: []contract.Retry{retry(first, "hold", false)}}); applied.Stale != 1 {
		b.Fatalf("applied %+v", applied)
	}
	b.wantCounts("default", counts{"released": 1})
	b.outcome(page(second))
	if applied := b.apply(frontier.Batch{Retries: []contract.Retry{retry(second, "hold", false)}}); applied.Stale != 1 {
		b.Fatalf("applied %+v", applied)
	}
	b.wantCounts("default", counts{"done": 1})
}

func testLeases(b *bench) {
	b.seed("https://a.test/")
	b.start(contract.CrawlSpec{Name: "alive"}, many("b.test", 20)...)
	alive := b.aliveCrawl()
	lease := 2 * time.Minute
	for expiry := 1; expiry <= 5; expiry++ {
		var m []contract.Fetch
		if expiry == 1 {
			m = alive.mine
		} else {
			m = only(b.releaseAll(), "default")
		}
		b.wantURLs(m, "https://a.test/")
		if got := m[0].LeaseUntil.Sub(b.now()); got != lease {
			b.Fatalf("lease %v, want %v", got, lease)
		}
		b.pass(lease - time.Second)
		b.sweep(true)
		if u := b.url("default", "https://a.test/"); u.State != frontier.Released {
			b.Fatalf("lease ended early: %v", u.State)
		}
		b.pass(2 * time.Second)
		if swept := b.sweep(false); swept.Expired != 0 {
			b.Fatalf("leases must not run: %+v", swept)
		}
		alive.close(b)
		b.sweep(true)
		if u := b.url("default", "https://a.test/"); u.Expiries != int16(expiry) {
			b.Fatalf("%d ended leases, want %d", u.Expiries, expiry)
		}
		lease *= 2
	}
	b.wantCounts("default", counts{"failed": 1})
	if b.status("default").Failed[contract.ReasonLost] != 1 {
		b.Fatalf("status %+v", b.status("default"))
	}
	b.wantFinished("default", true)
}

// aliveCrawl is a second crawl whose pages come home one by one, so that the pipeline is seen to work.
type aliveCrawl struct{ mine, others []contract.Fetch }

func (b *bench) aliveCrawl() *aliveCrawl {
	b.Helper()
	a := &aliveCrawl{}
	for _, m := range b.releaseAll() {
		if m.Crawl == "default" {
			a.mine = append(a.mine, m)
		} else {
			a.others = append(a.others, m)
		}
	}
	return a
}

func (a *aliveCrawl) close(b *bench) {
	b.Helper()
	if len(a.others) == 0 {
		a.others = only(b.releaseAll(), "alive")
	}
	b.outcome(page(a.others[0]))
	a.others = a.others[1:]
}

func only(list []contract.Fetch, crawl string) (some []contract.Fetch) {
	for _, m := range list {
		if m.Crawl == crawl {
			some = append(some, m)
		}
	}
	return some
}

func testLateOutcome(b *bench) {
	b.seed("https://a.test/")
	m := b.release()[0]
	b.pass(3 * time.Minute)
	b.sweep(true)
	b.wantCounts("default", counts{"ready": 1})
	b.outcome(page(m, "https://a.test/1"))
	b.wantCounts("default", counts{"done": 1, "ready": 1})
	b.wantURLs(b.releaseAll(), "https://a.test/1")
}

func testPutBack(b *bench) {
	b.seed("https://a.test/", "https://b.test/")
	list := b.releaseAll()
	b.must(b.f.PutBack(b.ctx, list))
	b.must(b.f.PutBack(b.ctx, list))
	b.wantCounts("default", counts{"ready": 2})
	again := b.releaseAll()
	if len(again) != 2 || again[0].Release != 2 {
		b.Fatalf("released again: %+v", again)
	}
	b.must(b.f.PutBack(b.ctx, list)) // overtaken: a higher release is out
	b.wantCounts("default", counts{"released": 2})
}

func testRecrawl(b *bench) {
	b.start(contract.CrawlSpec{Name: "again", Recrawl: contract.Duration(time.Hour)}, "https://a.test/")
	m := b.release()[0]
	o := page(m)
	o.ETag, o.LastModified = `"v1"`, "Sat, 21 Nov 2026 12:00:00 GMT"
	b.outcome(o)
	b.wantCounts("again", counts{"waiting": 1})
	b.wantFinished("again", false)
	b.pass(time.Hour + time.Second)
	b.sweep(true)
	second := b.releaseAll()
	b.wantURLs(second, "https://a.test/")
	if m := second[0]; m.Visit != 2 || m.ETag != o.ETag || m.LastModified != o.LastModified || m.Attempt != 1 {
		b.Fatalf("second visit: %+v", m)
	}
	if applied := b.outcome(o); applied.Stale != 1 { // the first visit's outcome again
		b.Fatalf("applied %+v", applied)
	}
	b.wantCounts("again", counts{"released": 1})
	same := page(second[0])
	same.Code = 304
	b.outcome(same)
	b.pass(time.Hour + time.Second)
	b.sweep(true)
	if m := b.releaseAll()[0]; m.Visit != 3 || m.ETag != o.ETag {
		b.Fatalf("visit after a 304 without validators: %+v", m)
	}
}

func testExplain(b *bench) {
	b.seed("https://a.test/", "https://b.test/")
	for _, m := range b.releaseAll() {
		if m.Host.Name == "a.test" {
			b.outcome(page(m))
		}
	}
	for raw, want := range map[string]string{
		"https://a.test/": "fetched, HTTP status 200",
		"https://b.test/": "released to the fetchers; taken back in 2m0s if nothing is heard of it",
	} {
		u, h, c := b.find("default", raw)
		if got := frontier.Explain(u, h, c, b.now()); got != want {
			b.Fatalf("%s: %q, want %q", raw, got, want)
		}
	}
	if u := b.url("default", "https://nobody.test/"); u != nil {
		b.Fatalf("found %+v", u)
	}
	if u := b.url("no-crawl", "https://a.test/"); u != nil {
		b.Fatalf("found %+v", u)
	}
}

// many makes n URLs of a host.
func many(host string, n int) (urls []string) {
	for i := range n {
		urls = append(urls, fmt.Sprintf("https://%s/%03d", host, i))
	}
	return urls
}
