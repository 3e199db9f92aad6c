package frontiertest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/services/dedup/internal/frontier"
)

// flaky is a store whose transactions fail on demand, after or before their commit.
type flaky struct {
	frontier.Store
	lose atomic.Int32 // commit, then say that it failed
	fail atomic.Int32 // roll back and say so
}

var errCut = errors.New("connection was cut")

func (s *flaky) Write(ctx context.Context, do func(frontier.Tx) error) error {
	if s.fail.Add(-1) >= 0 {
		return s.Store.Write(ctx, func(tx frontier.Tx) error { return errors.Join(do(tx), errCut) })
	}
	if err := s.Store.Write(ctx, do); err != nil {
		return err
	}
	if s.lose.Add(-1) >= 0 {
		return errCut
	}
	return nil
}

// testAmbiguousCommit: the transaction commits, its answer is lost, the batch comes again. What the
// first run did must neither be lost nor done twice.
func testAmbiguousCommit(b *bench) {
	store := &flaky{Store: b.store}
	b.f = frontier.New(config(), store, b.now)
	b.seed("https://a.test/")
	m := b.release()[0]
	o := page(m, "https://a.test/1", "https://a.test/2")
	store.lose.Store(1)
	if _, err := b.f.Apply(b.ctx, frontier.Batch{Outcomes: []contract.Outcome{o}}); !errors.Is(err, errCut) {
		b.Fatalf("apply: %v", err)
	}
	if applied := b.outcome(o); applied.Admitted != 0 || applied.Stale != 1 {
		b.Fatalf("applied %+v", applied)
	}
	b.wantCounts("default", counts{"done": 1, "ready": 2})
	store.lose.Store(1)
	if _, _, err := b.f.Release(b.ctx); !errors.Is(err, errCut) {
		b.Fatalf("release: %v", err)
	}
	b.wantCounts("default", counts{"done": 1, "released": 2}) // nobody published them: the lease does
	b.pass(config().Lease + 1)
	b.sweep(true)
	if list := b.releaseAll(); len(list) != 2 {
		b.Fatalf("released %+v", list)
	}
}

// testRollback: links of a batch that was rolled back must not be in the cache of known ids.
func testRollback(b *bench) {
	store := &flaky{Store: b.store}
	b.f = frontier.New(config(), store, b.now)
	b.seed("https://a.test/")
	m := b.release()[0]
	o := page(m, "https://a.test/1")
	store.fail.Store(1)
	if _, err := b.f.Apply(b.ctx, frontier.Batch{Outcomes: []contract.Outcome{o}}); !errors.Is(err, errCut) {
		b.Fatalf("apply: %v", err)
	}
	b.wantCounts("default", counts{"released": 1})
	if applied := b.outcome(o); applied.Admitted != 1 {
		b.Fatalf("applied %+v", applied)
	}
	b.wantCounts("default", counts{"done": 1, "ready": 1})
}

// testReplicas lets three replicas admit, release, close, retry and sweep one graph at once, with
// outcomes delivered twice and some transactions' answers lost, and counts at the end.
func testReplicas(b *bench) {
	const hosts, pages, workers = 12, 20, 3
	seed := rand.Uint64()
	b.Logf("seed %d", seed)
	b.apply(frontier.Batch{Seeds: seeds(b.T, contract.Seed{Crawl: "default", Scope: contract.Scope{Kind: contract.ScopeAny}}, "https://h00.test/0")})
	var fetched sync.Map
	var doubled atomic.Int32
	var group sync.WaitGroup
	ctx, stop := context.WithCancel(b.ctx)
	defer stop()
	for n := range workers {
		store := &flaky{Store: b.store}
		f := frontier.New(config(), store, b.now)
		random := rand.New(rand.NewPCG(seed, uint64(n)))
		group.Go(func() {
			for ctx.Err() == nil {
				if random.IntN(10) == 0 {
					store.lose.Store(1)
				}
				list, _, err := f.Release(ctx)
				if err != nil && !errors.Is(err, errCut) {
					b.Errorf("release: %v", err)
					return
				}
				for _, m := range list {
					if _, twice := fetched.LoadOrStore(fmt.Sprint(m.ID, m.Release), true); twice {
						doubled.Add(1)
					}
				}
				batch := frontier.Batch{}
				for _, m := range list {
					if random.IntN(8) == 0 {
						batch.Retries = append(batch.Retries, retry(m, "hold", false))
						continue
					}
					batch.Outcomes = append(batch.Outcomes, page(m, graphLinks(m.URL, hosts, pages)...))
				}
				for range 2 { // at least once means twice
					for {
						if _, err := f.Apply(ctx, batch); err == nil || ctx.Err() != nil {
							break
						} else if !errors.Is(err, errCut) {
							b.Errorf("apply: %v", err)
							return
						}
					}
				}
				swept, err := f.Sweep(ctx, true)
				if err != nil && !errors.Is(err, errCut) && ctx.Err() == nil {
					b.Errorf("sweep: %v", err)
					return
				}
				if len(list) == 0 {
					b.pass(config().Lease / 4) // what was lost with an answer comes back by its lease
				}
				if len(swept.Finished) > 0 {
					stop()
				}
			}
		})
	}
	group.Wait()
	if b.Failed() {
		return
	}
	if doubled.Load() > 0 {
		b.Fatalf("%d releases were handed out twice", doubled.Load())
	}
	b.ctx = b.Context()
	b.wantCounts("default", counts{"done": hosts * pages})
	wrong, err := b.f.Recount(b.ctx)
	b.must(err)
	if wrong != 0 {
		b.Fatalf("%d hosts have a wrong count", wrong)
	}
}

// graphLinks leads from each page to the next of its host and to the same page of the next host.
func graphLinks(url string, hosts, pages int) []string {
	var h, p int
	if _, err := fmt.Sscanf(url, "https://h%02d.test/%d", &h, &p); err != nil {
		return nil
	}
	return []string{
		fmt.Sprintf("https://h%02d.test/%d", h, (p+1)%pages),
		fmt.Sprintf("https://h%02d.test/%d", (h+1)%hosts, p),
		fmt.Sprintf("https://h%02d.test/%d", (h+5)%hosts, (p+7)%pages),
	}
}
