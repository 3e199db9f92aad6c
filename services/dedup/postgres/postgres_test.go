package postgres_test

import (
	"log/slog"
	"testing"

	"github.com/warrenmq/warren/libs/sqldb"
	"github.com/warrenmq/warren/libs/sqldb/sqldbtest"
	"github.com/warrenmq/warren/services/dedup/internal/frontier/frontiertest"
	"github.com/warrenmq/warren/services/dedup/postgres"
)

func open(t *testing.T) *postgres.Store {
	t.Helper()
	cfg := sqldb.DefaultConfig()
	cfg.URL = sqldbtest.Database(t)
	pool, err := sqldb.Open(t.Context(), cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	if err := sqldb.Migrate(t.Context(), cfg, postgres.Migrations(), postgres.MigrationTable); err != nil {
		t.Fatal(err)
	}
	store, err := postgres.Open(t.Context(), pool)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	return store
}

func TestFrontier(t *testing.T) {
	frontiertest.Run(t, func(t *testing.T) frontiertest.Store { return open(t) })
}
