package fetcher

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq"
	"github.com/warrenmq/warren/services/fetcher/internal/httpget"
	"github.com/warrenmq/warren/services/fetcher/internal/politeness"
)

// fetchPage sends the request for the URL itself.
func (s *Service) fetchPage(ctx context.Context, j *job, slot *politeness.Slot) (mq.Message, error) {
	if err := s.begin(ctx, j, slot); err != nil {
		return mq.Message{}, err
	}
	at := s.now()
	resp, err := s.get(ctx, "page", httpget.Request{
		URL: j.url, ETag: j.ETag, LastModified: j.LastModified, Sent: slot.Sent, Answered: slot.Answered,
		Large: func(ctx context.Context) error { return s.acquireLarge(ctx, j) },
	})
	if err != nil {
		var why *httpget.Error
		if !errors.As(err, &why) {
			return mq.Message{}, err // the session is lost, and the slot is given back
		}
		slot.Done(result(why))
		return s.noResponse(j, why)
	}
	slot.Done(s.judge(resp))
	if resp.Code == 429 || resp.Code/100 == 5 {
		again := again{attempt: true, reason: "http " + strconv.Itoa(resp.Code), wait: s.backoff(j.Attempt)}
		if after, ok := s.retryAfter(resp); ok {
			again.wait = max(again.wait, after)
		}
		return s.retry(j, again)
	}
	m, err := s.response(j, resp, at)
	if errors.Is(err, contract.ErrTooLarge) {
		return s.end(j, contract.StatusFailed, contract.ReasonTooLarge)
	}
	return m, err
}

// noResponse is the fate of a URL that brought none.
func (s *Service) noResponse(j *job, why *httpget.Error) (mq.Message, error) {
	switch {
	case why.Permanent():
		return s.end(j, contract.StatusFailed, why.Reason)
	case why.Reason == httpget.ReasonLocal:
		return s.retry(j, again{reason: why.Reason, wait: s.cfg.RetryBase})
	}
	return s.retry(j, again{attempt: true, reason: why.Reason, wait: s.backoff(j.Attempt)})
}

// result is what a request without a response says about the host.
func result(why *httpget.Error) politeness.Result {
	if why.HostFault() {
		return politeness.Result{Outcome: politeness.Failed}
	}
	return politeness.Result{Outcome: politeness.Unknown}
}

// judge is what a response says about the host.
func (s *Service) judge(resp *httpget.Response) politeness.Result {
	r := politeness.Result{Outcome: politeness.Fine, Latency: resp.Latency}
	switch {
	case resp.Code == 429:
		r.Outcome = politeness.Busy
	case resp.Code/100 == 5:
		r.Outcome = politeness.Failed
	}
	r.RetryAfter, _ = s.retryAfter(resp)
	return r
}

// retryAfter is the pause that the host itself asks for. With other statuses the field means other
// things.
func (s *Service) retryAfter(resp *httpget.Response) (after time.Duration, ok bool) {
	if resp.Code != 429 && resp.Code != 503 {
		return 0, false
	}
	return httpget.RetryAfter(resp.Header, s.now(), s.cfg.MaxRetry)
}
