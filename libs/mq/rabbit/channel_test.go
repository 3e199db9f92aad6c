package rabbit_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq"
)

// A queue deleted under its consumer is declared again and consumed again, on a new channel; the
// work in hand ends, since it is nobody's any more.
func TestQueueDeletedUnderItsConsumer(t *testing.T) {
	t.Parallel()
	b := newBroker(t, 2)
	p := b.start(t)
	queue := contract.FetchKey(2, 1)
	started, ended := make(chan string, 4), make(chan error, 4)
	consume(t, p, mq.Subscription{Queue: queue, Prefetch: 4, Priority: 7}, func(ctx context.Context, d mq.Delivery) error {
		started <- string(d.Body)
		if string(d.Body) == "in hand" {
			<-ctx.Done()
			ended <- ctx.Err()
			return ctx.Err()
		}
		return nil
	})
	if err := p.Publish(t.Context(), mq.Message{Key: queue, Body: []byte("in hand")}); err != nil {
		t.Fatal(err)
	}
	take(t, started, "the message")
	if _, err := b.raw(t).QueueDelete(queue, false, false, false); err != nil {
		t.Fatal(err)
	}
	_ = take(t, ended, "the handler's context to end")
	if err := publishAll(t.Context(), p, []mq.Message{{Key: queue, Body: []byte("later")}}); err != nil {
		t.Fatal(err)
	}
	if body := take(t, started, "a message in the new queue"); body != "later" {
		t.Errorf("got %q", body)
	}
	if got := p.metric("warren_mq_sessions_total"); got != 1 {
		t.Errorf("%v sessions: the others' channels were lost too", got)
	}
}

// The broker closes a consumer's channel (say, its patience for an acknowledgement has ended): its
// work ends at once, its messages come again on a new channel, and other subscriptions go on.
func TestConsumingChannelIsKilled(t *testing.T) {
	t.Parallel()
	b := newBroker(t, 1)
	via := newProxy(t, b.url)
	p := start(t, settings(via.url()), 1)
	p.await(t, mq.Connected)
	started, ended := make(chan mq.Delivery, 4), make(chan struct{}, 4)
	consume(t, p, mq.Subscription{Queue: contract.QueueDedup, Prefetch: 4}, func(ctx context.Context, d mq.Delivery) error {
		started <- d
		if !d.Redelivered {
			<-ctx.Done()
			ended <- struct{}{}
		}
		return nil // too late for the first: its acknowledgement must be dropped
	})
	if err := p.Publish(t.Context(), mq.Message{Key: "url.seed", Body: []byte("a")}); err != nil {
		t.Fatal(err)
	}
	first := take(t, started, "the message")
	x := via.open("consume")[0]
	if err := x.killChannel(x.opened("consume")[0], "PRECONDITION_FAILED - delivery acknowledgement timed out"); err != nil {
		t.Fatal(err)
	}
	take(t, ended, "the handler's context to end")
	again := take(t, started, "the message again")
	if !again.Redelivered || string(again.Body) != "a" || first.Live() || !again.Live() {
		t.Errorf("redelivered %v, body %q, live %v then %v", again.Redelivered, again.Body, first.Live(), again.Live())
	}
	if got := p.metric("warren_mq_sessions_total"); got != 1 {
		t.Errorf("%v sessions, want 1", got)
	}
}

func TestPublishingChannelIsKilled(t *testing.T) {
	t.Parallel()
	b := newBroker(t, 1)
	via := newProxy(t, b.url)
	p := start(t, settings(via.url()), 1)
	p.await(t, mq.Connected)
	x := via.open("publish")[0]
	channels := x.opened("confirm")
	for _, channel := range channels {
		if err := x.killChannel(channel, "INTERNAL_ERROR"); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "all channels are opened again", func() bool { return len(x.opened("confirm")) == 2*len(channels) })
	for range 2 * len(channels) { // each lane in turn
		if err := p.Publish(t.Context(), mq.Message{Key: "url.seed"}); err != nil {
			t.Error(err)
		}
	}
	if got := p.metric("warren_mq_sessions_total"); got != 1 {
		t.Errorf("%v sessions, want 1", got)
	}
}

// Without its exchange the broker closes the channel at each publish; the topology is declared again.
func TestExchangeIsDeleted(t *testing.T) {
	t.Parallel()
	b := newBroker(t, 1)
	p := b.start(t)
	if err := b.raw(t).ExchangeDelete(contract.Exchange, false, false); err != nil {
		t.Fatal(err)
	}
	err := p.Publish(t.Context(), mq.Message{Key: "url.seed"})
	if !errors.Is(err, mq.ErrUnconfirmed) || !strings.Contains(err.Error(), "NOT_FOUND") {
		t.Errorf("publish without an exchange: %v, want ErrUnconfirmed and why", err)
	}
	if err := publishAll(t.Context(), p, []mq.Message{{Key: "url.seed"}, {Key: contract.FetchKey(1, 0)}}); err != nil {
		t.Error(err)
	}
}

func TestConsumeOfWhatCannotBe(t *testing.T) {
	t.Parallel()
	p := newBroker(t, 1).start(t)
	for name, sub := range map[string]mq.Subscription{
		"no queue":               {},
		"a queue nobody has":     {Queue: "typo"},
		"negative prefetch":      {Queue: "dedup", Prefetch: -1},
		"prefetch of the heaven": {Queue: "dedup", Prefetch: 2001},
		"concurrency > prefetch": {Queue: "dedup", Prefetch: 2, Concurrency: 3},
		"negative grace":         {Queue: "dedup", Grace: -1},
	} {
		err := p.Consume(t.Context(), sub, func(context.Context, mq.Delivery) error { return nil })
		if err == nil || !strings.HasPrefix(err.Error(), "consume") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
