package weburl_test

import (
	"errors"
	"testing"

	"github.com/warrenmq/warren/libs/weburl"
)

func TestResolve(t *testing.T) {
	t.Parallel()
	const base = "https://www.example.com:8443/dir/sub/page.html?q=1"
	for ref, want := range map[string]string{
		"":                         base,
		"#top":                     base,
		"other.html":               "https://www.example.com:8443/dir/sub/other.html",
		"./other.html":             "https://www.example.com:8443/dir/sub/other.html",
		"../other.html":            "https://www.example.com:8443/dir/other.html",
		"../../../../other.html":   "https://www.example.com:8443/other.html",
		".":                        "https://www.example.com:8443/dir/sub/",
		"..":                       "https://www.example.com:8443/dir/",
		"/root?x#y":                "https://www.example.com:8443/root?x",
		"\\root":                   "https://www.example.com:8443/root",
		"?r=2":                     "https://www.example.com:8443/dir/sub/page.html?r=2",
		"?":                        "https://www.example.com:8443/dir/sub/page.html?",
		"//cdn.example.com/x":      "https://cdn.example.com/x",
		"\\/cdn.example.com/x":     "https://cdn.example.com/x",
		"///cdn.example.com/x":     "https://cdn.example.com/x",
		"https:other.html":         "https://www.example.com:8443/dir/sub/other.html",
		"https:/root":              "https://www.example.com:8443/root",
		"https://h/":               "https://h/",
		"http:h/x":                 "http://h/x", // another scheme: a host
		"HTTPS://H:443":            "https://h/",
		" a b ":                    "https://www.example.com:8443/dir/sub/a%20b",
		"a:b":                      "", // the scheme "a"
		"./a:b":                    "https://www.example.com:8443/dir/sub/a:b",
		"//user:pw@h/":             "https://h/",
		"javascript:void(0)":       "",
		"data:image/png;base64,AA": "",
		"//":                       "",
		"//h:x":                    "",
	} {
		b, err := weburl.Parse(base)
		if err != nil {
			t.Fatal(err)
		}
		u, err := b.Resolve(ref)
		if u.String() != want || (err == nil) != (want != "") {
			t.Errorf("Resolve(%q) = %q, %v; want %q", ref, u, err, want)
		}
	}
}

func TestResolveAgainstZero(t *testing.T) {
	t.Parallel()
	u, err := weburl.URL{}.Resolve("http://h/a")
	if err != nil || u.String() != "http://h/a" {
		t.Errorf("absolute: %q, %v", u, err)
	}
	for _, ref := range []string{"", "a", "/a", "//h/a", "?q"} {
		if u, err := (weburl.URL{}).Resolve(ref); !errors.Is(err, weburl.ErrInvalid) {
			t.Errorf("Resolve(%q) = %q, %v", ref, u, err)
		}
	}
}

func TestParts(t *testing.T) {
	t.Parallel()
	type parts struct{ scheme, host, hostname, origin, pathQuery string }
	for raw, want := range map[string]parts{
		"http://Example.com/a?b":     {"http", "example.com", "example.com", "http://example.com", "/a?b"},
		"https://example.com:8443":   {"https", "example.com:8443", "example.com", "https://example.com:8443", "/"},
		"http://[2001:db8::1]:81/?":  {"http", "[2001:db8::1]:81", "2001:db8::1", "http://[2001:db8::1]:81", "/?"},
		"https://[::1]/a:1/[b]:2?:3": {"https", "[::1]", "::1", "https://[::1]", "/a:1/[b]:2?:3"},
		"http://127.0.0.1:80/":       {"http", "127.0.0.1", "127.0.0.1", "http://127.0.0.1", "/"},
	} {
		u, err := weburl.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		if got := (parts{u.Scheme(), u.Host(), u.Hostname(), u.Origin(), u.PathQuery()}); got != want {
			t.Errorf("%q: %+v, want %+v", raw, got, want)
		}
	}
	var zero weburl.URL
	if !zero.IsZero() || zero.String()+zero.Scheme()+zero.Host()+zero.Hostname()+zero.Origin()+zero.PathQuery() != "" {
		t.Error("the zero URL has parts")
	}
}
