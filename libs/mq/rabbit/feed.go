package rabbit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/warrenmq/warren/libs/mq"
)

// feed is one life of a subscription's channel: it takes deliveries and hands each to a goroutine.
type feed struct {
	s        *session
	sub      mq.Subscription
	handle   mq.Handler
	ch       *amqp.Channel
	ctx      context.Context // ends with the channel or the session; then nothing can be settled
	lose     context.CancelCauseFunc
	handling context.Context // of the handlers: ends with ctx, or when the grace of a stop is over
	draining chan struct{}
	slots    chan struct{} // one for each handler at work
	work     sync.WaitGroup
}

// answerTimeout bounds the wait for the broker's answer to the close of a channel. It is long, since
// what it costs is the session of all other subscriptions, and a busy broker may be slow.
const answerTimeout = 10 * time.Second

var errCancelled = errors.New("broker cancelled the consumer; the queue may have been deleted")

// feed consumes until ctx ends or the channel is lost, then returns when all handlers have. On a
// loss their contexts end at once. At a stop it follows the one order in which a shard is never
// served twice: take nothing new, finish and acknowledge what is in hand, and close the channel, by
// which the broker gives the rest to the next consumer. (basic.cancel would activate the next one
// while we still work.)
func (s *session) feed(ctx context.Context, sub mq.Subscription, handle mq.Handler) error {
	f := &feed{s: s, sub: sub, handle: handle, draining: make(chan struct{}), slots: make(chan struct{}, sub.Concurrency)}
	f.ctx, f.lose = context.WithCancelCause(s.ctx)
	defer f.lose(nil)
	var stop context.CancelFunc
	f.handling, stop = context.WithCancel(f.ctx)
	defer stop()
	deliveries, err := f.open()
	if err != nil {
		return err
	}
	standing := s.bus.metrics.consumers.WithLabelValues(class(sub.Queue))
	standing.Inc()
	context.AfterFunc(f.ctx, standing.Dec)
	f.take(ctx, deliveries)
	if f.ctx.Err() == nil {
		close(f.draining)
		grace := time.AfterFunc(sub.Grace, stop)
		defer grace.Stop()
	}
	f.wait()
	f.close()
	return context.Cause(f.ctx)
}

func (f *feed) open() (<-chan amqp.Delivery, error) {
	var err error
	if f.ch, err = f.s.consuming.conn.Channel(); err != nil {
		return nil, err
	}
	go f.watch(f.ch.NotifyClose(make(chan *amqp.Error, 1)), f.ch.NotifyCancel(make(chan string, 1)))
	if err = f.ch.Qos(f.sub.Prefetch, 0, false); err != nil {
		f.close()
		return nil, err
	}
	var args amqp.Table
	if f.sub.Priority != 0 {
		args = amqp.Table{"x-priority": f.sub.Priority}
	}
	deliveries, err := f.ch.Consume(f.sub.Queue, "", false, false, false, false, args)
	if err != nil {
		f.close()
		return nil, err
	}
	return deliveries, nil
}

// watch ends f.ctx when the channel is closed or its consumer cancelled, and ends with the channel.
func (f *feed) watch(closed chan *amqp.Error, cancelled chan string) {
	for {
		select {
		case err, ok := <-closed:
			if ok {
				f.lose(err)
			} else {
				f.lose(amqp.ErrClosed)
			}
			return
		case _, ok := <-cancelled:
			if ok {
				f.lose(errCancelled)
			}
			cancelled = nil
		}
	}
}

// take hands out deliveries until ctx ends or the channel is lost.
func (f *feed) take(ctx context.Context, deliveries <-chan amqp.Delivery) {
	queue := class(f.sub.Queue)
	for {
		select {
		case f.slots <- struct{}{}:
		case <-ctx.Done():
			return
		case <-f.ctx.Done():
			return
		}
		select {
		case d, ok := <-deliveries:
			if !ok {
				<-f.ctx.Done() // follows at once
				return
			}
			if ctx.Err() != nil || f.ctx.Err() != nil {
				return // select chooses at random: a stop goes before a delivery
			}
			f.s.bus.metrics.deliveries.WithLabelValues(queue, fmt.Sprint(d.Redelivered)).Inc()
			f.work.Go(func() {
				defer func() { <-f.slots }()
				f.settle(d)
			})
		case <-ctx.Done():
			return
		case <-f.ctx.Done():
			return
		}
	}
}

// wait returns when no handler is at work, and complains of those that do not heed their context:
// nothing is consumed again before, since the next consumer may be ourselves.
func (f *feed) wait() {
	done := make(chan struct{})
	go func() {
		f.work.Wait()
		close(done)
	}()
	select {
	case <-done:
		return
	case <-f.handling.Done():
	}
	complain := time.NewTicker(10 * time.Second)
	defer complain.Stop()
	for {
		select {
		case <-done:
			return
		case <-complain.C:
			f.s.bus.log.Error("handlers work on although their context has ended", "queue", f.sub.Queue, "handlers", len(f.slots))
		}
	}
}

// close closes the channel; acknowledgements sent before it are processed before it. If the broker
// does not answer, the connection is of no use any more.
func (f *feed) close() {
	answer := time.AfterFunc(answerTimeout, func() {
		f.s.end(fmt.Errorf("channel of %s: broker did not answer a close within %s", f.sub.Queue, answerTimeout))
		f.s.cut()
	})
	defer answer.Stop()
	_ = f.ch.Close()
}
