package fetcher

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq"
	"github.com/warrenmq/warren/libs/weburl"
	"github.com/warrenmq/warren/services/fetcher/internal/politeness"
)

// job is one message in hand.
type job struct {
	contract.Fetch
	url      weburl.URL
	delivery mq.Delivery
	since    time.Time     // the start of the shard's tenure
	patience time.Duration // how long it may still wait for slots
	token    bool          // it holds one of Service.tokens
	large    bool          // it holds one of Service.large
}

var (
	// errLeaseEnded: the frontier has given the URL to somebody else.
	errLeaseEnded = errors.New("lease has ended")
	// errNotLive: this process may have lost the shard and cannot know.
	errNotLive = errors.New("no broker round trip of late: not starting a request")
)

// handle does one message of shard n. Its error is the message's fate, as mq.Handler says.
func (s *Service) handle(ctx context.Context, d mq.Delivery, n int, since time.Time) error {
	j, err := s.open(d, n, since)
	if err != nil {
		s.metrics.messages.WithLabelValues("rejected").Inc()
		return mq.Reject(err.Error())
	}
	defer s.release(j)
	m, err := s.serve(ctx, j)
	switch {
	case errors.Is(err, errLeaseEnded):
		s.metrics.messages.WithLabelValues("dropped").Inc()
		return nil
	case errors.Is(err, politeness.ErrStopped):
		s.metrics.messages.WithLabelValues("left").Inc()
		return mq.ErrUnsettled
	case err != nil:
		return err
	}
	if err := s.publish(ctx, m); err != nil {
		return err
	}
	s.metrics.messages.WithLabelValues("done").Inc()
	return nil
}

// open reads a message and refuses what can never work. Its errors hold no URL.
func (s *Service) open(d mq.Delivery, n int, since time.Time) (*job, error) {
	f, err := contract.DecodeFetch(d.Body)
	if err != nil {
		return nil, err
	}
	if f.Visit < 1 || f.Release < 1 {
		return nil, fmt.Errorf("read fetch: visit %d, release %d: want 1 or more", f.Visit, f.Release)
	}
	u, err := weburl.Parse(f.URL)
	if err != nil {
		return nil, errors.New("read fetch: its url is none")
	}
	if shard := weburl.Shard(u.Host(), s.shards); shard != n {
		// Whoever consumes the right shard serves the host too: they would not know of each other.
		return nil, fmt.Errorf("read fetch: its host belongs to shard %d, not %d", shard, n)
	}
	f.Host.Name = u.Host()
	// A little more than Hold: the frontier sends as many as Hold has slots, and the last of them is
	// not to miss its own by the time it took to get here.
	return &job{Fetch: f, url: u, delivery: d, since: since, patience: s.cfg.Hold + s.cfg.Hold/20}, nil
}

// serve takes a URL from robots.txt to the message that tells of its end.
func (s *Service) serve(ctx context.Context, j *job) (mq.Message, error) {
	for first := false; ; first = true {
		if err := s.checkLease(j); err != nil {
			return mq.Message{}, err
		}
		if m, decided, err := s.askNothing(j); decided || err != nil {
			return m, err
		}
		m, ended, err := s.askOnce(ctx, j, first)
		var held *politeness.Held
		switch {
		case errors.As(err, &held):
			return s.goBack(j, held)
		case errors.Is(err, errBusy):
			return s.retry(j, again{reason: reasonBusy, held: &politeness.Held{Until: s.now().Add(2 * s.cfg.Hold)}})
		case ended || err != nil:
			return m, err
		}
	}
}

// askOnce waits for a slot and uses it: for robots.txt if that is not known yet, else for the URL.
// ended is false if there is more to ask; then it goes first, before all who wait for the host.
func (s *Service) askOnce(ctx context.Context, j *job, first bool) (m mq.Message, ended bool, err error) {
	slot, err := s.turn(ctx, j, first)
	if err != nil {
		return mq.Message{}, false, err
	}
	defer slot.Cancel()
	look, err := s.robots.Look(j.url) // another message may have fetched it meanwhile
	if err != nil {
		return mq.Message{}, false, err
	}
	switch s.verdict(j, look) {
	case askRobots:
		defer s.release(j)
		return s.fetchRobots(ctx, j, slot, look)
	case allowed:
		m, err = s.fetchPage(ctx, j, slot)
		return m, true, err
	}
	return mq.Message{}, false, nil
}

func (s *Service) checkLease(j *job) error {
	if !j.LeaseUntil.IsZero() && !s.now().Before(j.LeaseUntil) {
		return errLeaseEnded
	}
	return nil
}
