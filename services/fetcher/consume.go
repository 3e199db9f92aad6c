package fetcher

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"math"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq"
	"github.com/warrenmq/warren/libs/weburl"
	"github.com/warrenmq/warren/services/fetcher/internal/politeness"
)

// settle is how long a stop waits beyond the longest request, for publishing.
const settle = 10 * time.Second

// consume subscribes to every shard. The broker hands each to one fetcher.
func (s *Service) consume(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for n := range s.shards {
		tenure := politeness.NewTenure(s.now)
		group.Go(func() error {
			return s.bus.Consume(ctx, mq.Subscription{
				Queue:    contract.FetchKey(s.shards, n),
				Prefetch: s.cfg.Prefetch,
				Priority: Priority(s.id, n),
				Grace:    s.cfg.Timeout + settle,
				OnDead:   s.bury,
			}, func(ctx context.Context, d mq.Delivery) error {
				since, leave := tenure.Enter(ctx)
				defer leave()
				return s.handle(ctx, d, n, since)
			})
		})
	}
	return group.Wait()
}

// Priority is the x-priority with which the fetcher of that id consumes shard n, 1 to 2^31-1. The
// highest owns the shard (rendezvous hashing): when a fetcher comes or goes, only the shards that it
// wins or leaves change hands, and nobody has to be asked.
func Priority(id string, n int) int32 {
	sum := sha256.Sum256([]byte(id + "\x00" + strconv.Itoa(n)))
	return int32(1 + binary.BigEndian.Uint32(sum[:])%math.MaxInt32)
}

// bury ends the URL of a message that can never work, if its URL can be read.
func (s *Service) bury(d mq.Delivery, _ string) []mq.Message {
	var f contract.Fetch
	// As much as can be read: a message of a newer version, or with one field of the wrong type.
	_ = json.Unmarshal(d.Body, &f)
	if f.ID == "" || f.Crawl == "" || f.Visit < 1 {
		return nil
	}
	if f.V > contract.Version {
		return nil // a newer dedup is at work and newer fetchers come: the URL's lease brings it to them
	}
	host := f.Host // as the frontier has it: nothing was learnt
	if u, err := weburl.Parse(f.URL); err == nil {
		host.Name = u.Host()
	}
	m, err := done(contract.Outcome{
		Crawl: f.Crawl, ID: f.ID, Visit: f.Visit, Status: contract.StatusFailed, Reason: contract.ReasonPoison, Host: host,
	})
	if err != nil {
		return nil
	}
	return []mq.Message{m}
}
