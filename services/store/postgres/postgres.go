// Package postgres keeps store's pages in PostgreSQL.
//
//  1. In come the rows of a batch, sorted by key.
//  2. One READ COMMITTED transaction looks up the earlier visits, inserts the bodies that are not known
//     yet by their hash, then the pages, both in the order of their keys, so that two stores with the
//     same pages wait for one another and never deadlock.
//  3. A row that was there already is left as it is and read back.
//  4. Out goes, after COMMIT, what stands under each key.
package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/warrenmq/warren/libs/sqldb"
	"github.com/warrenmq/warren/services/store"
)

//go:embed migrations/*.sql
var migrations embed.FS

// versions is the table that says which migrations are applied.
const versions = "store_migrations"

// Database is a store.Database.
type Database struct{ pool *pgxpool.Pool }

var _ store.Database = (*Database)(nil)

// Open waits for the database as cfg says and brings store's tables up to date.
func Open(ctx context.Context, cfg sqldb.Config, log *slog.Logger) (*Database, error) {
	pool, err := sqldb.Open(ctx, cfg, log)
	if err != nil {
		return nil, err
	}
	files, err := fs.Sub(migrations, "migrations")
	if err == nil {
		err = sqldb.Migrate(ctx, cfg, files, versions)
	}
	if err != nil {
		pool.Close()
		return nil, err
	}
	return &Database{pool: pool}, nil
}

// Ready is nil when the database answers: for /readyz.
func (d *Database) Ready(ctx context.Context) error { return d.pool.Ping(ctx) }

// Close waits for the connections in use and closes all.
func (d *Database) Close() { d.pool.Close() }

// refusal marks err if a row is at fault. The reason holds nothing of the row, as PostgreSQL's own
// message may.
func refusal(err error) error {
	answer, ok := errors.AsType[*pgconn.PgError](err)
	if !ok || !sqldb.Permanent(err) {
		return err
	}
	return &store.RefusedError{Reason: fmt.Sprintf("the database refuses the page: SQLSTATE %s", answer.Code), Err: err}
}
