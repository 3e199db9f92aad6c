// Package store keeps pages. It is the stage that closes a URL.
//
//  1. In comes page.<kind>.<host>: what was fetched and extracted, the body zstd-compressed behind it.
//  2. The message is read, its body compared with its hash, its text cleaned of what no database
//     takes. What is no page goes to dead.store.
//  3. Pages that arrive together are kept in one transaction: the body once by its hash, the page once
//     by (crawl, URL, visit). A page the database refuses is found by bisection; its neighbours go on.
//  4. After the commit, and from what is stored (a page that was there already is no exception), out go
//     url.done with the outcomes and links of the batch, and change.<what>.<host> for what is new,
//     updated or gone.
//  5. When the broker has confirmed those, the pages are acked.
//
// A crash, a lost connection or a lost answer at any point leads to the same page again, which finds
// its row and publishes the same messages again. Any number of stores may run.
package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq"
)

// Bus is the part of mq.Bus that store uses.
type Bus interface {
	mq.Publisher
	mq.Consumer
}

// Deps are what store is given. All must be set.
type Deps struct {
	Bus      Bus
	Database Database
	Log      *slog.Logger
	Registry prometheus.Registerer
}

// Service is one store.
type Service struct {
	cfg     Config
	deps    Deps
	metrics *metrics
	digests digests
	arrived chan *arrival // from handlers to the batcher
}

// New checks cfg and registers the metrics. It fails if either cannot be.
func New(cfg Config, deps Deps) (*Service, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if deps.Bus == nil || deps.Database == nil || deps.Log == nil || deps.Registry == nil {
		return nil, errors.New("store needs a bus, a database, a log and a registry")
	}
	m, err := newMetrics(deps.Registry)
	if err != nil {
		return nil, err
	}
	return &Service{cfg: cfg, deps: deps, metrics: m, arrived: make(chan *arrival)}, nil
}

// Run keeps pages until ctx ends or the bus is lost. It is to be called once. When ctx ends it takes
// no new page, and returns when those in hand are stored, reported and acked, or cfg.Grace is over.
func (s *Service) Run(ctx context.Context) error {
	// The batcher outlives ctx: handlers that are in hand at a stop still wait for it.
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	batcher := make(chan struct{})
	go func() {
		defer close(batcher)
		s.batches(work)
	}()
	err := s.deps.Bus.Consume(ctx, mq.Subscription{
		Queue:    contract.QueueStore,
		Prefetch: s.cfg.Prefetch,
		Grace:    s.cfg.Grace,
		OnDead:   s.onDead,
	}, s.handle)
	stop()
	<-batcher
	if err != nil {
		return fmt.Errorf("consume %s: %w", contract.QueueStore, err)
	}
	return nil
}
