package weburl_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/warrenmq/warren/libs/weburl"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		// The standard's own clean-up.
		"http://example.com":                      "http://example.com/",
		"  HTTP://Example.COM:80/A/b?C=D#frag \n": "http://example.com/A/b?C=D",
		"https://example.com:443":                 "https://example.com/",
		"https://example.com:80/":                 "https://example.com:80/",
		"http://example.com:00080/":               "http://example.com/",
		"http://example.com:/x":                   "http://example.com/x",
		"http://example.com:0/":                   "http://example.com:0/",
		"http:\\\\example.com\\a\\.\\b":           "http://example.com/a/b",
		"http:example.com":                        "http://example.com/",
		"http:////example.com//a":                 "http://example.com//a",
		"ht\ntp://exa\tmple.com/a\rb":             "http://example.com/ab",
		"http://example.com?q":                    "http://example.com/?q",
		"http://example.com/a b #x":               "http://example.com/a%20b%20",
		// A password is never kept, wherever the @ is.
		"http://user:pw@example.com/":    "http://example.com/",
		"http://u:p@x@example.com/a@b?@": "http://example.com/a@b?@",
		"http://example.com/@":           "http://example.com/@",
		// Dots.
		"http://h/a/./b/../c/.":     "http://h/a/c/",
		"http://h/../../a/..":       "http://h/",
		"http://h/a/%2e%2E/b/.%2e":  "http://h/",
		"http://h/a//../b":          "http://h/a/b",
		"http://h/.../..a/.b/a../c": "http://h/.../..a/.b/a../c",
		// Percent-encoding.
		"http://h/%7efoo%41%5f%2d":    "http://h/~fooA_-",
		"http://h/%c3%a9?%c3%a9=é":    "http://h/%C3%A9?%C3%A9=%C3%A9",
		"http://h/a%2fb%3f%23":        "http://h/a%2Fb%3F%23",
		"http://h/\"<>`{}^|'?`{}^|'":  "http://h/%22%3C%3E%60%7B%7D%5E|'?`{}^|%27",
		"http://h/%zz%":               "http://h/%zz%",
		"http://h/%%341":              "http://h/%%341",         // not %41, which is A
		"http://h/%4%31":              "http://h/%4%31",         // nor here
		"http://h/%%32e/%%32e/x":      "http://h/%%32e/%%32e/x", // nor .. in disguise
		"http://h/%2541":              "http://h/%2541",         // decoded once, not twice
		"http://h/\xe9":               "http://h/%E9",           // a byte, not U+FFFD
		"http://h/\x00\x1b[31m\x7f":   "http://h/%00%1B[31m%7F",
		"http://h/a?b\r\nX-Evil: c":   "http://h/a?bX-Evil:%20c",
		"http://h/a%0d%0aX-Evil:%20c": "http://h/a%0D%0AX-Evil:%20c",
		// Names.
		"http://bücher.example/":        "http://xn--bcher-kva.example/",
		"http://XN--bcher-KVA.example/": "http://xn--bcher-kva.example/",
		"http://ｅｘａｍｐｌｅ。com/":           "http://example.com/",
		"http://exam\u00adple.com/":     "http://example.com/",
		"http://%65xample.com/":         "http://example.com/",
		"http://faß.example/":           "http://xn--fa-hia.example/",
		"http://FAẞ.example/":           "http://xn--fa-hia.example/",
		"http://example.com.:8080/":     "http://example.com:8080/",
		"http://./":                     "http://./",
		"http://a../":                   "http://a../", // no DNS name; left to the resolver
		"http://a_b.example/":           "http://a_b.example/",
		// Addresses, in every spelling a browser reads.
		"http://127.1/":              "http://127.0.0.1/",
		"http://0x7F.1/":             "http://127.0.0.1/",
		"http://0177.0.0.1./":        "http://127.0.0.1/",
		"http://2130706433/":         "http://127.0.0.1/",
		"http://4294967295/":         "http://255.255.255.255/",
		"http://0x/":                 "http://0.0.0.0/",
		"http://１.２.３.４/":            "http://1.2.3.4/",
		"http://0x-1/":               "http://0x-1/", // a name
		"http://1.2.3.+4/":           "http://1.2.3.+4/",
		"http://[0:0::1]:80/":        "http://[::1]/",
		"http://[2001:DB8::8]:8080/": "http://[2001:db8::8]:8080/",
		"http://[::ffff:10.0.0.1]/":  "http://[::ffff:a00:1]/",
		"http://[::127.0.0.1]/":      "http://[::7f00:1]/",
	} {
		u, err := weburl.Parse(raw)
		if err != nil || u.String() != want {
			t.Errorf("Parse(%q) = %q, %v; want %q", raw, u, err, want)
		}
		if again, err := weburl.Parse(want); err != nil || again != u {
			t.Errorf("Parse(%q) = %q, %v: not idempotent", want, again, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	long := "http://h/" + strings.Repeat("a", weburl.MaxLength-len("http://h/"))
	for raw, want := range map[string]error{
		"mailto:a@b":             weburl.ErrNotWeb,
		" JaVa\tscript:alert(1)": weburl.ErrNotWeb,
		"data:text/html,x":       weburl.ErrNotWeb,
		"data:image/png;base64," + strings.Repeat("A", 1<<20): weburl.ErrNotWeb,
		"file:///etc/passwd":       weburl.ErrNotWeb,
		"ftp://h/":                 weburl.ErrNotWeb,
		"example.com:80":           weburl.ErrNotWeb, // the scheme is "example.com"
		"":                         weburl.ErrInvalid,
		"/a":                       weburl.ErrInvalid,
		"//h/a":                    weburl.ErrInvalid,
		"example.com":              weburl.ErrInvalid,
		"http://":                  weburl.ErrInvalid,
		"http:///?q":               weburl.ErrInvalid,
		"http://user@/":            weburl.ErrInvalid,
		"http://:80/":              weburl.ErrInvalid,
		"http://h:65536/":          weburl.ErrInvalid,
		"http://h:99999999999999/": weburl.ErrInvalid,
		"http://h:8a/":             weburl.ErrInvalid,
		"http://h:-1/":             weburl.ErrInvalid,
		"http://a b/":              weburl.ErrInvalid,
		"http://a%00b/":            weburl.ErrInvalid,
		"http://a%2fb/":            weburl.ErrInvalid,
		"http://a%zz/":             weburl.ErrInvalid,
		"http://a\xff/":            weburl.ErrInvalid,
		"http://a|b/":              weburl.ErrInvalid,
		"http://\u00ad/":           weburl.ErrInvalid,
		"http://xn--a/":            weburl.ErrInvalid,
		"http://1.2.3.4.5/":        weburl.ErrInvalid,
		"http://256.1.1.1/":        weburl.ErrInvalid,
		"http://1.2.3.08/":         weburl.ErrInvalid,
		"http://a.b.0x/":           weburl.ErrInvalid,
		"http://4294967296/":       weburl.ErrInvalid,
		"http://1..2/":             weburl.ErrInvalid,
		"http://[::1/":             weburl.ErrInvalid,
		"http://::1]/":             weburl.ErrInvalid,
		"http://[[::1]]/":          weburl.ErrInvalid,
		"http://[::1]x/":           weburl.ErrInvalid,
		"http://[fe80::1%25eth0]/": weburl.ErrInvalid,
		"http://[1.2.3.4]/":        weburl.ErrInvalid,
		"http://[]/":               weburl.ErrInvalid,

		long + "a":                                 weburl.ErrTooLong,
		"http://h/" + strings.Repeat("é", 1000):    weburl.ErrTooLong, // as it would be written
		"http://h/" + strings.Repeat("a", 1<<20):   weburl.ErrTooLong,
		"http://" + strings.Repeat("@", 1<<20):     weburl.ErrTooLong,
		"http://h/?" + strings.Repeat("a&", 1<<16): weburl.ErrTooLong,
	} {
		if u, err := weburl.Parse(raw); !errors.Is(err, want) || !u.IsZero() {
			t.Errorf("Parse(%.60q) = %.60q, %v; want %v", raw, u, err, want)
		}
	}
	if _, err := weburl.Parse(long); err != nil {
		t.Errorf("at MaxLength: %v", err)
	}
	if _, err := weburl.Parse("http://h/#" + strings.Repeat("a", 1<<20)); err != nil {
		t.Errorf("a long fragment is no reason: %v", err)
	}
}

func TestNeverMerged(t *testing.T) {
	t.Parallel()
	seen := map[weburl.ID]string{}
	for _, raw := range []string{
		"http://h/", "https://h/", "http://www.h/", "http://h:8080/", "https://h:80/", "http://h/?",
		"http://h/a", "http://h/A", "http://h/a/", "http://h/a?", "http://h//a", "http://h/a//", "http://h/index.html",
		"http://h/a%2Fb", "http://h/a/b", "http://h/a%252Fb", "http://h/a%5Cb",
		"http://h/?a=1&b=2", "http://h/?b=2&a=1", "http://h/?a=1%26b=2", "http://h/?a=1;b=2", "http://h/?a=1+b", "http://h/?a=1%20b", "http://h/?a=1%2Bb",
		"http://h/;jsessionid=1", "http://h/?PHPSESSID=1", "http://h/?utm_source=x",
		"http://h/%25", "http://h/%", "http://h/%2541", "http://h/%%341", "http://h/%4%31", "http://h/\xe9", "http://h/\xe8", "http://h/é",
		"http://h/'", "http://h/%27", "http://h/!", "http://h/%21", "http://h/?%27#", "http://h/?%2527",
	} {
		u, err := weburl.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := seen[u.ID()]; ok {
			t.Errorf("%q and %q are one: %q", raw, other, u)
		}
		seen[u.ID()] = raw
	}
}

func TestErrorsKeepNoPassword(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{"http://user:hunter2@h:99999/", "http://hunter2@x:hunter2@/", "ftp://u:hunter2@h/", "http://u:hunter2@" + strings.Repeat("h", 1<<20)} {
		if _, err := weburl.Parse(raw); err == nil || strings.Contains(err.Error(), "hunter2") || len(err.Error()) > 400 {
			t.Errorf("Parse(%.40q): %v", raw, err)
		}
	}
	if _, err := weburl.Parse("http://a\x1b[31m b/"); err == nil || strings.Contains(err.Error(), "\x1b") {
		t.Errorf("unescaped: %v", err)
	}
}

func BenchmarkParse(b *testing.B) {
	const raw = "https://www.example.com/news/2026/11/a-quite-ordinary-headline.html?page=2&sort=date"
	b.ReportAllocs()
	for b.Loop() {
		if _, err := weburl.Parse(raw); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkResolve(b *testing.B) {
	base, err := weburl.Parse("https://www.example.com/news/2026/11/a-quite-ordinary-headline.html?page=2")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := base.Resolve("../10/an-older-one.html#comments"); err != nil {
			b.Fatal(err)
		}
	}
}
