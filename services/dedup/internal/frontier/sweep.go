package frontier

import (
	"context"
	"time"
)

// Swept counts what a sweep did.
type Swept struct {
	Promoted int // waiting URLs that came due
	Expired  int // leases that ended
	Lost     int // URLs given up: lease ended too often, or past their age
	Finished []string
	More     bool // a limit was reached: sweep again at once
}

// Sweep does what time brings: promotes URLs that are due, takes back URLs whose lease has ended (if
// leases run), ends visits and hosts past their age, and moves crawls to their next state.
func (f *Frontier) Sweep(ctx context.Context, leases bool) (Swept, error) {
	s := &sweep{f: f}
	steps := []func(context.Context) error{s.due, s.old, s.badHosts, s.crawls}
	if leases {
		steps = append(steps, s.ended)
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return s.Swept, err
		}
	}
	return s.Swept, nil
}

type sweep struct {
	Swept
	f *Frontier
}

// rows finds keys, locks their hosts, reads the rows again and hands each to do.
func (s *sweep) rows(ctx context.Context, what Sweep, before time.Time, do func(*work, *URL)) error {
	return s.f.write(ctx, func(tx Tx) error {
		w := s.f.newWork(tx)
		keys, err := tx.Swept(ctx, what, before, rowsAtOnce)
		if err != nil || len(keys) == 0 {
			return err
		}
		s.More = s.More || len(keys) == rowsAtOnce
		if err := w.lock(ctx, keys); err != nil {
			return err
		}
		for _, u := range w.urls {
			do(w, u)
		}
		return w.save(ctx)
	})
}

func (s *sweep) due(ctx context.Context) error {
	now := s.f.now()
	return s.rows(ctx, SweepDue, now, func(w *work, u *URL) {
		if u.State == Waiting && !u.DueAt.After(now) {
			s.Promoted++
			w.change(u, func() { u.State, u.DueAt = Ready, zeroTime })
		}
	})
}

// ended takes back what was released and has not come home. It keeps its place in the page budget: the
// page may still arrive.
func (s *sweep) ended(ctx context.Context) error {
	now := s.f.now()
	// While nothing at all comes home it is the pipeline that is down, and not the URL that is lost.
	limit := s.f.cfg.MaxExpiries
	if !s.f.rate.closedSince(now.Add(-2 * s.f.cfg.Lease)) {
		limit *= 2
	}
	return s.rows(ctx, SweepLease, now, func(w *work, u *URL) {
		if u.State != Released || u.LeaseUntil.After(now) {
			return
		}
		s.Expired++
		w.change(u, func() {
			u.LeaseUntil = zeroTime
			u.Expiries++
			if u.Expiries >= limit {
				s.Lost++
				s.giveUp(u, reasonLost, now)
				return
			}
			u.State = Ready
			u.keepRank()
		})
	})
}

// old ends visits that have lasted too long, with the last reason there was.
func (s *sweep) old(ctx context.Context) error {
	now := s.f.now()
	before := now.Add(-s.f.cfg.MaxAge)
	return s.rows(ctx, SweepTried, before, func(w *work, u *URL) {
		if !u.State.Open() || u.TriedAt.IsZero() || u.TriedAt.After(before) {
			return
		}
		s.Lost++
		w.change(u, func() { s.giveUp(u, u.Reason, now) })
	})
}

func (s *sweep) giveUp(u *URL, reason string, now time.Time) {
	if reason == "" {
		reason = reasonLost
	}
	u.State, u.Reason, u.ClosedAt, u.Held = Failed, reason, now, 0
	u.DueAt, u.LeaseUntil = zeroTime, zeroTime
}

// badHosts ends the URLs of hosts that have not answered for the longest age of a visit.
func (s *sweep) badHosts(ctx context.Context) error {
	now := s.f.now()
	return s.f.write(ctx, func(tx Tx) error {
		w := s.f.newWork(tx)
		hosts, err := tx.BadHosts(ctx, now.Add(-s.f.cfg.MaxAge), 16)
		if err != nil || len(hosts) == 0 {
			return err
		}
		for _, h := range hosts {
			w.hosts[h.ID] = h
			if err := s.giveUpHost(ctx, w, h); err != nil {
				return err
			}
		}
		return w.save(ctx)
	})
}

func (s *sweep) giveUpHost(ctx context.Context, w *work, h *Host) error {
	urls, err := w.openURLs(ctx, h.ID, 0)
	if err != nil {
		return err
	}
	reason := h.Reason
	for _, u := range urls {
		w.urls[u.Key] = u
	}
	if err := w.loadCrawls(ctx); err != nil {
		return err
	}
	for _, u := range urls {
		last := u.Reason
		if last == "" {
			last = reason
		}
		s.Lost++
		w.change(u, func() { s.giveUp(u, last, w.now) })
	}
	if len(urls) < rowsAtOnce {
		h.BadSince, h.NextAt, h.Reason = zeroTime, zeroTime, ""
	} else {
		s.More = true
	}
	w.touch(h)
	return nil
}

// Recount compares each host's outstanding with its released rows and mends what differs. It returns
// how many hosts were wrong; any is a bug or a restored backup.
func (f *Frontier) Recount(ctx context.Context) (wrong int, err error) {
	after := int64(-1 << 63)
	for {
		n := 0
		err := f.write(ctx, func(tx Tx) error {
			hosts, counted, err := tx.CountOutstanding(ctx, after, rowsAtOnce)
			if err != nil {
				return err
			}
			var mend []*Host
			for _, h := range hosts {
				after = h.ID
				if h.Outstanding != counted[h.ID] {
					h.Outstanding = counted[h.ID]
					mend = append(mend, h)
				}
			}
			n = len(hosts)
			wrong += len(mend)
			if len(mend) == 0 {
				return nil
			}
			return tx.SaveHosts(ctx, mend)
		})
		if err != nil || n < rowsAtOnce {
			return wrong, err
		}
	}
}
