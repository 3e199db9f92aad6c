package rabbit

import (
	"fmt"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq"
)

// bury publishes the dead letter and what OnDead adds, and tries again what failed until all is
// confirmed. Only then may the message be acknowledged.
func (f *feed) bury(d mq.Delivery, raw amqp.Delivery, reason string, again func(error) bool) string {
	reason = contract.Clip(reason, 500) // it may quote what was received
	f.s.bus.log.Warn("message is rejected", "queue", d.Queue, "key", d.Key, "reason", reason)
	letters := append([]outgoing{deadLetter(raw, d.Queue, reason)}, f.alongside(d, reason)...)
	for {
		parcels := make([]*parcel, len(letters))
		for i, letter := range letters {
			parcels[i] = &parcel{outgoing: letter, index: i}
		}
		var failed failures
		f.s.bus.send(f.handling, parcels, &failed)
		err := failed.error()
		if err == nil {
			return resultRejected
		}
		if !again(fmt.Errorf("publish dead letter: %w", err)) {
			return resultLeft
		}
		for i, index := range failed.Failed {
			letters[i] = letters[index]
		}
		letters = letters[:len(failed.Failed)]
	}
}

// alongside asks OnDead. What it returns is the service's; a panic or a message that cannot be sent is
// its defect, and must not keep the dead letter from being buried.
func (f *feed) alongside(d mq.Delivery, reason string) (letters []outgoing) {
	if f.sub.OnDead == nil {
		return nil
	}
	defer func() {
		if p := recover(); p != nil {
			f.s.bus.log.Error("OnDead panicked", "queue", d.Queue, "key", d.Key, "panic", p)
		}
	}()
	for _, m := range f.sub.OnDead(d, reason) {
		if err := m.Check(); err != nil {
			f.s.bus.log.Error("OnDead made a message that cannot be sent", "queue", d.Queue, "error", err)
			continue
		}
		letters = append(letters, f.s.bus.outgoing(m))
	}
	return letters
}

// pause waits, and tells whether to go on: not if the stop began or the message is no longer ours.
func (f *feed) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-f.draining:
	case <-f.handling.Done():
	}
	return false
}
