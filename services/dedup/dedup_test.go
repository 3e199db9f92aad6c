package dedup_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq"
	"github.com/warrenmq/warren/libs/mq/mqtest"
	"github.com/warrenmq/warren/libs/sqldb"
	"github.com/warrenmq/warren/libs/sqldb/sqldbtest"
	"github.com/warrenmq/warren/libs/weburl"
	"github.com/warrenmq/warren/services/dedup"
	"github.com/warrenmq/warren/services/dedup/internal/frontier"
	"github.com/warrenmq/warren/services/dedup/postgres"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// running is a dedup service at work on a database of its own and a bus that breaks on demand.
type running struct {
	*testing.T
	bus     *mqtest.Bus
	service *dedup.Service
	cfg     dedup.Config
	store   *postgres.Store
}

func openStore(t *testing.T) *postgres.Store {
	t.Helper()
	cfg := sqldb.DefaultConfig()
	cfg.MaxConns = 3 // one holds the slot, two for six goroutines: none may need a second within a first
	cfg.URL = sqldbtest.Database(t)
	pool, err := sqldb.Open(t.Context(), cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	if err := sqldb.Migrate(t.Context(), cfg, postgres.Migrations(), postgres.MigrationTable); err != nil {
		t.Fatal(err)
	}
	store, err := postgres.Open(t.Context(), pool)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	return store
}

func deps(bus mq.Bus, store dedup.Store, shards int) dedup.Deps {
	return dedup.Deps{
		Bus: bus, Store: store, Shards: shards,
		Log: slog.New(slog.DiscardHandler), Registry: prometheus.NewRegistry(),
	}
}

func start(t *testing.T, change func(*dedup.Config)) *running {
	t.Helper()
	r := &running{T: t, bus: mqtest.NewBus(), cfg: dedup.DefaultConfig(), store: openStore(t)}
	r.cfg.Tick, r.cfg.SweepEvery, r.cfg.BatchWait = 10*time.Millisecond, 20*time.Millisecond, time.Millisecond
	if change != nil {
		change(&r.cfg)
	}
	var err error
	r.service, err = dedup.New(r.cfg, deps(r.bus, r.store, 8))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.service.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("run: %v", err)
		}
	})
	return r
}

func (r *running) send(key, body string) error {
	r.Helper()
	queue := contract.QueueDedup
	if strings.HasPrefix(key, "crawl.") {
		queue = contract.QueueCrawl
	}
	return r.bus.Deliver(r.Context(), queue, mq.Message{Key: key, Body: []byte(body)})
}

func (r *running) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

func (r *running) fetch() contract.Fetch {
	r.Helper()
	ctx, cancel := context.WithTimeout(r.Context(), 20*time.Second)
	defer cancel()
	m, err := r.bus.Wait(ctx, "fetch.8.")
	r.must(err)
	fetch, err := contract.DecodeFetch(m.Body)
	r.must(err)
	return fetch
}

func (r *running) get(path string, into any) int {
	r.Helper()
	rec := httptest.NewRecorder()
	r.service.API().ServeHTTP(rec, httptest.NewRequestWithContext(r.Context(), http.MethodGet, path, nil))
	r.must(json.Unmarshal(rec.Body.Bytes(), into))
	return rec.Code
}

type status struct {
	Crawls []struct {
		Name, State string
		URLs        map[string]int64
		Failed      map[string]int64
	}
}

// until waits for the crawl to come to a state.
func (r *running) until(crawl, state string) status {
	r.Helper()
	deadline := time.After(20 * time.Second)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		var s status
		if r.get("/api/v1/status?crawl="+crawl, &s) == http.StatusOK && s.Crawls[0].State == state {
			return s
		}
		select {
		case <-deadline:
			r.Fatalf("crawl %s never became %s: %+v", crawl, state, s)
		case <-tick.C:
		}
	}
}

func outcome(m contract.Fetch, links ...string) string {
	o := contract.Outcome{Crawl: m.Crawl, ID: m.ID, Visit: m.Visit, Status: contract.StatusDone, Code: 200, Stored: true,
		Host: contract.Host{Name: m.Host.Name, Visited: true, PaceMS: 1}}
	for _, l := range links {
		o.Links = append(o.Links, contract.Link{URL: l})
	}
	body, err := contract.Encode(contract.Done{Outcomes: []contract.Outcome{o}})
	if err != nil {
		panic(err)
	}
	return string(body)
}

func TestCrawlToItsEnd(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	r.must(r.send(contract.KeySeed, "https://a.test/"))
	first := r.fetch()
	if first.URL != "https://a.test/" || first.Crawl != contract.DefaultCrawl {
		t.Fatalf("fetch %+v", first)
	}
	r.must(r.send(contract.KeyDone, outcome(first, "https://a.test/1", "https://b.test/")))
	second := r.fetch()
	r.must(r.send(contract.KeyDone, outcome(second)))
	s := r.until(contract.DefaultCrawl, "finished")
	if s.Crawls[0].URLs["done"] != 2 {
		t.Fatalf("status %+v", s)
	}
	var u struct{ Why, State string }
	if code := r.get("/api/v1/url?url=https://a.test/1", &u); code != 200 || u.State != "done" || u.Why != "fetched, HTTP status 200" {
		t.Fatalf("url: %d %+v", code, u)
	}
	for path, want := range map[string]int{
		"/api/v1/url?url=https://b.test/": 404, "/api/v1/url?url=nonsense": 400, "/api/v1/status?crawl=nobody": 404,
	} {
		var e struct{ Error string }
		if code := r.get(path, &e); code != want || e.Error == "" {
			t.Errorf("%s: %d %+v, want %d", path, code, e, want)
		}
	}
}

// Every message that can never work is refused with its reason, and its neighbours are done.
func TestBadInput(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	for _, c := range []struct{ key, body, want string }{
		{contract.KeySeed, "", "the body is empty"},
		{contract.KeySeed, "not a url", "no web address"},
		{contract.KeySeed, "mailto:x@y.test", "no web address"},
		{contract.KeySeed, `{"url":"https://a.test/","colour":"red"}`, `unknown field "colour"`},
		{contract.KeySeed, `{"url":"https://a.test/","scope":"galaxy"}`, `scope "galaxy"`},
		{contract.KeySeed, `{"url":`, "unexpected EOF"},
		{contract.KeySeed, "\xff\xfe\x00", "not UTF-8"},
		{contract.KeySeed, "https://a.test/" + strings.Repeat("x", 1<<20), "no web address"},
		{contract.KeyDone, `{}`, "outcomes is empty"},
		{contract.KeyDone, `{"outcomes":[{"crawl":"x","id":"zz","visit":1,"status":"done"}]}`, "id"},
		{contract.KeyDone, `{"v":99,"outcomes":[{"crawl":"x","id":"zz","visit":1,"status":"done"}]}`, "newer"},
		{contract.KeyRetry, `[]`, "read"},
		{"url.other", `{}`, "want url.seed"},
		{contract.KeyCrawlStart, `{"name":"x","seeds":["https://ok.test/","ftp://no"]}`, "1 seeds refused"},
		{contract.KeyCrawlStart, `{"name":"x","wings":2}`, "wings"},
		{contract.KeyCrawlPause, `nobody`, "no such crawl"},
		{contract.KeyCrawlStart, `{"name":"x","include":["\u0000"],"seeds":["https://ok.test/"]}`, "refuses the row"},
		{contract.KeyCrawlRequeue, `{"name":"default","reason":"\u0000"}`, "no such crawl"},
		{contract.KeySeed, `{"url":"https://b.test/","include":["\u0000"]}`, "refuses the row"},
		{"crawl.fly", `default`, "want crawl.start"},
	} {
		err := r.send(c.key, c.body)
		var rejection *mq.Rejection
		if !errors.As(err, &rejection) || !strings.Contains(rejection.Reason, c.want) {
			t.Errorf("%s %.60q: %v, want a rejection with %q", c.key, c.body, err, c.want)
		}
		if rejection != nil && strings.Contains(rejection.Reason, "a.test") {
			t.Errorf("a URL in the reason %q", rejection.Reason)
		}
	}
	r.bus.Take("dead.")
	r.must(r.send(contract.KeySeed, "https://good.test/\n# comment\n\nnonsense\nhttps://fine.test/"))
	dead := r.bus.Take(contract.DeadKey(contract.QueueDedup))
	if len(dead) != 1 || string(dead[0].Body) != `[{"url":"nonsense","crawl":"default"}]` || dead[0].Headers[mq.HeaderKey] != contract.KeySeed {
		t.Fatalf("dead letters %+v", dead)
	}
	hosts := map[string]bool{r.fetch().Host.Name: true, r.fetch().Host.Name: true}
	if !hosts["good.test"] || !hosts["fine.test"] {
		t.Fatalf("fetched %v", hosts)
	}
}

func TestUnpublishedIsPutBack(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	r.bus.FailNext(3, nil)
	r.must(r.send(contract.KeySeed, "https://a.test/"))
	if m := r.fetch(); m.Release < 4 {
		t.Fatalf("release %d: three publishes failed before", m.Release)
	}
}

func TestNothingReleasedWithoutBroker(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	r.must(r.send(contract.KeySeed, "https://a.test/"))
	m := r.fetch()
	r.bus.Break()
	seed, err := weburl.Parse("https://b.test/")
	r.must(err)
	other := frontier.New(frontier.Config{Cache: 10, MaxHops: 10, Shards: 8}, r.store, time.Now)
	_, err = other.Apply(t.Context(), frontier.Batch{Seeds: []frontier.Seed{{Seed: contract.Seed{Crawl: "default"}, At: seed}}})
	r.must(err)
	for range 10 { // ticks of the release loop, at 10 ms each
		var s status
		r.get("/api/v1/status", &s)
		if s.Crawls[0].URLs["ready"] != 1 || s.Crawls[0].URLs["released"] != 1 {
			t.Fatalf("released without a broker: %+v", s)
		}
		<-time.After(r.cfg.Tick)
	}
	r.bus.Mend()
	if next := r.fetch(); next.URL != "https://b.test/" {
		t.Fatalf("fetch %+v", next)
	}
	r.must(r.send(contract.KeyDone, outcome(m)))
}

// A lease that ends brings the URL back; a message lost in the pipeline is a matter of time.
func TestLeaseBringsBack(t *testing.T) {
	t.Parallel()
	r := start(t, func(c *dedup.Config) { c.Lease, c.MaxExpiries = 50*time.Millisecond, 2 })
	r.must(r.send(contract.KeySeed, "https://a.test/"))
	if first, second := r.fetch(), r.fetch(); first.ID != second.ID || second.Release != 2 {
		t.Fatalf("%+v then %+v", first, second)
	}
	if s := r.until(contract.DefaultCrawl, "finished"); s.Crawls[0].Failed[contract.ReasonLost] != 1 {
		t.Fatalf("status %+v", s)
	}
}

func TestCrawlVerbs(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	r.must(r.send(contract.KeyCrawlStart, `{"name":"news","seeds":["https://n.test/"],"delay":"0s","pages":10}`))
	if m := r.fetch(); m.Crawl != "news" || m.DelayMS != -1 {
		t.Fatalf("fetch %+v", m)
	}
	r.must(r.send(contract.KeyCrawlPause, "news"))
	r.until("news", "paused")
	r.must(r.send(contract.KeyCrawlResume, `{"name":"news"}`))
	r.until("news", "running")
	r.must(r.send(contract.KeyCrawlCancel, "news"))
	r.until("news", "cancelled")
}

// dedup was down for ten minutes and the outcomes wait in its queue: at the start no lease may end yet.
func TestLeasesWaitForTheSession(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	r.must(r.send(contract.KeySeed, "https://a.test/"))
	r.fetch()
	bus := mqtest.NewBus()
	d := deps(bus, r.store, 8)
	d.Now = func() time.Time { return time.Now().Add(10 * time.Minute) }
	later, err := dedup.New(r.cfg, d)
	r.must(err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- later.Run(ctx) }()
	// it is at work: a seed goes through it
	r.must(bus.Deliver(t.Context(), contract.QueueDedup, mq.Message{Key: contract.KeySeed, Body: []byte("https://b.test/")}))
	for range 20 {
		<-time.After(r.cfg.SweepEvery)
		for _, m := range append(bus.Take("fetch."), r.bus.Take("fetch.")...) {
			if fetch, err := contract.DecodeFetch(m.Body); err != nil || fetch.Release > 1 {
				t.Fatalf("released again before the session has stood for a lease: %+v %v", fetch, err)
			}
		}
	}
	cancel()
	r.must(<-done)
}

// A long list of seeds goes in parts, and two connections are enough.
func TestManySeedsFewConnections(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	var list strings.Builder
	for i := range 12_000 {
		fmt.Fprintf(&list, "https://h%d.test/\n", i)
	}
	r.must(r.send(contract.KeySeed, list.String()))
	var s status
	r.get("/api/v1/status?crawl=default", &s)
	if urls := s.Crawls[0].URLs; urls["ready"]+urls["released"] != 12_000 {
		t.Fatalf("admitted %v", urls)
	}
}

func TestShardsAreRecorded(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	r.must(r.send(contract.KeySeed, "https://a.test/"))
	r.fetch()
	other, err := dedup.New(r.cfg, deps(mqtest.NewBus(), r.store, 16))
	r.must(err)
	if err := other.Run(t.Context()); !errors.Is(err, dedup.ErrShards) {
		t.Fatalf("another number of shards with a URL out: %v", err)
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	cfg := dedup.DefaultConfig()
	cfg.Lease = -1
	if _, err := dedup.New(cfg, deps(mqtest.NewBus(), nil, 8)); err == nil || !strings.Contains(err.Error(), "WARREN_DEDUP_LEASE") {
		t.Fatalf("negative lease: %v", err)
	}
	if _, err := dedup.New(dedup.DefaultConfig(), deps(mqtest.NewBus(), nil, 0)); err == nil || !strings.Contains(err.Error(), "WARREN_SHARDS") {
		t.Fatalf("no shards: %v", err)
	}
}
