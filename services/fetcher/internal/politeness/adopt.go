package politeness

import (
	"errors"
	"time"

	"github.com/sony/gobreaker/v2"
)

// adopt returns the host's state, made or brought up to date with what ask says of it.
func (hs *Hosts) adopt(ask Ask) *host {
	now := hs.now()
	h := hs.hosts[ask.Host]
	if h == nil {
		h = hs.meet(ask, now)
	} else if !ask.Visited && !h.asked {
		// The first message of a host is the only one that says nobody has asked it. It may be
		// overtaken by the next.
		h.visited, h.last = false, time.Time{}
	} else if hs.stranger(h, ask) {
		// Another fetcher may have asked the host until the tenure began.
		wait := max(h.need(ask.Delay), h.lastDelay, millis(ask.Known.DelayMS))
		// A wait longer than callers hold on would end in a circle: each message comes alone,
		// begins a new tenure, and is sent back. For such hosts the frontier has one URL out at a
		// time, so that its NextAt, heeded below, is the truth. But of a message that comes again
		// the frontier has heard nothing: whoever had it may have asked the host and died. It goes
		// back once, with our own NextAt, and is known by that when it returns.
		if !ask.Redelivered {
			wait = min(wait, hs.cfg.Hold)
		}
		h.guard = later(h.guard, ask.Since.Add(wait))
	}
	hs.used.MoveToBack(h.place)
	h.touched = now
	if ask.Floor >= 0 {
		h.floor = ask.Floor
	}
	// What we said ourselves we know better than by a clock of the wall.
	if ahead := ask.Known.NextAt.Sub(now); ahead > 0 && !h.said(ask.Known.NextAt) {
		h.holdUntil(now.Add(min(ahead, hs.cfg.MaxHold)), ask.Known.Reason)
	}
	return h
}

// stranger tells whether somebody else may have asked h since we did. If its delay is so long that
// the frontier gives out one URL of it at a time, a NextAt that is our own proves that nobody did.
func (hs *Hosts) stranger(h *host, ask Ask) bool {
	if !h.touched.Before(ask.Since) {
		return false
	}
	return h.need(ask.Delay) <= hs.cfg.Hold || !h.said(ask.Known.NextAt)
}

// meet makes the state of a host that is new to us.
func (hs *Hosts) meet(ask Ask, now time.Time) *host {
	hs.evict(now)
	h := &host{name: ask.Host, slowFrom: hs.cfg.SlowAfter, slowCap: hs.cfg.MaxSlow}
	h.breaker = gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
		Timeout:     hs.cfg.BreakerFor,
		ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= hs.cfg.BreakerAfter },
		IsExcluded:  func(err error) bool { return errors.Is(err, errNoOpinion) },
		OnStateChange: func(_ string, _, to gobreaker.State) {
			if to == gobreaker.StateOpen { // it half-opens strictly after its timeout
				h.openUntil = hs.now().Add(hs.cfg.BreakerFor + time.Millisecond)
			}
		},
	})
	if ask.Visited {
		h.visited, h.last, h.lastDelay = true, now, min(max(millis(ask.Known.DelayMS), ask.Delay), hs.cfg.MaxHold)
	}
	h.place = hs.used.PushBack(h)
	hs.hosts[h.name] = h
	return h
}

// evict forgets hosts that have been idle for long, and more if there are too many. A hold that is
// forgotten with its host is still known to the frontier. A slow host's messages come far apart, and it
// must be remembered from one to the next, or each would wait a whole delay and be sent back for ever.
func (hs *Hosts) evict(now time.Time) {
	for range hs.used.Len() {
		h := hs.used.Front().Value.(*host)
		full := len(hs.hosts) >= hs.cfg.MaxHosts
		old := now.Sub(h.touched) > hs.cfg.IdleAfter+max(h.lastDelay, h.need(0))
		switch {
		case !full && !old:
			return
		case h.idle() && (full || !h.held().After(now)):
			hs.forget(h)
		default:
			hs.used.MoveToBack(h.place)
		}
	}
}

func (hs *Hosts) forget(h *host) {
	if h.timer != nil {
		h.timer.Stop()
	}
	hs.used.Remove(h.place)
	delete(hs.hosts, h.name)
}

func millis(ms int64) time.Duration {
	const most = int64(24 * time.Hour / time.Millisecond)
	return time.Duration(min(max(ms, 0), most)) * time.Millisecond
}
