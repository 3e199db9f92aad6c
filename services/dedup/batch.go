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

// heaviest is how many rows a batch may come to before no more messages are joined to it: a
// transaction takes about 40 µs for each, and must end long before its time limit.
const heaviest = 20_000

// weight is how many rows an item may come to.
func (it *item) weight() int {
	n := len(it.batch.Seeds) + len(it.batch.Retries)
	for _, o := range it.batch.Outcomes {
		n += 1 + len(o.Links)
	}
	return n
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
		weight := items[0].weight()
	fill:
		for len(items) < s.cfg.Batch && weight < heaviest {
			select {
			case it := <-s.batcher:
				items = append(items, it)
				weight += it.weight()
			case <-timer.C:
				break fill
			case <-ctx.Done():
				break fill
			}
		}
		s.flush(ctx, items)
	}
}

// flush applies items in one transaction. If a row in it is bad for good, or the batch takes too long, it
// is halved until the bad one stands alone: its neighbours go on.
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
	halve := errors.Is(err, frontier.ErrBadRow) || errors.Is(err, context.DeadlineExceeded)
	if halve && len(items) > 1 {
		s.flush(ctx, items[:len(items)/2])
		s.flush(ctx, items[len(items)/2:])
		return
	}
	err = refused(err)
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

// refused turns what the database refuses for good into a rejection.
func refused(err error) error {
	if errors.Is(err, frontier.ErrBadRow) {
		return mq.Reject(contract.Clip(err.Error(), 300))
	}
	return err
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
