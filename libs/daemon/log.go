package daemon

import (
	"io"
	"log/slog"
	"os"
	"regexp"
	"strings"
)

// newLogger writes to w. "auto" is text on a terminal and JSON elsewhere.
func newLogger(w io.Writer, cfg logSettings) *slog.Logger {
	options := &slog.HandlerOptions{Level: cfg.Level, ReplaceAttr: ReplaceSecrets}
	if cfg.Format == "text" || cfg.Format == "auto" && isTerminal(w) {
		return slog.New(slog.NewTextHandler(w, options))
	}
	return slog.New(slog.NewJSONHandler(w, options))
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// ReplaceSecrets blots out the passwords of URLs in what is logged. It is a slog.HandlerOptions's
// ReplaceAttr, that of every daemon's logger, and the last net under the rule that secrets are never
// logged: a driver's error may quote the URL it was given, password and all.
func ReplaceSecrets(_ []string, a slog.Attr) slog.Attr {
	switch v := a.Value.Any().(type) {
	case string:
		if clean := redact(v); clean != v {
			a.Value = slog.StringValue(clean)
		}
	case error:
		a.Value = slog.StringValue(redact(v.Error()))
	}
	return a
}

// userinfo is the password and what is around it, a "/" or "@" that should have been escaped too.
var userinfo = regexp.MustCompile(`(://[^/?#\s"',:@]*):[^\s"',]*@`)

// redact replaces the passwords of URLs in text.
func redact(text string) string {
	if !strings.Contains(text, "://") || !strings.Contains(text, "@") {
		return text
	}
	return userinfo.ReplaceAllString(text, "$1:***@")
}
