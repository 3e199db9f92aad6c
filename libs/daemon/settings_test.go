package daemon_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/warrenmq/warren/libs/daemon"
)

type busPart struct {
	URLs     []string
	Password string
	Window   int
	MaxWait  time.Duration `split_words:"true"`
	Loud     bool
	Share    float64
	PIN      int `envconfig:"PASSWORD_PIN"`
}

func (p busPart) Validate() error {
	var errs []error
	if p.Window < 1 {
		errs = append(errs, fmt.Errorf("window %d: want at least 1", p.Window))
	}
	if p.MaxWait < 0 {
		errs = append(errs, fmt.Errorf("max wait %v: want 0 or more", p.MaxWait))
	}
	if len(p.URLs) == 0 {
		errs = append(errs, errors.New("no broker is named"))
	}
	return errors.Join(errs...)
}

type workPart struct{ Allow []string }

func (p *workPart) Validate() error {
	if len(p.Allow) > 1 {
		return fmt.Errorf("WARREN_WORK_ALLOW=%q: want one", p.Allow)
	}
	return nil
}

type testSettings struct {
	Shards int
	AMQP   busPart
	Work   workPart
}

func defaults() testSettings {
	return testSettings{Shards: 64, AMQP: busPart{URLs: []string{"amqp://127.0.0.1"}, Window: 256}}
}

func TestLoad(t *testing.T) {
	t.Setenv("WARREN_AMQP_URLS", "amqp://a,amqp://b")
	t.Setenv("WARREN_AMQP_MAX_WAIT", "1.5s")
	got := defaults()
	if err := daemon.Load(slog.New(slog.DiscardHandler), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.AMQP.URLs) != 2 || got.AMQP.MaxWait != 1500*time.Millisecond {
		t.Errorf("what is set was not read: %+v", got)
	}
	if got.Shards != 64 || got.AMQP.Window != 256 {
		t.Errorf("a default was lost: %+v", got)
	}
}

func TestLoadErrors(t *testing.T) {
	for _, test := range []struct{ name, value, want string }{
		{"WARREN_SHARDS", "many", `WARREN_SHARDS="many": want a whole number that fits int`},
		{"WARREN_SHARDS", "", `WARREN_SHARDS="": want a whole number that fits int`},
		{"WARREN_AMQP_MAX_WAIT", "5", `WARREN_AMQP_MAX_WAIT="5": want a duration with its unit, for example 500ms, 1.5s or 2m`},
		{"WARREN_AMQP_LOUD", "ja", `WARREN_AMQP_LOUD="ja": want true or false`},
		{"WARREN_AMQP_SHARE", "half", `WARREN_AMQP_SHARE="half": want a number`},
		{"WARREN_AMQP_PASSWORD_PIN", "hunter2", `WARREN_AMQP_PASSWORD_PIN="***": want a whole number that fits int`},
		{"WARREN_AMQP_WINDOW", "0", `WARREN_AMQP_WINDOW: window 0: want at least 1`},
		{"WARREN_AMQP_MAX_WAIT", "-1s", `WARREN_AMQP_MAX_WAIT: max wait -1s: want 0 or more`},
		{"WARREN_AMQP_URLS", "", `WARREN_AMQP_…: no broker is named`},
		{"WARREN_WORK_ALLOW", "a,b", `WARREN_WORK_ALLOW=["a" "b"]: want one`},
	} {
		t.Run(test.name+"="+test.value, func(t *testing.T) {
			t.Setenv(test.name, test.value)
			settings := defaults()
			err := daemon.Load(slog.New(slog.DiscardHandler), &settings)
			if err == nil || err.Error() != test.want {
				t.Errorf("Load: %v\nwant %s", err, test.want)
			}
			if daemon.Status(err) != daemon.StatusSettings {
				t.Errorf("exit status %d, want 2", daemon.Status(err))
			}
		})
	}
}

func TestLoadTellsAllThatIsWrong(t *testing.T) {
	t.Setenv("WARREN_AMQP_WINDOW", "0")
	t.Setenv("WARREN_AMQP_MAX_WAIT", "-1s")
	settings := defaults()
	err := daemon.Load(slog.New(slog.DiscardHandler), &settings)
	if err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("Load: %v\nwant both settings", err)
	}
}

func TestLoadWarnsOfUnknownVariables(t *testing.T) {
	const none = "warned of without a guess"
	for name, nearest := range map[string]string{
		"WARREN_AMQP_WINDWO":    "WARREN_AMQP_WINDOW", // a section of its own: a typing error
		"WARREN_SHARD":          "WARREN_SHARDS",
		"WARREN_LOG_LEVLE":      "WARREN_LOG_LEVEL",
		"WARREN_XYZ":            none,
		"WARREN_FETCHER_ALLOW":  "", // another service's
		"WARREN_TEST_AMQP_URL":  "",
		"WARREN_DEDUP_URL":      "",
		"WARREN_DATABASE_URL":   "",
		"WARREN_ADMIN_ADDR":     "",
		"WARRENTY_OF_SOMETHING": "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, "127.0.0.1:0")
			var log bytes.Buffer
			settings := defaults()
			if err := daemon.Load(slog.New(slog.NewTextHandler(&log, nil)), &settings); err != nil {
				t.Fatal(err)
			}
			want := ""
			switch nearest {
			case "":
			case none:
				want = "name=" + name + "\n"
			default:
				want = "name=" + name + " did_you_mean=" + nearest + "\n"
			}
			if !strings.HasSuffix(log.String(), want) || want == "" && log.Len() > 0 {
				t.Errorf("log is %q, want at its end %q", log.String(), want)
			}
		})
	}
}
