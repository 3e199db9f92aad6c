package postgres_test

import (
	"errors"
	"log/slog"
	"testing"

	"github.com/warrenmq/warren/libs/sqldb"
	"github.com/warrenmq/warren/libs/sqldb/sqldbtest"
	"github.com/warrenmq/warren/services/store/export"
	"github.com/warrenmq/warren/services/store/postgres"
)

// The rest of the reading is tested by storetest, with what writes.
func TestADatabaseWithoutStoresTables(t *testing.T) {
	t.Parallel()
	cfg := sqldb.DefaultConfig()
	cfg.URL = sqldbtest.Database(t)
	pool, err := sqldb.Open(t.Context(), cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	err = export.Export(t.Context(), postgres.NewReader(pool), export.Options{}, func(export.Page) error { return nil })
	if !errors.Is(err, export.ErrNoTables) {
		t.Errorf("error %v, want ErrNoTables", err)
	}
}
