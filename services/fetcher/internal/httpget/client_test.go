package httpget_test

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/warrenmq/warren/libs/weburl"
	"github.com/warrenmq/warren/services/fetcher/internal/httpget"
)

func TestRequestOnTheWire(t *testing.T) {
	t.Parallel()
	seen := make(chan wire, 1)
	base := raw(t, func(conn net.Conn, request wire) {
		seen <- request
		_, _ = conn.Write([]byte("HTTP/1.1 304 Not Modified\r\nEtag: \"b\"\r\n\r\n"))
	})
	client := newClient(t, options{})
	sent := make(chan struct{}, 2)
	resp, err := client.Get(t.Context(), httpget.Request{
		Sent: func() { sent <- struct{}{} },
		URL:  parse(t, strings.Replace(base.String(), "http://", "http://user:secret@", 1)+"a|b%zz?q='%41"), ETag: `"a"`, LastModified: "Mon, 01 Jan 2024 00:00:00 GMT",
	})
	if err != nil {
		t.Fatal(err)
	}
	if resp.Code != 304 || resp.Header.Get("Etag") != `"b"` || len(resp.Body) != 0 || resp.Truncated != "" {
		t.Errorf("response = %+v", resp)
	}
	<-sent
	got := <-seen
	for name, want := range map[string]string{
		"User-Agent": "Warren/test", "Accept-Encoding": "gzip, br, zstd, deflate", "If-None-Match": `"a"`,
		"If-Modified-Since": "Mon, 01 Jan 2024 00:00:00 GMT", "Authorization": "", "Cookie": "", "Referer": "", "Proxy-Authorization": "",
	} {
		if got.Header.Get(name) != want {
			t.Errorf("%s = %q, want %q", name, got.Header.Get(name), want)
		}
	}
	if host := got.Header.Get("Host"); host != base.Host() {
		t.Errorf("Host = %q, want %q", host, base.Host())
	}
}

// The request target must be the canonical URL's, byte for byte: what net/url would write anew is
// another resource to some servers.
func TestTarget(t *testing.T) {
	t.Parallel()
	seen := make(chan string, 1)
	base := rawLine(t, seen)
	for _, path := range []string{"/", "/a|b", "/%zz", "/a%2fb", "//x", "//x/%zz?a", "/a;b?c=d&e=%", "/?", "/a?", "//", "/[x]?[y]", "/%00"} {
		u := parse(t, strings.TrimSuffix(base.String(), "/")+path)
		if _, err := get(t, newClient(t, options{}), u); err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		line := <-seen
		got := strings.TrimPrefix(line, "http://"+u.Host())
		if got != u.PathQuery() {
			t.Errorf("target of %s = %q, want %q", u, line, u.PathQuery())
		}
		if strings.HasPrefix(line, "http://") && path != "//x/%zz?a" {
			t.Errorf("target of %s is absolute without need", u)
		}
	}
}

func FuzzTarget(f *testing.F) {
	for _, seed := range []string{"/", "//a//b/%zz?c", "/a|b?c'd", "//%2f"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		u, err := weburl.Parse("http://a.example/" + path)
		if err != nil {
			return
		}
		got := httpget.Target(u).RequestURI()
		if got != u.PathQuery() && got != "http://a.example"+u.PathQuery() {
			t.Errorf("target of %s is %q", u, got)
		}
		if strings.ContainsAny(got, " \r\n\x00") {
			t.Errorf("target %q breaks the request line", got)
		}
	})
}

func TestBadValidatorsAreNotSent(t *testing.T) {
	t.Parallel()
	seen := make(chan wire, 1)
	base := raw(t, func(conn net.Conn, request wire) {
		seen <- request
		_, _ = conn.Write([]byte("HTTP/1.1 204 No Content\r\n\r\n"))
	})
	for _, bad := range []string{"a\r\nX-Evil: 1", "caf\xc3\xa9", "\x7f", strings.Repeat("x", 2000)} {
		if _, err := newClient(t, options{}).Get(t.Context(), httpget.Request{URL: base, ETag: bad, LastModified: bad}); err != nil {
			t.Fatal(err)
		}
		if h := (<-seen).Header; h.Get("If-None-Match") != "" || h.Get("If-Modified-Since") != "" || h.Get("X-Evil") != "" {
			t.Errorf("%q was sent: %v", bad, h)
		}
	}
}

func TestHTTP2AndTLS(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte("over " + r.Proto))
	}))
	server.EnableHTTP2 = true
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	u := parse(t, server.URL)

	sent := make(chan struct{}, 2)
	resp, err := newClient(t, options{roots: roots}).Get(t.Context(), httpget.Request{URL: u, Sent: func() { sent <- struct{}{} }})
	if err != nil {
		t.Fatal(err)
	}
	<-sent
	if string(resp.Body) != "over HTTP/2.0" || resp.Proto != "HTTP/2.0" || resp.Remote != u.Host() {
		t.Errorf("body %q, proto %q, remote %q", resp.Body, resp.Proto, resp.Remote)
	}
	if _, err := get(t, newClient(t, options{}), u); reason(err) != httpget.ReasonCertificate {
		t.Errorf("unknown authority: %v", err)
	}
	resolver := nameserver(t, map[string][]string{"wrong.test": {"127.0.0.1"}})
	wrong := parse(t, strings.Replace(server.URL, "127.0.0.1", "wrong.test", 1))
	if _, err := get(t, newClient(t, options{roots: roots, resolver: resolver}), wrong); reason(err) != httpget.ReasonCertificate {
		t.Errorf("wrong host: %v", err)
	}
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	if _, err := get(t, newClient(t, options{}), parse(t, strings.Replace(plain.URL, "http:", "https:", 1))); reason(err) != httpget.ReasonTLS {
		t.Errorf("no TLS: %v", err)
	}
}

func TestConnectionIsUsedAgain(t *testing.T) {
	t.Parallel()
	var connections atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/old" {
			http.Redirect(w, r, "/new", http.StatusFound)
			return
		}
		_, _ = w.Write([]byte("page"))
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	client := newClient(t, options{})
	defer client.Close() // before the server's Close, which waits for it
	for range 3 {
		resp, err := get(t, client, parse(t, server.URL+"/old"))
		if err != nil || resp.Code != 302 || resp.Header.Get("Location") != "/new" || len(resp.Body) != 0 {
			t.Fatalf("redirect: %+v, %v", resp, err)
		}
		if _, err := get(t, client, parse(t, server.URL+"/new")); err != nil {
			t.Fatal(err)
		}
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
}

// When the caller's context ends, the request must end at once, and say so with the context's error.
func TestCancelled(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{})
	u := raw(t, func(conn net.Conn, _ wire) {
		_, _ = conn.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome"))
		close(begun)
		until(conn)
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { <-begun; cancel() }()
	start := time.Now()
	if resp, err := newClient(t, options{}).Get(ctx, httpget.Request{URL: u}); !errors.Is(err, context.Canceled) {
		t.Errorf("Get = %+v, %v", resp, err)
	}
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("took %s", took)
	}
}
