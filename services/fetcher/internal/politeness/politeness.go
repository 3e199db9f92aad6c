// Package politeness decides when a host may be asked. A request needs a [Slot] of its host.
//
//  1. Whoever wants to ask stands in the host's queue, first come first served, for a bounded time.
//     Who cannot be served in time learns at once when it may be worth coming again ([Held]).
//  2. A slot is given when no more than PerHost requests run, when the last start is at least the
//     delay ago, and when nothing holds the host back: Retry-After, the breaker, the word of
//     whoever served the host before.
//  3. The delay is the greatest of: the crawl's, robots' Crawl-delay, a back-off that doubles at each
//     failure and halves at each success, and twice the latency of a host that has become slow. Two
//     requests of crawls with different delays are as far apart as the greater asks for.
//  4. A host without history was perhaps asked a moment ago by somebody else. It waits a full delay,
//     unless it is known that nobody ever asked it. [Tenure] tells when history cannot be trusted.
//  5. Times are kept on the monotonic clock. State is dropped when a host has been idle for long.
package politeness

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/warrenmq/warren/libs/contract"
)

// Config is what Hosts are told once. All must be above zero.
type Config struct {
	PerHost      int           // requests to a host at a time
	Hold         time.Duration // the longest wait for a slot that callers ask for
	MaxHold      time.Duration // the longest that a host is held back by what others say of it
	BackoffStep  time.Duration // the first back-off of a host that failed
	MaxBackoff   time.Duration
	SlowAfter    time.Duration // latency from which on the delay is twice the latency
	MaxSlow      time.Duration // greatest delay for that reason
	BreakerAfter uint32        // failures in a row that open the breaker
	BreakerFor   time.Duration // how long it stays open
	MaxHosts     int           // hosts remembered
	IdleAfter    time.Duration // a host is forgotten when nothing was asked for so long
}

// ErrStopped is returned to those who wait when their Stop is closed.
var ErrStopped = errors.New("wait for a slot: stopped")

// Held says that no slot can be had in time. Without a reason nothing is wrong with the host: others
// come first, or its delay is long.
type Held struct {
	Until  time.Time // the next slot, as far as is known
	Reason string
}

func (h *Held) Error() string { return fmt.Sprintf("host has no slot until %s: %q", h.Until, h.Reason) }

// Reasons of Held that are ours; others are those that a message brought.
const (
	ReasonBreaker    = "breaker open"
	ReasonRetryAfter = "retry-after"
)

// Ask is a wish to ask a host.
type Ask struct {
	Host    string
	Delay   time.Duration // the crawl's; 0 is none
	Floor   time.Duration // robots' Crawl-delay; below 0: not known yet
	Hold    time.Duration // how long the caller can wait
	First   bool          // before all who wait: it has been served for robots.txt just now
	Known   contract.Host // what the frontier knows
	Visited bool          // somebody has asked the host before, or may have
	// Redelivered: the message was with somebody before, who may have asked the host and said nothing.
	Redelivered bool
	Since       time.Time       // the start of the tenure, see Tenure.Enter
	Stop        <-chan struct{} // ends the wait with ErrStopped
}

// Hosts is the state of all hosts. It is safe for concurrent use.
type Hosts struct {
	cfg Config
	now func() time.Time

	mu      sync.Mutex
	hosts   map[string]*host
	used    *list.List // of *host, least recently used first
	waiting int
	running int
}

// New returns Hosts that know no host. Close them.
func New(cfg Config, now func() time.Time) *Hosts {
	return &Hosts{cfg: cfg, now: now, hosts: map[string]*host{}, used: list.New()}
}

// Wait waits for a slot. It fails with *Held, ErrStopped or the error of ctx. The caller ends every
// slot with Done or Cancel.
func (hs *Hosts) Wait(ctx context.Context, ask Ask) (*Slot, error) {
	w := hs.enter(ask)
	deadline := time.NewTimer(ask.Hold)
	defer deadline.Stop()
	select {
	case answer := <-w.answer:
		return answer.slot, answer.err
	case <-deadline.C:
		return hs.leave(w, nil)
	case <-ask.Stop:
		return hs.leave(w, ErrStopped)
	case <-ctx.Done():
		return hs.leave(w, ctx.Err())
	}
}

func (hs *Hosts) enter(ask Ask) *waiter {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	h := hs.adopt(ask)
	w := &waiter{ask: ask, host: h, until: hs.now().Add(ask.Hold), answer: make(chan answer, 1)}
	h.enqueue(w)
	hs.waiting++
	hs.dispatch(h)
	return w
}

// leave takes w out of the queue. If it was or can be served in the same instant it keeps the slot,
// unless it was called off. err is nil when only time ran out.
func (hs *Hosts) leave(w *waiter, err error) (*Slot, error) {
	hs.mu.Lock()
	if err == nil {
		hs.dispatch(w.host)
	}
	if w.host.remove(w) {
		hs.waiting--
		held := &Held{Until: hs.estimate(w.host), Reason: w.host.why(hs.now())}
		hs.dispatch(w.host)
		hs.mu.Unlock()
		if err == nil {
			err = held
		}
		return nil, err
	}
	hs.mu.Unlock()
	got := <-w.answer
	if err != nil && got.slot != nil {
		got.slot.Cancel()
		return nil, err
	}
	return got.slot, got.err
}

// Load is how many wait, how many requests run, and how many hosts are known.
func (hs *Hosts) Load() (waiting, running, known int) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	return hs.waiting, hs.running, len(hs.hosts)
}

// Close forgets all hosts. Nobody may be waiting.
func (hs *Hosts) Close() {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	for _, h := range hs.hosts {
		hs.forget(h)
	}
}
