// Package postgres keeps the frontier in PostgreSQL ≥ 15.
//
//  1. Write runs a transaction at READ COMMITTED; a deadlock or serialization failure is ErrAgain.
//  2. Every statement works on a whole batch (unnest), none reads more rows than it returns, but for
//     repairs: so the work does not grow with the tables.
//  3. Counters are rows of this replica (its slot, held by an advisory lock) and summed by readers.
package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/warrenmq/warren/libs/sqldb"
	"github.com/warrenmq/warren/services/dedup/internal/frontier"
)

//go:embed migrations/*.sql
var migrations embed.FS

// MigrationTable is where goose notes what has been applied.
const MigrationTable = "dedup_migrations"

// Migrations are the schema's steps.
func Migrations() fs.FS {
	sub, err := fs.Sub(migrations, "migrations")
	if err != nil {
		panic(err) // the folder is embedded
	}
	return sub
}

// slots is how many replicas have counter rows of their own; more share.
const slots = 64

// slotLock is the first key of the slots' advisory locks ("wrrn").
const slotLock = 0x7772726e

// Store is the frontier's tables. It is safe for concurrent use.
type Store struct {
	pool *pgxpool.Pool
	slot int32
	hold *pgxpool.Conn // keeps the slot's lock
}

// Open takes a slot and returns the store. The pool stays the caller's.
func Open(ctx context.Context, pool *pgxpool.Pool) (*Store, error) {
	if most := pool.Config().MaxConns; most < 2 {
		return nil, fmt.Errorf("WARREN_DATABASE_MAX_CONNS is %d: dedup needs 2 at least, one holds its counter slot", most)
	}
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return nil, fmt.Errorf("take a counter slot: %w", err)
	}
	s := &Store{pool: pool, hold: conn}
	for slot := range int32(slots) {
		var mine bool
		err := conn.QueryRow(ctx, `SELECT pg_try_advisory_lock($1, $2)`, slotLock, slot).Scan(&mine)
		if err != nil {
			conn.Release()
			return nil, fmt.Errorf("take a counter slot: %w", err)
		}
		if mine {
			s.slot = slot
			break
		}
	}
	return s, nil
}

// Close gives the slot back.
func (s *Store) Close() {
	conn := s.hold.Hijack()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = conn.Close(ctx) // the lock goes with the session
}

// transactionTime bounds a transaction on this side: statement_timeout works on the server only, and a
// server that has gone without a word would be waited for until TCP gives up.
const transactionTime = time.Minute

// Write runs do in one transaction.
func (s *Store) Write(ctx context.Context, do func(frontier.Tx) error) error {
	ctx, cancel := context.WithTimeout(ctx, transactionTime)
	defer cancel()
	err := pgx.BeginFunc(ctx, s.pool, func(t pgx.Tx) error { return do(&tx{t, s}) })
	if missing := (*missingHosts)(nil); errors.As(err, &missing) {
		if err := s.makeHosts(ctx, missing); err != nil {
			return err
		}
	}
	if pg := (*pgconn.PgError)(nil); errors.As(err, &pg) && (pg.Code == "40P01" || pg.Code == "40001") {
		return fmt.Errorf("%w: %w", frontier.ErrAgain, err)
	}
	if sqldb.Permanent(err) {
		return fmt.Errorf("%w: %w", frontier.ErrBadRow, err)
	}
	return err
}

// SetShards records the number of shards if it is the first or nothing is out, and returns what is
// recorded then, and how many URLs are out. Releases in progress hold the setting's row.
func (s *Store) SetShards(ctx context.Context, shards int) (recorded int, out int64, err error) {
	err = pgx.BeginFunc(ctx, s.pool, func(t pgx.Tx) error {
		_, err := t.Exec(ctx, `INSERT INTO setting (key, value) VALUES ('shards', $1) ON CONFLICT DO NOTHING`, fmt.Sprint(shards))
		if err != nil {
			return err
		}
		if err := t.QueryRow(ctx, `SELECT value::int FROM setting WHERE key = 'shards' FOR UPDATE`).Scan(&recorded); err != nil || recorded == shards {
			return err
		}
		if err := t.QueryRow(ctx, `SELECT coalesce(sum(n), 0)::bigint FROM tally WHERE key = 'released'`).Scan(&out); err != nil || out > 0 {
			return err
		}
		recorded = shards
		_, err = t.Exec(ctx, `UPDATE setting SET value = $1 WHERE key = 'shards'`, fmt.Sprint(shards))
		return err
	})
	if err != nil {
		return 0, 0, fmt.Errorf("record the number of shards: %w", err)
	}
	return recorded, out, nil
}

// Ping tells whether the database answers.
func (s *Store) Ping(ctx context.Context) error { return s.pool.Ping(ctx) }

type tx struct {
	pgx.Tx
	store *Store
}

// at turns a zero time into NULL.
func at(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// when turns NULL into a zero time.
func when(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}
