package rabbit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq"
)

// laneCount is the number of publishing channels of a session. The broker serves a channel with one
// process, so a few make use of its cores.
const laneCount = 4

// lane is a publishing channel with a window. One goroutine writes: a write to a broker in alarm may
// hang and cannot be called off, and it must hang nobody else. For each message written another
// waits for the confirm, so that one slow queue does not hold up the window.
type lane struct {
	s     *session
	queue chan *parcel  // handed over only when the window has room
	slots chan struct{} // the window: one for each message unconfirmed
}

func (s *session) startLane() error {
	l := &lane{s: s, queue: make(chan *parcel), slots: make(chan struct{}, s.bus.cfg.Window)}
	line, err := l.open()
	if err != nil {
		return err
	}
	s.lanes = append(s.lanes, l)
	s.work.Go(func() { l.run(line) })
	return nil
}

// line is one life of a lane's channel.
type line struct {
	ch      *amqp.Channel
	ctx     context.Context // ends with the channel; the cause says why
	returns chan amqp.Return

	mu      sync.Mutex
	waiting map[string]*amqp.Return // by message id, from before the write to after the confirm
}

func (l *lane) open() (*line, error) {
	ch, err := l.s.publishing.conn.Channel()
	if err != nil {
		return nil, err
	}
	ctx, end := context.WithCancelCause(l.s.ctx)
	line := &line{
		ch:  ch,
		ctx: ctx,
		// Never full: no more returns can be on their way than messages are unconfirmed. The
		// library would stop reading the connection for 5 s, then drop the return.
		returns: ch.NotifyReturn(make(chan amqp.Return, 2*cap(l.slots)+2)),
		waiting: map[string]*amqp.Return{},
	}
	closed := ch.NotifyClose(make(chan *amqp.Error, 1))
	l.s.work.Go(func() {
		if err := <-closed; err != nil {
			end(err)
		} else {
			end(amqp.ErrClosed)
		}
	})
	return line, ch.Confirm(false)
}

// run writes until the session ends, on a new channel whenever the broker has closed the old one.
func (l *lane) run(line *line) {
	var pause backoff
	for {
		began := time.Now()
		l.write(line)
		if l.s.publishing.conn.IsClosed() {
			<-l.s.ctx.Done() // follows at once
		}
		if l.s.ctx.Err() != nil {
			return
		}
		if time.Since(began) > backoffMost {
			pause = backoff{}
		}
		err := context.Cause(line.ctx)
		for err != nil {
			l.s.bus.log.Warn("publishing channel is lost", "error", err)
			if !pause.wait(l.s.ctx) {
				return
			}
			err = l.reopen(&line, err)
		}
	}
}

func (l *lane) reopen(line **line, cause error) error {
	if gone := new(amqp.Error); errors.As(cause, &gone) && gone.Code == amqp.NotFound {
		if err := l.s.redeclare(time.Now()); err != nil {
			return err
		}
	}
	fresh, err := l.open()
	if err == nil {
		*line = fresh
	}
	return err
}

// write returns when the channel or the session has ended.
func (l *lane) write(line *line) {
	for {
		select {
		case l.slots <- struct{}{}:
		case <-line.ctx.Done():
			return
		}
		var p *parcel
		if l.s.gate.wait(line.ctx, line.ctx) == nil {
			select {
			case p = <-l.queue:
			case <-line.ctx.Done():
			}
		}
		if p == nil {
			<-l.slots
			return
		}
		l.ship(line, p)
	}
}

// ship writes p, whose slot is taken, and sees to it that p is answered and the slot given back.
func (l *lane) ship(line *line, p *parcel) {
	// The gate may have been shut while we waited for p.
	err := l.s.gate.wait(line.ctx, p.call.ctx)
	if err == nil {
		err = p.call.ctx.Err()
	}
	var confirm *amqp.DeferredConfirmation
	if err == nil {
		line.expect(p.MessageId)
		confirm, err = line.ch.PublishWithDeferredConfirm(
			contract.Exchange, p.key, contract.Mandatory(p.key), false, p.Publishing)
	}
	if err != nil {
		line.outcome(p.MessageId)
		p.done(fmt.Errorf("%w: %w", mq.ErrUnconfirmed, err))
		l.s.bus.metrics.unconfirmed.WithLabelValues(class(p.key)).Inc()
		<-l.slots
		return
	}
	written := time.Now()
	l.s.work.Go(func() {
		p.done(l.await(line, p, confirm, written))
		<-l.slots
	})
}

// await waits for the confirm, at most ConfirmTimeout. A message that was returned has failed,
// although the broker confirms it.
func (l *lane) await(line *line, p *parcel, confirm *amqp.DeferredConfirmation, written time.Time) error {
	m, topic := l.s.bus.metrics, class(p.key)
	timeout := time.NewTimer(l.s.bus.cfg.ConfirmTimeout)
	defer timeout.Stop()
	select {
	case <-confirm.Done():
	case <-timeout.C:
		line.outcome(p.MessageId)
		m.unconfirmed.WithLabelValues(topic).Inc()
		return fmt.Errorf("%w: no answer within %s", mq.ErrUnconfirmed, l.s.bus.cfg.ConfirmTimeout)
	}
	returned := line.outcome(p.MessageId)
	switch {
	case returned != nil:
		m.returned.WithLabelValues(topic).Inc()
		return fmt.Errorf("%w (%d %s)", mq.ErrUnroutable, returned.ReplyCode, returned.ReplyText)
	case confirm.Acked():
		m.published.WithLabelValues(topic).Inc()
		m.confirm.Observe(time.Since(written).Seconds())
		return nil
	}
	m.unconfirmed.WithLabelValues(topic).Inc()
	if line.ch.IsClosed() {
		<-line.ctx.Done() // follows at once
		return fmt.Errorf("%w: channel is lost: %w", mq.ErrUnconfirmed, context.Cause(line.ctx))
	}
	return fmt.Errorf("%w: it was refused; a queue may be full", mq.ErrUnconfirmed)
}

func (l *line) expect(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting[id] = nil
}

// outcome forgets the message and tells whether it was returned. The library puts a return into the
// channel before it completes the confirm, so it is there by now; but others' returns may be in
// front of it, and one of them may have found ours.
func (l *line) outcome(id string) *amqp.Return {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		select {
		case r, ok := <-l.returns:
			if ok {
				if _, expected := l.waiting[r.MessageId]; expected {
					l.waiting[r.MessageId] = &r
				}
				continue
			}
		default:
		}
		break
	}
	returned := l.waiting[id]
	delete(l.waiting, id)
	return returned
}
