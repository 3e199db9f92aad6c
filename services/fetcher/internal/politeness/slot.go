package politeness

import (
	"errors"
	"slices"
	"time"
)

// Slot is the right to send one request to a host.
type Slot struct {
	hosts *Hosts
	host  *host
	delay time.Duration

	given   time.Time
	started bool
	sent    bool
	sentAt  time.Time
	heard   bool
	ended   bool
	settle  func(error) // tells the breaker
}

// Outcome is what a request says about its host.
type Outcome int

// The outcomes.
const (
	Fine    Outcome = iota // the host answered as hosts do, 404 included
	Busy                   // it asked for less: 429
	Failed                 // no connection, no answer in time, 5xx: the breaker counts it
	Unknown                // the request was called off, or failed for a reason of its own
)

// Result is how a request ended.
type Result struct {
	Outcome    Outcome
	Latency    time.Duration // until the header; 0: not known
	RetryAfter time.Duration // the host asked for so long a pause
}

var (
	errNoOpinion = errors.New("request says nothing about the host")
	errFailed    = errors.New("host failed")
)

// open gives a slot. The caller holds mu.
func (hs *Hosts) open(h *host, delay time.Duration) *Slot {
	s := &Slot{hosts: hs, host: h, delay: delay, given: hs.now()}
	h.running = append(h.running, s)
	h.opening = true
	hs.running++
	return s
}

// Start marks the start of the request: call it right before, and Sent when it is on the wire. Until
// then no other request of the host starts. Start fails with *Held if the host is held back after
// all; the slot is ended then.
func (s *Slot) Start() error {
	hs, h := s.hosts, s.host
	hs.mu.Lock()
	defer hs.mu.Unlock()
	now := hs.now()
	settle, err := h.breaker.Allow()
	if err != nil {
		s.end()
		return &Held{Until: later(now.Add(hs.cfg.Hold), h.openUntil), Reason: ReasonBreaker}
	}
	s.settle, s.started, s.given = settle, true, now
	h.last, h.lastDelay = now, h.need(s.delay)
	h.visited, h.asked = true, true
	return nil
}

// Sent marks the moment from which the delay counts. Connecting may take long, and to the server the
// request begins behind it.
func (s *Slot) Sent() {
	hs, h := s.hosts, s.host
	hs.mu.Lock()
	defer hs.mu.Unlock()
	if !s.started || s.ended {
		return
	}
	h.last, s.sentAt = hs.now(), hs.now()
	h.opening = h.opening && s.sent
	s.sent = true
	hs.dispatch(h)
}

// Answered marks the first byte of the answer. Between Sent and now the server began, and only it knows
// when: a request that was held up on its way begins late, and the next one, if it is not, would come
// too soon behind it. So what the answer took longer than the quickest of late counts as the way there.
func (s *Slot) Answered() {
	hs, h := s.hosts, s.host
	hs.mu.Lock()
	defer hs.mu.Unlock()
	if !s.sent || s.heard || s.ended {
		return
	}
	s.heard = true
	took := hs.now().Sub(s.sentAt)
	h.last = later(h.last, s.sentAt.Add(took-h.quickest(took)))
	hs.dispatch(h)
}

// knownAnswers is how many answers it takes to know how quick a host is; until then the delay counts
// from the answer.
const knownAnswers = 3

// quickest is the shortest time that an answer took of late. It gives way slowly: a machine that is
// busy for seconds must not pass for a slow host.
func (h *host) quickest(took time.Duration) time.Duration {
	h.answers++
	if h.answers == 1 || took < h.quick {
		h.quick = took
	} else {
		h.quick += (took - h.quick) / 64
	}
	if h.answers <= knownAnswers {
		return 0
	}
	return h.quick
}

// Cancel gives the slot back: unused, or with a request of which nothing is known. After Done it
// does nothing, so it can be deferred.
func (s *Slot) Cancel() { s.Done(Result{Outcome: Unknown}) }

// Done ends the slot.
func (s *Slot) Done(r Result) {
	s.hosts.mu.Lock()
	defer s.hosts.mu.Unlock()
	if s.ended {
		return
	}
	if s.started {
		s.learn(r)
	}
	s.end()
}

func (s *Slot) end() {
	hs, h := s.hosts, s.host
	s.ended = true
	if !s.sent {
		h.opening = false
	}
	h.running = slices.DeleteFunc(h.running, func(other *Slot) bool { return other == s })
	hs.running--
	hs.dispatch(h)
}

// learn lets the host's state know how the request went.
func (s *Slot) learn(r Result) {
	hs, h := s.hosts, s.host
	now := hs.now()
	switch r.Outcome {
	case Fine:
		s.settle(nil)
		if h.backoff /= 2; h.backoff < hs.cfg.BackoffStep {
			h.backoff = 0
		}
	case Failed:
		s.settle(errFailed)
		h.backoff = min(max(2*h.need(s.delay), hs.cfg.BackoffStep), hs.cfg.MaxBackoff)
	case Busy:
		s.settle(nil)
		h.backoff = min(max(2*h.need(s.delay), hs.cfg.BackoffStep), hs.cfg.MaxBackoff)
	default:
		s.settle(errNoOpinion)
		return
	}
	if r.RetryAfter > 0 {
		h.holdUntil(now.Add(min(r.RetryAfter, hs.cfg.MaxHold)), ReasonRetryAfter)
	}
	if r.Latency > 0 {
		h.latency = smooth(h.latency, r.Latency)
	}
	h.pace = smooth(h.pace, max(h.lastDelay, now.Sub(s.given)/time.Duration(hs.cfg.PerHost)))
}

// smooth is the exponentially weighted moving average.
func smooth(old, sample time.Duration) time.Duration {
	if old == 0 {
		return sample
	}
	return old + (sample-old)*3/10
}
