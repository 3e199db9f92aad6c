package rabbit

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq"
)

// redeclare declares exchange, queues and bindings, unless that has been done after since: when a
// broker was wiped, all subscriptions of a fetcher ask for it at once. If the broker has something
// else under one of the names, the session ends for good.
func (s *session) redeclare(since time.Time) error {
	s.declaring.Lock()
	defer s.declaring.Unlock()
	if s.declared.After(since) {
		return nil
	}
	began := time.Now()
	err := s.declare()
	if err != nil {
		if useless(err) {
			s.end(err)
		}
		return fmt.Errorf("declare topology: %w", err)
	}
	s.declared = began
	return nil
}

// declare collects every mismatch before it gives up, so that an operator sees them all at once.
func (s *session) declare() error {
	d := &declarer{conn: s.consuming.conn}
	defer d.close()
	d.step(func(ch *amqp.Channel) error {
		return ch.ExchangeDeclare(contract.Exchange, amqp.ExchangeTopic, true, false, false, false, nil)
	})
	for _, q := range s.bus.queues {
		d.step(func(ch *amqp.Channel) error {
			_, err := ch.QueueDeclare(q.Name, true, false, false, false, q.Args)
			return err
		})
	}
	if d.failed == nil && d.mismatches == nil {
		for _, q := range s.bus.queues {
			d.bind(q)
		}
	}
	if d.failed == nil && d.mismatches != nil {
		return uselessError{mismatchError(d.mismatches)}
	}
	return d.failed
}

func mismatchError(mismatches []string) error {
	return fmt.Errorf("broker has something else under Warren's names (%s); this cannot be changed in place: stop the "+
		"services, drain and delete what differs, and start them again, they declare it anew", strings.Join(mismatches, "; "))
}

// declarer takes steps on a channel, on a new one after each refusal.
type declarer struct {
	conn       *amqp.Connection
	ch         *amqp.Channel
	mismatches []string
	failed     error // the first error that is no mismatch; nothing is done after it
}

func (d *declarer) step(do func(*amqp.Channel) error) {
	if d.failed != nil {
		return
	}
	if d.ch == nil || d.ch.IsClosed() {
		if d.ch, d.failed = d.conn.Channel(); d.failed != nil {
			return
		}
	}
	err := do(d.ch)
	if refusal := new(amqp.Error); errors.As(err, &refusal) && refusal.Code == amqp.PreconditionFailed {
		d.mismatches = append(d.mismatches, explain(refusal.Reason))
		return
	}
	d.failed = err
}

func (d *declarer) bind(q mq.Queue) {
	for _, key := range q.Bindings {
		d.step(func(ch *amqp.Channel) error {
			return ch.QueueBind(q.Name, key, contract.Exchange, false, nil)
		})
	}
}

func (d *declarer) close() {
	if d.ch != nil {
		_ = d.ch.Close()
	}
}

// What RabbitMQ writes, for example:
// PRECONDITION_FAILED - inequivalent arg 'x-queue-type' for queue 'dedup' in vhost '/':
// received 'quorum' but current is 'classic'
var mismatch = regexp.MustCompile(`inequivalent arg '([^']*)' for (queue|exchange) '([^']*)' in vhost '([^']*)': ` +
	`received (.*?) but current is (.*)$`)

// value is how it writes one: 'classic', none, or the value 'true' of type 'bool'.
var value = regexp.MustCompile(`^(?:the value )?'([^']*)'(?: of type '[^']*')?$`)

// explain says what differs from what.
func explain(reason string) string {
	m := mismatch.FindStringSubmatch(reason)
	if m == nil {
		return reason
	}
	plain := func(s string) string {
		if v := value.FindStringSubmatch(s); v != nil {
			return v[1]
		}
		return s
	}
	return fmt.Sprintf("%s %s in vhost %s: %s is %s, Warren declares %s",
		m[2], m[3], m[4], m[1], plain(m[6]), plain(m[5]))
}
