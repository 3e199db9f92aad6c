// Package fetcher is the service that asks the web's servers. Nothing else in Warren does.
//
//  1. Every fetcher consumes every shard queue fetch.<shards>.<n>; RabbitMQ makes one of them the
//     owner of each. A message is one URL to fetch, of a host that this process alone serves.
//  2. A message whose lease has ended is dropped: the frontier has taken its URL back.
//  3. The host's robots.txt comes first (RFC 9309). What it forbids ends excluded. While it cannot be
//     reached nothing is asked for, and the URL goes back.
//  4. Each request, the one for robots.txt too, waits for a slot of its host: one at a time, spaced
//     by the delay, held back by Retry-After, back-off and breaker. A message that cannot have a
//     slot within Hold goes back to the frontier, and that is no attempt.
//  5. Before each start: the consumer is not stopping, the lease stands, and a broker round trip
//     succeeded a moment ago. A process that was frozen learns there that it owns nothing any more.
//  6. One GET through a guarded dialler, with limits on everything. No redirect is followed: a 3xx
//     is a response, its target a link.
//  7. A response of any status is published as response.<kind>.<host>; but 429, 5xx and what brought
//     no response go back as url.retry, an attempt, and what can never work ends as url.done.
//  8. Only when the broker has confirmed what is published is the message settled.
//
// Every message that goes out says what is known of the host, for the frontier and the next owner.
package fetcher

import (
	"context"
	"crypto/rand"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net"
	"os"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/warrenmq/warren/libs/mq"
	"github.com/warrenmq/warren/services/fetcher/internal/guard"
	"github.com/warrenmq/warren/services/fetcher/internal/httpget"
	"github.com/warrenmq/warren/services/fetcher/internal/politeness"
	"github.com/warrenmq/warren/services/fetcher/internal/robotcache"
)

// Bus is what the service needs of mq.Bus.
type Bus interface {
	mq.Publisher
	mq.Consumer
}

// Deps are what the service works with. Bus and Shards are required.
type Deps struct {
	Bus      Bus
	Shards   int                   // as the frontier counts them
	ID       string                // of this process among fetchers; made of the host's name if empty
	Log      *slog.Logger          // nil: nothing is logged
	Registry prometheus.Registerer // nil: nothing is counted
	Now      func() time.Time      // nil: time.Now
	Resolver *net.Resolver         // nil: the system's
	RootCAs  *x509.CertPool        // nil: the system's
}

// Service is a fetcher. Make it with New.
type Service struct {
	cfg     Config
	bus     Bus
	shards  int
	id      string
	log     *slog.Logger
	now     func() time.Time
	metrics *metrics
	hosts   *politeness.Hosts
	robots  *robotcache.Cache
	client  *httpget.Client
	zip     *zstd.Encoder
	tokens  chan struct{} // one for each fetch, from its start until its result is published
	large   chan struct{} // one for each of them whose body is large
}

// New returns a service that does nothing until Run.
func New(cfg Config, deps Deps) (*Service, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if deps.Bus == nil || deps.Shards < 1 {
		return nil, fmt.Errorf("make fetcher: bus is %v, shards %d: want a bus and at least one shard", deps.Bus, deps.Shards)
	}
	if deps.Log == nil {
		deps.Log = slog.New(slog.DiscardHandler)
	}
	if deps.Now == nil {
		deps.Now = time.Now
	}
	if deps.ID == "" {
		deps.ID = newID()
	}
	allowed, err := guard.New(cfg.Allow)
	if err != nil {
		return nil, fmt.Errorf("make fetcher: %w", err)
	}
	zip, err := zstd.NewWriter(nil, zstd.WithLowerEncoderMem(true))
	if err != nil {
		return nil, fmt.Errorf("make fetcher: %w", err)
	}
	s := &Service{
		cfg: cfg, bus: deps.Bus, shards: deps.Shards, id: deps.ID, now: deps.Now,
		log:    deps.Log,
		hosts:  politeness.New(cfg.politeness(), deps.Now),
		robots: robotcache.New(cfg.robots(), deps.Now),
		client: httpget.New(cfg.UserAgent, cfg.limits(), httpget.Dialling{
			Control: allowed.Control, Resolver: deps.Resolver, RootCAs: deps.RootCAs,
		}),
		zip:    zip,
		tokens: make(chan struct{}, cfg.Concurrency),
		large:  make(chan struct{}, cfg.LargeBodies),
	}
	s.metrics = newMetrics(deps.Registry, s.hosts, s.robots)
	return s, nil
}

// Run consumes until ctx ends, then finishes what has begun and returns nil. It returns an error
// when the bus has given up. Call it once.
func (s *Service) Run(ctx context.Context) error {
	defer s.client.Close()
	defer s.hosts.Close()
	return s.consume(ctx)
}

// newID names this process: containers of one service have different host names, and the suffix
// tells a process from the one that ran here before.
func newID() string {
	name, err := os.Hostname()
	if err != nil {
		name = "fetcher"
	}
	var suffix [4]byte
	_, _ = rand.Read(suffix[:]) // never fails, says its documentation
	return name + "-" + hex.EncodeToString(suffix[:])
}
