package rabbit_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq"
	"github.com/warrenmq/warren/libs/mq/rabbit/rabbittest"
)

// A broker in alarm: it says so on the publishing connection and reads no more from it.
func TestBlockedPublisherWaits(t *testing.T) {
	t.Parallel()
	b := newBroker(t, 1)
	via := newProxy(t, b.url)
	p := start(t, settings(via.url()), 1)
	p.await(t, mq.Connected)
	handled := make(chan string, 8)
	consume(t, p, mq.Subscription{Queue: contract.QueueDedup, Prefetch: 8}, func(_ context.Context, d mq.Delivery) error {
		handled <- string(d.Body)
		return nil
	})
	publishing := via.open("publish")
	if len(publishing) != 1 {
		t.Fatalf("%d publishing connections", len(publishing))
	}
	x := publishing[0]
	if err := x.block("low on disk"); err != nil {
		t.Fatal(err)
	}
	p.await(t, mq.Blocked)
	if err := p.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "low on disk") {
		t.Errorf("Ready: %v, want the alarm's reason", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := p.Publish(ctx, mq.Message{Key: "url.seed", Body: []byte("given up")}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("publish on a blocked connection: %v, want DeadlineExceeded", err)
	}
	waiting := make(chan error, 1)
	go func() { waiting <- p.Publish(t.Context(), mq.Message{Key: "url.seed", Body: []byte("waited")}) }()
	// Consuming goes on: the other connection is not blocked.
	if err := b.raw(t).Publish(contract.Exchange, "url.seed", true, false, amqp.Publishing{Body: []byte("other")}); err != nil {
		t.Fatal(err)
	}
	if body := take(t, handled, "a message from elsewhere"); body != "other" {
		t.Errorf("message %q was sent on a blocked connection", body)
	}
	select {
	case err := <-waiting:
		t.Errorf("publish on a blocked connection returned %v", err)
	default:
	}
	if err := x.unblock(); err != nil {
		t.Fatal(err)
	}
	if err := take(t, waiting, "the publish to go on"); err != nil {
		t.Error(err)
	}
	p.await(t, mq.Connected)
	if body := take(t, handled, "the message that waited"); body != "waited" {
		t.Errorf("message %q, want the one that waited", body)
	}
}

// A write that hangs, since the broker reads no more and the socket's buffers are full, hangs nobody
// who has a context, and does not keep the bus from ending.
func TestHangingWriteHangsNobody(t *testing.T) {
	t.Parallel()
	b := newBroker(t, 1)
	via := newProxy(t, b.url)
	p := start(t, settings(via.url()), 1)
	p.await(t, mq.Connected)
	via.stallOnly(via.open("publish"), toBroker)
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	body := make([]byte, 4<<20)
	answers := make(chan error, 8)
	for range cap(answers) {
		go func() { answers <- p.Publish(ctx, mq.Message{Key: "url.seed", Body: body}) }()
	}
	for range cap(answers) {
		if err := take(t, answers, "Publish to return"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want DeadlineExceeded", err)
		}
	}
	began := time.Now()
	p.Kill()
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("the bus ended after %s", took)
	}
}

func TestConfirmIsWaitedForNotForEver(t *testing.T) {
	t.Parallel()
	b := newBroker(t, 1)
	via := newProxy(t, b.url)
	cfg := settings(via.url())
	cfg.ConfirmTimeout, cfg.Window = 200*time.Millisecond, 4
	p := start(t, cfg, 1)
	p.await(t, mq.Connected)
	via.stall(toClient)
	messages := make([]mq.Message, 10) // more than the window: its slots must come free again
	for i := range messages {
		messages[i] = mq.Message{Key: "url.seed"}
	}
	err := p.Publish(t.Context(), messages...)
	var failed *mq.PublishError
	if !errors.Is(err, mq.ErrUnconfirmed) || !errors.As(err, &failed) || len(failed.Failed) != len(messages) {
		t.Errorf("got %v, want ErrUnconfirmed for all", err)
	}
	via.resume()
	if err := publishAll(t.Context(), p, messages); err != nil {
		t.Error(err)
	}
}

// A window of messages is on its way without a confirm, from one caller or many; no more than that.
func TestWindowIsPipelined(t *testing.T) {
	t.Parallel()
	b := newBroker(t, 1)
	via := newProxy(t, b.url)
	cfg := settings(via.url())
	cfg.Window = 50
	p := start(t, cfg, 1)
	p.await(t, mq.Connected)
	lanes := len(via.open("publish")[0].opened("confirm"))
	via.stallOnly(via.open("publish"), toClient)
	const n = 300
	messages := make([]mq.Message, n)
	for i := range messages {
		messages[i] = mq.Message{Key: "url.seed"}
	}
	ctx, cancel := context.WithCancel(t.Context())
	answers := make(chan error, n+1)
	go func() { answers <- p.Publish(ctx, messages...) }()
	ch := b.raw(t)
	arrived := func() int {
		q, err := ch.QueueDeclarePassive(contract.QueueDedup, true, false, false, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		return q.Messages
	}
	eventually(t, "one caller has filled a window", func() bool { return arrived() >= cfg.Window })
	for _, m := range messages {
		go func() { answers <- p.Publish(ctx, m) }()
	}
	eventually(t, "many callers have filled all windows", func() bool { return arrived() >= lanes*cfg.Window })
	if got := arrived(); got != lanes*cfg.Window {
		t.Errorf("%d messages are on their way, want %d windows of %d", got, lanes, cfg.Window)
	}
	cancel()
	for range n + 1 {
		_ = take(t, answers, "Publish to return") // confirmed or called off, as it came
	}
}

// policy caps a queue of the virtual host, as an operator may.
func policy(t testing.TB, b *broker, queue string, length int) (remove func()) {
	t.Helper()
	u, err := url.Parse(b.url)
	if err != nil {
		t.Fatal(err)
	}
	path := "policies" + u.Path + "/cap"
	rabbittest.API(t, "PUT", path, fmt.Sprintf(`{"pattern":"^%s$","apply-to":"queues","definition":{"max-length":%d}}`, queue, length))
	return func() { rabbittest.API(t, "DELETE", path, "") }
}

// A full queue refuses (x-overflow is reject-publish): its messages fail, the neighbours do not.
func TestFullQueueRefuses(t *testing.T) {
	t.Parallel()
	b := newBroker(t, 1)
	p := b.start(t)
	policy(t, b, contract.QueueDedup, 1)
	var err error
	eventually(t, "the queue is full", func() bool {
		err = p.Publish(t.Context(), mq.Message{Key: "page.html.com.example"}, mq.Message{Key: "url.seed"})
		return err != nil
	})
	var failed *mq.PublishError
	if !errors.Is(err, mq.ErrUnconfirmed) || !errors.As(err, &failed) || len(failed.Failed) != 1 || failed.Failed[0] != 1 {
		t.Errorf("got %v, want ErrUnconfirmed for message 1", err)
	}
	if !strings.Contains(err.Error(), "url.seed") || !strings.Contains(err.Error(), "full") {
		t.Errorf("%q names neither key nor cause", err)
	}
}

// While the dead letter cannot be published the message stays unsettled, and its handler is not
// called again: its fate is decided.
func TestDeadLetterWaitsForRoom(t *testing.T) {
	t.Parallel()
	b := newBroker(t, 1)
	p := b.start(t)
	remove := policy(t, b, contract.QueueDead, 1)
	eventually(t, "the dead queue is full", func() bool {
		return p.Publish(t.Context(), mq.Message{Key: "dead.filler", Body: []byte("filler")}) != nil
	})
	calls := make(chan struct{}, 8)
	dead := b.rawTap(t, "dead.dedup")
	done := b.rawTap(t, "url.done")
	consume(t, p, mq.Subscription{
		Queue: contract.QueueDedup, Prefetch: 4,
		OnDead: func(mq.Delivery, string) []mq.Message { return []mq.Message{{Key: "url.done"}} },
	}, func(_ context.Context, d mq.Delivery) error {
		if d.Key == "url.done" {
			return nil
		}
		calls <- struct{}{}
		return mq.Reject("never")
	})
	if err := p.Publish(t.Context(), mq.Message{Key: "url.seed", Body: []byte("bad")}); err != nil {
		t.Fatal(err)
	}
	take(t, done, "what OnDead adds")
	eventually(t, "the dead letter is tried again", func() bool { return p.metric("warren_mq_retries_total") > 1 })
	remove()
	eventually(t, "the message is settled", func() bool { return p.metric("warren_mq_handled_total") >= 2 })
	// The tap's copy of the dead letter is confirmed to nobody: it may have come several times.
	if d := take(t, dead, "the dead letter"); string(d.Body) != "bad" {
		t.Errorf("dead letter is %q", d.Body)
	}
	if len(calls) != 1 {
		t.Errorf("the handler was called %d times", len(calls))
	}
	if len(done) != 0 {
		t.Error("what was confirmed is published again")
	}
}

// Until its dead letter is confirmed a rejected message is the queue's: if we die, others get it.
func TestRejectedMessageIsNotLostByDeath(t *testing.T) {
	t.Parallel()
	b := newBroker(t, 1)
	p, q := b.start(t), b.start(t)
	policy(t, b, contract.QueueDead, 1)
	eventually(t, "the dead queue is full", func() bool {
		return p.Publish(t.Context(), mq.Message{Key: "dead.filler"}) != nil
	})
	sub := mq.Subscription{Queue: contract.QueueDedup}
	consume(t, p, sub, func(context.Context, mq.Delivery) error { return mq.Reject("never") })
	if err := p.Publish(t.Context(), mq.Message{Key: "url.seed"}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the dead letter is tried again", func() bool { return p.metric("warren_mq_retries_total") > 0 })
	p.Kill()
	got := make(chan mq.Delivery, 1)
	consume(t, q, sub, func(_ context.Context, d mq.Delivery) error { got <- d; return nil })
	if d := take(t, got, "the rejected message"); !d.Redelivered {
		t.Error("not marked as redelivered")
	}
}
