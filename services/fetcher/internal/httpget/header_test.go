package httpget_test

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/warrenmq/warren/services/fetcher/internal/httpget"
)

func TestBoundHeader(t *testing.T) {
	t.Parallel()
	in := http.Header{
		"Content-Type": {"text/html; charset=\xff"}, "X-Evil": {"a\x1b[31mb", "c"},
		"Bad Name": {"x"}, "Bad\xffName": {"x"}, "": {"x"}, "A-Long": {strings.Repeat("é", 4000)},
	}
	got := httpget.BoundHeader(in)
	want := map[string][]string{
		"content-type": {"text/html; charset=\uFFFD"}, "x-evil": {"a [31mb", "c"}, "a-long": {strings.Repeat("é", 2048)},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestBoundHeaderKeepsWhatIsRead(t *testing.T) {
	t.Parallel()
	in := http.Header{"X-Robots-Tag": {"noindex"}, "Etag": {`"a"`}}
	for i := range 500 {
		in["A"+strconv.Itoa(i)] = []string{strings.Repeat("x", 3000)}
	}
	got := httpget.BoundHeader(in)
	if got["x-robots-tag"] == nil || got["etag"] == nil {
		t.Error("fields that are read were pushed out")
	}
	if n := size(got); n > 32<<10 {
		t.Errorf("%d bytes", n)
	}
	many := http.Header{"A": make([]string, 5000)}
	if n := len(httpget.BoundHeader(many)["a"]); n != 100 {
		t.Errorf("%d values", n)
	}
}

func size(header map[string][]string) int {
	n := 0
	for name, values := range header {
		for _, value := range values {
			n += len(name) + len(value)
		}
	}
	return n
}

func FuzzBoundHeader(f *testing.F) {
	f.Add("Content-Type", "text/html; charset=\xff\x00")
	f.Add("\xff", "\u202e")
	f.Fuzz(func(t *testing.T, name, value string) {
		got := httpget.BoundHeader(http.Header{name: {value, value}, "X" + name: {value}})
		if n := size(got); n > 32<<10 {
			t.Errorf("%d bytes", n)
		}
		for name, values := range got {
			for _, text := range append(values, name) {
				if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
					t.Errorf("%q came through", text)
				}
			}
		}
	})
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"0": 0, "120": 2 * time.Minute, " 7 ": 7 * time.Second, "99999999999999999999": time.Hour, "7200": time.Hour,
		"Sat, 21 Nov 2026 12:00:30 GMT": 30 * time.Second, "Sat, 21 Nov 2026 11:00:00 GMT": 0,
		"Fri, 31 Dec 9999 23:59:59 GMT": time.Hour, "": -1, "soon": -1, "-5": -1, "1.5": -1, "1e9": -1,
	} {
		got, ok := httpget.RetryAfter(http.Header{"Retry-After": {value}}, now, time.Hour)
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("RetryAfter(%q) = %s, want %s", value, got, want)
		}
	}
}

func FuzzRetryAfter(f *testing.F) {
	f.Add("120", int64(0))
	f.Add("Fri, 31 Dec 9999 23:59:59 GMT", int64(1<<40))
	f.Add(strconv.FormatInt(math.MaxInt64, 10), int64(-1))
	f.Fuzz(func(t *testing.T, value string, now int64) {
		got, ok := httpget.RetryAfter(http.Header{"Retry-After": {value}}, time.Unix(now%(1<<40), 0), time.Hour)
		if got < 0 || got > time.Hour || (!ok && got != 0) {
			t.Errorf("RetryAfter(%q) = %s, %v", value, got, ok)
		}
	})
}
