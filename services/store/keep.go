package store

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/warrenmq/warren/libs/mq"
)

// visit is the arrivals of one key, of which there is more than one when the broker delivers twice.
type visit struct {
	row      Row
	arrivals []*arrival
	stored   Stored // valid if err is nil
	err      error  // the answer to the handlers
}

// gather sorts a batch into visits. Who no longer waits (the session is lost, somebody else gets the
// page) is left out.
func gather(batch []*arrival) []*visit {
	batch = slices.DeleteFunc(batch, func(a *arrival) bool { return a.ctx.Err() != nil })
	slices.SortStableFunc(batch, func(a, b *arrival) int { return a.row.Compare(b.row) })
	var visits []*visit
	for _, a := range batch {
		if n := len(visits); n > 0 && visits[n-1].row.Compare(a.row) == 0 {
			visits[n-1].arrivals = append(visits[n-1].arrivals, a)
			continue
		}
		visits = append(visits, &visit{row: a.row, arrivals: []*arrival{a}})
	}
	return visits
}

// oneOfEachURL takes the earliest visit of each URL; the later ones must see it stored to be judged.
func oneOfEachURL(visits []*visit) (round, rest []*visit) {
	for i, v := range visits {
		if i > 0 && visits[i-1].row.CompareURL(v.row) == 0 {
			rest = append(rest, v)
		} else {
			round = append(round, v)
		}
	}
	return round, rest
}

// keep stores visits in one transaction, or finds by halving which the database refuses.
func (s *Service) keep(ctx context.Context, visits []*visit) {
	rows := make([]Row, len(visits))
	for i, v := range visits {
		rows[i] = v.row
	}
	start := time.Now()
	stored, err := s.try(ctx, rows)
	if err == nil {
		for i, v := range visits {
			v.stored = stored[i]
		}
		s.metrics.committed(rows, stored, time.Since(start))
		return
	}
	refused, ok := errors.AsType[*RefusedError](err)
	switch {
	case !ok:
		s.metrics.failures.WithLabelValues("commit").Inc()
		for _, v := range visits {
			v.err = err
		}
	case len(visits) > 1:
		half := len(visits) / 2
		s.keep(ctx, visits[:half])
		s.keep(ctx, visits[half:])
	default:
		s.deps.Log.WarnContext(ctx, "the database refuses a page",
			"crawl", rows[0].Crawl, "id", rows[0].ID, "visit", rows[0].Visit, "error", refused.Err)
		visits[0].err = mq.Reject(refused.Reason)
	}
}

// try is Store with a deadline. A page that makes the code panic is as bad as one that the database
// refuses, and found the same way.
func (s *Service) try(ctx context.Context, rows []Row) (stored []Stored, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			err = &RefusedError{Reason: "store panicked", Err: fmt.Errorf("panic: %v\n%s", v, debug.Stack())}
		}
	}()
	stored, err = s.deps.Database.Store(ctx, rows)
	if err == nil && len(stored) != len(rows) {
		return nil, fmt.Errorf("store %d pages: the database told of %d", len(rows), len(stored))
	}
	return stored, err
}
