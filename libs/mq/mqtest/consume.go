package mqtest

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq"
)

// hold returns a handler that says whom it got and then waits to be released.
func hold(room int) (handle mq.Handler, got <-chan mq.Delivery, release chan struct{}) {
	ch := make(chan mq.Delivery, room)
	release = make(chan struct{})
	return func(ctx context.Context, d mq.Delivery) error {
		ch <- d
		select {
		case <-release:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}, ch, release
}

// The first consumer gets as many as its prefetch says and not one more: all others reach the second.
func testPrefetch(t *testing.T, d Driver) {
	broker := d.Open(t, 1)
	p, q := broker.Start(t), broker.Start(t)
	const n, prefetch = 20, 5
	handle, held, release := hold(n)
	consume(t, p, mq.Subscription{Queue: contract.QueueParser, Prefetch: prefetch}, handle)
	publish(t, p, numbered("response.html.com.example", prefetch)...)
	for range prefetch {
		take(t, held, "a message within the prefetch")
	}
	publish(t, p, numbered("response.html.com.example", n-prefetch)...)
	all, got := bodies(n)
	consume(t, q, mq.Subscription{Queue: contract.QueueParser, Prefetch: n}, all)
	for range n - prefetch {
		take(t, got, "a message beyond the first consumer's prefetch")
	}
	if len(held) != 0 {
		t.Errorf("%d messages beyond the prefetch of %d", len(held), prefetch)
	}
	close(release)
}

func testConcurrency(t *testing.T, d Driver) {
	p := d.Open(t, 1).Start(t)
	const n, most = 60, 3
	var working, peak atomic.Int32
	done := make(chan struct{}, n)
	publish(t, p, numbered("url.seed", n)...)
	consume(t, p, mq.Subscription{Queue: contract.QueueDedup, Prefetch: 20, Concurrency: most},
		func(context.Context, mq.Delivery) error {
			now := working.Add(1)
			for old := peak.Load(); now > old && !peak.CompareAndSwap(old, now); old = peak.Load() {
			}
			working.Add(-1)
			done <- struct{}{}
			return nil
		})
	for range n {
		take(t, done, "a message")
	}
	if peak.Load() > most {
		t.Errorf("%d handlers at a time, want at most %d", peak.Load(), most)
	}
}

func testOrder(t *testing.T, d Driver) {
	p := d.Open(t, 1).Start(t)
	const n = 500
	publish(t, p, numbered(contract.FetchKey(1, 0), n)...) // one call: in order
	handle, got := bodies(n)
	consume(t, p, mq.Subscription{Queue: contract.FetchKey(1, 0), Prefetch: 50, Concurrency: 1}, handle)
	for i := range n {
		if body := take(t, got, "the next message"); body != strconv.Itoa(i) {
			t.Fatalf("message %d is %s", i, body)
		}
	}
}

func testNilSettles(t *testing.T, d Driver) {
	broker := d.Open(t, 1)
	p := broker.Start(t)
	const n = 50
	handle, got := bodies(n)
	run := consume(t, p, mq.Subscription{Queue: contract.QueueDedup, Prefetch: 10}, handle)
	publish(t, p, numbered("url.seed", n)...)
	for range n {
		take(t, got, "a message")
	}
	run.stop(t)
	publish(t, p, mq.Message{Key: "url.seed", Body: []byte("later")})
	consume(t, broker.Start(t), mq.Subscription{Queue: contract.QueueDedup, Prefetch: 10}, handle)
	if body := take(t, got, "the later message"); body != "later" {
		t.Errorf("message %s was settled and comes again", body)
	}
}

// graveyard consumes the dead letters.
func graveyard(t *testing.T, p mq.Consumer) <-chan mq.Message {
	got := make(chan mq.Message, 16)
	consume(t, p, mq.Subscription{Queue: contract.QueueDead, Prefetch: 16}, func(_ context.Context, d mq.Delivery) error {
		got <- d.Message
		return nil
	})
	return got
}

func deadLetter(of mq.Message, queue, reason string) mq.Message {
	dead := of
	dead.Key = contract.DeadKey(queue)
	dead.Headers = map[string]string{mq.HeaderReason: reason, mq.HeaderQueue: queue, mq.HeaderKey: of.Key}
	for name, value := range of.Headers {
		dead.Headers[name] = value
	}
	return dead
}

func testReject(t *testing.T, d Driver) {
	broker := d.Open(t, 1)
	p := broker.Start(t)
	dead := graveyard(t, p)
	bad := mq.Message{Key: "page.html.com.example", Body: []byte("bad\x00"), ContentType: "text/x", Headers: map[string]string{"a": "b"}}
	handled := make(chan string, 8)
	sub := mq.Subscription{Queue: contract.QueueStore, Prefetch: 4}
	handle := func(_ context.Context, d mq.Delivery) error {
		handled <- string(d.Body)
		if string(d.Body) == "bad\x00" {
			return errors.Join(errors.New("store page"), mq.Reject("it is no page"))
		}
		return nil
	}
	run := consume(t, p, sub, handle)
	publish(t, p, bad, mq.Message{Key: "page.html.com.example", Body: []byte("good")})
	if diff := difference(deadLetter(bad, "store", "it is no page"), take(t, dead, "the dead letter")); diff != "" {
		t.Error(diff)
	}
	take(t, handled, "a message")
	take(t, handled, "a message")
	run.stop(t)
	consume(t, broker.Start(t), sub, handle)
	publish(t, p, mq.Message{Key: "page.html.com.example", Body: []byte("later")})
	if body := take(t, handled, "the later message"); body != "later" {
		t.Errorf("message %q comes again after its rejection", body)
	}
}

func testPanic(t *testing.T, d Driver) {
	p := d.Open(t, 1).Start(t)
	dead := graveyard(t, p)
	good := make(chan string, 4)
	consume(t, p, mq.Subscription{Queue: contract.QueueDedup, Prefetch: 4}, func(_ context.Context, d mq.Delivery) error {
		if string(d.Body) == "bad" {
			panic("no such thing")
		}
		good <- string(d.Body)
		return nil
	})
	bad := mq.Message{Key: "url.seed", Body: []byte("bad"), ContentType: "application/json"}
	publish(t, p, bad, mq.Message{Key: "url.seed", Body: []byte("good")})
	want := deadLetter(bad, "dedup", "handler panicked: no such thing")
	if diff := difference(want, take(t, dead, "the dead letter")); diff != "" {
		t.Error(diff)
	}
	take(t, good, "the neighbour")
}

func testOnDead(t *testing.T, d Driver) {
	broker := d.Open(t, 1)
	p := broker.Start(t)
	done := broker.Tap(t, "url.done")
	dead := graveyard(t, p)
	consume(t, p, mq.Subscription{
		Queue: contract.QueueParser, Prefetch: 4,
		OnDead: func(d mq.Delivery, reason string) []mq.Message {
			if string(d.Body) == "worse" {
				panic("OnDead panics")
			}
			return []mq.Message{
				{Key: "url.done", Body: append([]byte(reason+" "), d.Body...)},
				{Key: "url.done", Body: make([]byte, contract.MaxMessage+1)}, // a defect that must not matter
			}
		},
	}, func(context.Context, mq.Delivery) error { return mq.Reject("reason") })
	publish(t, p, mq.Message{Key: "response.html.com.example", Body: []byte("bad")},
		mq.Message{Key: "response.html.com.example", Body: []byte("worse")})
	take(t, dead, "a dead letter")
	take(t, dead, "a dead letter")
	if m := take(t, done, "what OnDead adds"); string(m.Body) != "reason bad" {
		t.Errorf("OnDead's message is %q", m.Body)
	}
}

// A message whose dependency is down is called again with, in the same place, unsettled: no other
// consumer sees it, and its neighbours go on.
func testOtherErrors(t *testing.T, d Driver) {
	broker := d.Open(t, 1)
	p := broker.Start(t)
	var calls tally
	done := make(chan string, 16)
	consume(t, p, mq.Subscription{Queue: contract.QueueDedup, Prefetch: 16}, func(_ context.Context, d mq.Delivery) error {
		n := calls.add(string(d.Body))
		if d.Redelivered {
			t.Errorf("message %s is redelivered at call %d", d.Body, n)
		}
		if string(d.Body) == "2" && n < 4 {
			return errors.New("database is down")
		}
		done <- string(d.Body)
		return nil
	})
	publish(t, p, numbered("url.seed", 5)...)
	for range 4 {
		if body := take(t, done, "a neighbour"); body == "2" {
			t.Error("the message that waits came before its neighbours")
		}
	}
	if body := take(t, done, "the message that waited"); body != "2" || calls.of("2") != 4 {
		t.Errorf("message %s after %d calls", body, calls.of("2"))
	}
}
