package fetcher_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq"
	"github.com/warrenmq/warren/libs/mq/mqtest"
	"github.com/warrenmq/warren/services/fetcher"
)

func TestPoison(t *testing.T) {
	t.Parallel()
	w := site(t, nil)
	b := setup(t)
	good := fetch(t, w.URL+"/x")
	queue := queueOf(t, w.URL)
	wrong := contract.FetchKey(shards, 0)
	if wrong == queue {
		wrong = contract.FetchKey(shards, 1)
	}
	for name, c := range map[string]struct {
		queue, body string
		ends        bool // its URL can be read, and nobody else will do better
	}{
		"no json":       {queue, "hello", false},
		"empty":         {queue, "", false},
		"array":         {queue, "[]", false},
		"no id":         {queue, `{"url":"http://a/","crawl":"c","visit":1,"release":1}`, false},
		"newer version": {queue, strings.Replace(jsonText(t, good), `"v":1`, `"v":99`, 1), false}, // for newer fetchers to come: its lease brings it back
		"wrong type":    {queue, strings.Replace(jsonText(t, good), `"depth":2`, `"depth":"two"`, 1), true},
		"no release":    {queue, strings.Replace(jsonText(t, good), `"release":7`, `"release":0`, 1), true},
		"no visit":      {queue, strings.Replace(jsonText(t, good), `"visit":1`, `"visit":0`, 1), false},
		"no url":        {queue, strings.Replace(jsonText(t, good), good.URL, "mailto:a@b", 1), true},
		"wrong shard":   {wrong, jsonText(t, good), true},
	} {
		err := b.Deliver(t.Context(), c.queue, mq.Message{Key: c.queue, Body: []byte(c.body)})
		reason := rejected(err)
		if reason == "" || strings.Contains(reason, w.host()) {
			t.Errorf("%s: %v", name, err)
		}
		dead := b.take(contract.DeadKey(c.queue))
		if string(dead.Body) != c.body || dead.Headers[mq.HeaderReason] == "" {
			t.Errorf("%s: dead letter %+v", name, dead)
		}
		if !c.ends {
			b.nothing()
			continue
		}
		if o := b.done(); o.Status != contract.StatusFailed || o.Reason != contract.ReasonPoison || o.ID != good.ID || o.Crawl != "test" {
			t.Errorf("%s: outcome %+v", name, o)
		}
	}
	if n := len(w.log()); n != 0 {
		t.Errorf("%d requests", n)
	}
	b.must(good) // and its neighbours are served
	b.response()
}

func TestLeaseEnded(t *testing.T) {
	t.Parallel()
	w := site(t, nil)
	b := setup(t)
	b.must(fetch(t, w.URL, func(f *contract.Fetch) { f.LeaseUntil = time.Now().Add(-time.Second) }))
	b.nothing()
	if n := len(w.log()); n != 0 {
		t.Errorf("%d requests", n)
	}
	// It ends while the message waits for its slot: robots.txt was asked for, the page is not.
	b.must(fetch(t, w.URL, func(f *contract.Fetch) { f.LeaseUntil, f.DelayMS = time.Now().Add(300*time.Millisecond), 800 }))
	b.nothing()
	if diff := cmp.Diff([]string{"/robots.txt"}, w.log()); diff != "" {
		t.Error(diff)
	}
}

func TestNotLive(t *testing.T) {
	t.Parallel()
	w := site(t, nil)
	b := setup(t)
	b.Freeze(true)
	if err := b.deliver(fetch(t, w.URL)); err == nil || rejected(err) != "" || errors.Is(err, mq.ErrUnsettled) {
		t.Errorf("fate = %v, want an error that waits", err)
	}
	b.nothing()
	if n := len(w.log()); n != 0 {
		t.Errorf("%d requests by a process that may have lost its shard", n)
	}
	b.Freeze(false)
	b.must(fetch(t, w.URL))
	b.response()
}

// slow answers each request when it is released; entered tells of each.
func slow(t *testing.T) (w *web, entered chan string, release chan struct{}) {
	t.Helper()
	entered, release = make(chan string, 100), make(chan struct{})
	w = serve(t, func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(rw, r)
			return
		}
		entered <- r.URL.Path
		select {
		case <-release:
			text("late")(rw, r)
		case <-r.Context().Done():
			entered <- "cancelled"
		}
	})
	return w, entered, release
}

func (b *bench) background(f contract.Fetch) <-chan error {
	fate := make(chan error, 1)
	go func() { fate <- b.deliver(f) }()
	return fate
}

func TestDrain(t *testing.T) {
	t.Parallel()
	w, entered, release := slow(t)
	b := setup(t)
	running := b.background(fetch(t, w.URL+"/running"))
	<-entered
	waiting := b.background(fetch(t, w.URL+"/waiting"))
	b.Drain()
	if err := <-waiting; !errors.Is(err, mq.ErrUnsettled) {
		t.Errorf("who waits: %v, want ErrUnsettled", err)
	}
	if err := b.deliver(fetch(t, w.URL+"/late")); !errors.Is(err, mq.ErrUnsettled) {
		t.Errorf("who comes late: %v, want ErrUnsettled", err)
	}
	idle := site(t, nil)
	for range 20 { // its slot is free at once, and still nothing new begins
		if err := b.deliver(fetch(t, idle.URL)); !errors.Is(err, mq.ErrUnsettled) {
			t.Errorf("of an idle host: %v, want ErrUnsettled", err)
		}
	}
	if n := len(idle.log()); n != 0 {
		t.Errorf("%d requests began while stopping", n)
	}
	b.nothing()
	release <- struct{}{}
	if err := <-running; err != nil {
		t.Errorf("who has begun: %v", err)
	}
	if r, _ := b.response(); !strings.HasSuffix(r.URL, "/running") {
		t.Errorf("response %+v", r)
	}
}

func TestLostSessionEndsRequestsAtOnce(t *testing.T) {
	t.Parallel()
	w, entered, _ := slow(t)
	b := setup(t)
	running := b.background(fetch(t, w.URL+"/running"))
	<-entered
	waiting := b.background(fetch(t, w.URL+"/waiting"))
	b.Break()
	for _, fate := range []<-chan error{running, waiting} {
		if err := <-fate; err == nil {
			t.Error("a message of a lost session was settled")
		}
	}
	if got := <-entered; got != "cancelled" {
		t.Errorf("then came %q", got)
	}
	b.Mend()
	b.nothing()
}

func TestPublishIsTriedAgain(t *testing.T) {
	t.Parallel()
	w := site(t, map[string]http.HandlerFunc{"/x": text("x")})
	b := setup(t)
	b.FailNext(3, mq.ErrUnroutable)
	b.must(fetch(t, w.URL+"/x"))
	b.response()
	if n := w.count("/x"); n != 1 {
		t.Errorf("the page was fetched %d times", n)
	}
}

// panicky panics at its first publish.
type panicky struct {
	*mqtest.Bus
	left atomic.Int32
}

func (p *panicky) Publish(ctx context.Context, m ...mq.Message) error {
	if p.left.Add(-1) >= 0 {
		panic("at the worst moment")
	}
	return p.Bus.Publish(ctx, m...)
}

// A panic is a rejection, and leaves no slot and no token taken.
func TestPanic(t *testing.T) {
	t.Parallel()
	w := site(t, map[string]http.HandlerFunc{"/x": text("x")})
	bus := mqtest.NewBus()
	p := &panicky{Bus: bus}
	p.left.Store(1)
	b := setupWith(t, fetcher.Deps{Bus: p}, bus, func(c *fetcher.Config) { c.Concurrency = 1 })
	if err := b.deliver(fetch(t, w.URL+"/x")); rejected(err) == "" {
		t.Errorf("fate = %v, want a rejection", err)
	}
	if o := b.done(); o.Reason != contract.ReasonPoison {
		t.Errorf("outcome %+v", o)
	}
	b.must(fetch(t, w.URL+"/x"))
	b.response()
}

func TestConcurrency(t *testing.T) {
	t.Parallel()
	one, entered, release := slow(t)
	other := site(t, nil)
	b := setup(t, func(c *fetcher.Config) { c.Concurrency, c.Hold = 1, 100*time.Millisecond })
	running := b.background(fetch(t, one.URL+"/running"))
	<-entered
	b.must(fetch(t, other.URL+"/x"))
	if r := b.retry(); r.Attempt || r.Reason != "fetcher busy" || r.Host.Reason != "" || r.Host.Visited {
		t.Errorf("retry %+v", r)
	}
	if n := len(other.log()); n != 0 {
		t.Errorf("%d requests beyond the limit", n)
	}
	release <- struct{}{}
	if err := <-running; err != nil {
		t.Error(err)
	}
	b.must(fetch(t, other.URL+"/x"))
}

// stuck takes no responses until it is let go, like a broker in alarm.
type stuck struct {
	*mqtest.Bus
	waits, letGo chan struct{}
}

func (s *stuck) Publish(ctx context.Context, m ...mq.Message) error {
	if strings.HasPrefix(m[0].Key, "response.") {
		s.waits <- struct{}{}
		<-s.letGo
	}
	return s.Bus.Publish(ctx, m...)
}

// Bodies in memory are bounded by Concurrency, so a result that waits for the broker counts.
func TestUnpublishedCounts(t *testing.T) {
	t.Parallel()
	w, other := site(t, nil), site(t, nil)
	bus := mqtest.NewBus()
	s := &stuck{Bus: bus, waits: make(chan struct{}, 1), letGo: make(chan struct{})}
	b := setupWith(t, fetcher.Deps{Bus: s}, bus, func(c *fetcher.Config) { c.Concurrency, c.Hold = 1, 100*time.Millisecond })
	fate := b.background(fetch(t, w.URL))
	<-s.waits
	b.must(fetch(t, other.URL))
	if r := b.retry(); r.Reason != "fetcher busy" {
		t.Errorf("retry %+v", r)
	}
	close(s.letGo)
	if err := <-fate; err != nil {
		t.Error(err)
	}
}

// Large bodies in memory are bounded too; small ones pass, and to have waited is nobody's fault.
func TestLargeBodies(t *testing.T) {
	t.Parallel()
	pages := map[string]http.HandlerFunc{"/large": text(strings.Repeat("x", 600<<10)), "/small": text(strings.Repeat("x", 200<<10))}
	w, other := site(t, pages), site(t, pages)
	bus := mqtest.NewBus()
	s := &stuck{Bus: bus, waits: make(chan struct{}, 3), letGo: make(chan struct{})}
	b := setupWith(t, fetcher.Deps{Bus: s}, bus, func(c *fetcher.Config) { c.LargeBodies, c.Timeout = 1, 2*time.Second })
	first := b.background(fetch(t, w.URL+"/large"))
	<-s.waits // it is in memory until it is published
	small := b.background(fetch(t, w.URL+"/small"))
	<-s.waits
	b.must(fetch(t, other.URL+"/large"))
	if r := b.retry(); r.Attempt || r.Reason != "out of local resources" || r.Host.Reason != "" {
		t.Errorf("retry %+v", r)
	}
	close(s.letGo)
	for _, fate := range []<-chan error{first, small} {
		if err := <-fate; err != nil {
			t.Error(err)
		}
	}
	if n := len(b.Take("response.")); n != 2 {
		t.Errorf("%d responses", n)
	}
	b.must(fetch(t, other.URL+"/large"))
	if r, body := b.response(); len(body) != 600<<10 || r.Truncated != "" {
		t.Errorf("%d bytes, truncated %q", len(body), r.Truncated)
	}
}

// When the bus gives up on the broker, so does the service.
func TestLostBus(t *testing.T) {
	t.Parallel()
	bus := mqtest.NewBus()
	service, err := fetcher.New(settings(), fetcher.Deps{Bus: bus, Shards: shards})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- service.Run(t.Context()) }()
	bus.Lose()
	if err := <-ended; !errors.Is(err, mq.ErrLost) {
		t.Errorf("Run = %v, want ErrLost", err)
	}
}
