package webtest_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/warrenmq/warren/libs/webtest"
)

// ask sends one request to the web without a network. headers are name, value, name, value …
func ask(web http.Handler, method, url string, headers ...string) *http.Response {
	req := httptest.NewRequest(method, url, nil)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	rec := httptest.NewRecorder()
	web.ServeHTTP(rec, req)
	return rec.Result()
}

func read(t *testing.T, r io.Reader) []byte {
	t.Helper()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRoutesByHost(t *testing.T) {
	t.Parallel()
	web := webtest.New(webtest.Options{Seed: 1, Hosts: []string{"A.test:80", "b.test:8080"}})
	for _, tt := range []struct {
		method, url string
		status      int
	}{
		{"GET", "http://a.test/", 200},
		{"GET", "http://A.TEST:80/", 200},
		{"GET", "http://b.test:8080/", 200},
		{"GET", "http://b.test/", 421},
		{"GET", "http://elsewhere.test/", 421},
		{"POST", "http://a.test/", 405},
		{"GET", "http://a.test/nobody/made/this", 404},
		{"GET", "http://a.test/robots.txt", 200},
		{"GET", "http://b.test:8080/robots.txt", 404},
	} {
		if got := ask(web, tt.method, tt.url).StatusCode; got != tt.status {
			t.Errorf("%s %s: status %d, want %d", tt.method, tt.url, got, tt.status)
		}
	}
	if got := len(web.Log()); got != 9 {
		t.Errorf("%d hits in the log, want all 9, refused ones too", got)
	}
}

func TestHeadHasTheHeaderOnly(t *testing.T) {
	t.Parallel()
	web := webtest.New(webtest.Options{Hosts: webtest.HostNames(1)})
	get, head := ask(web, "GET", "http://h000.web.test/"), ask(web, "HEAD", "http://h000.web.test/")
	if got, want := head.Header.Get("Content-Length"), get.Header.Get("Content-Length"); got != want {
		t.Errorf("Content-Length %q by HEAD, %q by GET", got, want)
	}
	if body := read(t, head.Body); len(body) != 0 {
		t.Errorf("HEAD has a body of %d bytes", len(body))
	}
}

// Whatever spelling of its path is on the wire, a page is one page.
func TestSpellingsOnTheWire(t *testing.T) {
	t.Parallel()
	web := webtest.New(webtest.Options{Hosts: webtest.HostNames(1)})
	want := read(t, ask(web, "GET", "http://h000.web.test/spell/caf%C3%A9.html").Body)
	for _, path := range []string{"/spell/caf%c3%a9.html", "/spell/c%61f%C3%A9.html", "/spell/./caf%C3%A9.html", "/x/../spell/caf%C3%A9.html"} {
		res := ask(web, "GET", "http://h000.web.test"+path)
		if got := read(t, res.Body); res.StatusCode != 200 || !bytes.Equal(got, want) {
			t.Errorf("%s: status %d, %d bytes; want 200 and the page of %d bytes", path, res.StatusCode, len(got), len(want))
		}
	}
}

func TestGzipWhenAskedFor(t *testing.T) {
	t.Parallel()
	web := webtest.New(webtest.Options{Hosts: webtest.HostNames(1)})
	truth := web.Truth()
	for _, tt := range []struct {
		path, accept string
		encoded      bool
	}{
		{"/", "gzip, br", true},
		{"/", "br;q=1.0, GZIP;q=0.8", true},
		{"/", "", false},
		{"/", "gzip;q=0, br", false},
		{"/", "br", false},
		{"/files/note.txt", "gzip", true},
		{"/files/dot.png", "gzip", false},
		{"/empty.html", "gzip", false},
		{"/gone.html", "gzip", false},
	} {
		res := ask(web, "GET", "http://h000.web.test"+tt.path, "Accept-Encoding", tt.accept)
		body := read(t, res.Body)
		if got := res.Header.Get("Content-Encoding") == "gzip"; got != tt.encoded {
			t.Errorf("%s with Accept-Encoding %q: encoded %v, want %v", tt.path, tt.accept, got, tt.encoded)
			continue
		}
		if tt.encoded {
			zr, err := gzip.NewReader(bytes.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			body = read(t, zr)
		}
		sum := sha256.Sum256(body)
		if got, want := hex.EncodeToString(sum[:]), truth.Stored["http://h000.web.test"+tt.path].SHA256; got != want {
			t.Errorf("%s with Accept-Encoding %q: hash %s, want %s", tt.path, tt.accept, got, want)
		}
	}
}

func TestImageIsAnImage(t *testing.T) {
	t.Parallel()
	web := webtest.New(webtest.Options{Hosts: webtest.HostNames(1)})
	if _, err := png.Decode(ask(web, "GET", "http://h000.web.test/files/dot.png").Body); err != nil {
		t.Error(err)
	}
}

// All pages have a validator, and each is honoured on its own, If-None-Match first.
func TestConditionalRequests(t *testing.T) {
	t.Parallel()
	web := webtest.New(webtest.Options{Seed: 3, Hosts: webtest.HostNames(1), PagesPerHost: 20})
	kinds := make(map[string]int)
	for url, fact := range web.Truth().Stored {
		res := ask(web, "GET", url)
		etag, modified := res.Header.Get("Etag"), res.Header.Get("Last-Modified")
		if fact.Status != 200 {
			if etag+modified != "" {
				t.Errorf("%s: status %d with validators", url, fact.Status)
			}
			continue
		}
		status := func(headers ...string) int { return ask(web, "GET", url, headers...).StatusCode }
		if res.StatusCode == 503 {
			continue // the page that recovers
		}
		switch {
		case etag != "" && modified != "":
			kinds["both"]++
			if got := status("If-None-Match", `"other"`, "If-Modified-Since", modified); got != 200 {
				t.Errorf("%s: status %d for another ETag and the date, want 200", url, got)
			}
		case etag != "":
			kinds["etag"]++
		case modified != "":
			kinds["date"]++
		default:
			t.Errorf("%s has no validator", url)
		}
		if etag != "" {
			if got := status("If-None-Match", `"x", W/`+etag); got != 304 {
				t.Errorf("%s: status %d for its ETag, want 304", url, got)
			}
		}
		if modified != "" {
			at, err := http.ParseTime(modified)
			if err != nil {
				t.Fatal(err)
			}
			if got := status("If-Modified-Since", modified); got != 304 {
				t.Errorf("%s: status %d for its date, want 304", url, got)
			}
			if got := status("If-Modified-Since", at.Add(-time.Hour).Format(http.TimeFormat)); got != 200 {
				t.Errorf("%s: status %d for an older date, want 200", url, got)
			}
		}
		unchanged := ask(web, "GET", url, "If-None-Match", "*", "Accept-Encoding", "gzip")
		if body := read(t, unchanged.Body); unchanged.StatusCode != 304 || len(body) != 0 {
			t.Errorf("%s: status %d and %d bytes for If-None-Match: *, want 304 without a body", url, unchanged.StatusCode, len(body))
		}
	}
	if kinds["both"] == 0 || kinds["etag"] == 0 || kinds["date"] == 0 {
		t.Errorf("kinds of validators %v, want all three", kinds)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	web := webtest.New(webtest.Options{Hosts: webtest.HostNames(1)})
	status := func(method, path string) int { return ask(web, method, "http://h000.web.test"+path).StatusCode }
	for round := range 2 {
		for i, want := range []int{503, 503, 200, 200} {
			if got := status("GET", "/flaky.html"); got != want {
				t.Errorf("round %d, request %d of the flaky page: status %d, want %d", round, i+1, got, want)
			}
		}
		web.Reset()
		if got := status("HEAD", "/flaky.html"); got != 503 {
			t.Errorf("HEAD after a reset: status %d, want 503, and it counts for nothing", got)
		}
	}
	for range 6 {
		if got := status("GET", "/broken.html"); got != 500 {
			t.Errorf("broken page: status %d, want 500", got)
		}
	}
}

func TestCrawlDelay(t *testing.T) {
	t.Parallel()
	web := webtest.New(webtest.Options{Delay: 250 * time.Millisecond, Hosts: webtest.HostNames(16)})
	with := 0
	for _, host := range web.Hosts() {
		body := read(t, ask(web, "GET", "http://"+host+"/robots.txt").Body)
		said := bytes.Contains(body, []byte("Crawl-delay: 0.25\n"))
		if want := web.CrawlDelay(host) == 250*time.Millisecond; said != want {
			t.Errorf("%s: Crawl-delay written %v, told %v", host, said, want)
		}
		if said {
			with++
		}
	}
	if with != 4 {
		t.Errorf("%d of 16 hosts have a Crawl-delay, want 4", with)
	}
	if got := web.CrawlDelay("elsewhere.test"); got != 0 {
		t.Errorf("Crawl-delay %v of an unknown host", got)
	}
}
