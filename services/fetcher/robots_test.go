package fetcher_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/services/fetcher"
)

func TestRobotsForbids(t *testing.T) {
	t.Parallel()
	w := site(t, map[string]http.HandlerFunc{
		"/robots.txt": text("User-agent: *\nDisallow: /\n\nUser-agent: WARREN\nDisallow: /no\nAllow: /no/but\n"),
		"/yes":        text("yes"), "/no/but": text("but"), "/no": text("no"),
	})
	b := setup(t)
	b.must(fetch(t, w.URL+"/no?x"))
	if o := b.done(); o.Status != contract.StatusExcluded || o.Reason != contract.ReasonRobots || !o.Host.Visited {
		t.Errorf("outcome %+v", o)
	}
	for _, path := range []string{"/yes", "/no/but"} {
		b.must(fetch(t, w.URL+path))
		b.response()
	}
	if diff := cmp.Diff([]string{"/robots.txt", "/yes", "/no/but"}, w.log()); diff != "" {
		t.Error(diff)
	}
}

// However many messages wait for it, robots.txt is asked for once.
func TestRobotsOnce(t *testing.T) {
	t.Parallel()
	w := site(t, nil)
	b := setup(t)
	var wg sync.WaitGroup
	for i := range 30 {
		wg.Go(func() { b.must(fetch(t, fmt.Sprintf("%s/%d", w.URL, i))) })
	}
	wg.Wait()
	if n := w.count("/robots.txt"); n != 1 || len(w.log()) != 31 {
		t.Errorf("robots.txt was asked for %d times; log %v", n, w.log())
	}
}

// What robots.txt answers, and what must come of the page behind it (RFC 9309 2.3.1).
func TestRobotsMatrix(t *testing.T) {
	t.Parallel()
	forbids := "User-agent: *\nDisallow: /"
	for name, c := range map[string]struct {
		robots http.HandlerFunc
		want   string // prefix of the message
		reason string
	}{
		"200 forbids": {text(forbids), contract.KeyDone, "robots"},
		"200 html":    {text("<html>not found, sorry"), "response.", ""},
		"200 empty":   {status(200), "response.", ""},
		"401":         {status(401), "response.", ""},
		"403":         {status(403), "response.", ""},
		"404":         {status(404), "response.", ""},
		"410":         {status(410), "response.", ""},
		"429":         {status(429), contract.KeyRetry, "robots unreachable: http 429"},
		"500":         {status(500), contract.KeyRetry, "robots unreachable: http 500"},
		"503":         {status(503), contract.KeyRetry, "robots unreachable: http 503"},
		"hang up":     {hangUp, contract.KeyRetry, "robots unreachable: connection closed"},
		"cut short": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "900")
			text("User-agent: *\n")(w, r)
		}, contract.KeyRetry, "robots unreachable: truncated"},
		"302 nowhere":  {status(302, "Location", "ftp://x/robots.txt"), "response.", ""},
		"302 no field": {status(302), "response.", ""},
		"302 itself":   {status(302, "Location", "/robots.txt"), "response.", ""},
		"302 forbids":  {status(302, "Location", "/real"), contract.KeyDone, "robots"},
		"302 to 404":   {status(302, "Location", "/missing"), "response.", ""},
		"302 to 500":   {status(302, "Location", "/broken"), contract.KeyRetry, "robots unreachable: http 500"},
		"302 inward":   {status(302, "Location", "http://127.66.66.66:1/robots.txt"), contract.KeyRetry, "robots unreachable: address refused"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := site(t, map[string]http.HandlerFunc{"/robots.txt": c.robots, "/real": text(forbids), "/broken": status(500), "/page": text("page")})
			b := setup(t, func(c *fetcher.Config) { c.Allow = []string{"127.0.0.0/16"}; c.MaxBackoff = time.Millisecond })
			b.must(fetch(t, w.URL+"/page"))
			switch c.want {
			case contract.KeyRetry:
				r := b.retry()
				if r.Reason != "robots unreachable" || r.Host.Reason != c.reason || r.Attempt || !r.NotBefore.IsZero() {
					t.Errorf("retry %+v", r)
				}
				near(t, "the host's next request", r.Host.NextAt, time.Minute)
			case contract.KeyDone:
				if o := b.done(); o.Status != contract.StatusExcluded || o.Reason != c.reason {
					t.Errorf("outcome %+v", o)
				}
			default:
				b.response()
			}
			if asked := w.count("/page") > 0; asked != (c.want == "response.") {
				t.Errorf("page asked for: %v", asked)
			}
		})
	}
}

// The guard holds for robots.txt and for where it redirects to.
func TestRobotsRedirectInward(t *testing.T) {
	t.Parallel()
	address, touched := decoy(t)
	w := site(t, map[string]http.HandlerFunc{"/robots.txt": status(302, "Location", "http://"+address+"/")})
	b := setup(t, func(c *fetcher.Config) { c.Allow = []string{w.host()} })
	b.must(fetch(t, w.URL))
	if r := b.retry(); r.Host.Reason != "robots unreachable: address refused" {
		t.Errorf("retry %+v", r)
	}
	if touched() {
		t.Error("a refused address was connected to")
	}
}

// A redirect to another host's robots.txt speaks for the first host, not for the other.
func TestRobotsOfAnotherHost(t *testing.T) {
	t.Parallel()
	other := site(t, map[string]http.HandlerFunc{"/r": text("User-agent: *\nDisallow: /no"), "/no": text("x")})
	w := site(t, map[string]http.HandlerFunc{"/robots.txt": status(301, "Location", other.URL+"/r")})
	b := setup(t)
	b.must(fetch(t, w.URL+"/no"))
	if o := b.done(); o.Reason != contract.ReasonRobots {
		t.Errorf("outcome %+v", o)
	}
	b.must(fetch(t, other.URL+"/no"))
	b.response()
}

func TestRobotsUnreachableHoldsTheHost(t *testing.T) {
	t.Parallel()
	w := site(t, map[string]http.HandlerFunc{"/robots.txt": status(500)})
	b := setup(t)
	for range 3 {
		b.must(fetch(t, w.URL+"/x"))
		if r := b.retry(); r.Attempt || r.Reason != "robots unreachable" {
			t.Errorf("retry %+v", r)
		}
	}
	if n := w.count("/robots.txt"); n != 1 {
		t.Errorf("robots.txt was asked for %d times within its pause", n)
	}
}

// When robots.txt stays out of reach, URLs must come to an end: then they count as attempts.
func TestRobotsGivenUp(t *testing.T) {
	t.Parallel()
	w := site(t, map[string]http.HandlerFunc{"/robots.txt": status(500)})
	b := setup(t, func(c *fetcher.Config) {
		c.RobotsPause, c.RobotsMaxPause, c.RobotsPatience = time.Millisecond, time.Millisecond, 3
		c.MaxBackoff, c.BreakerAfter = time.Millisecond, 100
	})
	attempts := 0
	for i := 0; attempts == 0 && i < 1000; i++ {
		b.must(fetch(t, w.URL+"/x", func(f *contract.Fetch) { f.DelayMS = -1 }))
		r := b.retry()
		if !r.Attempt {
			continue
		}
		attempts = w.count("/robots.txt")
		if r.Reason != "robots unreachable: http 500" || r.NotBefore.IsZero() {
			t.Errorf("retry %+v", r)
		}
	}
	if attempts != 3 {
		t.Errorf("given up after %d tries, want 3", attempts)
	}
}

// A host that answers for https need not wait because nobody listens for http, or the other way.
func TestRobotsOfOneSchemeOnly(t *testing.T) {
	t.Parallel()
	w := site(t, map[string]http.HandlerFunc{"/x": text("x")})
	b := setup(t, func(c *fetcher.Config) { c.MaxBackoff = time.Millisecond })
	b.must(fetch(t, w.URL+"/x"))
	b.response()
	b.must(fetch(t, strings.Replace(w.URL, "http:", "https:", 1)+"/x"))
	r := b.retry()
	if !r.Attempt || r.Reason != "robots unreachable: tls" || r.Host.Reason != "" {
		t.Errorf("retry %+v", r)
	}
	near(t, "the URL", r.NotBefore, time.Minute)
	b.must(fetch(t, w.URL+"/x", func(f *contract.Fetch) { f.DelayMS = -1 }))
	b.response()
}

func TestCrawlDelay(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]time.Duration{"7": 7 * time.Second, "86400": 30 * time.Second, "-1": 0} {
		w := site(t, map[string]http.HandlerFunc{"/robots.txt": text("User-agent: *\nCrawl-delay: " + value), "/x": text("x")})
		b := setup(t)
		b.must(fetch(t, w.URL+"/x"))
		if want == 0 {
			b.response()
			continue
		}
		// robots.txt took a slot of its own: the page is a whole delay away.
		r := b.retry()
		if r.Attempt || r.Reason != "waiting for a slot" || r.Host.DelayMS != want.Milliseconds() {
			t.Errorf("%s: %+v", value, r)
		}
		near(t, "the next slot", r.Host.NextAt, want)
	}
}

// Who waits already must wait for the Crawl-delay too, though its slot was free without it.
func TestCrawlDelayOfThoseWhoWait(t *testing.T) {
	t.Parallel()
	entered, release := make(chan struct{}), make(chan struct{})
	w := site(t, map[string]http.HandlerFunc{"/robots.txt": func(rw http.ResponseWriter, r *http.Request) {
		close(entered)
		<-release
		text("User-agent: *\nCrawl-delay: 7")(rw, r)
	}})
	b := setup(t)
	first := b.background(fetch(t, w.URL+"/1"))
	<-entered
	var fates []<-chan error
	for range 5 {
		fates = append(fates, b.background(fetch(t, w.URL+"/2")))
	}
	close(release)
	for _, fate := range append(fates, first) {
		if err := <-fate; err != nil {
			t.Error(err)
		}
	}
	if n := len(b.Take(contract.KeyRetry)); n != 6 || len(w.log()) != 1 {
		t.Errorf("%d went back; log %v", n, w.log())
	}
}

// Where the file is cut a line may be cut, and half a line may say more than the whole.
func TestRobotsCutInALine(t *testing.T) {
	t.Parallel()
	head, tail := "User-agent: *\n#", "\nDisallow: /"
	body := head + strings.Repeat("x", 512<<10-len(head)-len(tail)) + tail + "no\n"
	w := site(t, map[string]http.HandlerFunc{"/robots.txt": text(body), "/yes": text("yes")})
	b := setup(t)
	b.must(fetch(t, w.URL+"/yes"))
	b.response()
}

func TestLongRobots(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	w := site(t, map[string]http.HandlerFunc{"/robots.txt": func(rw http.ResponseWriter, r *http.Request) {
		line := []byte("# " + strings.Repeat("x", 1021) + "\n")
		_, _ = rw.Write([]byte("User-agent: *\nDisallow: /no\n"))
		for range 100 << 10 { // 100 MiB
			n, err := rw.Write(line)
			asked.Add(int64(n))
			if err != nil {
				return
			}
		}
	}})
	b := setup(t)
	b.must(fetch(t, w.URL+"/no"))
	if o := b.done(); o.Reason != contract.ReasonRobots {
		t.Errorf("outcome %+v", o)
	}
	if n := asked.Load(); n > 20<<20 {
		t.Errorf("%d bytes were read", n)
	}
}
