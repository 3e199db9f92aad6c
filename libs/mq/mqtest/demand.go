package mqtest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq"
)

// Published returns all that was published and not yet taken, in order.
func (b *Bus) Published() []mq.Message {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.published)
}

// Take returns the published messages whose key starts with prefix, in order, and forgets them.
func (b *Bus) Take(prefix string) []mq.Message {
	b.mu.Lock()
	defer b.mu.Unlock()
	var taken []mq.Message
	b.published = slices.DeleteFunc(b.published, func(m mq.Message) bool {
		if !strings.HasPrefix(m.Key, prefix) {
			return false
		}
		taken = append(taken, m)
		return true
	})
	return taken
}

// Wait waits for a published message whose key starts with prefix, and takes the oldest.
func (b *Bus) Wait(ctx context.Context, prefix string) (mq.Message, error) {
	var found mq.Message
	err := b.wait(ctx, func() bool {
		i := slices.IndexFunc(b.published, func(m mq.Message) bool { return strings.HasPrefix(m.Key, prefix) })
		if i < 0 {
			return false
		}
		found = b.published[i]
		b.published = slices.Delete(b.published, i, i+1)
		return true
	})
	if err != nil {
		return mq.Message{}, fmt.Errorf("wait for a message with key %s…: %w", prefix, err)
	}
	return found, nil
}

// FailNext makes the next n calls of Publish fail whole with err (mq.ErrUnconfirmed if nil).
func (b *Bus) FailNext(n int, err error) {
	if err == nil {
		err = mq.ErrUnconfirmed
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fail = append(b.fail, slices.Repeat([]error{err}, n)...)
}

// Break loses the session: state Suspended, contexts of handlers in hand end, their Live is false,
// Publish waits.
func (b *Bus) Break() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.state = mq.Suspended
	b.cut()
	b.notify()
}

// Mend gives a new session: state Connected.
func (b *Bus) Mend() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.state = mq.Connected
	b.session, b.cut = context.WithCancel(context.Background())
	b.notify()
}

// Lose gives up the broker for good: state Lost, Consume and Publish return mq.ErrLost.
func (b *Bus) Lose() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.state = mq.Lost
	b.cut()
	b.notify()
}

// Freeze makes Delivery.Live return live, as if no broker round trip had succeeded of late.
func (b *Bus) Freeze(frozen bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.frozen = frozen
}

// Drain closes Delivery.Draining of every delivery in hand and to come, as a stop does.
func (b *Bus) Drain() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.drained {
		b.drained = true
		close(b.draining)
	}
}

// Deliver hands msg to the handler that consumes queue, once, and returns what it returned; it waits
// until there is one. A panic comes back as a Rejection. As in a driver, a rejected message is
// recorded as published to dead.<queue>, with what OnDead adds; other errors are not tried again.
func (b *Bus) Deliver(ctx context.Context, queue string, msg mq.Message) error {
	return b.deliver(ctx, queue, msg, false)
}

// Redeliver is Deliver with Redelivered set.
func (b *Bus) Redeliver(ctx context.Context, queue string, msg mq.Message) error {
	return b.deliver(ctx, queue, msg, true)
}

func (b *Bus) deliver(ctx context.Context, queue string, msg mq.Message, again bool) error {
	var to *registration
	if err := b.wait(ctx, func() bool { to = b.handlers[queue]; return to != nil }); err != nil {
		return fmt.Errorf("wait for a consumer of %s: %w", queue, err)
	}
	b.mu.Lock()
	session, state, draining := b.session, b.state, b.draining
	b.mu.Unlock()
	if state == mq.Suspended || state == mq.Lost {
		return ErrBroken
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(session, cancel)()
	d := mq.Delivery{Message: msg, Queue: queue, Redelivered: again, Draining: draining, Live: func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return session.Err() == nil && !b.frozen
	}}
	err := call(ctx, to.handle, d)
	var rejection *mq.Rejection
	if errors.As(err, &rejection) {
		b.bury(to.sub, d, rejection.Reason)
	}
	return err
}

func call(ctx context.Context, handle mq.Handler, d mq.Delivery) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = mq.Reject(fmt.Sprintf("handler panicked: %v", p))
		}
	}()
	return handle(ctx, d)
}

func (b *Bus) bury(sub mq.Subscription, d mq.Delivery, reason string) {
	dead := d.Message
	dead.Key = contract.DeadKey(d.Queue)
	dead.Headers = maps.Clone(d.Headers)
	if dead.Headers == nil {
		dead.Headers = map[string]string{}
	}
	dead.Headers[mq.HeaderReason] = contract.Clip(reason, 500)
	dead.Headers[mq.HeaderQueue] = d.Queue
	dead.Headers[mq.HeaderKey] = d.Key
	messages := []mq.Message{dead}
	if sub.OnDead != nil {
		messages = append(messages, sub.OnDead(d, reason)...)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.published = append(b.published, messages...)
	b.notify()
}
