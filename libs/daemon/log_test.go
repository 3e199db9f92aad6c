package daemon

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
)

func TestLogHidesPasswords(t *testing.T) {
	t.Parallel()
	const url = "amqp://warren:hunter2@mq:5672/"
	for _, format := range []string{"auto", "json", "text"} {
		var out bytes.Buffer
		log := newLogger(&out, logSettings{Level: slog.LevelInfo, Format: format})
		log.Info("dial "+url, "url", url, "error", errors.New("dial "+url+": refused"))
		if strings.Contains(out.String(), "hunter2") {
			t.Errorf("%s: the log shows a password: %s", format, &out)
		}
		if strings.Count(out.String(), "amqp://warren:***@mq:5672/") != 3 {
			t.Errorf("%s: the log hides more than the password: %s", format, &out)
		}
		if isJSON := out.Bytes()[0] == '{'; isJSON != (format != "text") {
			t.Errorf("%s: the log is %s", format, &out)
		}
	}
}

func TestLogLevel(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := newLogger(&out, logSettings{Level: slog.LevelWarn, Format: "json"})
	log.Info("not shown")
	if log.Warn("shown"); strings.Contains(out.String(), "not shown") || !strings.Contains(out.String(), "shown") {
		t.Errorf("at warn the log is %s", &out)
	}
}

func TestRedact(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"postgres://u:p@h/d and amqp://v:q@i": "postgres://u:***@h/d and amqp://v:***@i",
		"amqp://u@h/":                         "amqp://u@h/",
		"amqp://u:p/a@ss:w@h/,amqp://v:q@i":   "amqp://u:***@h/,amqp://v:***@i",
		"http://h/a:b@c":                      "http://h/a:b@c",
		"http://h:80/ x@y":                    "http://h:80/ x@y",
		"me@example.com":                      "me@example.com",
	} {
		if got := redact(text); got != want {
			t.Errorf("redact(%q) = %q, want %q", text, got, want)
		}
	}
}
