package politeness

import (
	"container/list"
	"slices"
	"time"

	"github.com/sony/gobreaker/v2"
)

// host is what is known of one host. Hosts.mu guards it.
type host struct {
	name    string
	queue   []*waiter
	running []*Slot // given, started or not
	opening bool    // one of them is not on the wire: nobody else may start, the delay has not begun
	timer   *time.Timer

	visited   bool          // by somebody
	asked     bool          // by us
	touched   time.Time     // latest Ask, the tenure of which it was part
	last      time.Time     // start of the latest request, or as if
	lastDelay time.Duration // the delay it was sent under
	guard     time.Time     // somebody else may have asked: nothing before
	heldUntil time.Time
	heldWhy   string
	reported  time.Time // the NextAt that we told the frontier last

	floor    time.Duration // robots' Crawl-delay
	backoff  time.Duration
	latency  time.Duration // smoothed
	pace     time.Duration // smoothed
	quick    time.Duration // see quickest
	answers  int
	slowCap  time.Duration
	slowFrom time.Duration

	breaker   *gobreaker.TwoStepCircuitBreaker[struct{}]
	openUntil time.Time

	place *list.Element
}

// waiter is one Ask in a queue.
type waiter struct {
	ask    Ask
	host   *host
	until  time.Time
	answer chan answer // holds one
}

type answer struct {
	slot *Slot
	err  error
}

func (h *host) enqueue(w *waiter) {
	if w.ask.First {
		h.queue = slices.Insert(h.queue, 0, w)
		return
	}
	h.queue = append(h.queue, w)
}

func (h *host) remove(w *waiter) bool {
	i := slices.Index(h.queue, w)
	if i < 0 {
		return false
	}
	h.queue = slices.Delete(h.queue, i, i+1)
	return true
}

func (h *host) idle() bool { return len(h.queue) == 0 && len(h.running) == 0 }

// need is the delay in force for a request of a crawl with that delay.
func (h *host) need(delay time.Duration) time.Duration {
	slow := time.Duration(0)
	if h.latency > h.slowFrom {
		slow = min(2*h.latency, h.slowCap)
	}
	return max(delay, h.floor, h.backoff, slow)
}

// free is the earliest start of a request of a crawl with that delay, running requests apart.
func (h *host) free(delay time.Duration) time.Time {
	at := h.guard
	if !h.last.IsZero() {
		at = later(at, h.last.Add(max(h.lastDelay, h.need(delay))))
	}
	return later(at, h.held())
}

// held is until when the host is held back, whatever the delay. Asking the breaker may half-open it.
func (h *host) held() time.Time {
	if h.breaker.State() == gobreaker.StateOpen {
		return later(h.heldUntil, h.openUntil)
	}
	return h.heldUntil
}

// why names what is wrong with the host at that time, if anything is.
func (h *host) why(now time.Time) string {
	switch {
	case h.breaker.State() == gobreaker.StateOpen:
		return ReasonBreaker
	case h.heldUntil.After(now):
		return h.heldWhy
	}
	return ""
}

// holdUntil holds the host back; a hold is never made shorter.
func (h *host) holdUntil(at time.Time, why string) {
	if at.After(h.heldUntil) {
		h.heldUntil, h.heldWhy = at, why
	}
}

// said tells whether next is what we told the frontier last. Databases keep microseconds.
func (h *host) said(next time.Time) bool {
	return !next.IsZero() && next.Sub(h.reported).Abs() < time.Millisecond
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
