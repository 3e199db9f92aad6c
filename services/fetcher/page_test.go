package fetcher_test

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/klauspost/compress/gzip"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/services/fetcher"
)

func TestPage(t *testing.T) {
	t.Parallel()
	w := site(t, map[string]http.HandlerFunc{"/a": func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("X-Odd", "caf\xe9")
		text("<p>hello "+r.Header.Get("User-Agent"))(rw, r)
	}})
	b := setup(t)
	b.must(fetch(t, w.URL+"/a?b=c", func(f *contract.Fetch) { f.Hops = 3 }))
	m := b.Published()[0]
	if want := "response.html." + w.host(); m.Key != want {
		t.Errorf("key %s, want %s", m.Key, want)
	}
	if m.Headers["warren-crawl"] != "test" || m.Headers["warren-code"] != "200" {
		t.Errorf("headers %v", m.Headers)
	}
	got, body := b.response()
	page := "<p>hello Warren/0.1 (+https://github.com/warrenmq/warren)"
	if body != page {
		t.Errorf("body %q", body)
	}
	f := fetch(t, w.URL+"/a?b=c")
	want := contract.Response{
		V: 1, Crawl: "test", ID: f.ID, URL: f.URL, Visit: 1, Release: 7, Depth: 2, Hops: 3, Kind: contract.KindHTML, Code: 200,
		Proto: "HTTP/1.1", Remote: w.host(), Size: int64(len(page)), Received: int64(len(page)),
		Header: map[string][]string{"content-type": {"text/html; charset=utf-8"}, "content-length": {strconv.Itoa(len(page))}, "x-odd": {"caf\uFFFD"}},
		Host:   contract.Host{Name: w.host(), Visited: true},
	}
	delete(got.Header, "date")
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(contract.Response{}, "FetchedAt", "TookMS"), cmpopts.IgnoreFields(contract.Host{}, "NextAt", "PaceMS")); diff != "" {
		t.Error(diff)
	}
	near(t, "fetched at", got.FetchedAt, 0)
	if diff := cmp.Diff([]string{"/robots.txt", "/a"}, w.log()); diff != "" {
		t.Errorf("robots.txt comes first: %s", diff)
	}
}

func TestConditional(t *testing.T) {
	t.Parallel()
	w := site(t, map[string]http.HandlerFunc{"/": func(rw http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") == `"1"` && r.Header.Get("If-Modified-Since") != "" {
			rw.WriteHeader(http.StatusNotModified)
		}
	}})
	b := setup(t)
	b.must(fetch(t, w.URL, func(f *contract.Fetch) { f.ETag, f.LastModified = `"1"`, "Mon, 01 Jan 2024 00:00:00 GMT" }))
	if r, _ := b.response(); r.Code != 304 || r.Kind != contract.KindEmpty || r.Size != 0 {
		t.Errorf("response %+v", r)
	}
}

// A redirect is a response; nobody follows it.
func TestRedirectIsAResponse(t *testing.T) {
	t.Parallel()
	for location, want := range map[string]string{
		"/new#x":                     "/new",
		"http://user:pw@other.test/": "http://other.test/",
		"":                           "",
		"file:///etc/passwd":         "",
		"http://[bad":                "",
	} {
		w := site(t, map[string]http.HandlerFunc{"/old": status(301, "Location", location), "/new": text("new")})
		b := setup(t)
		b.must(fetch(t, w.URL+"/old"))
		if strings.HasPrefix(want, "/") {
			want = w.URL + want
		}
		if r, _ := b.response(); r.Code != 301 || r.Location != want || r.Kind != contract.KindEmpty {
			t.Errorf("%q: code %d, location %q, want %q", location, r.Code, r.Location, want)
		}
		if w.count("/new") != 0 {
			t.Error("the redirect was followed")
		}
	}
}

func TestStatuses(t *testing.T) {
	t.Parallel()
	pages := map[string]http.HandlerFunc{}
	for _, code := range []int{200, 204, 206, 300, 302, 400, 401, 403, 404, 410, 451, 429, 500, 502, 503, 599, 999} {
		pages["/"+strconv.Itoa(code)] = status(code)
	}
	w := site(t, pages)
	b := setup(t, func(c *fetcher.Config) { c.MaxBackoff, c.BreakerAfter = time.Millisecond, 100 })
	for path := range pages {
		code, _ := strconv.Atoi(path[1:])
		b.must(fetch(t, w.URL+path))
		if code == 429 || code/100 == 5 {
			if r := b.retry(); !r.Attempt || r.Reason != fmt.Sprintf("http %d", code) || r.Release != 7 {
				t.Errorf("%d: %+v", code, r)
			}
			continue
		}
		if r, _ := b.response(); r.Code != code {
			t.Errorf("%d: response says %d", code, r.Code)
		}
	}
}

func TestBackoffOfAURL(t *testing.T) {
	t.Parallel()
	w := site(t, map[string]http.HandlerFunc{"/": status(500)})
	b := setup(t, func(c *fetcher.Config) {
		c.MaxBackoff, c.BreakerAfter, c.RetryBase, c.MaxRetry = time.Millisecond, 100, 100*time.Second, 1000*time.Second
	})
	for attempt, want := range map[int]float64{0: 100, 1: 100, 2: 200, 3: 400, 4: 800, 5: 1000, 1 << 30: 1000} {
		b.must(fetch(t, w.URL, func(f *contract.Fetch) { f.Attempt = attempt; f.DelayMS = -1 }))
		got := time.Until(b.retry().NotBefore).Seconds()
		if got < want*.74 || got > want*1.26 {
			t.Errorf("attempt %d: wait %.0f s, want about %.0f s", attempt, got, want)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]time.Duration{
		"120": 2 * time.Minute, "1000000": time.Hour,
		time.Now().Add(90 * time.Second).UTC().Format(http.TimeFormat): 90 * time.Second,
	} {
		w := site(t, map[string]http.HandlerFunc{"/": status(503, "Retry-After", value), "/next": text("x")})
		b := setup(t)
		b.must(fetch(t, w.URL))
		r := b.retry()
		near(t, "the host's next request", r.Host.NextAt, want)
		near(t, "the URL", r.NotBefore, want)
		if !r.Host.Visited || r.Host.Reason != "retry-after" || r.Reason != "http 503" || !r.Attempt {
			t.Errorf("retry %+v", r)
		}
		// The host is held back, so its other URLs go back without a request.
		b.must(fetch(t, w.URL+"/next"))
		if r := b.retry(); r.Attempt || r.Reason != "retry-after" {
			t.Errorf("next: %+v", r)
		}
		if w.count("/next") != 0 {
			t.Error("the host was asked")
		}
	}
}

func TestNoResponse(t *testing.T) {
	t.Parallel()
	w := site(t, map[string]http.HandlerFunc{"/hang": hangUp})
	b := setup(t)
	b.must(fetch(t, w.URL+"/hang"))
	if r := b.retry(); !r.Attempt || r.Reason != "connection closed" || !r.Host.Visited || r.NotBefore.IsZero() {
		t.Errorf("retry %+v", r)
	}
}

func TestAddressRefused(t *testing.T) {
	t.Parallel()
	address, touched := decoy(t)
	b := setup(t, func(c *fetcher.Config) { c.Allow = nil })
	for _, url := range []string{"http://" + address + "/", "http://10.0.0.1/", "http://[::1]:8080/", "http://2130706433/", "http://169.254.169.254/latest/meta-data/"} {
		b.must(fetch(t, url))
		if o := b.done(); o.Status != contract.StatusFailed || o.Reason != "address refused" {
			t.Errorf("%s: %+v", url, o)
		}
	}
	if touched() {
		t.Error("a refused address was connected to")
	}
}

func TestTruncated(t *testing.T) {
	t.Parallel()
	w := site(t, map[string]http.HandlerFunc{
		"/short": func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Length", "100")
			_, _ = rw.Write([]byte("only this"))
		},
		"/nothing": status(200, "Content-Length", "100"),
		"/bomb": func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(rw)
			_, _ = z.Write(make([]byte, 20<<20))
			_ = z.Close()
		},
	})
	b := setup(t)
	b.must(fetch(t, w.URL+"/short"))
	if r, body := b.response(); r.Truncated != "eof" || body != "only this" {
		t.Errorf("short: %+v %q", r, body)
	}
	b.must(fetch(t, w.URL+"/nothing"))
	if r := b.retry(); !r.Attempt || r.Reason != "truncated" {
		t.Errorf("nothing: %+v", r)
	}
	b.must(fetch(t, w.URL+"/bomb"))
	if r, body := b.response(); r.Truncated != "size" || r.Size != 4<<20 || len(body) != 4<<20 {
		t.Errorf("bomb: %+v", r)
	}
}

func TestTooLarge(t *testing.T) {
	t.Parallel()
	noise := make([]byte, 13<<20) // does not compress below the 12 MiB of a message
	_, _ = rand.Read(noise)
	w := site(t, map[string]http.HandlerFunc{"/": func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write(noise) }})
	b := setup(t, func(c *fetcher.Config) { c.MaxBody = 16 << 20 })
	b.must(fetch(t, w.URL))
	if o := b.done(); o.Status != contract.StatusFailed || o.Reason != contract.ReasonTooLarge {
		t.Errorf("outcome %+v", o)
	}
}
