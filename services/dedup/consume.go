package dedup

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq"
	"github.com/warrenmq/warren/libs/weburl"
	"github.com/warrenmq/warren/services/dedup/internal/frontier"
)

func (s *Service) consumeURLs(ctx context.Context) error {
	return s.deps.Bus.Consume(ctx, mq.Subscription{Queue: contract.QueueDedup, Prefetch: s.cfg.Prefetch}, s.handleURL)
}

// handleURL takes one message of the dedup queue; its routing key says what it is.
func (s *Service) handleURL(ctx context.Context, d mq.Delivery) error {
	s.metrics.messages.WithLabelValues(known(d.Key)).Inc()
	// Decoded, a message is twice its size until its transaction ends. One above the limit goes alone.
	size := min(int64(len(d.Body)), s.cfg.Memory)
	if err := s.memory.Acquire(ctx, size); err != nil {
		return err
	}
	defer s.memory.Release(size)
	switch d.Key {
	case contract.KeySeed:
		return s.handleSeed(ctx, d)
	case contract.KeyDone:
		m, err := contract.DecodeDone(d.Body)
		if err == nil {
			err = checkIDs(m)
		}
		if err != nil {
			return reject(err)
		}
		_, err = s.apply(ctx, frontier.Batch{Outcomes: m.Outcomes})
		return err
	case contract.KeyRetry:
		m, err := contract.DecodeRetry(d.Body)
		if err == nil {
			_, err = weburl.ParseID(m.ID)
		}
		if err != nil {
			return reject(err)
		}
		_, err = s.apply(ctx, frontier.Batch{Retries: []contract.Retry{m}})
		return err
	}
	return mq.Reject(fmt.Sprintf("routing key %q: want url.seed, url.done or url.retry", contract.Clip(d.Key, 80)))
}

// known bounds the label's values: anyone may publish any key.
func known(key string) string {
	switch key {
	case contract.KeySeed, contract.KeyDone, contract.KeyRetry:
		return key
	}
	return "other"
}

func reject(err error) error { return mq.Reject(contract.Clip(err.Error(), 300)) }

func checkIDs(m contract.Done) error {
	for _, o := range m.Outcomes {
		if _, err := weburl.ParseID(o.ID); err != nil {
			return fmt.Errorf("read outcome: %w", err)
		}
	}
	return nil
}

// seedsAtOnce is how many seeds of one message are admitted in one transaction.
const seedsAtOnce = 5000

// handleSeed admits what of the message is a URL. Of a message with several seeds the bad ones go to
// dead.dedup alone, as a message that can be mended and sent again; the others are admitted.
func (s *Service) handleSeed(ctx context.Context, d mq.Delivery) error {
	wire, err := contract.DecodeSeeds(d.Body)
	if err != nil {
		return reject(err)
	}
	seeds, bad := parseSeeds(wire)
	good := slices.DeleteFunc(slices.Clone(wire), func(w contract.Seed) bool { _, is := bad[w.URL]; return is })
	// A long list goes in parts; if one fails the whole message comes again, and the others change nothing.
	for first := 0; first < len(seeds); first += seedsAtOnce {
		part := seeds[first:min(first+seedsAtOnce, len(seeds))]
		applied, err := s.apply(ctx, frontier.Batch{Seeds: part})
		if err != nil {
			return err
		}
		for i, why := range applied.Refused {
			bad[good[first+i].URL] = why
		}
	}
	if len(bad) == 0 {
		return nil
	}
	reason := why(bad)
	if len(bad) == len(wire) || len(wire) == 1 {
		return mq.Reject(reason)
	}
	rest := slices.DeleteFunc(slices.Clone(wire), func(w contract.Seed) bool { _, is := bad[w.URL]; return !is })
	body, err := contract.Encode(rest)
	if err != nil {
		return reject(err)
	}
	return s.deps.Bus.Publish(ctx, mq.Message{
		Key: contract.DeadKey(contract.QueueDedup), Body: body,
		Headers: map[string]string{mq.HeaderReason: reason, mq.HeaderQueue: contract.QueueDedup, mq.HeaderKey: d.Key},
	})
}

// why names the reasons, without the URLs: they are in the body.
func why(bad map[string]string) string {
	reasons := map[string]struct{}{}
	for _, reason := range bad {
		reasons[reason] = struct{}{}
	}
	return contract.Clip(fmt.Sprintf("%d seeds refused: %s", len(bad), strings.Join(slices.Sorted(maps.Keys(reasons)), "; ")), 300)
}

// parseSeeds makes the URLs canonical; bad tells for a raw URL why it is none.
func parseSeeds(wire []contract.Seed) (seeds []frontier.Seed, bad map[string]string) {
	bad = map[string]string{}
	for _, w := range wire {
		at, err := weburl.Parse(w.URL)
		if err != nil {
			bad[w.URL] = "seed is no web address: " + rootCause(err)
			continue
		}
		seeds = append(seeds, frontier.Seed{Seed: w, At: at})
	}
	return seeds, bad
}

// rootCause is the innermost error: its text does not repeat the URL.
func rootCause(err error) string {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err.Error()
		}
		err = next
	}
}

func (s *Service) consumeCrawls(ctx context.Context) error {
	return s.deps.Bus.Consume(ctx, mq.Subscription{Queue: contract.QueueCrawl, Prefetch: 8, Concurrency: 1}, s.handleCrawl)
}

// handleCrawl carries out one crawl verb; in order, since pause and resume may follow one another.
func (s *Service) handleCrawl(ctx context.Context, d mq.Delivery) error {
	if d.Key == contract.KeyCrawlStart {
		return s.startCrawl(ctx, d)
	}
	verb, err := contract.DecodeCrawlVerb(d.Body)
	if err != nil {
		return reject(err)
	}
	err = s.frontier.Command(ctx, d.Key, verb)
	if errors.Is(err, frontier.ErrNoCrawl) || errors.Is(err, frontier.ErrNoVerb) {
		return reject(err)
	}
	if err == nil {
		s.deps.Log.Info("crawl verb carried out", "verb", d.Key, "crawl", verb.Name)
		s.nudge()
	}
	return refused(err)
}

// startCrawl is one atomic act: a seed that is no URL refuses the whole specification.
func (s *Service) startCrawl(ctx context.Context, d mq.Delivery) error {
	spec, err := contract.DecodeCrawlSpec(d.Body)
	if err != nil {
		return reject(err)
	}
	seeds, bad := parseSeeds(spec.Seeds)
	if len(bad) > 0 {
		return mq.Reject(why(bad))
	}
	applied, err := s.frontier.Apply(ctx, frontier.Batch{Start: &spec, Seeds: seeds})
	if err != nil {
		return refused(err)
	}
	s.count(applied)
	s.deps.Log.Info("crawl started", "crawl", spec.Name, "seeds", len(seeds))
	s.nudge()
	return nil
}
