package term_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/warrenmq/warren/cmd/warren/term"
)

func TestText(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		in   string
		max  int
		want string
	}{
		{"plain", 80, "plain"},
		{"Ünïcode 日本", 80, "Ünïcode 日本"},
		{"\x1b]0;title\x07", 80, `\x1b]0;title\a`},
		{"line\nline\ttab", 80, `line\nline\ttab`},
		{"\u009b31m", 80, `\u009b31m`},
		{"right\u202eto left", 80, `right\u202eto left`},
		{"bad \xff", 80, `bad \xff`},
		{"don't", 80, "don't"},
		{"日本語", 2, "日本…"},
		{"日本", 2, "日本"},
	} {
		if got := term.Text(test.in, test.max); got != test.want {
			t.Errorf("Text(%q, %d) = %q, want %q", test.in, test.max, got, test.want)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("\x1b[31m\u202e\xff'")
	f.Fuzz(func(t *testing.T, s string) {
		got := term.Text(s, 100)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("Text(%q) = %q", s, got)
		}
	})
}

func TestTable(t *testing.T) {
	t.Parallel()
	table := term.Table{}
	table.Add(term.Cell{Text: "HOST"}, term.Cell{Text: "N", Right: true}, term.Cell{Text: "WHY"})
	table.Add(term.Cell{Text: "é.example"}, term.Cell{Text: "12", Right: true}, term.Cell{Text: "robots", Color: term.Bad})
	want := "HOST        N  WHY\n" +
		"é.example  12  robots\n"
	var out bytes.Buffer
	if _, err := table.WriteTo(&out); err != nil || out.String() != want {
		t.Errorf("%v\n%q\nwant\n%q", err, out.String(), want)
	}
	table.Colors = true
	out.Reset()
	_, _ = table.WriteTo(&out)
	if !strings.Contains(out.String(), "\x1b[31mrobots\x1b[0m\n") {
		t.Errorf("no colour: %q", out.String())
	}
}

func TestColorsOnlyOnATerminal(t *testing.T) {
	if term.Colors(&bytes.Buffer{}) {
		t.Error("a buffer gets colours")
	}
}
