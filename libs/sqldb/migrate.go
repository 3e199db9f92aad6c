package sqldb

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"log/slog"

	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

// Migrate applies the migrations in fsys (goose's SQL files, at its root) that the version table does
// not name yet. One table per service, for example "store_migrations". Replicas that start together
// take turns by an advisory lock. A database that is newer than this build is left as it is, so that
// an old replica can start beside a new one. It waits for a lost database like Open; it has no
// statement timeout, since building an index may take long.
func Migrate(ctx context.Context, cfg Config, fsys fs.FS, table string) error {
	if err := cfg.Validate(); err != nil {
		return err
	}
	cfg.StatementTimeout = 0
	silent := slog.New(slog.DiscardHandler) // the caller has waited for the database in Open
	return cfg.rounds(ctx, silent, func(ctx context.Context) error {
		err := cfg.migrate(ctx, fsys, table)
		if err != nil && !Transient(err) && ctx.Err() == nil {
			return fmt.Errorf("migrate %s: %w: %w", table, err, ErrUnfit)
		}
		return err
	})
}

func (c Config) migrate(ctx context.Context, fsys fs.FS, table string) (err error) {
	settings, err := c.pool()
	if err != nil {
		return err
	}
	if err := c.password(ctx, settings.ConnConfig); err != nil {
		return err
	}
	db := stdlib.OpenDB(*settings.ConnConfig)
	defer func() { err = errors.Join(err, db.Close()) }()

	// An id of its own for each table: services that share a database do not wait for one another.
	id := fnv.New64a()
	_, _ = id.Write([]byte(table))
	locker, err := lock.NewPostgresSessionLocker(
		lock.WithLockID(int64(id.Sum64()>>1)),
		lock.WithLockTimeout(1, 3600),
		lock.WithUnlockTimeout(1, 5))
	if err != nil {
		return fmt.Errorf("make migration lock: %w", err)
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, db, fsys,
		goose.WithTableName(table),
		goose.WithSessionLocker(locker),
		goose.WithDisableGlobalRegistry(true),
		goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	_, err = provider.Up(ctx)
	return err
}
