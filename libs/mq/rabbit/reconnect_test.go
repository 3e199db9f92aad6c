package rabbit_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq"
)

// deadURL is an address where nobody listens.
func deadURL(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return "amqp://guest:guest@" + l.Addr().String() + "/"
}

// eventually waits until a condition holds.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(patience)
	for !holds() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

// take waits for the next value.
func take[T any](t testing.TB, from <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(patience):
		t.Fatalf("waited in vain for %s", what)
		panic("unreachable")
	}
}

// consume runs Consume until the test ends or the returned function is called.
func consume(t testing.TB, c mq.Consumer, sub mq.Subscription, handle mq.Handler) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Consume(ctx, sub, handle) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			if err := take(t, done, "Consume to return"); err != nil && !errors.Is(err, mq.ErrLost) {
				t.Errorf("Consume: %v", err)
			}
		})
	}
	t.Cleanup(stop)
	return stop
}

// publishAll publishes until every message is confirmed, as a service does.
func publishAll(ctx context.Context, p mq.Publisher, messages []mq.Message) error {
	for len(messages) > 0 {
		err := p.Publish(ctx, messages...)
		var failed *mq.PublishError
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil || !errors.As(err, &failed) || errors.Is(err, mq.ErrLost):
			return err
		}
		var again []mq.Message
		for _, i := range failed.Failed {
			again = append(again, messages[i])
		}
		messages = again
	}
	return nil
}

// A list whose first node is dead: the other is found, and found again after each loss, when the
// search begins with the node after the one that was lost.
func TestDeadNodesArePassedOver(t *testing.T) {
	t.Parallel()
	b := newBroker(t, 1)
	via := newProxy(t, b.url)
	p := start(t, settings(deadURL(t), via.url(), deadURL(t)), 1)
	for range 3 {
		p.await(t, mq.Connected)
		_, changed := p.State()
		via.cut()
		take(t, changed, "the loss to be told")
	}
	p.await(t, mq.Connected)
	if got := p.metric("warren_mq_sessions_total"); got != 4 {
		t.Errorf("%v sessions, want 4", got)
	}
	if text := p.log.String(); strings.Count(text, "broker node cannot be used") < 6 {
		t.Errorf("the dead nodes were not tried in each round:\n%s", text)
	}
}

// The node in use dies for good in mid-run; the next one carries on.
func TestNodeInUseIsKilled(t *testing.T) {
	t.Parallel()
	b := newBroker(t, 1)
	one, two := newProxy(t, b.url), newProxy(t, b.url)
	p := start(t, settings(one.url(), two.url()), 1)
	p.await(t, mq.Connected)
	used, other := one, two
	if used.dials() == 0 {
		used, other = two, one
	}
	_, changed := p.State()
	lost := time.Now()
	used.close()
	take(t, changed, "the loss to be told")
	p.await(t, mq.Connected)
	t.Logf("connected to the other node after %s", time.Since(lost))
	if other.dials() != 2 {
		t.Errorf("%d connections to the other node, want 2", other.dials())
	}
	if err := p.Publish(t.Context(), mq.Message{Key: "url.seed"}); err != nil {
		t.Error(err)
	}
}

func TestAttemptsAndDelay(t *testing.T) {
	t.Parallel()
	cfg := settings(deadURL(t), deadURL(t))
	cfg.Attempts, cfg.Delay = 3, 200*time.Millisecond
	began := time.Now()
	p := start(t, cfg, 1)
	waiting := make(chan error, 2)
	go func() { waiting <- p.Publish(t.Context(), mq.Message{Key: "url.seed"}) }()
	go func() { waiting <- p.Consume(t.Context(), mq.Subscription{Queue: "dedup"}, nil) }()
	take(t, p.done, "Run to return")
	// Two waits of 200 ms, give or take a quarter.
	if took := time.Since(began); took < 300*time.Millisecond || took > 5*time.Second {
		t.Errorf("gave up after %s, want some 400 ms", took)
	}
	if got := p.metric("warren_mq_dials_total"); got != 6 {
		t.Errorf("%v dials, want 3 rounds over 2 nodes", got)
	}
	for _, err := range []error{p.err, take(t, waiting, "an answer"), take(t, waiting, "an answer"), p.Ready(t.Context())} {
		if err == nil || !strings.Contains(err.Error(), "gave up after 3 rounds over 2 nodes") {
			t.Errorf("got %v, want a word of the rounds", err)
		}
	}
	if !errors.Is(p.err, mq.ErrLost) {
		t.Errorf("Run: %v, want ErrLost", p.err)
	}
	if state, _ := p.State(); state != mq.Lost {
		t.Errorf("state is %s", state)
	}
	if err := p.Run(t.Context()); err == nil {
		t.Error("a second Run did not fail")
	}
}

// A node that accepts and drops us at once must not be hammered, and uses up the attempts.
func TestFlappingNodeUsesUpAttempts(t *testing.T) {
	t.Parallel()
	b := newBroker(t, 1)
	via := newProxy(t, b.url)
	cfg := settings(via.url())
	cfg.Attempts, cfg.Delay = 3, time.Minute // every session is shorter than that
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cfg.Delay = 300 * time.Millisecond
	p := start(t, cfg, 1)
	go func() {
		for ctx.Err() == nil {
			state, changed := p.State()
			if state == mq.Connected {
				via.cut()
			}
			select {
			case <-changed:
			case <-ctx.Done():
			}
		}
	}()
	take(t, p.done, "Run to return")
	if !errors.Is(p.err, mq.ErrLost) {
		t.Errorf("Run: %v, want ErrLost", p.err)
	}
}

// Attempts are counted anew after each session that has lasted.
func TestAttemptsAreForEachLoss(t *testing.T) {
	t.Parallel()
	b := newBroker(t, 1)
	via := newProxy(t, b.url)
	cfg := settings(via.url())
	cfg.Attempts, cfg.Delay = 4, 200*time.Millisecond
	p := start(t, cfg, 1)
	for range 5 {
		p.await(t, mq.Connected)
		connected := time.Now()
		eventually(t, "the session has lasted", func() bool { return time.Since(connected) > cfg.Delay*3/2 })
		failed := strings.Count(p.log.String(), "cannot be used")
		via.refuse(true)
		via.cut()
		eventually(t, "a round has failed", func() bool { return strings.Count(p.log.String(), "cannot be used") > failed })
		via.refuse(false)
	}
	p.await(t, mq.Connected)
}

// The connection is cut, stalled and left half open while messages flow both ways: every one is
// handled at least once, and acknowledged ones do not come back.
func TestNothingIsLostOverReconnects(t *testing.T) {
	t.Parallel()
	b := newBroker(t, 1)
	via := newProxy(t, b.url)
	cfg := settings(via.url())
	cfg.Heartbeat = 2 * time.Second // a dead peer is noticed after 3 s
	p := start(t, cfg, 1)
	p.await(t, mq.Connected)
	const n = 3000
	var mu sync.Mutex
	handled := map[string]int{}
	missing := func() int { mu.Lock(); defer mu.Unlock(); return n - len(handled) }
	consume(t, p, mq.Subscription{Queue: contract.QueueDedup, Prefetch: 50, Concurrency: 8}, func(_ context.Context, d mq.Delivery) error {
		mu.Lock()
		defer mu.Unlock()
		handled[string(d.Body)]++
		return nil
	})
	published := make(chan error, 1)
	go func() {
		for i := 0; i < n; i += 20 {
			var messages []mq.Message
			for j := range 20 {
				messages = append(messages, mq.Message{Key: "url.seed", Body: fmt.Append(nil, i+j)})
			}
			if err := publishAll(t.Context(), p, messages); err != nil {
				published <- err
				return
			}
		}
		published <- nil
	}()
	progress := func(part int) {
		eventually(t, "messages flow again", func() bool { return missing() <= n-part*n/10 })
	}
	lost := func(do func()) {
		sessions := p.metric("warren_mq_sessions_total")
		do()
		eventually(t, "a new session stands", func() bool { return p.metric("warren_mq_sessions_total") > sessions })
		via.resume()
	}
	progress(1)
	lost(via.cut)
	progress(2)
	lost(via.cut)
	progress(3)
	via.stall(toBroker, toClient) // a short stall is no loss
	via.resume()
	progress(4)
	for _, half := range [][]direction{{toBroker, toClient}, {toClient}} {
		// Nothing passes any more, and nobody is told; the broker answers a new connection.
		stalled := via.open("")
		via.stallOnly(stalled, half...)
		lost(func() {})
		progress(6)
	}
	if err := take(t, published, "all to be published"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "every message is handled", func() bool { return missing() == 0 })
	twice := 0
	for _, count := range handled {
		if count > 1 {
			twice++
		}
	}
	t.Logf("%d of %d messages handled more than once", twice, n)
}

// A handler that outlives its session must not settle a message of the next: delivery tags start
// again at 1 there, and its late acknowledgement would delete another message.
func TestLateAcknowledgementIsDropped(t *testing.T) {
	t.Parallel()
	b := newBroker(t, 1)
	via := newProxy(t, b.url)
	p := start(t, settings(via.url()), 1)
	p.await(t, mq.Connected)
	started := make(chan mq.Delivery, 4)
	release := make(chan struct{})
	consume(t, p, mq.Subscription{Queue: contract.QueueDedup, Prefetch: 1}, func(ctx context.Context, d mq.Delivery) error {
		started <- d
		if string(d.Body) == "first" && !d.Redelivered {
			<-release // heeds nothing
		}
		return nil
	})
	if err := p.Publish(t.Context(), mq.Message{Key: "url.seed", Body: []byte("first")}, mq.Message{Key: "url.seed", Body: []byte("second")}); err != nil {
		t.Fatal(err)
	}
	first := take(t, started, "the first message")
	_, changed := p.State()
	via.cut()
	take(t, changed, "the loss to be told")
	p.await(t, mq.Connected)
	if first.Live() {
		t.Error("a message of the old session is live in the new one")
	}
	// Another subscription is served in the new session; this one waits for its old handler.
	other := make(chan struct{}, 1)
	consume(t, p, mq.Subscription{Queue: contract.QueueCrawl}, func(context.Context, mq.Delivery) error { other <- struct{}{}; return nil })
	if err := p.Publish(t.Context(), mq.Message{Key: contract.KeyCrawlPause}); err != nil {
		t.Fatal(err)
	}
	take(t, other, "a message of another queue")
	if len(started) != 0 || p.Subscriptions() != 1 {
		t.Errorf("%d subscriptions: a shard is served anew while the old handler works", p.Subscriptions())
	}
	close(release)
	seen := map[string]bool{}
	for range 2 {
		d := take(t, started, "a message in the new session")
		seen[string(d.Body)] = true
	}
	if !seen["first"] || !seen["second"] {
		t.Errorf("messages in the new session: %v", seen)
	}
}

func TestNoGoroutinesAreLeftByReconnects(t *testing.T) {
	b := newBroker(t, 4)
	via := newProxy(t, b.url)
	p := start(t, settings(via.url()), 4)
	for n := range 4 {
		consume(t, p, mq.Subscription{Queue: contract.FetchKey(4, n), Prefetch: 8}, func(context.Context, mq.Delivery) error { return nil })
	}
	settled := func() int {
		p.await(t, mq.Connected)
		eventually(t, "all consume", func() bool { return p.Subscriptions() == 4 })
		return runtime.NumGoroutine()
	}
	before := settled()
	const rounds = 50
	for range rounds {
		_, changed := p.State()
		via.cut()
		take(t, changed, "the loss to be told")
		settled()
	}
	eventually(t, "the goroutines of lost sessions are gone", func() bool { return settled() <= before+2 })
	if got := p.metric("warren_mq_sessions_total"); got != rounds+1 {
		t.Errorf("%v sessions, want %d", got, rounds+1)
	}
}

// Live is false while no round trip succeeds, though the session has not yet been given up.
func TestLiveNeedsRoundTrips(t *testing.T) {
	t.Parallel()
	b := newBroker(t, 1)
	via := newProxy(t, b.url)
	cfg := settings(via.url())
	cfg.Heartbeat = time.Minute
	p := start(t, cfg, 1)
	p.await(t, mq.Connected)
	held := make(chan mq.Delivery, 1)
	release := make(chan struct{})
	consume(t, p, mq.Subscription{Queue: contract.FetchKey(1, 0)}, func(ctx context.Context, d mq.Delivery) error {
		held <- d
		<-release
		return nil
	})
	if err := p.Publish(t.Context(), mq.Message{Key: contract.FetchKey(1, 0)}); err != nil {
		t.Fatal(err)
	}
	d := take(t, held, "a message")
	if !d.Live() {
		t.Fatal("not live in a standing session")
	}
	via.stall(toClient)
	began := time.Now()
	eventually(t, "it is not live", func() bool { return !d.Live() })
	if took := time.Since(began); took < 3*time.Second || took > 8*time.Second {
		t.Errorf("not live after %s, want 4 to 5 s", took)
	}
	if state, _ := p.State(); state != mq.Connected {
		t.Errorf("the session was given up: %s", state)
	}
	via.resume()
	eventually(t, "it is live again", d.Live)
	close(release)
}
