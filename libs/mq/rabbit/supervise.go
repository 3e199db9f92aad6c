package rabbit

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/warrenmq/warren/libs/mq"
)

// uselessError is a cause that no further attempt can mend: the broker is too old, or its queues are
// not what Warren declares.
type uselessError struct{ error }

func (e uselessError) Unwrap() error { return e.error }

var errStopped = errors.New("bus is stopped")

// Run keeps a session until ctx ends, then closes it and returns nil. It returns mq.ErrLost, wrapped
// with the last cause, when Attempts rounds have failed or the broker is of no use. It may be called
// once.
func (b *Bus) Run(ctx context.Context) error {
	if !b.running.CompareAndSwap(false, true) {
		return errors.New("rabbit: Run is called twice")
	}
	err := b.supervise(ctx)
	if err == nil {
		b.become(mq.Lost, errStopped)
		return nil
	}
	b.become(mq.Lost, err)
	return fmt.Errorf("%w: %w", mq.ErrLost, err)
}

func (b *Bus) supervise(ctx context.Context) error {
	failures := 0
	for {
		s, err := b.round(ctx)
		if s != nil {
			started := time.Now()
			err = b.hold(s)
			// A node that accepts and then drops us at once is a failed round, or we would
			// hammer it without a pause.
			if time.Since(started) > b.cfg.Delay {
				failures = 0
				if ctx.Err() == nil && !useless(err) {
					continue
				}
			}
		}
		if ctx.Err() != nil {
			return nil
		}
		if useless(err) {
			return err
		}
		failures++
		if b.cfg.Attempts > 0 && failures >= b.cfg.Attempts {
			return fmt.Errorf("gave up after %d rounds over %d nodes: %w", failures, len(b.nodes), err)
		}
		b.become(mq.Suspended, err)
		sleep(ctx, jitter(b.cfg.Delay))
	}
}

// round tries every node once, beginning with the one after that tried last.
func (b *Bus) round(ctx context.Context) (*session, error) {
	var failed error
	for range b.nodes {
		n := b.nodes[0]
		b.nodes = append(b.nodes[1:], n)
		s, err := b.open(ctx, n)
		if err == nil {
			b.metrics.dials.WithLabelValues("ok").Inc()
			return s, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		b.metrics.dials.WithLabelValues("failed").Inc()
		failed = fmt.Errorf("node %s: %w", n, err)
		if useless(err) {
			return nil, failed
		}
		b.log.Warn("broker node cannot be used", "node", n.String(), "error", err)
	}
	return nil, failed
}

// hold offers the session to all until it ends, and returns why it did.
func (b *Bus) hold(s *session) error {
	b.metrics.sessions.Inc()
	b.log.Info("connected to broker", "node", s.node.String(), "version", s.version)
	b.offer(s)
	<-s.ctx.Done()
	cause := context.Cause(s.ctx)
	b.become(mq.Suspended, cause)
	if !errors.Is(cause, context.Canceled) {
		b.log.Warn("session with broker is lost", "node", s.node.String(), "error", cause)
	}
	s.close()
	return fmt.Errorf("node %s: %w", s.node, cause)
}

func useless(err error) bool {
	var u uselessError
	return errors.As(err, &u)
}

// jitter spreads a wait by a quarter both ways, so that replicas do not come back in step.
func jitter(d time.Duration) time.Duration {
	return d - d/4 + rand.N(d/2+1)
}

// sleep waits for d or the end of ctx, and tells whether d has passed.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
