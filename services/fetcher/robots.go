package fetcher

import (
	"context"
	"errors"
	"time"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq"
	"github.com/warrenmq/warren/libs/robots"
	"github.com/warrenmq/warren/libs/weburl"
	"github.com/warrenmq/warren/services/fetcher/internal/httpget"
	"github.com/warrenmq/warren/services/fetcher/internal/politeness"
	"github.com/warrenmq/warren/services/fetcher/internal/robotcache"
)

// reasonRobots is the reason of a URL that waits or failed for it.
const reasonRobots = "robots unreachable"

// verdict is what robots.txt means for a URL now.
type verdict int

const (
	allowed verdict = iota
	forbidden
	askRobots   // it must be fetched first
	unreachable // it cannot be had for now
)

func (s *Service) verdict(j *job, look robotcache.Look) verdict {
	switch look.State {
	case robotcache.Ask:
		return askRobots
	case robotcache.Unreachable:
		return unreachable
	}
	if ok, _ := look.Rules.Allowed(j.url.PathQuery()); !ok {
		return forbidden
	}
	return allowed
}

// askNothing ends a URL for which no request is needed.
func (s *Service) askNothing(j *job) (m mq.Message, decided bool, err error) {
	look, err := s.robots.Look(j.url)
	if err != nil {
		return mq.Message{}, false, err
	}
	switch s.verdict(j, look) {
	case forbidden:
		m, err = s.end(j, contract.StatusExcluded, contract.ReasonRobots)
		return m, true, err
	case unreachable:
		m, err = s.robotsUnreachable(j, look)
		return m, true, err
	}
	return mq.Message{}, false, nil
}

// robotsUnreachable sends a URL back. As a rule the host is held back, and it is no attempt. But if
// the other scheme's robots.txt is known the host lives, and its other URLs must not wait for this
// origin; and when robots.txt has been out of reach for long, URLs must come to an end.
func (s *Service) robotsUnreachable(j *job, look robotcache.Look) (mq.Message, error) {
	why := reasonRobots + ": " + look.Reason
	switch {
	case look.GivenUp:
		return s.retry(j, again{attempt: true, reason: why, wait: s.backoff(j.Attempt)})
	case s.robots.Reached(sibling(j.url)):
		return s.retry(j, again{attempt: true, reason: why, wait: look.Until.Sub(s.now())})
	}
	s.hosts.Hold(j.Host.Name, look.Until, why)
	return s.retry(j, again{reason: reasonRobots, held: &politeness.Held{Until: look.Until, Reason: why}})
}

// sibling is the origin of the same host under the other scheme.
func sibling(u weburl.URL) string {
	if u.Scheme() == "http" {
		return "https://" + u.Host()
	}
	return "http://" + u.Host()
}

// fetchRobots sends one request for robots.txt, or for the next hop of its redirects. As long as
// ended is false the URL goes on.
func (s *Service) fetchRobots(ctx context.Context, j *job, slot *politeness.Slot, look robotcache.Look) (m mq.Message, ended bool, err error) {
	if err := s.begin(ctx, j, slot); err != nil {
		return mq.Message{}, false, err
	}
	// One byte more than is parsed, so that the parser sees that the file was cut.
	resp, err := s.get(ctx, "robots", httpget.Request{
		URL: look.Next, MaxBody: robots.MaxBytes + 1, Sent: slot.Sent, Answered: slot.Answered,
		Large: func(ctx context.Context) error { return s.acquireLarge(ctx, j) },
	})
	defer s.releaseLarge(j) // the page may need it for itself, and must not wait for its turn with it
	origin := j.url.Origin()
	if err != nil {
		var why *httpget.Error
		if !errors.As(err, &why) {
			return mq.Message{}, false, err
		}
		defer slot.Done(result(why))
		if why.Reason == httpget.ReasonLocal || (why.Permanent() && look.First) {
			m, err = s.noResponse(j, why)
			return m, true, err
		}
		s.robots.Fail(origin, why.Reason)
		return mq.Message{}, false, nil
	}
	defer slot.Done(s.judge(resp)) // last: who gets the next slot must find what was learnt
	switch location := resp.Header.Get("Location"); {
	case isRedirect(resp.Code) && location != "":
		target, _ := look.Next.Resolve(location) // zero if it is no address of the web
		s.robots.Redirect(origin, resp.Code, target)
	case resp.Code/100 == 2 && (resp.Encoded || resp.Truncated == httpget.CutEOF || resp.Truncated == httpget.CutEncoding):
		s.robots.Fail(origin, httpget.ReasonTruncated) // the part that is missing may forbid
	default:
		after, _ := httpget.RetryAfter(resp.Header, s.now(), s.cfg.MaxRetry)
		s.robots.Answer(origin, resp.Code, resp.Body, after)
		if look, err := s.robots.Look(j.url); err == nil && look.State == robotcache.Known {
			s.hosts.SetFloor(j.Host.Name, s.crawlDelay(look))
		}
	}
	return mq.Message{}, false, nil
}

func isRedirect(code int) bool {
	return code == 301 || code == 302 || code == 303 || code == 307 || code == 308
}

// get is the client's Get, measured.
func (s *Service) get(ctx context.Context, what string, r httpget.Request) (*httpget.Response, error) {
	begin := time.Now()
	resp, err := s.client.Get(ctx, r)
	s.metrics.request(what, resp, err, time.Since(begin))
	return resp, err
}
