// Package mq is Warren's bus: a small port that services use, and the crawl's topology. Drivers are
// in rabbit (RabbitMQ ≥ 4.0) and later inproc; both pass the suite in mqtest.
//
//  1. Publish sends persistent messages to the topic exchange and returns when the broker has
//     confirmed every one, or with an error that says which it has not.
//  2. Consume hands each message of a queue to a handler. The handler's error decides the message's
//     fate: nil settles it, [Reject] sends it to dead.<queue> with the reason, any other error waits
//     and calls the handler again with the same message, still unsettled.
//  3. A lost connection ends the session: handlers' contexts are cancelled, the broker gives the
//     messages to somebody else, and the driver connects again by itself.
//
// Delivery is at least once. Exactly-once effects are the handlers' affair.
package mq

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Message is what is published to the exchange.
type Message struct {
	Key         string            // routing key, at most 255 bytes
	Body        []byte            // at most contract.MaxMessage
	ContentType string            // "application/json" if empty
	Headers     map[string]string // small facts for taps and people; never a URL
}

// Publisher publishes. It is safe for concurrent use.
type Publisher interface {
	// Publish returns nil when every message is confirmed by the broker and, where
	// contract.Mandatory says so, was routed to at least one queue. Otherwise it returns a
	// *PublishError; messages it does not name are confirmed. A failed message may have arrived
	// nevertheless ("unknown"): publish it again, duplicates are by design. Only a cause of
	// ErrInvalid will fail for ever. Publish waits for a session and for a blocked connection as
	// long as ctx allows; the wait for a confirm is bounded. The messages of one call keep their
	// order in each queue, as long as none fails. Bodies must not be written to after the call,
	// even if it failed: one may still be on its way.
	Publish(ctx context.Context, messages ...Message) error
}

// Consumer consumes. It is safe for concurrent use.
type Consumer interface {
	// Consume calls handle for messages of sub.Queue, at most sub.Concurrency at a time, until ctx
	// ends; then it takes no new message, closes each Delivery.Draining, waits for the handlers in
	// hand (at most sub.Grace, then their contexts are cancelled), settles what they decided, and
	// gives the rest back to the broker. It never cancels a consumer with messages unsettled. It
	// survives lost connections, closed channels and deleted queues, and returns nil after ctx
	// ended, or ErrLost, or an error for what waiting cannot mend.
	Consume(ctx context.Context, sub Subscription, handle Handler) error
}

// Bus is both, with the state of the connection.
type Bus interface {
	Publisher
	Consumer
	// State returns the state now and a channel that is closed when it changes.
	State() (State, <-chan struct{})
}

// Handler handles one message. ctx ends when the session that delivered the message is lost or the
// grace of a stop is over: work must stop at once then, since somebody else gets the message.
type Handler func(ctx context.Context, d Delivery) error

// Delivery is a message received.
type Delivery struct {
	Message
	Queue       string
	Redelivered bool
	// Draining is closed when the consumer stops. A handler that only waits (for a slot) returns
	// ErrUnsettled then; one that works goes on.
	Draining <-chan struct{}
	// Live tells whether this process may still act as the queue's consumer: the session stands and
	// a broker round trip on it succeeded within the last 5 s of the monotonic clock. A process
	// that was frozen finds false here. Ask before each act that only the owner may do.
	Live func() bool
}

// Subscription says what to consume and how.
type Subscription struct {
	Queue       string
	Prefetch    int           // most messages unsettled; 1 if 0
	Concurrency int           // most handlers at a time; Prefetch if 0. With 1, messages come in order
	Priority    int32         // x-priority; on a single-active-consumer queue the highest owns it
	Grace       time.Duration // longest wait for handlers at a stop; 30 s if 0
	// OnDead returns messages to publish along with the dead letter of a rejected message, for
	// example the url.done that ends its URL. May be nil.
	OnDead func(d Delivery, reason string) []Message
}

// State is the state of the connection to the broker.
type State int

// The states. Lost is final: the attempts are used up, or the broker is of no use to Warren.
const (
	Suspended State = iota // no session yet, or between two
	Connected              // a session stands
	Blocked                // a session stands, but the broker refuses to take messages (alarm)
	Lost
)

func (s State) String() string {
	return [...]string{"suspended", "connected", "blocked", "lost"}[s]
}

// Errors of the port.
var (
	// ErrUnsettled is returned by a handler to leave its message to the broker, which delivers it
	// again, to this consumer's successor. Only for use after Draining is closed.
	ErrUnsettled = errors.New("message is left unsettled")
	// ErrUnroutable is the cause when no queue was bound to a mandatory message's key.
	ErrUnroutable = errors.New("no queue is bound to the routing key")
	// ErrUnconfirmed is the cause when the broker refused the message or did not answer in time.
	ErrUnconfirmed = errors.New("broker did not confirm the message")
	// ErrLost is returned when the bus has given up on the broker.
	ErrLost error = lost{}
)

// lost knows the exit status of a process it ends (see package daemon): whether the bus's error or
// that of the service that lost it comes first must not matter.
type lost struct{}

func (lost) Error() string   { return "broker is lost" }
func (lost) ExitStatus() int { return 5 }

// PublishError says which messages of a Publish are not known to have arrived.
type PublishError struct {
	Failed []int // indexes into the call's messages
	Err    error // the first cause; errors.Is finds it
}

func (e *PublishError) Error() string {
	return fmt.Sprintf("publish: %d messages failed: %v", len(e.Failed), e.Err)
}

// Unwrap returns the first cause.
func (e *PublishError) Unwrap() error { return e.Err }

// Rejection is the error of a message that can never work.
type Rejection struct{ Reason string }

func (r *Rejection) Error() string { return "reject: " + r.Reason }

// Reject returns the error by which a handler sends its message to dead.<queue>. reason is one
// short phrase for people; it is cut at 500 bytes and must hold no URL.
func Reject(reason string) error { return &Rejection{Reason: reason} }

// Headers of a dead letter.
const (
	HeaderReason = "warren-reason" // why the message can never work
	HeaderQueue  = "warren-queue"  // the queue it was consumed from
	HeaderKey    = "warren-key"    // the routing key it was published with: replay sends it there
)
