// Package frontiertest is the suite that every store of the frontier must pass. It drives the frontier
// through its door with a clock of its own, so nothing waits.
package frontiertest

import (
	"context"
	"fmt"
	"strings"
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
	SetShards(ctx context.Context, shards int) (recorded int, out int64, err error)
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
		{"sleep over a budget outlives its replica", testReplicaDies},
		{"wake-up during a wake pass", testAwakeRace},
		{"ended lease meanwhile", testKeptStale},
		{"pause and resume during a wake pass", testWakeLost},
		{"requeue wakes a cancelled crawl", testRequeueWakes},
		{"resume of a scheduled crawl", testResumeScheduled},
		{"recrawl within a budget", testRecrawlBudget},
		{"recrawl pages of a host given up", testBadHostRecrawl},
		{"small prefetch", testSmallPrefetch},
		{"budget introduced later", testBudgetLater},
		{"host budget while one is held", testHostBudgetHeld},
		{"links of a URL that was lost", testLostComesHome},
		{"requeued while its outcome comes", testRequeuedMeanwhile},
		{"late page after a retry within the budget", testRetryBudget},
		{"cancelled crawl gives pages back", testCancelBudget},
		{"sleeping hosts in front", testSleepersInFront},
		{"lease of a slow start", testLeaseSlowStart},
		{"seed again with a wider scope", testSeedWider},
		{"put back and paused for long", testPauseOld},
		{"shards changed elsewhere", testShards},
		{"explain", testExplain},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, open(t))
			c.test(b)
			b.checkCounts()
		})
	}
}

// config is small enough to meet every limit.
func config() frontier.Config {
	return frontier.Config{
		Hold: 2 * time.Second, Prefetch: 128, Outstanding: 1000, Lease: 2 * time.Minute, MaxAge: 24 * time.Hour,
		MaxAttempts: 4, MaxExpiries: 5, MaxHops: 10, Cache: 1000, DefaultDelayMS: 1000, Shards: 8,
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
	if _, _, err := store.SetShards(t.Context(), config().Shards); err != nil {
		t.Fatal(err)
	}
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
	list, _, err := b.f.Release(b.ctx)
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

// checkCounts holds every counter of the frontier against its rows.
func (b *bench) checkCounts() {
	b.Helper()
	counted := frontier.Tally{}
	crawls, tally, err := b.store.AllCrawls(b.ctx, "")
	b.must(err)
	b.must(b.store.Write(b.ctx, func(tx frontier.Tx) error {
		for _, c := range crawls {
			held := int64(0)
			for state := frontier.Waiting; state <= frontier.Excluded; state++ {
				hosts, err := tx.CrawlHosts(b.ctx, c.ID, state, "", -1<<63, 1<<20)
				if err != nil {
					return err
				}
				for _, host := range hosts {
					urls, err := tx.HostURLs(b.ctx, host, c.ID, state, "", 1<<20)
					if err != nil {
						return err
					}
					for _, u := range urls {
						key := state.String()
						if state >= frontier.Failed {
							key += "/" + u.Reason
						}
						counted[frontier.TallyKey{Crawl: c.ID, Key: key}]++
						held += int64(u.Held & frontier.HeldCrawl)
					}
				}
			}
			if c.Spec.Pages > 0 && c.Taken < held {
				b.Errorf("crawl %s: %d pages taken, rows hold %d", c.Name, c.Taken, held)
			}
		}
		return nil
	}))
	for key, n := range tally {
		state, _, _ := strings.Cut(key.Key, "/")
		if !strings.Contains("ready released done failed excluded", state) {
			continue // waiting rows of a later visit are not listed
		}
		if counted[key] != n {
			b.Errorf("counter %v is %d, rows say %d", key, n, counted[key])
		}
	}
	if wrong, err := b.f.Recount(b.ctx); err != nil || wrong != 0 {
		b.Errorf("recount: %d hosts wrong, %v", wrong, err)
	}
}

// counts is a short way to write wantCounts' map.
type counts = map[string]int64
