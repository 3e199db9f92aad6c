package sqldb_test

import (
	"strings"
	"testing"

	"github.com/warrenmq/warren/libs/sqldb"
)

func TestDefaultConfigIsValid(t *testing.T) {
	t.Parallel()
	if err := sqldb.DefaultConfig().Validate(); err != nil {
		t.Error(err)
	}
}

func TestValidateNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	for want, spoil := range map[string]func(*sqldb.Config){
		"WARREN_DATABASE_URL is empty": func(c *sqldb.Config) { c.URL = "" },
		"WARREN_DATABASE_URL: ":        func(c *sqldb.Config) { c.URL = "postgres://u:hunter2@h:port/d" },
		"PASSWORD_FILE are both":       func(c *sqldb.Config) { c.Password, c.PasswordFile = "hunter2", "f" },
		"MAX_CONNS is 0":               func(c *sqldb.Config) { c.MaxConns = 0 },
		"CONNECT_TIMEOUT is 0s":        func(c *sqldb.Config) { c.ConnectTimeout = 0 },
		"STATEMENT_TIMEOUT is -1ns":    func(c *sqldb.Config) { c.StatementTimeout = -1 },
		"ATTEMPTS is -1":               func(c *sqldb.Config) { c.Attempts = -1 },
		"DELAY is 0s":                  func(c *sqldb.Config) { c.Delay = 0 },
	} {
		cfg := sqldb.DefaultConfig()
		spoil(&cfg)
		err := cfg.Validate()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		} else if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v: the password shows", err)
		}
	}
}
