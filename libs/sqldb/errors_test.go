package sqldb_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/warrenmq/warren/libs/sqldb"
)

// The states of the fault matrix (F28, F29) and their neighbours.
func TestStates(t *testing.T) {
	t.Parallel()
	type verdict struct{ transient, permanent bool }
	for code, want := range map[string]verdict{
		"08006": {transient: true}, "40001": {transient: true}, "40P01": {transient: true},
		"40003": {transient: true}, "53100": {transient: true}, "53200": {transient: true},
		"53300": {transient: true}, "57014": {transient: true}, "57P01": {transient: true},
		"57P03": {transient: true}, "25006": {transient: true}, "25P03": {transient: true},
		"55P03": {transient: true}, "58030": {transient: true},
		"22021": {permanent: true}, "22P05": {permanent: true}, "22001": {permanent: true},
		"23505": {permanent: true}, "23514": {permanent: true}, "54000": {permanent: true},
		"54001": {}, "42P01": {}, "42501": {}, "28P01": {}, "XX000": {},
	} {
		err := fmt.Errorf("store: %w", &pgconn.PgError{Code: code})
		if got := (verdict{sqldb.Transient(err), sqldb.Permanent(err)}); got != want {
			t.Errorf("%s: %+v, want %+v", code, got, want)
		}
	}
}

func TestTransientOfOtherErrors(t *testing.T) {
	t.Parallel()
	for _, err := range []error{io.EOF, io.ErrUnexpectedEOF, context.DeadlineExceeded, pgconn.ErrConnClosed} {
		if err = fmt.Errorf("store: %w", err); !sqldb.Transient(err) || sqldb.Permanent(err) {
			t.Errorf("%v: want transient", err)
		}
	}
	for _, err := range []error{nil, context.Canceled, errors.New("no such thing")} {
		if sqldb.Transient(err) || sqldb.Permanent(err) {
			t.Errorf("%v: want neither", err)
		}
	}
}

// What the driver really returns, not what we think it does.
func TestTransientOfARealConnection(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	cfg.StatementTimeout = 20 * time.Millisecond
	pool := open(t, cfg)
	_, err := pool.Exec(t.Context(), "select pg_sleep(60)")
	if !sqldb.Transient(err) {
		t.Errorf("statement timeout: %v is not transient", err)
	}
	_, err = pool.Exec(t.Context(), "select pg_terminate_backend(pg_backend_pid())")
	if !sqldb.Transient(err) {
		t.Errorf("terminated backend: %v is not transient", err)
	}
	conn, err := pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	if err := conn.Conn().Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err = conn.Exec(t.Context(), "select 1"); !sqldb.Transient(err) {
		t.Errorf("closed connection: %v is not transient", err)
	}
	if _, err = pool.Exec(t.Context(), "select $1::text", "\xff"); !sqldb.Permanent(err) {
		t.Errorf("bad UTF-8: %v is not permanent", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = pool.Exec(ctx, "select 1"); sqldb.Transient(err) {
		t.Errorf("own cancellation: %v is transient", err)
	}
}
