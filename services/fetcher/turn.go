package fetcher

import (
	"context"
	"errors"
	"time"

	"github.com/warrenmq/warren/services/fetcher/internal/politeness"
	"github.com/warrenmq/warren/services/fetcher/internal/robotcache"
)

// errBusy: not the host is busy but this process.
var errBusy = errors.New("all requests that may run at a time are running")

// turn waits for a slot of the host, then for a token of this process, as long as j has patience.
// It fails with *politeness.Held, errBusy, politeness.ErrStopped or the error of ctx.
func (s *Service) turn(ctx context.Context, j *job, first bool) (*politeness.Slot, error) {
	begin := s.now()
	defer func() {
		waited := s.now().Sub(begin)
		s.metrics.wait.Observe(waited.Seconds())
		j.patience = max(0, j.patience-waited)
	}()
	slot, err := s.hosts.Wait(ctx, politeness.Ask{
		Host:  j.Host.Name,
		Delay: s.delay(j.DelayMS),
		Floor: s.floor(j),
		Hold:  j.patience,
		First: first,
		Known: j.Host,
		// Redelivered: a fetcher that is gone may have asked the host, and could not say so.
		Visited:     j.Host.Visited || j.delivery.Redelivered || j.Attempt > 1,
		Redelivered: j.delivery.Redelivered,
		Since:       j.since,
		Stop:        j.delivery.Draining,
	})
	if err != nil {
		return nil, err
	}
	if err := s.acquire(ctx, j, j.patience-s.now().Sub(begin)); err != nil {
		slot.Cancel()
		return nil, err
	}
	return slot, nil
}

// delay is the crawl's own: 0 stands for the fetcher's default, below 0 for none.
func (s *Service) delay(ms int64) time.Duration {
	switch {
	case ms == 0:
		return s.cfg.Delay
	case ms < 0:
		return 0
	}
	return time.Duration(min(ms, int64(24*time.Hour/time.Millisecond))) * time.Millisecond
}

// floor is robots' Crawl-delay if it is known, else below 0.
func (s *Service) floor(j *job) time.Duration {
	look, err := s.robots.Look(j.url)
	if err != nil || look.State != robotcache.Known {
		return -1
	}
	return s.crawlDelay(look)
}

func (s *Service) crawlDelay(look robotcache.Look) time.Duration {
	delay, _ := look.Rules.CrawlDelay()
	return min(delay, s.cfg.CrawlDelayCap)
}

// acquire takes a token, which bounds requests and, since it is kept until the result is published,
// the bodies in memory.
func (s *Service) acquire(ctx context.Context, j *job, patience time.Duration) error {
	if j.token {
		return nil
	}
	select {
	case s.tokens <- struct{}{}:
		j.token = true
		return nil
	default:
	}
	timer := time.NewTimer(max(0, patience))
	defer timer.Stop()
	select {
	case s.tokens <- struct{}{}:
		j.token = true
		return nil
	case <-timer.C:
		return errBusy
	case <-j.delivery.Draining:
		return politeness.ErrStopped
	case <-ctx.Done():
		return ctx.Err()
	}
}

// acquireLarge lets a large body into memory. It is kept as long as the token.
func (s *Service) acquireLarge(ctx context.Context, j *job) error {
	select {
	case s.large <- struct{}{}:
		j.large = true
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// releaseLarge gives back what acquireLarge took, before the token.
func (s *Service) releaseLarge(j *job) {
	if j.large {
		j.large = false
		<-s.large
	}
}

func (s *Service) release(j *job) {
	s.releaseLarge(j)
	if j.token {
		j.token = false
		<-s.tokens
	}
}

// begin is the last word before a request leaves. Any error means that none may.
func (s *Service) begin(ctx context.Context, j *job, slot *politeness.Slot) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case <-j.delivery.Draining:
		return politeness.ErrStopped
	default:
	}
	if err := s.checkLease(j); err != nil {
		return err
	}
	if j.delivery.Live != nil && !j.delivery.Live() {
		s.metrics.notLive.Inc()
		return errNotLive
	}
	return slot.Start()
}
