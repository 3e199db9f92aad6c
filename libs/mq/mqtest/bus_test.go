package mqtest_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq"
	"github.com/warrenmq/warren/libs/mq/mqtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func serve(t *testing.T, b *mqtest.Bus, sub mq.Subscription, handle mq.Handler) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- b.Consume(ctx, sub, handle) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Consume: %v", err)
		}
	})
}

func TestPublishIsRecorded(t *testing.T) {
	b := mqtest.NewBus()
	err := b.Publish(t.Context(), mq.Message{Key: "url.seed", Body: []byte("1")}, mq.Message{Key: "url.sed.typo"},
		mq.Message{Key: contract.FetchKey(64, 7)}, mq.Message{Key: "fetch.7"}, mq.Message{Key: "change.new.com"}, mq.Message{})
	var failed *mq.PublishError
	if !errors.Is(err, mq.ErrUnroutable) || !errors.As(err, &failed) || !slices.Equal(failed.Failed, []int{1, 3, 5}) {
		t.Errorf("got %v, want ErrUnroutable for 1, 3 and 5", err)
	}
	if got := b.Published(); len(got) != 3 || got[0].Key != "url.seed" {
		t.Errorf("published: %v", got)
	}
	if got := b.Take("fetch."); len(got) != 1 || len(b.Published()) != 2 {
		t.Errorf("taken: %v", got)
	}
	got := make(chan string, 1)
	go func() {
		m, err := b.Wait(t.Context(), "page.")
		if err != nil {
			t.Error(err)
		}
		got <- m.Key
	}()
	if err := b.Publish(t.Context(), mq.Message{Key: "page.html.com"}); err != nil {
		t.Fatal(err)
	}
	if key := <-got; key != "page.html.com" {
		t.Errorf("waited for page., got %s", key)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := b.Wait(ctx, "page."); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a message was taken and waits again: %v", err)
	}
}

func TestFailures(t *testing.T) {
	b := mqtest.NewBus()
	boom := errors.New("boom")
	b.FailNext(2, boom)
	b.FailNext(1, nil)
	for _, want := range []error{boom, boom, mq.ErrUnconfirmed, nil} {
		if err := b.Publish(t.Context(), mq.Message{Key: "url.seed"}); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
	b.Break()
	if state, _ := b.State(); state != mq.Suspended || b.Ready(t.Context()) == nil {
		t.Errorf("broken and %s", state)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := b.Publish(ctx, mq.Message{Key: "url.seed"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("publish on a broken bus: %v", err)
	}
	waiting := make(chan error, 1)
	go func() { waiting <- b.Publish(t.Context(), mq.Message{Key: "url.seed"}) }()
	b.Mend()
	if err := <-waiting; err != nil {
		t.Errorf("publish on a mended bus: %v", err)
	}
	if len(b.Take("url.")) != 2 {
		t.Error("what failed was recorded, or what succeeded was not")
	}
	b.Lose()
	if err := b.Publish(t.Context(), mq.Message{Key: "url.seed"}); !errors.Is(err, mq.ErrLost) {
		t.Errorf("publish on a lost bus: %v", err)
	}
	if err := b.Consume(t.Context(), mq.Subscription{Queue: "dedup"}, nil); !errors.Is(err, mq.ErrLost) {
		t.Errorf("consume on a lost bus: %v", err)
	}
}

func TestDeliver(t *testing.T) {
	b := mqtest.NewBus()
	boom := errors.New("boom")
	serve(t, b, mq.Subscription{Queue: "dedup", OnDead: func(_ mq.Delivery, reason string) []mq.Message {
		return []mq.Message{{Key: "url.done", Body: []byte(reason)}}
	}}, func(_ context.Context, d mq.Delivery) error {
		switch string(d.Body) {
		case "boom":
			return boom
		case "reject":
			return mq.Reject("no good")
		case "panic":
			panic("ouch")
		case "again":
			if !d.Redelivered {
				t.Error("not redelivered")
			}
		}
		if d.Queue != "dedup" || !d.Live() {
			t.Errorf("queue %s, live %v", d.Queue, d.Live())
		}
		return nil
	})
	deliver := func(body string) error {
		return b.Deliver(t.Context(), "dedup", mq.Message{Key: "url.seed", Body: []byte(body), Headers: map[string]string{"a": "b"}})
	}
	if err := deliver("fine"); err != nil {
		t.Error(err)
	}
	if err := b.Redeliver(t.Context(), "dedup", mq.Message{Body: []byte("again")}); err != nil {
		t.Error(err)
	}
	if err := deliver("boom"); !errors.Is(err, boom) || len(b.Published()) != 0 {
		t.Errorf("got %v and published %v", err, b.Published())
	}
	rejection := new(mq.Rejection)
	if err := deliver("reject"); !errors.As(err, &rejection) {
		t.Errorf("got %v, want a rejection", err)
	}
	if err := deliver("panic"); !errors.As(err, &rejection) || rejection.Reason != "handler panicked: ouch" {
		t.Errorf("got %v, want a rejection", err)
	}
	dead, done := b.Take("dead.dedup"), b.Take("url.done")
	if len(dead) != 2 || dead[0].Headers[mq.HeaderReason] != "no good" || dead[0].Headers["a"] != "b" || dead[0].Headers[mq.HeaderKey] != "url.seed" {
		t.Errorf("dead letters: %v", dead)
	}
	if len(done) != 2 || string(done[0].Body) != "no good" {
		t.Errorf("from OnDead: %v", done)
	}
}

func TestBreakAndDrainReachTheHandler(t *testing.T) {
	b := mqtest.NewBus()
	in := make(chan mq.Delivery, 2)
	serve(t, b, mq.Subscription{Queue: "dedup"}, func(ctx context.Context, d mq.Delivery) error {
		in <- d
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-d.Draining:
			return mq.ErrUnsettled
		}
	})
	deliver := func() <-chan error {
		done := make(chan error, 1)
		go func() { done <- b.Deliver(t.Context(), "dedup", mq.Message{Key: "url.seed"}) }()
		return done
	}
	first := deliver()
	d := <-in
	b.Freeze(true)
	if d.Live() {
		t.Error("frozen and live")
	}
	b.Freeze(false)
	if !d.Live() {
		t.Error("thawed and not live")
	}
	b.Break()
	if err := <-first; !errors.Is(err, context.Canceled) || d.Live() {
		t.Errorf("after Break: %v, live %v", err, d.Live())
	}
	if err := <-deliver(); !errors.Is(err, mqtest.ErrBroken) {
		t.Errorf("deliver on a broken bus: %v", err)
	}
	b.Mend()
	second := deliver()
	<-in
	b.Drain()
	b.Drain()
	if err := <-second; !errors.Is(err, mq.ErrUnsettled) {
		t.Errorf("after Drain: %v", err)
	}
}
