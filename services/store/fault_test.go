package store_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq"
	"github.com/warrenmq/warren/libs/mq/mqtest"
	"github.com/warrenmq/warren/libs/sqldb"
	"github.com/warrenmq/warren/services/store"
	"github.com/warrenmq/warren/services/store/storetest"
)

// F26 and its neighbours: whether a COMMIT has happened or not, there is one row in the end, and what
// follows from it is published.
func TestCommitIsCut(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		fate string
		rows int // after the failure
	}{{cutBefore, 0}, {cutAfter, 1}, {swallow, 1}} {
		t.Run(test.fate, func(t *testing.T) {
			t.Parallel()
			proxy, through := startProxy(t)
			db, pool := database(t, through)
			bus := mqtest.NewBus()
			run(t, bus, db, func(cfg *store.Config) {
				quick(cfg)
				if test.fate == swallow {
					cfg.Timeout = 500 * time.Millisecond
				}
			})
			message := storetest.Message(t, home, 1, "A")
			proxy.at(test.fate)
			err := deliver(t, bus, message)[0]
			if err == nil || rejected(err) || !sqldb.Transient(err) {
				t.Fatalf("answered with %v, want a transient error", err)
			}
			if n := count(t, pool, "select count(*) from page"); n != test.rows || proxy.times() != 1 {
				t.Fatalf("%d rows after %d cuts, want %d after 1", n, proxy.times(), test.rows)
			}
			if n := len(bus.Published()); n != 0 {
				t.Fatalf("%d messages published for a commit that is not known to have happened", n)
			}
			must(t, bus, message)
			if n := count(t, pool, "select count(*) from page"); n != 1 {
				t.Errorf("%d rows, want 1", n)
			}
			got := outcomes(t, bus)
			if len(got) != 1 || got[0].Status != contract.StatusDone || len(got[0].Links) != 1 || len(bus.Take("change.new.")) != 1 {
				t.Errorf("outcomes %+v, want the page's, its link and its change", got)
			}
		})
	}
}

// Every COMMIT's answer is lost once, then every other: all pages of many batches end stored and told.
func TestCommitsAreCutAgainAndAgain(t *testing.T) {
	t.Parallel()
	proxy, through := startProxy(t)
	db, pool := database(t, through)
	bus := mqtest.NewBus()
	run(t, bus, db, func(cfg *store.Config) { cfg.Batch, cfg.BatchWait, cfg.Writers = 4, time.Millisecond, 1 })
	const pages = 20
	told := map[string]bool{}
	for i := range pages {
		proxy.at([]string{cutAfter, cutBefore, ""}[i%3])
		message := storetest.Message(t, fmt.Sprint(home, i), 1, fmt.Sprint(i))
		again(t, bus, message)
		for _, o := range outcomes(t, bus) {
			told[o.ID] = true
		}
	}
	if n := count(t, pool, "select count(*) from page"); n != pages || len(told) != pages || proxy.times() != 14 {
		t.Errorf("%d rows, %d told after %d cuts, want %d and %d after 14", n, len(told), proxy.times(), pages, pages)
	}
}

// F25, F27: backends that are killed cost a retry and nothing else.
func TestBackendsAreKilled(t *testing.T) {
	t.Parallel()
	db, pool := database(t, func(cfg *sqldb.Config) { cfg.ApplicationName = "victim" })
	bus := mqtest.NewBus()
	run(t, bus, db, quick)
	for i := range 5 {
		must(t, bus, storetest.Message(t, fmt.Sprint(home, i), 1, "A"))
		n := count(t, pool, `select count(pg_terminate_backend(pid)) from pg_stat_activity
			where application_name = 'victim' and datname = current_database()`)
		if n == 0 {
			t.Fatal("no backend to kill")
		}
		again(t, bus, storetest.Message(t, fmt.Sprint(home, i), 2, "A"))
	}
	if n := count(t, pool, "select count(*) from page"); n != 10 || len(bus.Take("dead.")) != 0 {
		t.Errorf("%d rows, want 10 and nothing dead", n)
	}
}

// F30: a lock on the table is waited for, not taken for the page's fault.
func TestTableIsLocked(t *testing.T) {
	t.Parallel()
	db, pool := database(t, func(cfg *sqldb.Config) { cfg.StatementTimeout = 100 * time.Millisecond })
	bus := mqtest.NewBus()
	run(t, bus, db, quick)
	lock, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lock.Exec(t.Context(), "lock table page in access exclusive mode"); err != nil {
		t.Fatal(err)
	}
	message := storetest.Message(t, home, 1, "A")
	if err := deliver(t, bus, message)[0]; rejected(err) || !sqldb.Transient(err) {
		t.Errorf("answered with %v, want a transient error", err)
	}
	if err := lock.Rollback(context.Background()); err != nil {
		t.Fatal(err)
	}
	must(t, bus, message)
}

// F28: a database that is read-only (a standby after a fail-over) is waited for.
func TestDatabaseIsReadOnly(t *testing.T) {
	t.Parallel()
	db, pool := database(t)
	bus := mqtest.NewBus()
	run(t, bus, db, quick)
	conn, err := pool.Acquire(t.Context()) // made before, it stays able to write
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	database := name(t, pool)
	set := func(value string) {
		_, err := conn.Exec(t.Context(), "alter role current_user in database "+database+
			" set default_transaction_read_only = "+value)
		if err != nil {
			t.Fatal(err)
		}
		// The setting holds for new sessions.
		_, err = conn.Exec(t.Context(), `select pg_terminate_backend(pid) from pg_stat_activity
			where datname = current_database() and pid <> pg_backend_pid()`)
		if err != nil {
			t.Fatal(err)
		}
	}
	set("on")
	message := storetest.Message(t, home, 1, "A")
	for range 3 {
		if err := deliver(t, bus, message)[0]; err == nil || rejected(err) || !sqldb.Transient(err) {
			t.Errorf("answered with %v, want a transient error", err)
		}
	}
	set("off")
	again(t, bus, message)
	if n := len(bus.Take("dead.")); n != 0 {
		t.Errorf("%d dead letters", n)
	}
}

// F29 on the real database: a constraint stands for whatever a row may have that nobody thought of.
func TestBadRowsAreFoundByHalving(t *testing.T) {
	t.Parallel()
	db, pool := database(t)
	if _, err := pool.Exec(t.Context(), "alter table page add check (title <> 'refuse')"); err != nil {
		t.Fatal(err)
	}
	bus := mqtest.NewBus()
	registry := run(t, bus, db, together(16))
	var batch []mq.Message
	for i := range 16 {
		batch = append(batch, titled(t, i, ""))
	}
	batch[11] = titled(t, 11, "refuse")
	for i, err := range deliver(t, bus, batch...) {
		if (i == 11) != rejected(err) || (i != 11 && err != nil) {
			t.Errorf("page %d is answered with %v", i, err)
		}
	}
	ended(t, bus, 15)
	if n := count(t, pool, "select count(*) from page"); n != 15 {
		t.Errorf("%d rows, want 15", n)
	}
	want := map[string]float64{
		"warren_store_pages_total 2xx html": 15, "warren_store_bodies_total new": 15, "warren_store_changes_total new": 15,
		"warren_store_dead_total": 1, "warren_store_pages_known_total": 0, "warren_store_batch_pages": 4,
		"warren_store_batch_seconds": 4,
	}
	got := gather(t, registry)
	if got["warren_store_body_bytes_total"] <= 0 {
		t.Errorf("no bytes of bodies are counted: %v", got)
	}
	delete(got, "warren_store_body_bytes_total")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
}
