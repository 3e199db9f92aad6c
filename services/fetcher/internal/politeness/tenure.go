package politeness

import (
	"context"
	"sync"
	"time"
)

// Tenure tells since when this process has certainly been the only consumer of a shard.
//
// RabbitMQ does not say when a shard gets another owner. But the broker makes nobody else active
// while we have messages of the shard unsettled on a session that stands. So as long as one message
// at least was in hand, nobody else can have asked a host of the shard; when none was, a fetcher may
// have joined, asked, and left. The zero value is not usable; make one for each shard.
type Tenure struct {
	now func() time.Time

	mu     sync.Mutex
	since  time.Time
	next   int
	inHand map[int]context.Context
}

// NewTenure returns the tenure of one shard.
func NewTenure(now func() time.Time) *Tenure {
	return &Tenure{now: now, inHand: map[int]context.Context{}}
}

// Enter takes a message in hand, whose context ends with the session that brought it, and returns
// since when the tenure has lasted. Call leave before the message is settled.
func (t *Tenure) Enter(ctx context.Context) (since time.Time, leave func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	lost := false
	for _, other := range t.inHand {
		lost = lost || other.Err() != nil // its session is gone: it is not ours any more
	}
	if lost || len(t.inHand) == 0 {
		t.since = t.now()
	}
	id := t.next
	t.next++
	t.inHand[id] = ctx
	return t.since, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.inHand, id)
	}
}
