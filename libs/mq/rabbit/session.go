package rabbit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// setupTimeout bounds what follows the handshakes, the declaration of the topology above all. A
// quorum queue is made in some 20 ms; several services may make the same hundreds at once.
const setupTimeout = 2 * time.Minute

// session is two connections to one node and all that lives on them. Its ctx ends when either dies,
// when the broker turns out to be useless, or with Run; context.Cause says why.
type session struct {
	bus        *Bus
	node       node
	version    string
	ctx        context.Context
	end        context.CancelCauseFunc
	consuming  *link
	publishing *link
	lanes      []*lane
	gate       *gate
	work       sync.WaitGroup // goroutines of the session itself, not of handlers

	declaring sync.Mutex
	declared  time.Time // when the last declaration that succeeded began

	proved atomic.Int64 // when the last round trip that succeeded began, since bus.epoch
}

// open makes a session with node n; on an error nothing of it is left.
func (b *Bus) open(ctx context.Context, n node) (_ *session, err error) {
	s := &session{bus: b, node: n, gate: newGate()}
	s.ctx, s.end = context.WithCancelCause(ctx)
	defer func() {
		if err != nil {
			s.end(err)
			s.close()
		}
	}()
	if s.consuming, err = b.dial(ctx, n, "consume"); err != nil {
		return nil, err
	}
	if s.version, err = checkVersion(s.consuming.conn); err != nil {
		return nil, err
	}
	if s.publishing, err = b.dial(ctx, n, "publish"); err != nil {
		return nil, err
	}
	s.work.Go(s.watch)
	alarms := s.publishing.conn.NotifyBlocked(make(chan amqp.Blocking, 8))
	s.work.Go(func() { s.watchBlocked(alarms) })
	limit := time.AfterFunc(setupTimeout, func() {
		s.end(fmt.Errorf("setting up the session took more than %s", setupTimeout))
	})
	defer limit.Stop()
	// Calls of the library wait without bound; this ends them with the session.
	defer context.AfterFunc(s.ctx, s.cut)()
	if err = s.redeclare(time.Now()); err == nil {
		err = s.startPulse()
	}
	for i := 0; err == nil && i < laneCount; i++ {
		err = s.startLane()
	}
	if s.ctx.Err() != nil {
		err = context.Cause(s.ctx)
	}
	return s, err
}

// watch ends the session when either connection is closed.
func (s *session) watch() {
	var err *amqp.Error
	which := "consuming"
	select {
	case err = <-s.consuming.closed:
	case err = <-s.publishing.closed:
		which = "publishing"
	case <-s.ctx.Done():
		return
	}
	if err == nil {
		s.end(fmt.Errorf("%s connection is closed", which))
		return
	}
	s.end(fmt.Errorf("%s connection is closed: %w", which, err))
}

// watchBlocked shuts the gate for publishers while the broker is in alarm. It is told so only on the
// publishing connection, for the other never publishes.
func (s *session) watchBlocked(alarms <-chan amqp.Blocking) {
	for blocking := range alarms {
		if blocking.Active {
			s.gate.shut(errors.New("broker takes no messages: " + blocking.Reason))
			s.bus.log.Warn("broker takes no messages", "reason", blocking.Reason)
		} else {
			s.gate.open()
			s.bus.log.Info("broker takes messages again")
		}
		s.bus.report(s)
	}
}

// cut closes both sockets without a word.
func (s *session) cut() {
	for _, l := range []*link{s.consuming, s.publishing} {
		if l != nil {
			l.raw.Close()
		}
	}
}

// close ends what open has begun. The session's ctx has ended before.
func (s *session) close() {
	var both sync.WaitGroup
	both.Go(s.consuming.close)
	both.Go(s.publishing.close)
	both.Wait()
	s.work.Wait()
}
