package politeness

import (
	"time"

	"github.com/warrenmq/warren/libs/contract"
)

// Report is what to tell the frontier of a host, for it and for the next fetcher that owns the host.
// known is what the frontier said; it is given back if we know nothing. held, if not nil, is why a
// URL goes back.
//
// NextAt is the next start that the delay allows, whoever may be waiting for it here: the frontier
// keeps the queue filled by its window. Pace is what the host can take, a request's time or the
// delay, so that it does not sink when there was nothing to ask.
func (hs *Hosts) Report(known contract.Host, held *Held) contract.Host {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	h := hs.hosts[known.Name]
	if h == nil {
		if held != nil {
			known.NextAt, known.Reason = wall(held.Until), held.Reason
		}
		return known
	}
	report := contract.Host{
		Name:    h.name,
		Visited: h.visited || known.Visited,
		DelayMS: max(h.lastDelay, h.need(0)).Milliseconds(),
		PaceMS:  (h.pace + time.Millisecond - 1).Milliseconds(), // 0 is "not known"
		NextAt:  h.free(0),
		Reason:  h.why(hs.now()),
	}
	if held != nil {
		report.NextAt = later(report.NextAt, held.Until)
		if held.Reason != "" {
			report.Reason = held.Reason
		}
	}
	if !report.NextAt.IsZero() {
		report.NextAt = wall(report.NextAt)
		h.reported = report.NextAt
	}
	return report
}

// wall is at for other machines: to the millisecond, and rather too late than too early.
func wall(at time.Time) time.Time {
	return at.Round(0).UTC().Truncate(time.Millisecond).Add(time.Millisecond)
}

// Hold holds a host back, for a reason that only the caller knows.
func (hs *Hosts) Hold(name string, until time.Time, why string) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	if h := hs.hosts[name]; h != nil {
		h.holdUntil(until, why)
		hs.dispatch(h)
	}
}

// SetFloor makes robots' Crawl-delay known, to those who wait already too.
func (hs *Hosts) SetFloor(name string, floor time.Duration) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	if h := hs.hosts[name]; h != nil {
		h.floor = floor
		hs.dispatch(h)
	}
}
