package postgres_test

import (
	"context"
	"log/slog"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"go.uber.org/goleak"

	"github.com/warrenmq/warren/libs/sqldb"
	"github.com/warrenmq/warren/libs/sqldb/sqldbtest"
	"github.com/warrenmq/warren/services/store"
	"github.com/warrenmq/warren/services/store/export"
	"github.com/warrenmq/warren/services/store/postgres"
	"github.com/warrenmq/warren/services/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open returns store's database and a pool of its own to look into it.
func open(t testing.TB) (*postgres.Database, *pgxpool.Pool) {
	t.Helper()
	cfg := sqldb.DefaultConfig()
	cfg.URL = sqldbtest.Database(t)
	cfg.MaxConns = 4
	silent := slog.New(slog.DiscardHandler)
	db, err := postgres.Open(context.Background(), cfg, silent)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	pool, err := sqldb.Open(context.Background(), cfg, silent)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return db, pool
}

func TestDatabase(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) (store.Database, export.Source) {
		db, pool := open(t)
		return db, postgres.NewReader(pool)
	})
}
