package mqtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq"
)

// ErrBroken is the error of Deliver while the bus is broken.
var ErrBroken = errors.New("test bus is broken")

// Bus is an mq.Bus in memory for the unit tests of services: it records what is published, fails on
// demand, and delivers on demand. It routes nothing by itself: a test hands each message to the
// handler it is for. It is no driver and does not pass the suite.
type Bus struct {
	mu        sync.Mutex
	changed   chan struct{} // closed and replaced at each change of anything below
	published []mq.Message
	handlers  map[string]*registration
	fail      []error
	state     mq.State
	frozen    bool
	session   context.Context // ends at Break
	cut       context.CancelFunc
	draining  chan struct{}
	drained   bool
}

type registration struct {
	sub    mq.Subscription
	handle mq.Handler
}

var _ mq.Bus = (*Bus)(nil)

// NewBus returns a bus that is Connected.
func NewBus() *Bus {
	b := &Bus{
		changed:  make(chan struct{}),
		handlers: map[string]*registration{},
		state:    mq.Connected,
		draining: make(chan struct{}),
	}
	b.session, b.cut = context.WithCancel(context.Background())
	return b
}

// Publish records the messages. Like a driver it refuses what cannot be sent and mandatory messages
// that no queue of the topology would get; it waits while the bus is broken.
func (b *Bus) Publish(ctx context.Context, messages ...mq.Message) error {
	if err := b.wait(ctx, func() bool { return b.state == mq.Connected || b.state == mq.Lost }); err != nil {
		return &mq.PublishError{Failed: all(messages), Err: fmt.Errorf("%w: %w", mq.ErrUnconfirmed, err)}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.state == mq.Lost {
		return &mq.PublishError{Failed: all(messages), Err: mq.ErrLost}
	}
	if len(b.fail) > 0 && len(messages) > 0 {
		err := b.fail[0]
		b.fail = b.fail[1:]
		return &mq.PublishError{Failed: all(messages), Err: err}
	}
	var failed mq.PublishError
	for i, m := range messages {
		err := m.Check()
		if err == nil && contract.Mandatory(m.Key) && !routable(m.Key) {
			err = fmt.Errorf("key %q: %w", m.Key, mq.ErrUnroutable)
		}
		if err == nil {
			b.published = append(b.published, m)
			continue
		}
		failed.Failed = append(failed.Failed, i)
		if failed.Err == nil {
			failed.Err = err
		}
	}
	b.notify()
	if failed.Err != nil {
		return &failed
	}
	return nil
}

// Consume registers the handler of a queue for Deliver until ctx ends; a second one for the same
// queue takes its place.
func (b *Bus) Consume(ctx context.Context, sub mq.Subscription, handle mq.Handler) error {
	r := &registration{sub: sub, handle: handle}
	b.mu.Lock()
	b.handlers[sub.Queue] = r
	b.notify()
	b.mu.Unlock()
	err := b.wait(ctx, func() bool { return b.state == mq.Lost })
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.handlers[sub.Queue] == r {
		delete(b.handlers, sub.Queue)
	}
	b.notify()
	if err != nil {
		return nil // ctx ended: a stop, not a failure
	}
	return mq.ErrLost
}

// State is the state now, and a channel that is closed at the next change of it.
func (b *Bus) State() (mq.State, <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.state, b.changed
}

// Ready is nil while the bus is Connected.
func (b *Bus) Ready(context.Context) error {
	if state, _ := b.State(); state != mq.Connected {
		return fmt.Errorf("broker is %s", state)
	}
	return nil
}

// notify wakes all that wait. The caller holds mu.
func (b *Bus) notify() {
	close(b.changed)
	b.changed = make(chan struct{})
}

// wait returns when ok holds (it is called with mu held) or ctx ended.
func (b *Bus) wait(ctx context.Context, ok func() bool) error {
	for {
		b.mu.Lock()
		done, changed := ok(), b.changed
		b.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func all(messages []mq.Message) []int {
	indexes := make([]int, len(messages))
	for i := range indexes {
		indexes[i] = i
	}
	return indexes
}

// routable tells whether a queue of the topology is bound to key, for any number of shards.
func routable(key string) bool {
	if strings.HasPrefix(key, "fetch.") {
		_, _, err := contract.ParseFetchKey(key)
		return err == nil
	}
	return slices.ContainsFunc(mq.Topology(0), func(q mq.Queue) bool {
		return slices.ContainsFunc(q.Bindings, func(binding string) bool { return mq.Match(binding, key) })
	})
}
