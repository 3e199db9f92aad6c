package fetcher_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"go.uber.org/goleak"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq"
	"github.com/warrenmq/warren/libs/mq/mqtest"
	"github.com/warrenmq/warren/libs/weburl"
	"github.com/warrenmq/warren/services/fetcher"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const shards = 16

// settings are the defaults, with the delays of a test.
func settings() fetcher.Config {
	cfg := fetcher.DefaultConfig()
	cfg.Allow = []string{"127.0.0.0/8"}
	cfg.Delay = 0
	cfg.HeaderTimeout, cfg.IdleTimeout, cfg.Timeout = 5*time.Second, 5*time.Second, 10*time.Second
	return cfg
}

// bench is a running service on a bus in memory.
type bench struct {
	*mqtest.Bus
	t       *testing.T
	service *fetcher.Service
}

func setup(t *testing.T, change ...func(*fetcher.Config)) *bench {
	t.Helper()
	bus := mqtest.NewBus()
	return setupWith(t, fetcher.Deps{Bus: bus}, bus, change...)
}

func setupWith(t *testing.T, deps fetcher.Deps, bus *mqtest.Bus, change ...func(*fetcher.Config)) *bench {
	t.Helper()
	cfg := settings()
	for _, f := range change {
		f(&cfg)
	}
	deps.Shards = shards
	service, err := fetcher.New(cfg, deps)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- service.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	return &bench{Bus: bus, t: t, service: service}
}

// web is a server of its own host, with an access log.
type web struct {
	*httptest.Server
	mu   sync.Mutex
	hits []hit
}

type hit struct {
	path       string
	header     http.Header
	start, end time.Time
}

// serve starts a host. /robots.txt is 404 unless handle answers for it.
func serve(t *testing.T, handle http.HandlerFunc) *web {
	t.Helper()
	w := &web{}
	w.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		i := len(w.hits)
		w.hits = append(w.hits, hit{path: r.URL.Path, header: r.Header, start: time.Now()})
		w.mu.Unlock()
		defer func() {
			w.mu.Lock()
			w.hits[i].end = time.Now()
			w.mu.Unlock()
		}()
		handle(rw, r)
	}))
	t.Cleanup(w.Close)
	return w
}

// site serves pages by path; what is not there is 404.
func site(t *testing.T, pages map[string]http.HandlerFunc) *web {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		if page := pages[r.URL.Path]; page != nil {
			page(w, r)
			return
		}
		http.NotFound(w, r)
	})
}

func text(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(body))
	}
}

func status(code int, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
	}
}

// hangUp closes the connection without an answer.
func hangUp(w http.ResponseWriter, _ *http.Request) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		conn.Close()
	}
}

func (w *web) host() string { return strings.TrimPrefix(w.URL, "http://") }

// log returns the paths asked for so far.
func (w *web) log() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var paths []string
	for _, h := range w.hits {
		paths = append(paths, h.path)
	}
	return paths
}

func (w *web) count(path string) int {
	n := 0
	for _, p := range w.log() {
		if p == path {
			n++
		}
	}
	return n
}

// fetch is a message as the frontier sends it.
func fetch(t *testing.T, url string, change ...func(*contract.Fetch)) contract.Fetch {
	t.Helper()
	u, err := weburl.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	f := contract.Fetch{
		V: 1, Crawl: "test", ID: u.ID().String(), URL: u.String(), Visit: 1, Release: 7, Attempt: 1, Depth: 2,
		LeaseUntil: time.Now().Add(time.Minute), Host: contract.Host{Name: u.Host()},
	}
	for _, c := range change {
		c(&f)
	}
	return f
}

func queueOf(t *testing.T, url string) string {
	t.Helper()
	u, err := weburl.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	return contract.FetchKey(shards, weburl.Shard(u.Host(), shards))
}

func message(t *testing.T, f contract.Fetch) mq.Message {
	t.Helper()
	body, err := contract.Encode(f)
	if err != nil {
		t.Fatal(err)
	}
	return mq.Message{Key: queueOf(t, f.URL), Body: body}
}

// deliver hands the message to the service and returns its fate.
func (b *bench) deliver(f contract.Fetch) error {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 30*time.Second)
	defer cancel()
	return b.Deliver(ctx, queueOf(b.t, f.URL), message(b.t, f))
}

// must delivers a message that is to be settled.
func (b *bench) must(f contract.Fetch) {
	b.t.Helper()
	if err := b.deliver(f); err != nil {
		b.t.Fatalf("deliver %s: %v", f.URL, err)
	}
}

func (b *bench) take(prefix string) mq.Message {
	b.t.Helper()
	messages := b.Take(prefix)
	if len(messages) != 1 {
		b.t.Fatalf("%d messages %s…, want one; all: %v", len(messages), prefix, keys(b.Published()))
	}
	return messages[0]
}

func keys(messages []mq.Message) []string {
	var all []string
	for _, m := range messages {
		all = append(all, m.Key+" "+string(m.Body[:min(len(m.Body), 200)]))
	}
	return all
}

func (b *bench) response() (contract.Response, string) {
	b.t.Helper()
	r, body, err := contract.DecodeResponse(b.take("response.").Body)
	if err != nil {
		b.t.Fatal(err)
	}
	decoder, err := zstd.NewReader(nil)
	if err != nil {
		b.t.Fatal(err)
	}
	defer decoder.Close()
	plain, err := decoder.DecodeAll(body, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	return r, string(plain)
}

func (b *bench) retry() contract.Retry {
	b.t.Helper()
	r, err := contract.DecodeRetry(b.take(contract.KeyRetry).Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

func (b *bench) done() contract.Outcome {
	b.t.Helper()
	d, err := contract.DecodeDone(b.take(contract.KeyDone).Body)
	if err != nil || len(d.Outcomes) != 1 {
		b.t.Fatalf("url.done: %+v, %v", d, err)
	}
	return d.Outcomes[0]
}

func (b *bench) nothing() {
	b.t.Helper()
	if all := b.Published(); len(all) > 0 {
		b.t.Errorf("published: %v", keys(all))
	}
}

func rejected(err error) string {
	var r *mq.Rejection
	if errors.As(err, &r) {
		return r.Reason
	}
	return ""
}

func near(t *testing.T, what string, got time.Time, want time.Duration) {
	t.Helper()
	if d := time.Until(got) - want; d.Abs() > 3*time.Second {
		t.Errorf("%s is in %s, want %s", what, time.Until(got), want)
	}
}

// decoy is a listener that must not be touched.
func decoy(t *testing.T) (address string, touched func() bool) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	seen := make(chan struct{}, 1)
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			conn.Close()
			select {
			case seen <- struct{}{}:
			default:
			}
		}
	})
	t.Cleanup(func() { listener.Close(); wg.Wait() })
	return listener.Addr().String(), func() bool { return len(seen) > 0 }
}

func jsonText(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
