// Package parser is the stage between fetcher and store: it reads what was fetched.
//
//  1. In comes a response from the queue "parser": facts, and the body, zstd-compressed.
//  2. The body is decompressed, within a limit, and hashed.
//  3. By kind: of HTML the charset, links, title, description, canonical, language, robots
//     directives and main text; of text the charset and the text; of anything else the facts alone.
//     A redirect's target is a link. However hostile the document is, its page goes on, with what
//     could be had and a flag for what could not.
//  4. Out goes a page, the body in it as it came, to page.<kind>.<host>; when the broker has
//     confirmed it the response is acked. A page too large for a message ends its URL with
//     url.done failed("too large"). A message that is none goes to dead.parser.
//
// It keeps no state; any number of them may run.
package parser

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq"
)

// Bus is the part of mq.Bus that the parser uses.
type Bus interface {
	mq.Publisher
	mq.Consumer
}

// Deps are what the parser is given. All but Now must be set.
type Deps struct {
	Bus      Bus
	Log      *slog.Logger
	Registry prometheus.Registerer
	Now      func() time.Time // time.Now if nil; the deadline of a page is measured by it
}

// Service is one parser.
type Service struct {
	cfg     Config
	deps    Deps
	metrics *metrics
	zstd    *zstd.Decoder
	scratch sync.Pool // of *scratch
}

// New checks cfg and registers the metrics. It fails if either cannot be.
func New(cfg Config, deps Deps) (*Service, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if deps.Bus == nil || deps.Log == nil || deps.Registry == nil {
		return nil, errors.New("parser needs a bus, a log and a registry")
	}
	if deps.Now == nil {
		deps.Now = time.Now
	}
	if cfg.Concurrency == 0 {
		cfg.Concurrency = runtime.GOMAXPROCS(0)
	}
	m, err := newMetrics(deps.Registry)
	if err != nil {
		return nil, err
	}
	decoder, err := newDecoder(cfg)
	if err != nil {
		return nil, err
	}
	s := &Service{cfg: cfg, deps: deps, metrics: m, zstd: decoder}
	s.scratch.New = func() any { return new(scratch) }
	return s, nil
}

// Run parses until ctx ends or the bus is lost. It is to be called once.
func (s *Service) Run(ctx context.Context) error {
	defer s.zstd.Close()
	err := s.deps.Bus.Consume(ctx, mq.Subscription{
		Queue:       contract.QueueParser,
		Prefetch:    s.cfg.Prefetch,
		Concurrency: s.cfg.Concurrency,
		OnDead:      s.onDead,
	}, s.handle)
	if err != nil {
		return fmt.Errorf("consume %s: %w", contract.QueueParser, err)
	}
	return nil
}
