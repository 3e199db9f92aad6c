package fetcher

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq"
	"github.com/warrenmq/warren/services/fetcher/internal/politeness"
)

// Reasons of URLs that go back though nothing is wrong with their host.
const (
	reasonSlot = "waiting for a slot"
	reasonBusy = "fetcher busy"
)

// again says how a URL goes back to the frontier.
type again struct {
	attempt bool
	reason  string
	wait    time.Duration    // of the URL
	held    *politeness.Held // the host's wait, if that is the reason
}

// retry is the message that gives a URL back.
func (s *Service) retry(j *job, a again) (mq.Message, error) {
	m := contract.Retry{
		V: contract.Version, Crawl: j.Crawl, ID: j.ID, Visit: j.Visit, Release: j.Release,
		Reason: a.reason, Attempt: a.attempt, Host: s.hosts.Report(j.Host, a.held),
	}
	if a.wait > 0 {
		m.NotBefore = s.now().Add(a.wait).UTC().Truncate(time.Millisecond)
	}
	s.metrics.retries.WithLabelValues(label(a)).Inc()
	body, err := contract.Encode(m)
	if err != nil {
		return mq.Message{}, err
	}
	return mq.Message{Key: contract.KeyRetry, Body: body}, nil
}

// label keeps the reasons countable: a host's own may come from a message.
func label(a again) string {
	switch {
	case a.attempt:
		return "attempt"
	case a.held == nil:
		return "local"
	}
	switch a.reason {
	case reasonSlot, reasonBusy, reasonRobots, politeness.ReasonBreaker, politeness.ReasonRetryAfter:
		return a.reason
	}
	return "held"
}

// goBack gives a URL back whose host cannot be asked in time. It is no attempt.
func (s *Service) goBack(j *job, held *politeness.Held) (mq.Message, error) {
	return s.retry(j, again{reason: cmp.Or(held.Reason, reasonSlot), held: held})
}

// end closes the visit of a URL that brings nothing to store.
func (s *Service) end(j *job, status contract.Status, reason string) (mq.Message, error) {
	s.metrics.ended.WithLabelValues(string(status)).Inc()
	return done(contract.Outcome{
		Crawl: j.Crawl, ID: j.ID, Visit: j.Visit, Status: status, Reason: reason, Host: s.hosts.Report(j.Host, nil),
	})
}

func done(o contract.Outcome) (mq.Message, error) {
	body, err := contract.Encode(contract.Done{V: contract.Version, Outcomes: []contract.Outcome{o}})
	if err != nil {
		return mq.Message{}, err
	}
	return mq.Message{Key: contract.KeyDone, Body: body}, nil
}

// backoff is the wait of a URL after that many attempts: doubling, and spread by a quarter both ways,
// so that URLs that failed together do not come back together.
func (s *Service) backoff(attempt int) time.Duration {
	wait := s.cfg.RetryBase
	for i := 1; i < attempt && wait < s.cfg.MaxRetry; i++ {
		wait *= 2
	}
	wait = min(wait, s.cfg.MaxRetry)
	return wait*3/4 + rand.N(wait/2+1)
}

// publish publishes m until the broker has confirmed it or ctx ends. The page is in hand: to fetch
// it again because the broker had a bad moment would be rude.
func (s *Service) publish(ctx context.Context, m mq.Message) error {
	const first, most = 100 * time.Millisecond, 5 * time.Second
	for wait := first; ; wait = min(2*wait, most) {
		err := s.bus.Publish(ctx, m)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, mq.ErrInvalid):
			return mq.Reject("its result cannot be sent")
		case ctx.Err() != nil, errors.Is(err, mq.ErrLost):
			return fmt.Errorf("publish result: %w", err)
		}
		s.metrics.unpublished.Inc()
		if wait == first {
			s.log.WarnContext(ctx, "result not published, trying again", "key", m.Key, "error", err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("publish result: %w", ctx.Err())
		case <-time.After(wait):
		}
	}
}
