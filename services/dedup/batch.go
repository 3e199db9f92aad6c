package dedup

import (
	"context"
	"errors"
	"time"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq"
	"github.com/warrenmq/warren/services/dedup/internal/frontier"
)

// item is one message's part of a batch and where its result goes.
type item struct {
	batch frontier.Batch
	done  chan result // buffered: the batcher never waits for a handler that has gone
}

type result struct {
	applied frontier.Applied // Refused by this item's own seed indexes
	err     error
}

// apply hands a message's content to the batcher and waits for the transaction it became part of.
func (s *Service) apply(ctx context.Context, b frontier.Batch) (frontier.Applied, error) {
	it := &item{batch: b, done: make(chan result, 1)}
	select {
	case s.batcher <- it:
	case <-ctx.Done():
		return frontier.Applied{}, ctx.Err()
	}
	select {
	case r := <-it.done:
		return r.applied, r.err
	case <-ctx.Done():
		return frontier.Applied{}, ctx.Err()
	}
}

// runBatcher joins messages to batches: as many as wait, or come within the wait, up to the limit.
func (s *Service) runBatcher(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		var items []*item
		select {
		case <-ctx.Done():
			return
		case it := <-s.batcher:
			items = append(items, it)
		}
		timer.Reset(s.cfg.BatchWait)
	fill:
		for len(items) < s.cfg.Batch {
			select {
			case it := <-s.batcher:
				items = append(items, it)
			case <-timer.C:
				break fill
			case <-ctx.Done():
				break fill
			}
		}
		s.flush(ctx, items)
	}
}

// flush applies items in one transaction. If a row in it is bad for good the batch is halved until the
// bad one stands alone: its neighbours go on.
func (s *Service) flush(ctx context.Context, items []*item) {
	start := time.Now()
	var whole frontier.Batch
	for _, it := range items {
		whole.Seeds = append(whole.Seeds, it.batch.Seeds...)
		whole.Outcomes = append(whole.Outcomes, it.batch.Outcomes...)
		whole.Retries = append(whole.Retries, it.batch.Retries...)
	}
	applied, err := s.frontier.Apply(ctx, whole)
	s.metrics.batch.Observe(time.Since(start).Seconds())
	if err != nil && errors.Is(err, frontier.ErrBadRow) && len(items) > 1 {
		s.flush(ctx, items[:len(items)/2])
		s.flush(ctx, items[len(items)/2:])
		return
	}
	if err != nil && errors.Is(err, frontier.ErrBadRow) {
		err = mq.Reject(contract.Clip("database refuses it: "+err.Error(), 300))
	}
	s.count(applied)
	first := 0
	for _, it := range items {
		r := result{err: err, applied: frontier.Applied{Refused: map[int]string{}}}
		for i := range it.batch.Seeds {
			if why := applied.Refused[first+i]; why != "" {
				r.applied.Refused[i] = why
			}
		}
		first += len(it.batch.Seeds)
		it.done <- r
	}
	if err == nil {
		s.nudge()
	}
}

func (s *Service) count(a frontier.Applied) {
	s.metrics.admitted.Add(float64(a.Admitted))
	s.metrics.closed.Add(float64(a.Closed))
	s.metrics.stale.Add(float64(a.Stale))
}

// nudge lets release look at once.
func (s *Service) nudge() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}
