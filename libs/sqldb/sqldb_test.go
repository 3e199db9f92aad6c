package sqldb_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"go.uber.org/goleak"

	"github.com/warrenmq/warren/libs/sqldb"
	"github.com/warrenmq/warren/libs/sqldb/sqldbtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func config(t *testing.T) sqldb.Config {
	cfg := sqldb.DefaultConfig()
	cfg.URL = sqldbtest.Database(t)
	return cfg
}

func open(t *testing.T, cfg sqldb.Config) *pgxpool.Pool {
	t.Helper()
	pool, err := sqldb.Open(t.Context(), cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

func TestOpenSetsTheSession(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	cfg.ApplicationName = "warren-test"
	cfg.StatementTimeout = 1234 * time.Millisecond
	cfg.MaxConns = 3
	pool := open(t, cfg)
	for setting, want := range map[string]string{
		"application_name": "warren-test", "statement_timeout": "1234ms", "timezone": "UTC",
		"idle_in_transaction_session_timeout": "1min",
	} {
		var got string
		if err := pool.QueryRow(t.Context(), "select current_setting($1)", setting).Scan(&got); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("%s is %q, want %q", setting, got, want)
		}
	}
	if got := pool.Config().MaxConns; got != 3 {
		t.Errorf("most connections %d, want 3", got)
	}
}

func TestOpenReadsThePasswordFromAFile(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	target, err := url.Parse(cfg.URL)
	if err != nil {
		t.Fatal(err)
	}
	secret, _ := target.User.Password()
	target.User = url.UserPassword(target.User.Username(), "wrong")
	cfg.URL = target.String()
	cfg.PasswordFile = filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(cfg.PasswordFile, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	pool := open(t, cfg)
	settings := pool.Config().ConnConfig.Copy()
	if err := pool.Config().BeforeConnect(t.Context(), settings); err != nil || settings.Password != secret {
		t.Errorf("password at connect is not the file's: %v", err)
	}
	if err := os.WriteFile(cfg.PasswordFile, []byte("rotated\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := pool.Config().BeforeConnect(t.Context(), settings); err != nil || settings.Password != "rotated" {
		t.Errorf("password after a change is %q, %v, want rotated", settings.Password, err)
	}
}

// deaf is a loopback address on which nobody listens.
func deaf(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

func TestOpenGivesUpAfterItsAttempts(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	cfg := sqldb.DefaultConfig()
	cfg.URL = "postgres://u:hunter2@" + deaf(t) + "/d"
	cfg.Attempts, cfg.Delay = 3, time.Millisecond
	_, err := sqldb.Open(t.Context(), cfg, slog.New(slog.NewTextHandler(&log, nil)))
	if !errors.Is(err, sqldb.ErrUnreachable) || !sqldb.Transient(err) {
		t.Fatalf("error %v, want ErrUnreachable with a transient cause", err)
	}
	if got := strings.Count(log.String(), "database is not there yet"); got != 2 {
		t.Errorf("said %d times that it waits, want 2:\n%s", got, &log)
	}
	if strings.Contains(err.Error()+log.String(), "hunter2") {
		t.Error("the password shows")
	}
}

func TestOpenEndsWithItsContext(t *testing.T) {
	t.Parallel()
	cfg := sqldb.DefaultConfig()
	cfg.URL = "postgres://u@" + deaf(t) + "/d"
	cfg.Delay = time.Hour
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := sqldb.Open(ctx, cfg, slog.New(slog.DiscardHandler)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want the context's", err)
	}
}

// A server that takes connections and never answers (stopped, or a proxy whose backend is gone).
func TestOpenDoesNotHangOnASilentServer(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	cfg := sqldb.DefaultConfig()
	cfg.URL = "postgres://u@" + listener.Addr().String() + "/d?sslmode=disable"
	cfg.ConnectTimeout, cfg.Attempts, cfg.Delay = 50*time.Millisecond, 2, time.Millisecond
	if _, err := sqldb.Open(t.Context(), cfg, slog.New(slog.DiscardHandler)); !errors.Is(err, sqldb.ErrUnreachable) {
		t.Errorf("error %v, want ErrUnreachable", err)
	}
}

func TestOpenRefusesAnotherEncoding(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	pool := open(t, cfg)
	var name string
	if err := pool.QueryRow(t.Context(), "select current_database()").Scan(&name); err != nil {
		t.Fatal(err)
	}
	odd := name + "_latin1"
	if _, err := pool.Exec(t.Context(), `create database "`+odd+
		`" template template0 encoding 'LATIN1' locale 'C'`); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := pool.Exec(context.Background(), `drop database "`+odd+`" with (force)`); err != nil {
			t.Error(err)
		}
	})
	cfg.URL = strings.Replace(cfg.URL, name, odd, 1)
	if _, err := sqldb.Open(t.Context(), cfg, slog.New(slog.DiscardHandler)); !errors.Is(err, sqldb.ErrUnfit) {
		t.Errorf("error %v, want ErrUnfit", err)
	}
}

func TestOpenWarnsOfWeakCommits(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	cfg := config(t)
	target, err := url.Parse(cfg.URL)
	if err != nil {
		t.Fatal(err)
	}
	query := target.Query()
	query.Set("synchronous_commit", "off")
	target.RawQuery = query.Encode()
	cfg.URL = target.String()
	pool, err := sqldb.Open(t.Context(), cfg, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	pool.Close()
	if !strings.Contains(log.String(), "setting=synchronous_commit value=off") {
		t.Errorf("no warning of synchronous_commit: %s", &log)
	}
}

func migrations() fs.FS {
	return fstest.MapFS{
		"001_first.sql": {Data: []byte("-- +goose Up\ncreate table first (n int);\nselect pg_sleep(0.2);\n")},
		"002_more.sql":  {Data: []byte("-- +goose Up\ninsert into first values (1);\n")},
	}
}

func TestMigrateManyAtOnce(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	cfg.StatementTimeout = 50 * time.Millisecond // must not hold for migrations
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if err := sqldb.Migrate(t.Context(), cfg, migrations(), "first_migrations"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	var rows int
	if err := open(t, cfg).QueryRow(t.Context(), "select count(*) from first").Scan(&rows); err != nil || rows != 1 {
		t.Errorf("the second migration ran %d times (%v), want once", rows, err)
	}
}

func TestMigrateKeepsServicesApart(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	other := fstest.MapFS{"001_other.sql": {Data: []byte("-- +goose Up\ncreate table other (n int);\n")}}
	for table, files := range map[string]fs.FS{"first_migrations": migrations(), "other_migrations": other} {
		if err := sqldb.Migrate(t.Context(), cfg, files, table); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := open(t, cfg).Exec(t.Context(), "select from first, other, first_migrations, other_migrations"); err != nil {
		t.Error(err)
	}
}

func TestMigrateLeavesANewerDatabaseAlone(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	if err := sqldb.Migrate(t.Context(), cfg, migrations(), "first_migrations"); err != nil {
		t.Fatal(err)
	}
	old := fstest.MapFS{"001_first.sql": migrations().(fstest.MapFS)["001_first.sql"]}
	if err := sqldb.Migrate(t.Context(), cfg, old, "first_migrations"); err != nil {
		t.Errorf("an old replica does not start beside a new one: %v", err)
	}
}

func TestMigrateStopsAtABadMigration(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	bad := fstest.MapFS{"001_bad.sql": {Data: []byte("-- +goose Up\ncreate tabel first (n int);\n")}}
	err := sqldb.Migrate(t.Context(), cfg, bad, "first_migrations")
	if !errors.Is(err, sqldb.ErrUnfit) || !strings.Contains(err.Error(), "version:1") {
		t.Errorf("error %v, want ErrUnfit that names the version", err)
	}
}
