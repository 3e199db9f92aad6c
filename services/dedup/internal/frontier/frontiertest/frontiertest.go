// Package frontiertest is the suite that every store of the frontier must pass. It drives the frontier
// through its door with a clock of its own, so nothing waits.
package frontiertest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/weburl"
	"github.com/warrenmq/warren/services/dedup/internal/frontier"
)

// Store is what the suite needs of a store.
type Store interface {
	frontier.Store
	frontier.Reader
}

// Run runs the suite; open makes an empty store.
func Run(t *testing.T, open func(t *testing.T) Store) {
	for _, c := range []struct {
		name string
		test func(*bench)
	}{
		{"a crawl to its end", testEnd},
		{"an outcome twice", testOutcomeTwice},
		{"seeds again and later", testSeeds},
		{"attempts", testAttempts},
		{"a retry that was overtaken", testStaleRetry},
		{"leases", testLeases},
		{"late outcome of an ended lease", testLateOutcome},
		{"put back", testPutBack},
		{"window", testWindow},
		{"host held back", testHold},
		{"host given up", testBadHost},
		{"visit past its age", testMaxAge},
		{"scopes", testScopes},
		{"seed redirect joins the scope", testRedirectScope},
		{"redirect hops", testHops},
		{"page budget", testBudget},
		{"page budget given back", testBudgetBack},
		{"host budget", testHostBudget},
		{"crawls take turns", testTurns},
		{"priority and depth", testOrder},
		{"pause resume cancel", testVerbs},
		{"schedule and expiry", testSchedule},
		{"requeue", testRequeue},
		{"recrawl", testRecrawl},
		{"commit answer lost", testAmbiguousCommit},
		{"rolled back links are not remembered", testRollback},
		{"replicas at once", testReplicas},
		{"recount mends", testRecount},
		{"explain", testExplain},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(newBench(t, open(t)))
		})
	}
}

// DefaultConfig is small enough to meet every limit.
func config() frontier.Config {
	return frontier.Config{
		Hold: 2 * time.Second, Prefetch: 128, Outstanding: 1000, Lease: 2 * time.Minute, MaxAge: 24 * time.Hour,
		MaxAttempts: 4, MaxExpiries: 5, MaxHops: 10, Cache: 1000, DefaultDelayMS: 1000,
	}
}

// bench is a frontier with a clock that the test moves.
type bench struct {
	*testing.T
	ctx   context.Context
	store Store
	f     *frontier.Frontier
	mu    sync.Mutex
	clock time.Time
}

func newBench(t *testing.T, store Store) *bench {
	b := &bench{T: t, ctx: t.Context(), store: store, clock: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
	b.f = b.replica(config())
	return b
}

func (b *bench) replica(cfg frontier.Config) *frontier.Frontier {
	return frontier.New(cfg, b.store, b.now)
}

func (b *bench) now() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.clock
}

func (b *bench) pass(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.clock = b.clock.Add(d)
}

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bench) apply(batch frontier.Batch) frontier.Applied {
	b.Helper()
	applied, err := b.f.Apply(b.ctx, batch)
	b.must(err)
	return applied
}

func (b *bench) seed(urls ...string) frontier.Applied {
	b.Helper()
	return b.apply(frontier.Batch{Seeds: seeds(b.T, contract.Seed{Crawl: "default"}, urls...)})
}

func seeds(t *testing.T, like contract.Seed, urls ...string) []frontier.Seed {
	t.Helper()
	var list []frontier.Seed
	for _, raw := range urls {
		at, err := weburl.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		seed := frontier.Seed{Seed: like, At: at}
		seed.URL = raw
		list = append(list, seed)
	}
	return list
}

func (b *bench) start(spec contract.CrawlSpec, urls ...string) {
	b.Helper()
	b.apply(frontier.Batch{Start: &spec, Seeds: seeds(b.T, contract.Seed{Crawl: spec.Name}, urls...)})
}

func (b *bench) release() []contract.Fetch {
	b.Helper()
	list, err := b.f.Release(b.ctx)
	b.must(err)
	return list
}

// releaseAll releases until nothing comes.
func (b *bench) releaseAll() (all []contract.Fetch) {
	b.Helper()
	for {
		list := b.release()
		if len(list) == 0 {
			return all
		}
		all = append(all, list...)
	}
}

func (b *bench) sweep(leases bool) frontier.Swept {
	b.Helper()
	swept, err := b.f.Sweep(b.ctx, leases)
	b.must(err)
	return swept
}

// fast is the report of a host without delay.
func fast(m contract.Fetch) contract.Host {
	return contract.Host{Name: m.Host.Name, Visited: true, PaceMS: 1}
}

// page is the outcome of a stored page with these links.
func page(m contract.Fetch, links ...string) contract.Outcome {
	o := contract.Outcome{
		Crawl: m.Crawl, ID: m.ID, Visit: m.Visit, Status: contract.StatusDone, Code: 200, Stored: true, Host: fast(m),
	}
	for _, link := range links {
		o.Links = append(o.Links, contract.Link{URL: link, Tag: "a"})
	}
	return o
}

func failure(m contract.Fetch, reason string) contract.Outcome {
	return contract.Outcome{Crawl: m.Crawl, ID: m.ID, Visit: m.Visit, Status: contract.StatusFailed, Reason: reason, Host: fast(m)}
}

func redirect(m contract.Fetch, to string) contract.Outcome {
	o := page(m)
	o.Code, o.Redirect, o.Links = 302, true, []contract.Link{{URL: to, Tag: "redirect"}}
	return o
}

func (b *bench) outcome(o ...contract.Outcome) frontier.Applied {
	b.Helper()
	return b.apply(frontier.Batch{Outcomes: o})
}

func retry(m contract.Fetch, reason string, attempt bool) contract.Retry {
	return contract.Retry{
		Crawl: m.Crawl, ID: m.ID, Visit: m.Visit, Release: m.Release, Reason: reason, Attempt: attempt, Host: fast(m),
	}
}

func (b *bench) status(crawl string) frontier.CrawlStatus {
	b.Helper()
	crawls, tally, err := b.store.AllCrawls(b.ctx, crawl)
	b.must(err)
	if len(crawls) != 1 {
		b.Fatalf("crawl %q: %d rows", crawl, len(crawls))
	}
	return frontier.NewCrawlStatus(crawls[0], tally)
}

func (b *bench) url(crawl, raw string) *frontier.URL {
	b.Helper()
	u, _, _ := b.find(crawl, raw)
	return u
}

func (b *bench) find(crawl, raw string) (*frontier.URL, *frontier.Host, *frontier.Crawl) {
	b.Helper()
	at, err := weburl.Parse(raw)
	b.must(err)
	host, hash := at.ID().Ints()
	u, h, c, err := b.store.Find(b.ctx, crawl, host, hash)
	b.must(err)
	return u, h, c
}

// wantCounts compares counters, given as "ready 1 done 2"; states not named must be 0.
func (b *bench) wantCounts(crawl string, want map[string]int64) {
	b.Helper()
	got := b.status(crawl).URLs
	for state, n := range got {
		if n != want[state] {
			b.Fatalf("crawl %s: %d %s, want %d; all: %v", crawl, n, state, want[state], got)
		}
	}
}

func (b *bench) wantFinished(crawl string, want bool) {
	b.Helper()
	b.sweep(true)
	if got := b.status(crawl).FinishedAt != nil; got != want {
		b.Fatalf("crawl %s: finished %v, want %v; %+v", crawl, got, want, b.status(crawl))
	}
}

func (b *bench) wantURLs(list []contract.Fetch, want ...string) {
	b.Helper()
	var got []string
	for _, m := range list {
		got = append(got, m.URL)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		b.Fatalf("released %v, want %v", got, want)
	}
}

// counts is a short way to write wantCounts' map.
type counts = map[string]int64
