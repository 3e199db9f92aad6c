package mqtest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/warrenmq/warren/libs/mq"
)

// patience is how long the suite waits for what must happen; what takes longer has failed.
const patience = 60 * time.Second

// patient returns a context that ends with the test or with the suite's patience.
func patient(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

func publish(t *testing.T, p mq.Publisher, messages ...mq.Message) {
	t.Helper()
	if err := p.Publish(patient(t), messages...); err != nil {
		t.Fatalf("publish: %v", err)
	}
}

// numbered makes n messages with one key whose bodies are "0", "1", ….
func numbered(key string, n int) []mq.Message {
	messages := make([]mq.Message, n)
	for i := range messages {
		messages[i] = mq.Message{Key: key, Body: fmt.Append(nil, i)}
	}
	return messages
}

// take waits for the next value.
func take[T any](t *testing.T, from <-chan T, what string) T {
	t.Helper()
	select {
	case v, ok := <-from:
		if !ok {
			t.Fatalf("waiting for %s: the channel is closed", what)
		}
		return v
	case <-time.After(patience):
		t.Fatalf("waited in vain for %s", what)
		panic("unreachable")
	}
}

// closed waits until the channel is closed.
func closed(t *testing.T, ch <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-ch:
	case <-time.After(patience):
		t.Fatalf("waited in vain for %s", what)
	}
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
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

// consumption is a Consume that runs until it is stopped or the test ends.
type consumption struct {
	cancel context.CancelFunc
	done   chan struct{}
	err    error
}

func consume(t *testing.T, c mq.Consumer, sub mq.Subscription, handle mq.Handler) *consumption {
	ctx, cancel := context.WithCancel(context.Background())
	run := &consumption{cancel: cancel, done: make(chan struct{})}
	go func() {
		run.err = c.Consume(ctx, sub, handle)
		close(run.done)
	}()
	t.Cleanup(func() { run.stop(t) })
	return run
}

// stop ends it and waits; a stop after a death may say that the bus is lost.
func (c *consumption) stop(t *testing.T) {
	t.Helper()
	c.cancel()
	closed(t, c.done, "Consume to return")
	if c.err != nil && !errors.Is(c.err, mq.ErrLost) {
		t.Errorf("Consume: %v", c.err)
	}
}

// standing waits until the broker knows n consumers of p.
func standing(t *testing.T, p Process, n int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d subscriptions stand", n), func() bool { return p.Subscriptions() == n })
}

// bodies returns a handler that settles everything and a channel of the bodies it got.
func bodies(room int) (mq.Handler, <-chan string) {
	got := make(chan string, room)
	return func(_ context.Context, d mq.Delivery) error {
		got <- string(d.Body)
		return nil
	}, got
}

// difference is "" if both are the same. (go-cmp would become a dependency of every service.)
func difference(want, got any) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return fmt.Sprintf("want %+v\n got %+v", want, got)
}

// tally counts by name.
type tally struct {
	mu sync.Mutex
	n  map[string]int
}

func (c *tally) add(name string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		c.n = map[string]int{}
	}
	c.n[name]++
	return c.n[name]
}

func (c *tally) of(name string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n[name]
}

// names is how many different names were counted.
func (c *tally) names() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.n)
}
