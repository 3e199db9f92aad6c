package fetcher_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq"
	"github.com/warrenmq/warren/libs/weburl"
)

// frontier is the least that a fetcher needs on the other side of the broker: it keeps window URLs of
// each host out, takes over what is reported of the host, and sends again what comes back.
type frontier struct {
	t      *testing.T
	bus    mq.Bus
	window int

	mu      sync.Mutex
	hosts   map[string]*fakeHost
	closed  map[string]int // responses by URL
	retries map[string]int // by reason
	left    int
	over    chan struct{} // closed when nothing is left
}

type fakeHost struct {
	known   contract.Host
	waiting []string // URLs not out
	out     map[string]int64
}

func newFrontier(t *testing.T, bus mq.Bus, window int, sites []*web, pages int) *frontier {
	f := &frontier{
		t: t, bus: bus, window: window, left: len(sites) * pages,
		hosts: map[string]*fakeHost{}, closed: map[string]int{}, retries: map[string]int{}, over: make(chan struct{}),
	}
	for _, w := range sites {
		h := &fakeHost{known: contract.Host{Name: w.host()}, out: map[string]int64{}}
		for i := range pages {
			h.waiting = append(h.waiting, fmt.Sprintf("%s/%d", w.URL, i))
		}
		f.hosts[w.host()] = h
	}
	return f
}

// run releases and closes until ctx ends.
func (f *frontier) run(ctx context.Context) error {
	consume := func(queue string, handle mq.Handler) func() error {
		return func() error {
			return f.bus.Consume(ctx, mq.Subscription{Queue: queue, Prefetch: 32, Concurrency: 1}, handle)
		}
	}
	errs := make(chan error, 3)
	go func() { errs <- consume(contract.QueueDedup, f.dedup)() }()
	go func() { errs <- consume(contract.QueueParser, f.parser)() }()
	go func() { errs <- f.release(ctx) }()
	return errors.Join(<-errs, <-errs, <-errs)
}

func (f *frontier) release(ctx context.Context) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		for _, m := range f.due() {
			if err := f.bus.Publish(ctx, m); err != nil && ctx.Err() == nil {
				return err
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

func (f *frontier) due() []mq.Message {
	f.mu.Lock()
	defer f.mu.Unlock()
	var messages []mq.Message
	for _, h := range f.hosts {
		for len(h.waiting) > 0 && len(h.out) < f.window && !h.known.NextAt.After(time.Now().Add(500*time.Millisecond)) {
			url := h.waiting[0]
			h.waiting = h.waiting[1:]
			h.out[url] = time.Now().UnixNano()
			m := fetch(f.t, url, func(m *contract.Fetch) { m.Host, m.Release = h.known, h.out[url] })
			h.known.Visited = true
			messages = append(messages, message(f.t, m))
		}
	}
	return messages
}

// back takes a URL in, if it is out with that release, and what is said of its host.
func (f *frontier) back(url string, release int64, host contract.Host) bool {
	h := f.hosts[host.Name]
	if h == nil || h.out[url] != release {
		return false
	}
	delete(h.out, url)
	if host.NextAt.Before(h.known.NextAt) {
		host.NextAt = h.known.NextAt
	}
	h.known = host
	return true
}

func (f *frontier) parser(_ context.Context, d mq.Delivery) error {
	r, _, err := contract.DecodeResponse(d.Body)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed[r.URL]++
	if f.back(r.URL, r.Release, r.Host) {
		if f.left--; f.left == 0 {
			close(f.over)
		}
	}
	return nil
}

func (f *frontier) dedup(_ context.Context, d mq.Delivery) error {
	if d.Key != contract.KeyRetry {
		f.t.Errorf("%s: %s", d.Key, d.Body)
		return nil
	}
	r, err := contract.DecodeRetry(d.Body)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.retries[r.Reason]++
	for url, release := range f.hosts[r.Host.Name].out {
		u, err := weburl.Parse(url)
		if err == nil && u.ID().String() == r.ID && release == r.Release && f.back(url, r.Release, r.Host) {
			f.hosts[r.Host.Name].waiting = append(f.hosts[r.Host.Name].waiting, url)
		}
	}
	return nil
}
