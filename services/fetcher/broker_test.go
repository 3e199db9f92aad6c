package fetcher_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/warrenmq/warren/libs/mq/rabbit"
	"github.com/warrenmq/warren/libs/mq/rabbit/rabbittest"
	"github.com/warrenmq/warren/services/fetcher"
)

// process is one fetcher with a bus of its own, as in a container.
type process struct {
	t          *testing.T
	stop, kill context.CancelFunc // the service in order; or its connection to the broker, at once
	ended      chan error
}

func connect(t *testing.T, url, name string) (*rabbit.Bus, context.CancelFunc, chan error) {
	t.Helper()
	cfg := rabbit.DefaultConfig()
	cfg.URLs = []string{url}
	bus, err := rabbit.New(cfg, rabbit.Deps{Name: name, Shards: shards, Log: slog.New(slog.DiscardHandler), Registry: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- bus.Run(ctx) }()
	return bus, cancel, ended
}

func start(t *testing.T, url, id string, delay time.Duration) *process {
	t.Helper()
	bus, kill, busEnded := connect(t, url, id)
	cfg := settings()
	cfg.Delay, cfg.UserAgent = delay, id+"/1"
	service, err := fetcher.New(cfg, fetcher.Deps{Bus: bus, Shards: shards, ID: id})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	p := &process{t: t, stop: stop, kill: kill, ended: make(chan error, 1)}
	go func() {
		err := service.Run(ctx)
		kill()
		<-busEnded
		p.ended <- err
	}()
	return p
}

func (p *process) leave() {
	p.t.Helper()
	p.stop()
	if err := <-p.ended; err != nil {
		p.t.Errorf("stop: %v", err)
	}
}

func (p *process) die() {
	p.kill()
	<-p.ended // with mq.ErrLost
	p.stop()
}

// waitFor waits until the fetcher of that id has sent n requests more.
func waitFor(t *testing.T, sites []*web, id string, n int) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(2 * time.Minute)
	sum := func() (sum int) {
		for _, w := range sites {
			sum += w.by(id)
		}
		return sum
	}
	for begin := sum(); sum() < begin+n; {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("%s has sent %d requests, want %d more", id, sum(), n)
		}
	}
}

func (w *web) by(id string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, h := range w.hits {
		if h.header.Get("User-Agent") == id+"/1" {
			n++
		}
	}
	return n
}

// Fetchers come, go and die while they share the shards. Every page is served, no host by two at a
// time, none faster than its delay.
func TestFetchersShareShards(t *testing.T) {
	t.Parallel()
	const delay, pages = 800 * time.Millisecond, 20
	url := rabbittest.VHost(t)
	var sites []*web
	for i := range 12 {
		sites = append(sites, walkOn(t, fmt.Sprintf("127.0.0.%d:0", i+2), func(string) time.Duration { return 150 * time.Millisecond }))
	}
	bus, disconnect, disconnected := connect(t, url, "frontier")
	ctx, stop := context.WithCancel(context.Background())
	f := newFrontier(t, bus, 3, sites, pages)
	ended := make(chan error, 1)
	go func() { ended <- f.run(ctx) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("frontier: %v", err)
		}
		disconnect()
		<-disconnected
	}()

	a := start(t, url, "a", delay)
	waitFor(t, sites, "a", 24)
	b := start(t, url, "b", delay)
	waitFor(t, sites, "b", 18)
	b.die() // a gets back hosts that it served before, and does not know when they were asked last
	waitFor(t, sites, "a", 24)
	c := start(t, url, "c", delay)
	waitFor(t, sites, "c", 18)
	a.leave()
	waitFor(t, sites, "c", 18)
	select {
	case <-f.over:
	case <-time.After(2 * time.Minute):
		t.Error("not everything was served")
	}
	c.leave()

	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.closed) != len(sites)*pages {
		t.Errorf("%d of %d pages; retries %v", len(f.closed), len(sites)*pages, f.retries)
	}
	again := 0
	for _, n := range f.closed {
		again += n - 1
	}
	if again > 12 { // those in flight when c died
		t.Errorf("%d pages were published twice", again)
	}
	for reason := range f.retries {
		if reason != "waiting for a slot" {
			t.Errorf("%d retries: %s", f.retries[reason], reason)
		}
	}
	t.Logf("retries %v, published twice %d", f.retries, again)
	for _, w := range sites {
		paced(t, w, delay)
	}
}
