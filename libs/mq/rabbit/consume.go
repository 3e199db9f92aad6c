package rabbit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/warrenmq/warren/libs/mq"
)

// maxPrefetch is what a quorum queue grants at most; 0 would be without bound.
const maxPrefetch = 2000

// Consume feeds handle from sub.Queue, one channel after the other, until ctx ends.
func (b *Bus) Consume(ctx context.Context, sub mq.Subscription, handle mq.Handler) error {
	sub, err := b.complete(sub)
	if err != nil {
		return err
	}
	var pause backoff
	for {
		s, err := b.current(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("consume %s: %w", sub.Queue, err)
		}
		began := time.Now()
		err = s.feed(ctx, sub, handle)
		if ctx.Err() != nil {
			return nil
		}
		if s.consuming.conn.IsClosed() {
			<-s.ctx.Done() // follows at once
		}
		if s.ctx.Err() != nil {
			continue // the supervisor tells why
		}
		if err := b.hopeless(sub, err); err != nil {
			return err
		}
		b.log.Warn("consuming channel is lost", "queue", sub.Queue, "error", err)
		if time.Since(began) > backoffMost {
			pause = backoff{}
		}
		lost := time.Now()
		if !pause.wait(s.ctx, ctx) {
			continue
		}
		// The queue may have been deleted.
		if err := s.redeclare(lost); err != nil && s.ctx.Err() == nil {
			b.log.Warn("topology cannot be declared again", "error", err)
		}
	}
}

func (b *Bus) complete(sub mq.Subscription) (mq.Subscription, error) {
	if sub.Prefetch == 0 {
		sub.Prefetch = 1
	}
	if sub.Concurrency == 0 {
		sub.Concurrency = sub.Prefetch
	}
	if sub.Grace == 0 {
		sub.Grace = b.cfg.Grace
	}
	switch {
	case sub.Queue == "" || len(sub.Queue) > 255-len("dead."):
		return sub, fmt.Errorf("consume %.80q: want a queue's name of 1 to 250 bytes", sub.Queue)
	case sub.Prefetch < 0 || sub.Prefetch > maxPrefetch:
		return sub, fmt.Errorf("consume %s: prefetch %d, want 1 to %d", sub.Queue, sub.Prefetch, maxPrefetch)
	case sub.Concurrency < 0 || sub.Concurrency > sub.Prefetch:
		return sub, fmt.Errorf("consume %s: concurrency %d, want 1 to the prefetch of %d", sub.Queue, sub.Concurrency, sub.Prefetch)
	case sub.Grace < 0:
		return sub, fmt.Errorf("consume %s: grace %s is negative", sub.Queue, sub.Grace)
	}
	return sub, nil
}

// hopeless returns an error for what waiting cannot mend: a queue that nobody declares, or arguments
// that the broker refuses. (A queue of the topology is declared again.)
func (b *Bus) hopeless(sub mq.Subscription, err error) error {
	refusal := new(amqp.Error)
	if !errors.As(err, &refusal) {
		return nil
	}
	ours := slices.ContainsFunc(b.queues, func(q mq.Queue) bool { return q.Name == sub.Queue })
	if refusal.Code == amqp.NotFound && !ours || refusal.Code == amqp.NotImplemented {
		return fmt.Errorf("consume %s: %w", sub.Queue, err)
	}
	return nil
}
