package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq"
)

// Bounds of one url.done. A single outcome may be larger than maxDone; then it travels alone.
const (
	maxOutcomes = 100
	maxDone     = 1 << 20 // bytes, as weigh counts them
)

// notice is a message and the visits it speaks of: they fail if it cannot be published.
type notice struct {
	message mq.Message
	visits  []*visit
}

// report publishes what follows from the visits that are stored, and waits for the confirms.
func (s *Service) report(ctx context.Context, visits []*visit) {
	notices := append(outcomes(visits), changes(visits)...)
	if len(notices) == 0 {
		return
	}
	messages := make([]mq.Message, len(notices))
	for i, n := range notices {
		messages[i] = n.message
	}
	err := s.deps.Bus.Publish(ctx, messages...)
	if err != nil {
		s.metrics.failures.WithLabelValues("publish").Inc()
		s.blame(notices, fmt.Errorf("report pages: %w", err))
	}
	for _, v := range visits {
		if v.err == nil && v.stored.Change != contract.ChangeNone {
			s.metrics.changes.WithLabelValues(string(v.stored.Change)).Inc()
		}
	}
}

// blame makes the visits fail whose messages are not confirmed. They are stored, and will be found so
// when their handlers are called again; but a visit with a message that no broker would ever take is
// rejected, so that it does not come for ever.
func (s *Service) blame(notices []notice, err error) {
	if partly, ok := errors.AsType[*mq.PublishError](err); ok {
		failed := make([]notice, len(partly.Failed))
		for i, n := range partly.Failed {
			failed[i] = notices[n]
		}
		notices = failed
	}
	for _, n := range notices {
		answer := err
		// err is only the first cause of all: whose it is, each message is asked.
		if len(notices) == 1 && errors.Is(err, mq.ErrInvalid) || n.message.Check() != nil {
			answer = mq.Reject("what follows from it cannot be sent")
		}
		for _, v := range n.visits {
			if _, rejected := errors.AsType[*mq.Rejection](v.err); !rejected {
				v.err = answer
			}
		}
	}
}

// outcomes packs the outcomes of stored visits into as few url.done as their bounds allow.
func outcomes(visits []*visit) []notice {
	var notices []notice
	var done []contract.Outcome
	var about []*visit
	var weight int
	flush := func() {
		if len(done) == 0 {
			return
		}
		body, err := contract.Encode(contract.Done{V: contract.Version, Outcomes: done})
		if err == nil {
			notices = append(notices, notice{mq.Message{Key: contract.KeyDone, Body: body}, about})
		}
		for _, v := range about {
			v.err = err
		}
		done, about, weight = nil, nil, 0
	}
	for _, v := range visits {
		if v.err != nil {
			continue
		}
		o := outcome(v.stored)
		if len(done) == maxOutcomes || weight+weigh(o) > maxDone {
			flush()
		}
		done, about, weight = append(done, o), append(about, v), weight+weigh(o)
	}
	flush()
	return notices
}
