package fetcher_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq/mqtest"
	"github.com/warrenmq/warren/services/fetcher"
)

// walk serves pages that take a while, on an address of its own, and stamps the end of each before it
// is answered: what the client does next it does later.
func walk(t *testing.T, took func(path string) time.Duration) *web {
	return walkOn(t, "127.0.0.1:0", took)
}

func walkOn(t *testing.T, address string, took func(path string) time.Duration) *web {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	w := &web{}
	w.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		start := time.Now()
		select {
		case <-time.After(took(r.URL.Path)):
		case <-r.Context().Done():
		}
		w.mu.Lock()
		w.hits = append(w.hits, hit{path: r.URL.Path, header: r.Header, start: start, end: time.Now()})
		w.mu.Unlock()
		http.NotFound(rw, r)
	}))
	w.Listener.Close()
	w.Listener = listener
	w.Start()
	t.Cleanup(w.Close)
	return w
}

// paced checks a host's access log: never two requests at a time, and any n+1 starts take at least n
// delays. A server on a busy machine may see a request late, so a single gap may look shorter.
func paced(t *testing.T, w *web, delay time.Duration) {
	t.Helper()
	const late = 300 * time.Millisecond
	w.mu.Lock()
	defer w.mu.Unlock()
	hits := slices.Clone(w.hits)
	slices.SortFunc(hits, func(a, b hit) int { return a.start.Compare(b.start) })
	for i, a := range hits {
		for n, b := range hits[i+1:] {
			if n == 0 && b.start.Before(a.end) {
				t.Errorf("%s: %s came before the end of %s", w.host(), b.path, a.path)
			}
			if took, least := b.start.Sub(a.start), time.Duration(n+1)*delay; took < least-late {
				t.Errorf("%s: %d requests from %s to %s took %s, want %s", w.host(), n+2, a.path, b.path, took, least)
				return // the rest is the same gap
			}
		}
	}
}

func TestRequestsAreSpaced(t *testing.T) {
	t.Parallel()
	const delay = 150 * time.Millisecond
	var sites []*web
	for range 3 {
		sites = append(sites, walk(t, func(path string) time.Duration {
			if strings.HasSuffix(path, "3") {
				return 2 * delay // one page that is slower than the delay
			}
			return time.Millisecond
		}))
	}
	b := setup(t, func(c *fetcher.Config) { c.Hold, c.Delay = time.Minute, delay })
	var wg sync.WaitGroup
	for i := range 12 {
		for _, w := range sites {
			wg.Go(func() { b.must(fetch(t, fmt.Sprintf("%s/%d", w.URL, i))) })
		}
	}
	wg.Wait()
	if n := len(b.Take("response.")); n != 36 {
		t.Errorf("%d responses, want 36", n)
	}
	for _, w := range sites {
		if n := len(w.log()); n != 13 || w.log()[0] != "/robots.txt" {
			t.Errorf("%s: log %v", w.host(), w.log())
		}
		paced(t, w, delay)
	}
}

func TestHold(t *testing.T) {
	t.Parallel()
	w := walk(t, func(string) time.Duration { return 0 })
	b := setup(t, func(c *fetcher.Config) { c.Hold, c.Delay = 500*time.Millisecond, 200*time.Millisecond })
	b.must(fetch(t, w.URL+"/first")) // robots.txt, then the page
	b.response()
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			b.must(fetch(t, fmt.Sprintf("%s/%d", w.URL, i), func(f *contract.Fetch) { f.Host.Visited = true }))
		})
	}
	wg.Wait()
	served, back := b.Take("response."), b.Take(contract.KeyRetry)
	if len(served) < 1 || len(served) > 3 || len(served)+len(back) != 10 {
		t.Errorf("%d served, %d sent back", len(served), len(back))
	}
	for _, m := range back {
		r, err := contract.DecodeRetry(m.Body)
		if err != nil || r.Attempt || r.Reason != "waiting for a slot" || r.Host.Reason != "" || r.Host.NextAt.IsZero() || !r.NotBefore.IsZero() {
			t.Errorf("retry %+v, %v", r, err)
		}
	}
	paced(t, w, 200*time.Millisecond)
}

func TestDelayOfTheMessage(t *testing.T) {
	t.Parallel()
	w := site(t, nil)
	b := setup(t, func(c *fetcher.Config) { c.Delay = time.Hour })
	b.must(fetch(t, w.URL+"/1", func(f *contract.Fetch) { f.DelayMS = -1 })) // none
	if r, _ := b.response(); r.Host.DelayMS != 0 {
		t.Errorf("host %+v", r.Host)
	}
	b.must(fetch(t, w.URL+"/2", func(f *contract.Fetch) { f.DelayMS = 60_000; f.Host.Visited = true }))
	r := b.retry()
	near(t, "the next slot", r.Host.NextAt, time.Minute)
	b.must(fetch(t, w.URL+"/3")) // the default
	near(t, "the next slot", b.retry().Host.NextAt, time.Hour)
}

// A fetcher that takes over a host it knows nothing of waits a whole delay first.
func TestTakingOver(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*contract.Fetch){
		"visited":        func(f *contract.Fetch) { f.Host.Visited = true },
		"second attempt": func(f *contract.Fetch) { f.Attempt = 2 },
		"delay known":    func(f *contract.Fetch) { f.Host.Visited, f.Host.DelayMS, f.DelayMS = true, 300, -1 },
		"next slot known": func(f *contract.Fetch) {
			f.Host.NextAt = time.Now().Add(300 * time.Millisecond)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := site(t, nil)
			b := setup(t, func(c *fetcher.Config) { c.Delay = 300 * time.Millisecond })
			begin := time.Now()
			b.must(fetch(t, w.URL, change))
			if gap := w.hits[0].start.Sub(begin); gap < 280*time.Millisecond {
				t.Errorf("asked after %s", gap)
			}
		})
	}
	t.Run("redelivered", func(t *testing.T) {
		t.Parallel()
		w := site(t, nil)
		b := setup(t, func(c *fetcher.Config) { c.Delay = 300 * time.Millisecond })
		begin := time.Now()
		f := fetch(t, w.URL)
		if err := b.Redeliver(t.Context(), queueOf(t, f.URL), message(t, f)); err != nil {
			t.Fatal(err)
		}
		if gap := w.hits[0].start.Sub(begin); gap < 300*time.Millisecond {
			t.Errorf("asked after %s", gap)
		}
	})
}

// The delay counts from the request on the wire: looking the name up and connecting may take long.
func TestDelayCountsFromTheWire(t *testing.T) {
	t.Parallel()
	const delay = 600 * time.Millisecond
	w := walk(t, func(string) time.Duration { return 0 })
	resolver := slowNames(t, delay)
	bus := mqtest.NewBus()
	b := setupWith(t, fetcher.Deps{Bus: bus, Resolver: resolver}, bus, func(c *fetcher.Config) { c.Delay, c.Hold = delay, 10*time.Second })
	_, port, _ := strings.Cut(w.host(), ":")
	b.must(fetch(t, "http://www.slow.test:"+port+"/x"))
	if m := b.take("response."); m.Key != "response.html.test.slow.www:"+port && m.Key != "response.text.test.slow.www:"+port {
		t.Errorf("key %s", m.Key)
	}
	paced(t, w, delay)
}

// slowNames resolves every name to 127.0.0.1, and takes its time.
func slowNames(t *testing.T, delay time.Duration) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		buf := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buf[:n]) != nil {
				continue
			}
			question := m.Questions[0]
			m = dnsmessage.Message{Header: dnsmessage.Header{ID: m.ID, Response: true, RecursionAvailable: true}, Questions: m.Questions}
			if question.Type == dnsmessage.TypeA {
				m.Answers = []dnsmessage.Resource{{
					Header: dnsmessage.ResourceHeader{Name: question.Name, Class: dnsmessage.ClassINET},
					Body:   &dnsmessage.AResource{A: [4]byte{127, 0, 0, 1}},
				}}
			}
			if answer, err := m.Pack(); err == nil {
				wg.Go(func() {
					<-time.After(delay)
					_, _ = conn.WriteTo(answer, from)
				})
			}
		}
	})
	t.Cleanup(func() { conn.Close(); wg.Wait() })
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

func TestBreaker(t *testing.T) {
	t.Parallel()
	w := site(t, map[string]http.HandlerFunc{"/": status(500)})
	b := setup(t, func(c *fetcher.Config) { c.BreakerAfter, c.MaxBackoff = 3, time.Millisecond })
	for range 3 {
		b.must(fetch(t, w.URL, func(f *contract.Fetch) { f.DelayMS = -1 }))
		if r := b.retry(); !r.Attempt {
			t.Errorf("retry %+v", r)
		}
	}
	b.must(fetch(t, w.URL))
	r := b.retry()
	if r.Attempt || r.Reason != "breaker open" || r.Host.Reason != "breaker open" {
		t.Errorf("retry %+v", r)
	}
	near(t, "the next slot", r.Host.NextAt, time.Minute)
	if n := w.count("/"); n != 3 {
		t.Errorf("%d requests", n)
	}
}
