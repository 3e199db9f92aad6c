// Package dedup is the frontier: it holds every URL's state, decides what is fetched next, and knows
// when a crawl is finished. The database is the truth, the broker only transport.
//
//  1. In come url.seed, url.done and url.retry (queue dedup) and crawl.<verb> (queue crawl).
//  2. Messages are taken in batches, each in one transaction: a visit is closed and its page's links
//     are admitted together, so that outlinks and status never part. Only then are they acked.
//  3. Ready URLs are released host by host within each host's window, marked with a lease, committed,
//     and then published to fetch.<shards>.<n>. What could not be published is put back at once; what a
//     crash leaves in between comes back when its lease ends.
//  4. A sweep promotes what is due, takes back ended leases, gives up what is too old, and ends crawls.
//
// Any number of replicas work on the same tables. The read API answers what is where and why.
package dedup

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"github.com/warrenmq/warren/libs/mq"
	"github.com/warrenmq/warren/services/dedup/internal/frontier"
)

// Store is a database that keeps the frontier; postgres.Store is one.
type Store interface {
	frontier.Store
	frontier.Reader
	// SetShards records the number of shards if it is the first or no URL is out, and returns what is
	// recorded then and how many URLs are out.
	SetShards(ctx context.Context, shards int) (recorded int, out int64, err error)
}

// Deps are what the service works with. All but Now are needed.
type Deps struct {
	Bus      mq.Bus
	Store    Store
	Shards   int
	Log      *slog.Logger
	Registry prometheus.Registerer
	Now      func() time.Time // time.Now if nil
}

// Service is the frontier's service.
type Service struct {
	cfg      Config
	deps     Deps
	frontier *frontier.Frontier
	metrics  *metrics
	batcher  chan *item
	memory   *semaphore.Weighted // bytes of messages decoded
	wake     chan struct{}       // release has reason to look
}

// New checks the settings and returns the service.
func New(cfg Config, deps Deps) (*Service, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if deps.Shards < 1 || deps.Shards > 4096 {
		return nil, fmt.Errorf("WARREN_SHARDS is %d: want 1 to 4096", deps.Shards)
	}
	if deps.Now == nil {
		deps.Now = time.Now
	}
	return &Service{
		cfg: cfg, deps: deps,
		frontier: frontier.New(cfg.frontier(deps.Shards), deps.Store, deps.Now),
		metrics:  newMetrics(deps.Registry),
		batcher:  make(chan *item),
		memory:   semaphore.NewWeighted(cfg.Memory),
		wake:     make(chan struct{}, 1),
	}, nil
}

// ErrShards is returned by Run when the frontier was made with another number of shards and URLs are
// still out on the old queues, or is given another one while this replica runs.
var ErrShards = frontier.ErrShards

// Run works until ctx ends. It returns after everything in hand is settled.
func (s *Service) Run(ctx context.Context) error {
	if err := s.checkShards(ctx); err != nil {
		return err
	}
	// The batcher outlives the consumers: they wait for it while they drain.
	batchCtx, stopBatcher := context.WithCancel(context.WithoutCancel(ctx))
	defer stopBatcher()
	batcher := make(chan struct{})
	go func() {
		defer close(batcher)
		s.runBatcher(batchCtx)
	}()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.consumeURLs(ctx) })
	group.Go(func() error { return s.consumeCrawls(ctx) })
	group.Go(func() error { return s.runRelease(ctx) })
	group.Go(func() error { return s.runSweep(ctx) })
	group.Go(func() error { return s.runRecount(ctx) })
	err := group.Wait()
	stopBatcher()
	<-batcher
	return err
}

// checkShards refuses another number of shards while URLs are out on the old queues: two fetchers could
// serve one host, one by each number.
func (s *Service) checkShards(ctx context.Context) error {
	recorded, out, err := s.deps.Store.SetShards(ctx, s.deps.Shards)
	if err == nil && recorded != s.deps.Shards {
		err = fmt.Errorf("WARREN_SHARDS is %d, recorded is %d, and %d URLs are out on the old queues: pause the crawls until none is, then start with the new number: %w",
			s.deps.Shards, recorded, out, ErrShards)
	}
	return err
}
