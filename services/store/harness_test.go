package store_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq"
	"github.com/warrenmq/warren/libs/mq/mqtest"
	"github.com/warrenmq/warren/libs/sqldb"
	"github.com/warrenmq/warren/libs/sqldb/sqldbtest"
	"github.com/warrenmq/warren/services/store"
	"github.com/warrenmq/warren/services/store/postgres"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// quick commits each page at once, in a transaction of its own.
func quick(cfg *store.Config) { cfg.Batch = 1 }

// together waits until n pages are there and commits them in one transaction.
func together(n int) func(*store.Config) {
	return func(cfg *store.Config) {
		cfg.Prefetch, cfg.Batch, cfg.BatchWait, cfg.Writers = max(n, 32), n, time.Hour, 1
	}
}

// run runs a store on a bus and a database until the test ends.
func run(t testing.TB, bus store.Bus, db store.Database, edit func(*store.Config)) *prometheus.Registry {
	t.Helper()
	registry, stop := start(t, bus, db, edit)
	t.Cleanup(stop)
	return registry
}

// start runs a store until stop is called, which returns when Run has.
func start(t testing.TB, bus store.Bus, db store.Database, edit func(*store.Config)) (_ *prometheus.Registry, stop func()) {
	t.Helper()
	cfg := store.DefaultConfig()
	edit(&cfg)
	registry := prometheus.NewRegistry()
	service, err := store.New(cfg, store.Deps{
		Bus: bus, Database: db, Log: slog.New(slog.DiscardHandler), Registry: registry,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- service.Run(ctx) }()
	return registry, func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("run: %v", err)
		}
	}
}

// database is a database of the test's own, and a pool to look into it.
func database(t testing.TB, edit ...func(*sqldb.Config)) (*postgres.Database, *pgxpool.Pool) {
	t.Helper()
	cfg := sqldb.DefaultConfig()
	cfg.URL, cfg.MaxConns = sqldbtest.Database(t), 4
	silent := slog.New(slog.DiscardHandler)
	pool, err := sqldb.Open(context.Background(), cfg, silent)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	for _, e := range edit {
		e(&cfg)
	}
	db, err := postgres.Open(context.Background(), cfg, silent)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db, pool
}

// deliver hands messages to the store all at once and returns what became of each.
func deliver(t testing.TB, bus *mqtest.Bus, messages ...mq.Message) []error {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	errs := make([]error, len(messages))
	var all sync.WaitGroup
	for i, m := range messages {
		all.Go(func() { errs[i] = bus.Deliver(ctx, contract.QueueStore, m) })
	}
	all.Wait()
	if ctx.Err() != nil {
		t.Fatal("the store did not answer within a minute")
	}
	return errs
}

// must is deliver of what has to succeed.
func must(t testing.TB, bus *mqtest.Bus, messages ...mq.Message) {
	t.Helper()
	if err := errors.Join(deliver(t, bus, messages...)...); err != nil {
		t.Fatal(err)
	}
}

// again hands a message to the store until it is taken, as a driver does. Every failure on the way must
// be one that waiting mends.
func again(t testing.TB, bus *mqtest.Bus, message mq.Message) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; {
		err := deliver(t, bus, message)[0]
		if err == nil {
			return
		}
		if rejected(err) || !sqldb.Transient(err) || time.Now().After(end) {
			t.Fatalf("answered with %v", err)
		}
	}
}

func rejected(err error) bool {
	_, ok := errors.AsType[*mq.Rejection](err)
	return ok
}

// outcomes takes all outcomes that were published, sorted by URL id and visit.
func outcomes(t testing.TB, bus *mqtest.Bus) []contract.Outcome {
	t.Helper()
	var all []contract.Outcome
	for _, m := range bus.Take(contract.KeyDone) {
		done, err := contract.DecodeDone(m.Body)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, done.Outcomes...)
	}
	slices.SortFunc(all, func(a, b contract.Outcome) int {
		if n := strings.Compare(a.ID, b.ID); n != 0 {
			return n
		}
		return a.Visit - b.Visit
	})
	return all
}

// count is the answer of a query that counts.
func count(t testing.TB, pool *pgxpool.Pool, query string) int {
	t.Helper()
	var n int
	if err := pool.QueryRow(context.Background(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
