package seed

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/warrenmq/warren/cmd/warren/exit"
	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq"
)

// A message holds some URLs, not one, so that a list of millions is not millions of transactions;
// and not many, so that dedup's transactions stay short. A batch of messages is confirmed together.
const (
	perMessage = 100
	perBatch   = 20
)

// sender publishes and counts.
type sender struct {
	bus     mq.Publisher
	timeout time.Duration // for each batch
	done    *result
}

// seeds sends URLs as they are read, so that a list may be of any length.
func (s sender) seeds(ctx context.Context, plan plan, urls iter.Seq2[string, error]) error {
	var batch [][]contract.Seed
	for url, err := range urls {
		if err != nil {
			return errors.Join(exit.With(exit.Usage, err), s.batch(ctx, batch))
		}
		if last := len(batch) - 1; last < 0 || len(batch[last]) == perMessage {
			if len(batch) == perBatch {
				if err := s.batch(ctx, batch); err != nil {
					return err
				}
				batch = nil
			}
			batch = append(batch, nil)
		}
		batch[len(batch)-1] = append(batch[len(batch)-1], plan.seed(url))
	}
	return s.batch(ctx, batch)
}

// batch publishes one message for each list of seeds.
func (s sender) batch(ctx context.Context, lists [][]contract.Seed) error {
	var messages []mq.Message
	for _, list := range lists {
		s.done.Seeds += len(list)
		body, err := contract.Encode(list)
		if err != nil {
			return err
		}
		messages = append(messages, mq.Message{Key: contract.KeySeed, Body: body})
	}
	failed, err := s.publish(ctx, messages)
	for i, list := range lists {
		if !failed[i] {
			s.done.Confirmed += len(list)
		}
	}
	return err
}

// start sends the crawl's specification with all its seeds in one message.
func (s sender) start(ctx context.Context, plan plan, urls iter.Seq2[string, error]) error {
	spec := plan.spec
	for url, err := range urls {
		if err != nil {
			return exit.With(exit.Usage, err) // nothing is sent: a crawl starts whole
		}
		spec.Seeds = append(spec.Seeds, plan.seed(url))
	}
	s.done.Seeds = len(spec.Seeds)
	body, err := contract.Encode(spec)
	if errors.Is(err, contract.ErrTooLarge) {
		return exit.With(exit.Usage, fmt.Errorf("start the crawl with %d URLs: %w; start it with some and send the others with --crawl %s alone",
			len(spec.Seeds), err, spec.Name))
	} else if err != nil {
		return err
	}
	failed, err := s.publish(ctx, []mq.Message{{Key: contract.KeyCrawlStart, Body: body}})
	if !failed[0] {
		s.done.Confirmed = len(spec.Seeds)
	}
	return err
}

// publish tells which messages are not confirmed, by their index.
func (s sender) publish(ctx context.Context, messages []mq.Message) (failed map[int]bool, err error) {
	if len(messages) == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.timeout, fmt.Errorf("the broker has taken nothing for %s", s.timeout))
	defer cancel()
	err = s.bus.Publish(ctx, messages...)
	if err == nil {
		return nil, nil
	}
	failed = make(map[int]bool)
	partly, ok := errors.AsType[*mq.PublishError](err)
	for i := range messages {
		failed[i] = !ok
	}
	if ok {
		for _, i := range partly.Failed {
			failed[i] = true
		}
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return failed, unreachable(err)
}

// unreachable says what to do next.
func unreachable(err error) error {
	if errors.Is(err, context.Canceled) {
		return err // by a signal
	}
	return exit.With(exit.Unreachable, fmt.Errorf("%w\nto send the same URLs again is safe: a URL is admitted once per crawl", err))
}
