package rabbit

import (
	"context"
	"time"
)

const (
	backoffFirst = 100 * time.Millisecond
	backoffMost  = 10 * time.Second
)

// backoff is a wait that doubles from 100 ms up to 10 s, with jitter. The zero value is ready.
type backoff struct{ last time.Duration }

// next returns how long to wait now.
func (b *backoff) next() time.Duration {
	b.last = min(max(2*b.last, backoffFirst), backoffMost)
	return jitter(b.last)
}

// wait waits, and tells whether all contexts still stand.
func (b *backoff) wait(first context.Context, others ...context.Context) bool {
	ctx, cancel := context.WithCancel(first)
	defer cancel()
	for _, other := range others {
		defer context.AfterFunc(other, cancel)()
	}
	return sleep(ctx, b.next())
}
