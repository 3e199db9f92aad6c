// Package sqldbtest gives each test a PostgreSQL database of its own.
package sqldbtest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/url"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Env names the variable with the URL of a PostgreSQL server whose user may create databases.
const Env = "WARREN_TEST_DATABASE_URL"

// limit bounds one statement of administration; a shared server under load may be slow.
const limit = time.Minute

// Database makes an empty UTF-8 database, drops it at the end of the test and returns its URL.
func Database(t testing.TB) string {
	t.Helper()
	base := os.Getenv(Env)
	if base == "" {
		t.Fatalf("%s is not set: run make test", Env)
	}
	target, err := url.Parse(base)
	if err != nil || target.Host == "" {
		t.Fatalf("%s: want a postgres:// URL with a host", Env) // its text may hold a password
	}
	suffix := make([]byte, 8)
	_, _ = rand.Read(suffix)
	name := "warren_test_" + hex.EncodeToString(suffix)

	// template0 has no connections that could block the copy, and takes any encoding.
	run(t, base, `create database "`+name+`" template template0 encoding 'UTF8'`)
	t.Cleanup(func() { run(t, base, `drop database if exists "`+name+`" with (force)`) })
	target.Path = "/" + name
	return target.String()
}

func run(t testing.TB, base, statement string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit) // t.Context is over in a cleanup
	defer cancel()
	conn, err := pgx.Connect(ctx, base)
	if err != nil {
		t.Fatalf("connect to %s: %v", Env, err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}
