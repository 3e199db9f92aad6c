package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/warrenmq/warren/services/dedup/internal/frontier"
)

// snapshot runs do in a read-only transaction in which every statement sees the same state.
func (s *Store) snapshot(ctx context.Context, do func(*tx) error) error {
	options := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	return pgx.BeginTxFunc(ctx, s.pool, options, func(t pgx.Tx) error { return do(&tx{t, s}) })
}

// AllCrawls reads every crawl, or the one named, with the counters in the same snapshot.
func (s *Store) AllCrawls(ctx context.Context, name string) (crawls []*frontier.Crawl, tally frontier.Tally, err error) {
	err = s.snapshot(ctx, func(t *tx) error {
		if crawls, err = t.crawls(ctx, ` WHERE $1 = '' OR c.name = $1 ORDER BY c.id`, name); err != nil {
			return err
		}
		only := int32(0)
		if name != "" && len(crawls) == 1 {
			only = crawls[0].ID
		}
		tally, err = t.Tallies(ctx, only)
		return err
	})
	return crawls, tally, err
}

// WaitingHosts reads the hosts that are held back longest, at most limit.
func (s *Store) WaitingHosts(ctx context.Context, now time.Time, limit int) (hosts []*frontier.Host, err error) {
	err = s.snapshot(ctx, func(t *tx) error {
		hosts, err = t.hosts(ctx, `WHERE next_at > $1 ORDER BY next_at DESC LIMIT $2`, now, limit)
		return err
	})
	return hosts, err
}

// Find reads one URL with its host and crawl; nil if it was never admitted.
func (s *Store) Find(ctx context.Context, crawl string, host, hash int64) (u *frontier.URL, h *frontier.Host, c *frontier.Crawl, err error) {
	err = s.snapshot(ctx, func(t *tx) error {
		crawls, err := t.crawls(ctx, ` WHERE c.name = $1`, crawl)
		if err != nil || len(crawls) == 0 {
			return err
		}
		c = crawls[0]
		key := frontier.Key{Crawl: c.ID, Host: host, Hash: hash}
		urls, err := t.URLs(ctx, []frontier.Key{key})
		if err != nil || urls[key] == nil {
			return err
		}
		u = urls[key]
		hosts, err := t.hosts(ctx, `WHERE id = $1`, host)
		if err == nil && len(hosts) == 1 {
			h = hosts[0]
		}
		return err
	})
	return u, h, c, err
}

var (
	_ frontier.Store  = (*Store)(nil)
	_ frontier.Reader = (*Store)(nil)
)
