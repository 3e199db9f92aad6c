package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/warrenmq/warren/services/dedup/internal/frontier"
)

// ReadyURLs walks the ready index: for each host from crawl to crawl by one probe each, and of each
// crawl its best rows. It reads as many rows as it returns, and one for each other crawl of the host.
func (t *tx) ReadyURLs(ctx context.Context, hosts []int64, want, crawls []int32) ([]*frontier.URL, error) {
	return t.urls(ctx, `SELECT `+urlColumns+`
		FROM unnest($1::bigint[], $2::int[]) AS h(id, want)
		CROSS JOIN LATERAL (
			WITH RECURSIVE next AS (
				(SELECT r.crawl FROM url r WHERE r.host = h.id AND r.state = 1 ORDER BY r.crawl LIMIT 1)
				UNION ALL
				SELECT (SELECT r.crawl FROM url r WHERE r.host = h.id AND r.state = 1 AND r.crawl > next.crawl ORDER BY r.crawl LIMIT 1)
				FROM next WHERE next.crawl IS NOT NULL
			) SELECT next.crawl FROM next WHERE next.crawl = ANY($3::int[])
		) c
		CROSS JOIN LATERAL (
			SELECT * FROM url r WHERE r.host = h.id AND r.crawl = c.crawl AND r.state = 1 ORDER BY r.rank LIMIT h.want
		) u
		ORDER BY u.host, u.crawl, u.rank`, hosts, want, crawls)
}

func (t *tx) HostURLs(ctx context.Context, host int64, crawl int32, state frontier.State, reason string, limit int) ([]*frontier.URL, error) {
	// The state is written into the text, so that a partial index on it can serve.
	return t.urls(ctx, fmt.Sprintf(`SELECT %s FROM (SELECT id FROM crawl WHERE $2 = 0 OR id = $2) c
		JOIN url u ON u.crawl = c.id AND u.host = $1
		WHERE u.state = %d AND (u.state <> 0 OR u.tried_at IS NOT NULL) AND ($3 = '' OR u.reason = $3)
		ORDER BY u.held = 0 LIMIT $4`, urlColumns, state), host, crawl, reason, limit)
}

// sweeps holds each sweep's condition and order; each is served by a partial index of its own.
var sweeps = map[frontier.Sweep]string{
	frontier.SweepDue:   `state = 0 AND due_at <= $1 ORDER BY due_at`,
	frontier.SweepLease: `state = 2 AND lease_until <= $1 ORDER BY lease_until`,
	frontier.SweepTried: `tried_at IS NOT NULL AND state < 3 AND tried_at <= $1 ORDER BY tried_at`,
}

func (t *tx) Swept(ctx context.Context, what frontier.Sweep, before time.Time, limit int) ([]frontier.Key, error) {
	rows, err := t.Query(ctx, `SELECT crawl, host, hash FROM url WHERE `+sweeps[what]+` LIMIT $2`, before, limit)
	if err != nil {
		return nil, fmt.Errorf("sweep urls: %w", err)
	}
	keys, err := pgx.CollectRows(rows, scanKey)
	if err != nil {
		return nil, fmt.Errorf("sweep urls: %w", err)
	}
	return keys, nil
}

func (t *tx) CrawlHosts(ctx context.Context, crawl int32, state frontier.State, reason string, after int64, limit int) ([]int64, error) {
	rows, err := t.Query(ctx, `SELECT DISTINCT host FROM url
		WHERE crawl = $1 AND state = $2 AND ($3 = '' OR reason = $3) AND host > $4 ORDER BY host LIMIT $5`,
		crawl, state, reason, after, limit)
	if err != nil {
		return nil, fmt.Errorf("read a crawl's hosts: %w", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("read a crawl's hosts: %w", err)
	}
	return ids, nil
}
