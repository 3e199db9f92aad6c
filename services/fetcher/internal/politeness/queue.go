package politeness

import (
	"slices"
	"time"
)

// dispatch serves those of h's queue who can be served now, sends away those who cannot be served
// in their time, and sets the timer for the next. Call it after every change.
func (hs *Hosts) dispatch(h *host) {
	now := hs.now()
	for len(h.queue) > 0 && !h.opening && len(h.running) < hs.cfg.PerHost {
		w := h.queue[0]
		if h.free(w.ask.Delay).After(now) {
			break
		}
		h.queue = slices.Delete(h.queue, 0, 1)
		hs.waiting--
		w.answer <- answer{slot: hs.open(h, w.ask.Delay)}
	}
	hs.sendAway(h, now)
	hs.wake(h, now)
}

// sendAway ends the wait of those whose turn cannot come in time, even if every request before them
// took no time at all.
func (hs *Hosts) sendAway(h *host, now time.Time) {
	var turn time.Time
	kept := h.queue[:0]
	for _, w := range h.queue {
		at := later(now, h.free(w.ask.Delay))
		if n := len(kept); n > 0 {
			at = later(at, turn.Add(max(h.need(kept[n-1].ask.Delay), h.need(w.ask.Delay))))
		}
		if !at.After(w.until) {
			kept, turn = append(kept, w), at
			continue
		}
		// When the last of those who stay is served, there is room to come again.
		until := at
		if len(kept) > 0 {
			until = later(turn, h.held())
		}
		hs.waiting--
		w.answer <- answer{err: &Held{Until: later(until, hs.end(h, now)), Reason: h.why(now)}}
	}
	clear(h.queue[len(kept):])
	h.queue = kept
}

// wake sets the timer to when the first of the queue may start. While requests run, or one is about
// to start, their end calls dispatch.
func (hs *Hosts) wake(h *host, now time.Time) {
	if h.timer != nil {
		h.timer.Stop()
		h.timer = nil
	}
	if len(h.queue) == 0 || h.opening || len(h.running) >= hs.cfg.PerHost {
		return
	}
	h.timer = time.AfterFunc(h.free(h.queue[0].ask.Delay).Sub(now), func() {
		hs.mu.Lock()
		defer hs.mu.Unlock()
		hs.dispatch(h)
	})
}

// estimate is when a newcomer might be served.
func (hs *Hosts) estimate(h *host) time.Time {
	now := hs.now()
	at := later(now, h.free(0))
	for i, w := range h.queue {
		if i > 0 {
			at = at.Add(h.need(w.ask.Delay))
		}
	}
	return later(at, hs.end(h, now))
}

// end guesses when a running request will have ended, if all slots are taken: as long as they
// usually take, or half as long again as it has taken.
func (hs *Hosts) end(h *host, now time.Time) time.Time {
	if len(h.running) < hs.cfg.PerHost {
		return time.Time{}
	}
	first := h.running[0]
	since := first.given
	return later(since.Add(h.pace), now.Add(min(now.Sub(since)/2, hs.cfg.MaxSlow)))
}
