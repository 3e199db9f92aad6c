package mqtest

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq"
)

func testDeathGivesBack(t *testing.T, d Driver) {
	broker := d.Open(t, 1)
	p, q := broker.Start(t), broker.Start(t)
	const n = 10
	handle, held, _ := hold(n)
	sub := mq.Subscription{Queue: contract.QueueDedup, Prefetch: n}
	ended := make(chan struct{}, n)
	consume(t, p, sub, func(ctx context.Context, d mq.Delivery) error {
		err := handle(ctx, d)
		ended <- struct{}{}
		return err
	})
	publish(t, p, numbered("url.seed", n)...)
	var live func() bool
	for range n {
		live = take(t, held, "a message to hold").Live
	}
	if !live() {
		t.Error("not live while the session stands")
	}
	p.Kill()
	for range n {
		take(t, ended, "a handler's context to end with its session")
	}
	if live() {
		t.Error("live after the session was lost")
	}
	seen := map[string]bool{}
	got := make(chan mq.Delivery, n)
	consume(t, q, sub, func(_ context.Context, d mq.Delivery) error { got <- d; return nil })
	for range n {
		d := take(t, got, "a message of the dead")
		if !d.Redelivered {
			t.Errorf("message %s is not marked as redelivered", d.Body)
		}
		seen[string(d.Body)] = true
	}
	if len(seen) != n {
		t.Errorf("%d of %d messages came back", len(seen), n)
	}
}

// A stop finishes what is in hand, settles it, and gives back the rest: each message is done once.
func testStop(t *testing.T, d Driver) {
	broker := d.Open(t, 1)
	p := broker.Start(t)
	const n, concurrency = 12, 3
	started := make(chan mq.Delivery, n)
	release := make(chan struct{})
	var done tally
	sub := mq.Subscription{Queue: contract.FetchKey(1, 0), Prefetch: n, Concurrency: concurrency}
	run := consume(t, p, sub, func(ctx context.Context, d mq.Delivery) error {
		started <- d
		<-release
		if ctx.Err() != nil {
			t.Error("the context of a handler in hand ended at the stop")
		}
		done.add(string(d.Body))
		return nil
	})
	publish(t, p, numbered(sub.Queue, n)...)
	var in []string
	for range concurrency {
		in = append(in, string(take(t, started, "a handler to start").Body))
	}
	slices.Sort(in)
	run.cancel()
	rest, got := bodies(n + 1)
	q := broker.Start(t)
	consume(t, q, sub, func(ctx context.Context, d mq.Delivery) error {
		if done.names() != concurrency {
			t.Error("the next consumer works while the first has messages in hand")
		}
		return rest(ctx, d)
	})
	standing(t, q, 1)
	// What comes now would go to the next consumer at once if the first had resigned already. When
	// it has handled a message of another queue, it would have got this one too.
	publish(t, q, mq.Message{Key: sub.Queue, Body: []byte("after the stop")})
	other, otherGot := bodies(1)
	consume(t, q, mq.Subscription{Queue: contract.QueueDedup}, other)
	publish(t, q, mq.Message{Key: "url.seed"})
	take(t, otherGot, "a message of another queue")
	select {
	case <-run.done:
		t.Error("Consume returned before its handlers")
	default:
	}
	close(release)
	closed(t, run.done, "Consume to return")
	if run.err != nil {
		t.Errorf("Consume: %v", run.err)
	}
	if len(started) != 0 {
		t.Error("a handler was started after the stop")
	}
	for range n - concurrency + 1 {
		body := take(t, got, "a message that was given back")
		if slices.Contains(in, body) {
			t.Errorf("message %s was finished and comes again", body)
		}
	}
}

// A handler that only waits leaves its message when Draining closes; one whose dependency is down is
// not tried again, nor waited for.
func testStopEndsAWait(t *testing.T, d Driver) {
	broker := d.Open(t, 1)
	p := broker.Start(t)
	started := make(chan struct{}, 100)
	sub := mq.Subscription{Queue: contract.QueueDedup, Prefetch: 2, Grace: time.Hour}
	run := consume(t, p, sub, func(_ context.Context, d mq.Delivery) error {
		select {
		case <-d.Draining:
			t.Error("a handler is called during the stop")
		case started <- struct{}{}:
		}
		if string(d.Body) == "0" {
			return errors.New("database is down")
		}
		<-d.Draining
		return mq.ErrUnsettled
	})
	publish(t, p, numbered("url.seed", 2)...)
	take(t, started, "a handler to start")
	take(t, started, "a handler to start")
	run.stop(t)
	handle, got := bodies(2)
	consume(t, broker.Start(t), sub, handle)
	back := []string{take(t, got, "a message left"), take(t, got, "a message left")}
	slices.Sort(back)
	if !slices.Equal(back, []string{"0", "1"}) {
		t.Errorf("messages left: %q", back)
	}
}

func testStopHasAnEnd(t *testing.T, d Driver) {
	broker := d.Open(t, 1)
	p := broker.Start(t)
	handle, held, _ := hold(1)
	sub := mq.Subscription{Queue: contract.QueueDedup, Prefetch: 1, Grace: 50 * time.Millisecond}
	run := consume(t, p, sub, handle)
	publish(t, p, numbered("url.seed", 1)...)
	take(t, held, "a handler to start")
	run.stop(t) // the handler heeds nothing but its context
	again, got := bodies(1)
	consume(t, broker.Start(t), sub, again)
	take(t, got, "the message that was not finished")
}

func testLive(t *testing.T, d Driver) {
	broker := d.Open(t, 1)
	p := broker.Start(t)
	handle, held, release := hold(1)
	run := consume(t, p, mq.Subscription{Queue: contract.FetchKey(1, 0), Prefetch: 1}, handle)
	publish(t, p, numbered(contract.FetchKey(1, 0), 1)...)
	live := take(t, held, "a message").Live
	if !live() {
		t.Error("not live in a standing session")
	}
	close(release)
	run.stop(t)
	if live() {
		t.Error("live after the subscription's channel was closed")
	}
}

func testState(t *testing.T, d Driver) {
	p := d.Open(t, 1).Start(t)
	state, changed := p.State()
	if state != mq.Connected {
		t.Fatalf("state is %s", state)
	}
	consuming := make(chan error, 1)
	go func() {
		consuming <- p.Consume(patient(t), mq.Subscription{Queue: contract.QueueDedup}, func(context.Context, mq.Delivery) error { return nil })
	}()
	p.Kill()
	closed(t, changed, "the change of state to be told")
	eventually(t, "the state is lost", func() bool { state, _ := p.State(); return state == mq.Lost })
	if err := take(t, consuming, "Consume to return"); !errors.Is(err, mq.ErrLost) {
		t.Errorf("Consume on a dead bus: %v, want ErrLost", err)
	}
	if err := p.Consume(t.Context(), mq.Subscription{Queue: strconv.Itoa(1)}, nil); !errors.Is(err, mq.ErrLost) {
		t.Errorf("Consume on a dead bus: %v, want ErrLost", err)
	}
}
