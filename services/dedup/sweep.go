package dedup

import (
	"context"
	"time"

	"github.com/warrenmq/warren/libs/mq"
)

// runSweep sweeps at its interval. Leases run only while there is a broker session, and not before it
// has stood for a whole lease: what the broker holds must have its chance to come home first.
func (s *Service) runSweep(ctx context.Context) error {
	ticker := time.NewTicker(s.cfg.SweepEvery)
	defer ticker.Stop()
	state, changed := s.deps.Bus.State()
	since := s.deps.Now()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
			was := state
			if state, changed = s.deps.Bus.State(); state == mq.Connected && was != mq.Connected {
				since = s.deps.Now()
			}
			continue
		case <-ticker.C:
		}
		stood := s.deps.Now().Sub(since)
		s.sweep(ctx, state == mq.Connected && stood >= s.cfg.Lease)
	}
}

func (s *Service) sweep(ctx context.Context, leases bool) {
	for {
		swept, err := s.frontier.Sweep(ctx, leases)
		if err != nil {
			s.failed(ctx, "sweep the frontier", err)
			return
		}
		s.metrics.expired.Add(float64(swept.Expired))
		s.metrics.lost.Add(float64(swept.Lost))
		for _, name := range swept.Finished {
			s.deps.Log.Info("crawl finished", "crawl", name)
		}
		if swept.Promoted+swept.Expired > 0 {
			s.nudge()
		}
		if !swept.More || ctx.Err() != nil {
			return
		}
	}
}

// runRecount compares counters with rows now and then. A difference is a bug or a restored backup.
func (s *Service) runRecount(ctx context.Context) error {
	ticker := time.NewTicker(s.cfg.RecountEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		wrong, err := s.frontier.Recount(ctx)
		if err != nil {
			s.failed(ctx, "recount what is outstanding", err)
		}
		if wrong > 0 {
			s.metrics.recounted.Add(float64(wrong))
			s.deps.Log.Error("hosts had a wrong count of outstanding URLs; mended", "hosts", wrong)
		}
	}
}
