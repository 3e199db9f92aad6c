package store

import (
	"context"
	"sync"
	"time"
)

// arrival is a row whose handler waits for the answer.
type arrival struct {
	row   Row
	bytes int             // of its message
	ctx   context.Context // the handler's
	done  chan error      // takes one answer without a reader
}

// batches runs cfg.Writers writers until ctx ends. They take turns at collecting, so that one batch
// fills while others are being written.
func (s *Service) batches(ctx context.Context) {
	var turn sync.Mutex
	var writers sync.WaitGroup
	for range s.cfg.Writers {
		writers.Go(func() {
			for ctx.Err() == nil {
				turn.Lock()
				batch := s.collect(ctx)
				turn.Unlock()
				s.write(ctx, batch)
			}
		})
	}
	writers.Wait()
}

// collect waits for an arrival and takes more until the batch is full by count or bytes, or its time
// is up. It returns what it has when ctx ends.
func (s *Service) collect(ctx context.Context) []*arrival {
	var batch []*arrival
	var bytes int
	var timeout <-chan time.Time
	for len(batch) < s.cfg.Batch && bytes < s.cfg.BatchBytes {
		select {
		case a := <-s.arrived:
			batch, bytes = append(batch, a), bytes+a.bytes
			if timeout == nil {
				timeout = time.After(s.cfg.BatchWait)
			}
		case <-timeout:
			return batch
		case <-ctx.Done():
			return batch
		}
	}
	return batch
}

// write keeps a batch, reports it and answers its handlers.
func (s *Service) write(ctx context.Context, batch []*arrival) {
	visits := gather(batch)
	for rest := visits; len(rest) > 0; {
		var round []*visit
		round, rest = oneOfEachURL(rest)
		s.keep(ctx, round)
	}
	s.report(ctx, visits)
	for _, v := range visits {
		for _, a := range v.arrivals {
			a.done <- v.err
		}
	}
}
