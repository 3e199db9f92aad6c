package rabbit

import (
	"errors"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/warrenmq/warren/libs/contract"
)

const (
	pulseEvery = time.Second
	liveFor    = 5 * time.Second
)

// startPulse makes the first round trip and leaves a goroutine to make one each second, on the
// consuming connection, because what it proves is that the broker still counts us as a consumer.
func (s *session) startPulse() error {
	ch, err := s.consuming.conn.Channel()
	if err != nil {
		return err
	}
	if err := s.beat(ch); err != nil {
		return err
	}
	s.work.Go(func() { s.pulse(ch) })
	return nil
}

// beat asks for a queue's state. The moment noted is the one before the question: a process frozen
// between the answer's arrival and the note would otherwise take an old answer for a fresh one.
func (s *session) beat(ch *amqp.Channel) error {
	asked := time.Now()
	_, err := ch.QueueDeclarePassive(contract.QueueDedup, true, false, false, false, nil)
	if err == nil {
		s.proved.Store(int64(asked.Sub(s.bus.epoch)))
	}
	return err
}

func (s *session) pulse(ch *amqp.Channel) {
	tick := time.NewTicker(pulseEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-s.ctx.Done():
			return
		}
		err := s.beat(ch)
		if err == nil || s.ctx.Err() != nil {
			continue
		}
		s.bus.log.Warn("broker round trip failed", "error", err)
		// The queue is gone, or somebody closed the channel: an answer has come nevertheless, but
		// only a round trip that succeeds counts.
		if gone := new(amqp.Error); errors.As(err, &gone) && gone.Code == amqp.NotFound {
			if err := s.redeclare(time.Now()); err != nil {
				s.bus.log.Warn("topology cannot be declared again", "error", err)
			}
		}
		if fresh, err := s.consuming.conn.Channel(); err == nil {
			ch = fresh
		}
	}
}

// live tells whether the session stands and has proved so lately, on the monotonic clock.
func (s *session) live() bool {
	return s.ctx.Err() == nil && time.Since(s.bus.epoch)-time.Duration(s.proved.Load()) < liveFor
}
