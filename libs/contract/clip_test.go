package contract_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/warrenmq/warren/libs/contract"
)

func TestClip(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		in   string
		n    int
		want string
	}{
		{"", 5, ""},
		{"short", 5, "short"},
		{"longer", 5, "longe"},
		{"aé", 2, "a"},
		{"aé", 3, "aé"},
		{"日本語", 8, "日本"},
		{"日本語", 2, ""},
		{"x", 0, ""},
		{"a\nb\tc\x00d\x7fe", 20, "a b c d e"},
		{"\x1b[31mred", 20, " [31mred"},
		{"csi \u009b31m", 20, "csi  31m"},
		{"bad \xff\xfe utf8", 20, "bad \uFFFD utf8"},
	} {
		if got := contract.Clip(test.in, test.n); got != test.want {
			t.Errorf("Clip(%q, %d) = %q, want %q", test.in, test.n, got, test.want)
		}
	}
}

func FuzzClip(f *testing.F) {
	f.Add("a\x1b\xff\u009b日本", 7)
	f.Fuzz(func(t *testing.T, s string, n int) {
		got := contract.Clip(s, n)
		if len(got) > max(n, 0) || !utf8.ValidString(got) {
			t.Errorf("Clip(%q, %d) = %q of %d bytes", s, n, got, len(got))
		}
		if strings.ContainsFunc(got, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }) {
			t.Errorf("Clip(%q, %d) = %q: it has control characters", s, n, got)
		}
		if again := contract.Clip(got, n); again != got {
			t.Errorf("Clip is not stable: %q, then %q", got, again)
		}
	})
}
