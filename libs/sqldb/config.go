package sqldb

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Config says which database and how patiently. Environment: WARREN_DATABASE_URL and so on.
type Config struct {
	URL              string        `desc:"PostgreSQL URL or key=value string; the password may be in it"`
	Password         string        `desc:"password; replaces the one in the URL"`
	PasswordFile     string        `split_words:"true" desc:"file that holds the password, read at each new connection"`
	ApplicationName  string        `split_words:"true" desc:"name shown in pg_stat_activity"`
	MaxConns         int32         `split_words:"true" desc:"most connections of this process"`
	ConnectTimeout   time.Duration `split_words:"true" desc:"longest wait for one connection"`
	StatementTimeout time.Duration `split_words:"true" desc:"longest time of one statement on the server; 0 is no limit"`
	Attempts         int           `desc:"tries to reach the database at start before giving up; 0 is for ever"`
	Delay            time.Duration `desc:"wait between two tries, give or take a quarter"`
}

// DefaultConfig is a database on this host.
func DefaultConfig() Config {
	return Config{
		URL:              "postgres://warren@127.0.0.1:5432/warren",
		ApplicationName:  "warren",
		MaxConns:         8,
		ConnectTimeout:   5 * time.Second,
		StatementTimeout: 30 * time.Second,
		Delay:            2 * time.Second,
	}
}

// Validate names the variable and the value that cannot be. It never repeats a password.
func (c Config) Validate() error {
	if c.Password != "" && c.PasswordFile != "" {
		return errors.New("WARREN_DATABASE_PASSWORD and WARREN_DATABASE_PASSWORD_FILE are both set: want one")
	}
	if c.MaxConns < 1 {
		return fmt.Errorf("WARREN_DATABASE_MAX_CONNS is %d: want at least 1", c.MaxConns)
	}
	if c.ConnectTimeout <= 0 {
		return fmt.Errorf("WARREN_DATABASE_CONNECT_TIMEOUT is %s: want more than 0", c.ConnectTimeout)
	}
	if c.StatementTimeout < 0 {
		return fmt.Errorf("WARREN_DATABASE_STATEMENT_TIMEOUT is %s: want 0 (no limit) or more", c.StatementTimeout)
	}
	if c.Attempts < 0 {
		return fmt.Errorf("WARREN_DATABASE_ATTEMPTS is %d: want 0 (for ever) or more", c.Attempts)
	}
	if c.Delay <= 0 {
		return fmt.Errorf("WARREN_DATABASE_DELAY is %s: want more than 0", c.Delay)
	}
	_, err := c.pool()
	return err
}

// pool is the driver's form of the settings.
func (c Config) pool() (*pgxpool.Config, error) {
	if c.URL == "" {
		return nil, errors.New("WARREN_DATABASE_URL is empty: want postgres://user@host:5432/database")
	}
	pool, err := pgxpool.ParseConfig(c.URL)
	if err != nil {
		return nil, fmt.Errorf("WARREN_DATABASE_URL: %w", err) // pgx blots the password out
	}
	pool.MaxConns = c.MaxConns
	pool.MinConns = min(pool.MinConns, pool.MaxConns)
	pool.PingTimeout = c.ConnectTimeout // of a connection that was idle, before it is used again
	conn := pool.ConnConfig
	conn.ConnectTimeout = c.ConnectTimeout
	// A peer that is gone without a word is noticed on idle connections within about half a minute.
	// A statement under way needs a deadline of its caller's context as well.
	dialer := net.Dialer{KeepAliveConfig: net.KeepAliveConfig{
		Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3,
	}}
	conn.DialFunc = dialer.DialContext
	conn.RuntimeParams["application_name"] = c.ApplicationName
	conn.RuntimeParams["timezone"] = "UTC"
	conn.RuntimeParams["statement_timeout"] = milliseconds(c.StatementTimeout)
	// A transaction whose client has stalled must not hold its locks for ever.
	conn.RuntimeParams["idle_in_transaction_session_timeout"] = milliseconds(time.Minute)
	pool.BeforeConnect = c.password
	return pool, nil
}

// password runs before each connection, so that a password changed in the file needs no restart.
func (c Config) password(_ context.Context, conn *pgx.ConnConfig) error {
	if c.Password != "" {
		conn.Password = c.Password
	}
	if c.PasswordFile == "" {
		return nil
	}
	secret, err := os.ReadFile(c.PasswordFile)
	if err != nil {
		return fmt.Errorf("read database password: %w", err)
	}
	conn.Password = strings.TrimRight(string(secret), "\r\n")
	return nil
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
