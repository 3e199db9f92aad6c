package parser_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq"
	"github.com/warrenmq/warren/libs/mq/mqtest"
	"github.com/warrenmq/warren/services/parser"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a parser at work on a bus in memory.
type rig struct {
	bus      *mqtest.Bus
	registry *prometheus.Registry
}

// start runs a parser until the test ends.
func start(t *testing.T, change func(*parser.Config, *parser.Deps)) rig {
	t.Helper()
	r := rig{mqtest.NewBus(), prometheus.NewRegistry()}
	cfg := parser.DefaultConfig()
	deps := parser.Deps{Bus: r.bus, Log: slog.New(slog.DiscardHandler), Registry: r.registry}
	if change != nil {
		change(&cfg, &deps)
	}
	service, err := parser.New(cfg, deps)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- service.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("run: %v", err)
		}
	})
	return r
}

func (r rig) deliver(t *testing.T, message []byte) error {
	t.Helper()
	return r.bus.Deliver(t.Context(), contract.QueueParser, mq.Message{Key: "response.html.com.example", Body: message})
}

// parse delivers a response and returns the page that came of it, and the body in it.
func (r rig) parse(t *testing.T, response contract.Response, body string) (contract.Page, string) {
	t.Helper()
	if err := r.deliver(t, encode(t, response, body)); err != nil {
		t.Fatalf("handle: %v", err)
	}
	published := r.bus.Take("")
	if len(published) != 1 {
		t.Fatalf("published %d messages", len(published))
	}
	page, compressed, err := contract.DecodePage(published[0].Body)
	if err != nil {
		t.Fatal(err)
	}
	return page, decompress(t, compressed)
}

// response is of an ordinary page.
func response() contract.Response {
	return contract.Response{
		V: 1, Crawl: "default", ID: "0123456789abcdef0123456789abcdef", URL: "http://www.example.com/dir/page",
		Visit: 1, Release: 7, Depth: 2, Kind: contract.KindHTML, Code: 200,
		FetchedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), TookMS: 12, Proto: "HTTP/1.1", Remote: "192.0.2.1:80",
		Header: map[string][]string{"content-type": {"text/html; charset=utf-8"}},
		Host:   contract.Host{Name: "www.example.com", Visited: true, DelayMS: 1000},
	}
}

func encode(t *testing.T, r contract.Response, body string) []byte {
	t.Helper()
	r.Size, r.Received = int64(len(body)), int64(len(body))
	message, err := contract.EncodeEnvelope(r, compress(t, body))
	if err != nil {
		t.Fatal(err)
	}
	return message
}

func compress(t *testing.T, body string) []byte {
	t.Helper()
	if body == "" {
		return nil
	}
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	return w.EncodeAll([]byte(body), nil)
}

func decompress(t *testing.T, compressed []byte) string {
	t.Helper()
	if len(compressed) == 0 {
		return ""
	}
	r, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	body, err := r.DecodeAll(compressed, nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestRunEndsWithTheBus(t *testing.T) {
	t.Parallel()
	bus := mqtest.NewBus()
	service, err := parser.New(parser.DefaultConfig(), parser.Deps{Bus: bus, Log: slog.New(slog.DiscardHandler), Registry: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	bus.Lose()
	if err := service.Run(t.Context()); !errors.Is(err, mq.ErrLost) {
		t.Errorf("run: %v", err)
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	whole := func() parser.Deps {
		return parser.Deps{Bus: mqtest.NewBus(), Log: slog.New(slog.DiscardHandler), Registry: prometheus.NewRegistry()}
	}
	for variable, change := range map[string]func(*parser.Config){
		"WARREN_PARSER_PREFETCH is 0":      func(c *parser.Config) { c.Prefetch = 0 },
		"WARREN_PARSER_CONCURRENCY is 33":  func(c *parser.Config) { c.Concurrency = 33 },
		"WARREN_PARSER_MAX_BODY is 1":      func(c *parser.Config) { c.MaxBody = 1 },
		"WARREN_PARSER_DEADLINE is -1s":    func(c *parser.Config) { c.Deadline = -time.Second },
		`WARREN_PARSER_AGENT is "War ren"`: func(c *parser.Config) { c.Agent = "War ren" },
	} {
		cfg := parser.DefaultConfig()
		change(&cfg)
		if _, err := parser.New(cfg, whole()); err == nil || !strings.HasPrefix(err.Error(), variable) {
			t.Errorf("got %v, want %s …", err, variable)
		}
	}
	for name, change := range map[string]func(*parser.Deps){
		"bus":      func(d *parser.Deps) { d.Bus = nil },
		"log":      func(d *parser.Deps) { d.Log = nil },
		"registry": func(d *parser.Deps) { d.Registry = nil },
	} {
		deps := whole()
		change(&deps)
		if _, err := parser.New(parser.DefaultConfig(), deps); err == nil {
			t.Errorf("no %s is no error", name)
		}
	}
	deps := whole()
	if _, err := parser.New(parser.DefaultConfig(), deps); err != nil {
		t.Fatal(err)
	}
	if _, err := parser.New(parser.DefaultConfig(), deps); err == nil {
		t.Error("two parsers on one registry is no error")
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	r.parse(t, response(), "<a href=1><a href=2>"+strings.Repeat("x ", 1<<20))
	families, err := r.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, family := range families {
		if !strings.HasPrefix(family.GetName(), "warren_parser_") || family.GetHelp() == "" {
			t.Errorf("metric %s: %q", family.GetName(), family.GetHelp())
		}
		for _, m := range family.GetMetric() {
			name := family.GetName()
			for _, label := range m.GetLabel() {
				name += fmt.Sprintf("{%s=%s}", label.GetName(), label.GetValue())
			}
			got[name] = m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	for name, want := range map[string]float64{
		"warren_parser_pages_total{kind=html}":     1,
		"warren_parser_flags_total{flag=text-cut}": 1,
		"warren_parser_links_total":                2,
		"warren_parser_body_bytes_total":           2<<20 + 20,
		"warren_parser_too_large_total":            0,
		"warren_parser_parse_seconds":              1,
	} {
		if value, ok := got[name]; !ok || value != want {
			t.Errorf("%s is %v, want %v", name, value, want)
		}
	}
}
