package sqldb

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// MinVersion is the oldest PostgreSQL that Warren runs on, as server_version_num.
const MinVersion = 150000

// Errors of Open and Migrate. Both mean that waiting has no point any more.
var (
	// ErrUnreachable says that the attempts are used up; the last cause is wrapped beside it.
	ErrUnreachable error = &sentinel{"database is unreachable", 5}
	// ErrUnfit says that the database answers but is of no use to Warren.
	ErrUnfit error = &sentinel{"database is not fit for use", 2}
)

// sentinel is an error that knows the exit status of a process it ends (see package daemon).
type sentinel struct {
	text   string
	status int
}

func (s *sentinel) Error() string   { return s.text }
func (s *sentinel) ExitStatus() int { return s.status }

// Open waits for the database and returns a pool. It tries cfg.Attempts times (0: until ctx ends),
// cfg.Delay apart, and logs why it still waits. It returns ErrUnreachable or ErrUnfit, wrapped, or
// ctx's error. It warns when the server's settings weaken what COMMIT promises.
func Open(ctx context.Context, cfg Config, log *slog.Logger) (*pgxpool.Pool, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	settings, err := cfg.pool()
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, settings)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	err = cfg.rounds(ctx, log, func(ctx context.Context) error {
		// A server that takes the connection and then says nothing must not be waited for for ever.
		ctx, cancel := context.WithTimeout(ctx, 2*cfg.ConnectTimeout)
		defer cancel()
		return inspect(ctx, pool, log)
	})
	if err != nil {
		pool.Close()
		return nil, err
	}
	return pool, nil
}

// inspect reads the server's settings once. PostgreSQL's documentation, chapter 30.5: without fsync
// or full_page_writes a crash can ruin data; without synchronous_commit it loses the last commits.
func inspect(ctx context.Context, pool *pgxpool.Pool, log *slog.Logger) error {
	var version int
	var name, encoding, fsync, commit, pages string
	err := pool.QueryRow(ctx, `
		select current_setting('server_version_num')::int, current_setting('server_version'),
		       current_setting('server_encoding'), current_setting('fsync'),
		       current_setting('synchronous_commit'), current_setting('full_page_writes')`).
		Scan(&version, &name, &encoding, &fsync, &commit, &pages)
	if err != nil {
		return err
	}
	if version < MinVersion {
		return fmt.Errorf("PostgreSQL %s: want 15 or newer: %w", name, ErrUnfit)
	}
	if encoding != "UTF8" {
		return fmt.Errorf("database encoding %s: want UTF8: %w", encoding, ErrUnfit)
	}
	for setting, value := range map[string]string{
		"fsync": fsync, "synchronous_commit": commit, "full_page_writes": pages,
	} {
		if value == "off" {
			log.WarnContext(ctx, "database may lose what it has committed", "setting", setting, "value", value)
		}
	}
	return nil
}

// rounds calls try until it succeeds, says ErrUnfit, or the attempts or ctx are over. Every other
// error is waited for: a wrong password or a missing database may be mended from outside too, and
// a process that exits at once only makes its supervisor spin.
func (c Config) rounds(ctx context.Context, log *slog.Logger, try func(context.Context) error) error {
	for attempt := 1; ; attempt++ {
		err := try(ctx)
		switch {
		case err == nil, errors.Is(err, ErrUnfit):
			return err
		case ctx.Err() != nil:
			return fmt.Errorf("wait for database: %w", ctx.Err())
		case attempt == c.Attempts:
			return fmt.Errorf("%w after %d attempts: %w", ErrUnreachable, attempt, err)
		}
		wait := c.Delay*3/4 + rand.N(c.Delay/2+1)
		log.WarnContext(ctx, "database is not there yet", "attempt", attempt,
			"wait", wait.Round(time.Millisecond).String(), "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}
