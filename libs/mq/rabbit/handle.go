package rabbit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/warrenmq/warren/libs/mq"
)

// settle handles one message until its fate is decided or the broker has taken it back.
func (f *feed) settle(raw amqp.Delivery) {
	m, queue := f.s.bus.metrics, class(f.sub.Queue)
	m.inFlight.WithLabelValues(queue).Inc()
	defer m.inFlight.WithLabelValues(queue).Dec()
	d := mq.Delivery{
		Message:     incoming(raw),
		Queue:       f.sub.Queue,
		Redelivered: raw.Redelivered,
		Draining:    f.draining,
		Live:        func() bool { return f.ctx.Err() == nil && f.s.live() },
	}
	result := f.decide(d, raw)
	if result != resultLeft {
		result = f.acknowledge(raw, result)
	}
	m.handled.WithLabelValues(queue, result).Inc()
}

// decide calls the handler until it settles the message one way or the other. Errors are waited for
// in place: a message sent back would come again at once, and count against its delivery limit.
func (f *feed) decide(d mq.Delivery, raw amqp.Delivery) string {
	var pause backoff
	level := slog.LevelWarn
	again := func(err error) bool {
		if f.handling.Err() != nil || f.isDraining() {
			return false
		}
		f.s.bus.log.Log(f.ctx, level, "message is tried again", "queue", d.Queue, "key", d.Key, "error", err)
		level = slog.LevelDebug // once is enough: the dependency that is down may be so for hours
		f.s.bus.metrics.retries.WithLabelValues(class(d.Queue)).Inc()
		return f.pause(pause.next()) && !f.isDraining()
	}
	for {
		err := f.call(d)
		rejection := new(mq.Rejection)
		switch {
		case err == nil:
			return resultDone
		case errors.As(err, &rejection):
			return f.bury(d, raw, rejection.Reason, again)
		case !again(err):
			return resultLeft
		}
	}
}

// call turns a panic into a rejection: the message would bring down one replica after the other.
func (f *feed) call(d mq.Delivery) (err error) {
	defer func() {
		if p := recover(); p != nil {
			f.s.bus.log.Error("handler panicked", "queue", d.Queue, "key", d.Key, "panic", p, "stack", string(debug.Stack()))
			err = mq.Reject(fmt.Sprintf("handler panicked: %v", p))
		}
	}()
	return f.handle(f.handling, d)
}

// acknowledge settles the message, unless its channel is gone: then the broker has given it to
// somebody else, and what is left of ours is dropped.
func (f *feed) acknowledge(raw amqp.Delivery, result string) string {
	err := context.Cause(f.ctx)
	if err == nil {
		err = f.ch.Ack(raw.DeliveryTag, false)
	}
	if err != nil {
		f.s.bus.log.Debug("message was handled, but its channel is gone", "queue", f.sub.Queue, "error", err)
		return resultLeft
	}
	return result
}

func (f *feed) isDraining() bool {
	select {
	case <-f.draining:
		return true
	default:
		return false
	}
}
