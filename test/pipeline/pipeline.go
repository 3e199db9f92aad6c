// Package pipeline runs Warren's services in one process against the real RabbitMQ and PostgreSQL, each
// with a bus, a registry and connections of its own, as if they were processes.
//
//  1. Start makes a virtual host and a database, and starts so many of each service.
//  2. A test seeds by the broker, adds and stops services on the way, and waits for the crawl's end.
//  3. At the end of the test everything is stopped, in order, and must have ended without an error.
package pipeline

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/warrenmq/warren/libs/mq"
	"github.com/warrenmq/warren/libs/mq/rabbit"
	"github.com/warrenmq/warren/libs/mq/rabbit/rabbittest"
	"github.com/warrenmq/warren/libs/sqldb"
	"github.com/warrenmq/warren/libs/sqldb/sqldbtest"
	"github.com/warrenmq/warren/services/dedup"
	dedupdb "github.com/warrenmq/warren/services/dedup/postgres"
	"github.com/warrenmq/warren/services/fetcher"
	"github.com/warrenmq/warren/services/parser"
	"github.com/warrenmq/warren/services/store"
	storedb "github.com/warrenmq/warren/services/store/postgres"
)

// Shards is the number of shards of these runs: few, so that a small test has them all busy.
const Shards = 8

// Options say what to run. Zero fields are one of each service with default settings.
type Options struct {
	Fetchers, Parsers, Dedups, Stores int
	Fetcher                           fetcher.Config
	Dedup                             dedup.Config
}

// Pipeline is what runs.
type Pipeline struct {
	testing.TB
	AMQP string
	Pool *pgxpool.Pool
	Bus  *rabbit.Bus // the test's own

	db      sqldb.Config
	options Options
	names   atomic.Int32
}

// Start starts the services and returns when the broker knows them.
func Start(t testing.TB, o Options) *Pipeline {
	t.Helper()
	p := &Pipeline{TB: t, AMQP: rabbittest.VHost(t), db: sqldb.DefaultConfig(), options: o}
	p.db.URL = sqldbtest.Database(t)
	p.db.MaxConns = 8
	pool, err := sqldb.Open(t.Context(), p.db, slog.New(slog.DiscardHandler))
	p.must(err)
	t.Cleanup(pool.Close)
	p.Pool = pool
	p.Bus = p.bus("test")
	p.run("test", func(ctx context.Context) error { <-ctx.Done(); return nil }, p.Bus)
	for range max(o.Dedups, 1) {
		p.Dedup()
	}
	for range max(o.Stores, 1) {
		p.Store()
	}
	for range max(o.Parsers, 1) {
		p.Parser()
	}
	for range max(o.Fetchers, 1) {
		p.Fetcher()
	}
	return p
}

func (p *Pipeline) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

func (p *Pipeline) bus(name string) *rabbit.Bus {
	p.Helper()
	cfg := rabbit.DefaultConfig()
	cfg.URLs, cfg.Delay = []string{p.AMQP}, 100*time.Millisecond
	bus, err := rabbit.New(cfg, rabbit.Deps{Name: name, Shards: Shards, Log: p.log(name), Registry: prometheus.NewRegistry()})
	p.must(err)
	return bus
}

// log writes warnings to the test's log while the test runs.
func (p *Pipeline) log(name string) *slog.Logger {
	return slog.New(slog.NewTextHandler(p.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})).With("service", name)
}

// run runs a service over its bus and returns what stops both, in that order.
func (p *Pipeline) run(name string, service func(context.Context) error, bus *rabbit.Bus) (stop func()) {
	p.Helper()
	busCtx, stopBus := context.WithCancel(context.Background())
	ctx, cancel := context.WithCancel(busCtx)
	busDone, done := make(chan error, 1), make(chan error, 1)
	go func() { busDone <- bus.Run(busCtx) }()
	go func() { done <- service(ctx) }()
	var stopped atomic.Bool
	stop = func() {
		if stopped.Swap(true) {
			return
		}
		cancel()
		if err := <-done; err != nil {
			p.Errorf("%s: %v", name, err)
		}
		stopBus()
		if err := <-busDone; err != nil {
			p.Errorf("bus of %s: %v", name, err)
		}
	}
	p.Cleanup(stop)
	p.connected(bus)
	return stop
}

func (p *Pipeline) connected(bus *rabbit.Bus) {
	p.Helper()
	limit := time.After(30 * time.Second)
	for {
		state, changed := bus.State()
		if state == mq.Connected {
			return
		}
		select {
		case <-changed:
		case <-limit:
			p.Fatalf("no broker session: %v", state)
		}
	}
}

func (p *Pipeline) name(service string) string { return fmt.Sprintf("%s-%d", service, p.names.Add(1)) }

// Dedup starts one more frontier and returns what stops it.
func (p *Pipeline) Dedup() (stop func()) {
	p.Helper()
	name := p.name("dedup")
	pool, err := sqldb.Open(p.Context(), p.db, p.log(name))
	p.must(err)
	p.Cleanup(pool.Close)
	p.must(sqldb.Migrate(p.Context(), p.db, dedupdb.Migrations(), dedupdb.MigrationTable))
	tables, err := dedupdb.Open(p.Context(), pool)
	p.must(err)
	p.Cleanup(tables.Close)
	bus := p.bus(name)
	cfg := p.options.Dedup
	if cfg == (dedup.Config{}) {
		cfg = dedup.DefaultConfig()
	}
	service, err := dedup.New(cfg, dedup.Deps{Bus: bus, Store: tables, Shards: Shards, Log: p.log(name), Registry: prometheus.NewRegistry()})
	p.must(err)
	return p.run(name, service.Run, bus)
}

// Store starts one more store.
func (p *Pipeline) Store() (stop func()) {
	p.Helper()
	name := p.name("store")
	database, err := storedb.Open(p.Context(), p.db, p.log(name))
	p.must(err)
	p.Cleanup(database.Close)
	bus := p.bus(name)
	service, err := store.New(store.DefaultConfig(), store.Deps{Bus: bus, Database: database, Log: p.log(name), Registry: prometheus.NewRegistry()})
	p.must(err)
	return p.run(name, service.Run, bus)
}

// Parser starts one more parser.
func (p *Pipeline) Parser() (stop func()) {
	p.Helper()
	name := p.name("parser")
	bus := p.bus(name)
	service, err := parser.New(parser.DefaultConfig(), parser.Deps{Bus: bus, Log: p.log(name), Registry: prometheus.NewRegistry()})
	p.must(err)
	return p.run(name, service.Run, bus)
}

// Fetcher starts one more fetcher.
func (p *Pipeline) Fetcher() (stop func()) {
	p.Helper()
	name := p.name("fetcher")
	bus := p.bus(name)
	service, err := fetcher.New(p.options.Fetcher, fetcher.Deps{Bus: bus, Shards: Shards, ID: name, Log: p.log(name), Registry: prometheus.NewRegistry()})
	p.must(err)
	return p.run(name, service.Run, bus)
}
