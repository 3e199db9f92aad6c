package weburl_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/warrenmq/warren/libs/weburl"
)

// seeds are corners of the standard; the fuzzer goes on from there.
func seeds() []string {
	return []string{
		"http://example.com", "HTTPS://User:pw@EXAMPLE.com:443/a/./b/../%63?q=%7e#f", "http://a:080/", "http://a:65536/",
		"http:\\\\h\\p", "http:/h", "http:h", "//h/p", "/\\h", "?q", "#f", "", " \t", "..", "../../x/", "a/%2e%2E/b", "a//..//b", ".%2e/",
		"http://127.1/", "http://0x7f.1/", "http://2130706433/", "http://1.2.3.4./", "http://09/", "http://0x/", "http://1.2.3.4.5/", "http://70000000000000000000000p/", "http://256.0.0.1",
		"http://[::1]:8080/", "http://[::ffff:1.2.3.4]/", "http://[1:2:0:0:5:0:0:8]", "http://[::1%25lo]/", "http://[::1/", "http://a]b[:80/",
		"http://bücher.example/ü?ü", "http://xn--bcher-kva.example/", "http://ẞ.com/", "http://a\u3002b/", "http://\u00ad/", "http://%41%2ecom/", "http://xn--a/",
		"http://a/%", "http://a/%%34%31", "http://a/%4%31", "http://a/%zz?%", "http://a/\xe9", "http://a/^|`{}'\"<>?^|`{}'\"<>", "http://a/\x00\x7f",
		"http://u@/x", "http://a@b@c/", "http://.../", "http://a../", "http://./", "mailto:a@b", "javascript:0", "1http://x/", "ht\ntp://ex\tample.com/\r",
		"http://" + strings.Repeat("4", 1025) + "\u7030/", "http://a:b/", "http://a::80/", "http://a b/", "http://a_b*!$/", "http://h/?", "http://h?a?b", "https:foo", "http:///h", "http://-/",
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range seeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := weburl.Parse(raw)
		check(t, u, err)
		agree(t, "", raw, u, err)
		again, err := weburl.Parse(u.String())
		if !u.IsZero() && (err != nil || again != u) {
			t.Errorf("%q -> %q -> %q, %v: not idempotent", raw, u, again, err)
		}
	})
}

func FuzzResolve(f *testing.F) {
	for i, seed := range seeds() {
		f.Add("http://a/b/c/d;p?q", seed)
		f.Add(seeds()[(i*7)%len(seeds())], seed)
	}
	f.Fuzz(func(t *testing.T, base, ref string) {
		b, err := weburl.Parse(base)
		if err != nil {
			return
		}
		u, err := b.Resolve(ref)
		check(t, u, err)
		agree(t, b.String(), ref, u, err)
		if again, err := b.Resolve(u.String()); !u.IsZero() && (err != nil || again != u) {
			t.Errorf("%q against %q: the canonical form resolves to %q, %v", ref, base, again, err)
		}
	})
}

// check holds a result to what the rest of the crawl relies on.
func check(t *testing.T, u weburl.URL, err error) {
	t.Helper()
	if err != nil {
		if !u.IsZero() || !errors.Is(err, weburl.ErrNotWeb) && !errors.Is(err, weburl.ErrTooLong) && !errors.Is(err, weburl.ErrInvalid) {
			t.Fatalf("%q with error %v", u, err)
		}
		return
	}
	text := u.String()
	if u.Origin()+u.PathQuery() != text || u.Scheme()+"://"+u.Host() != u.Origin() || !strings.HasPrefix(u.PathQuery(), "/") {
		t.Fatalf("%q in parts: %q %q %q", text, u.Scheme(), u.Host(), u.PathQuery())
	}
	if len(text) > weburl.MaxLength || strings.ContainsAny(u.Host(), "@/\\?% ") || strings.ContainsAny(text, "#<>") {
		t.Fatalf("%q is not canonical", text)
	}
	for _, c := range []byte(text) {
		if c <= ' ' || c >= 0x7f {
			t.Fatalf("%q holds byte %#x: unsafe in a request line", text, c)
		}
	}
	key := weburl.ReverseHost(u.Host())
	if key == "" || len(key) > 200 || weburl.Domain(u.Host()) == "" || strings.ToLower(u.Host()) != u.Host() {
		t.Fatalf("host %q: key %q, domain %q", u.Host(), key, weburl.Domain(u.Host()))
	}
}

// agree compares with the oracle where the oracle is right.
func agree(t *testing.T, base, ref string, got weburl.URL, err error) {
	t.Helper()
	if oracleErrs(base+ref) || errors.Is(err, weburl.ErrTooLong) {
		return
	}
	want, ok := oracle(base, ref)
	if ok != (err == nil) || decode(got.String()) != decode(want) {
		t.Errorf("%q against %q: %q, %v; the oracle has %q, %v", ref, base, got, err, want, ok)
	}
	if text := got.String(); !strayPercent.MatchString(text) && text != decode(text) {
		t.Errorf("%q: unreserved characters left encoded", text)
	}
}
