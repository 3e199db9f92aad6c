package dedup

import (
	"context"
	"errors"
	"time"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq"
	"github.com/warrenmq/warren/libs/weburl"
)

// runRelease releases while there is something to release and a broker to take it.
func (s *Service) runRelease(ctx context.Context) error {
	ticker := time.NewTicker(s.cfg.Tick)
	defer ticker.Stop()
	for {
		more := false
		if state, _ := s.deps.Bus.State(); state == mq.Connected {
			var err error
			if more, err = s.release(ctx); err != nil {
				return err
			}
		}
		if more && ctx.Err() == nil {
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-s.wake:
		case <-ticker.C:
		}
	}
}

// release does one round: mark, commit, publish, put back what was not confirmed. Its error is for what
// no further round mends.
func (s *Service) release(ctx context.Context) (more bool, err error) {
	start := time.Now()
	list, more, err := s.frontier.Release(ctx)
	if errors.Is(err, ErrShards) {
		return false, err
	}
	if err != nil {
		s.failed(ctx, "release urls", err)
		return false, nil
	}
	if len(list) == 0 {
		return more, nil
	}
	s.metrics.release.Observe(time.Since(start).Seconds())
	s.metrics.released.Add(float64(len(list)))
	back := s.publish(ctx, list)
	if len(back) == 0 {
		return more, nil
	}
	// Also at a stop: the leases would bring them back, but only in minutes.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	s.metrics.putBack.Add(float64(len(back)))
	if err := s.frontier.PutBack(ctx, back); err != nil {
		s.failed(ctx, "put back urls that were not published", err)
	}
	return false, nil
}

// publish sends fetch messages and returns those that are not confirmed.
func (s *Service) publish(ctx context.Context, list []contract.Fetch) []contract.Fetch {
	messages := make([]mq.Message, len(list))
	for i, m := range list {
		body, err := contract.Encode(m)
		if err != nil {
			s.failed(ctx, "encode a fetch message", err)
			return list
		}
		key := contract.FetchKey(s.deps.Shards, weburl.Shard(m.Host.Name, s.deps.Shards))
		messages[i] = mq.Message{Key: key, Body: body}
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	err := s.deps.Bus.Publish(ctx, messages...)
	if err == nil {
		return nil
	}
	s.failed(ctx, "publish released urls", err)
	var partial *mq.PublishError
	if !errors.As(err, &partial) {
		return list
	}
	back := make([]contract.Fetch, len(partial.Failed))
	for i, index := range partial.Failed {
		back[i] = list[index]
	}
	return back
}

// failed notes an error that the next round mends by itself.
func (s *Service) failed(ctx context.Context, what string, err error) {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return
	}
	s.metrics.errors.WithLabelValues(what).Inc()
	s.deps.Log.Warn("did not work, trying again", "what", what, "error", err)
}
