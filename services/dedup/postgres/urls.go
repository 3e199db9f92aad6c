package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/warrenmq/warren/services/dedup/internal/frontier"
)

const urlColumns = `u.crawl, u.host, u.hash, u.url, u.state, u.rank, u.depth, u.hops, u.scope, u.visit, u.release,
	u.attempts, u.expiries, u.held, u.code, u.due_at, u.lease_until, u.tried_at, u.closed_at, u.reason, u.etag, u.last_modified`

func scanURL(row pgx.CollectableRow) (*frontier.URL, error) {
	u := &frontier.URL{}
	var due, lease, tried, closed *time.Time
	err := row.Scan(&u.Crawl, &u.Host, &u.Hash, &u.URL, &u.State, &u.Rank, &u.Depth, &u.Hops, &u.Scope, &u.Visit,
		&u.Release, &u.Attempts, &u.Expiries, &u.Held, &u.Code, &due, &lease, &tried, &closed,
		&u.Reason, &u.ETag, &u.LastModified)
	u.DueAt, u.LeaseUntil, u.TriedAt, u.ClosedAt = when(due), when(lease), when(tried), when(closed)
	return u, err
}

func (t *tx) urls(ctx context.Context, text string, args ...any) ([]*frontier.URL, error) {
	rows, err := t.Query(ctx, text, args...)
	if err != nil {
		return nil, fmt.Errorf("read urls: %w", err)
	}
	urls, err := pgx.CollectRows(rows, scanURL)
	if err != nil {
		return nil, fmt.Errorf("read urls: %w", err)
	}
	return urls, nil
}

func columns(keys []frontier.Key) (crawls []int32, hosts, hashes []int64) {
	for _, k := range keys {
		crawls, hosts, hashes = append(crawls, k.Crawl), append(hosts, k.Host), append(hashes, k.Hash)
	}
	return crawls, hosts, hashes
}

func (t *tx) URLs(ctx context.Context, keys []frontier.Key) (map[frontier.Key]*frontier.URL, error) {
	crawls, hosts, hashes := columns(keys)
	urls, err := t.urls(ctx, `SELECT `+urlColumns+`
		FROM unnest($1::int[], $2::bigint[], $3::bigint[]) AS k(crawl, host, hash)
		JOIN url u ON u.crawl = k.crawl AND u.host = k.host AND u.hash = k.hash`, crawls, hosts, hashes)
	if err != nil {
		return nil, err
	}
	byKey := make(map[frontier.Key]*frontier.URL, len(urls))
	for _, u := range urls {
		byKey[u.Key] = u
	}
	return byKey, nil
}

func (t *tx) InsertURLs(ctx context.Context, urls []*frontier.URL) ([]frontier.Key, error) {
	n := len(urls)
	crawl, rank, depth, visit := make([]int32, n), make([]int32, n), make([]int32, n), make([]int32, n)
	host, hash, scope := make([]int64, n), make([]int64, n), make([]int64, n)
	text, state, hops := make([]string, n), make([]int16, n), make([]int16, n)
	for i, u := range urls {
		crawl[i], host[i], hash[i], text[i], state[i] = u.Crawl, u.Host, u.Hash, u.URL, int16(u.State)
		rank[i], depth[i], hops[i], scope[i], visit[i] = u.Rank, u.Depth, u.Hops, u.Scope, u.Visit
	}
	rows, err := t.Query(ctx, `INSERT INTO url (crawl, host, hash, url, state, rank, depth, hops, scope, visit)
		SELECT * FROM unnest($1::int[], $2::bigint[], $3::bigint[], $4::text[], $5::smallint[], $6::int[], $7::int[],
			$8::smallint[], $9::bigint[], $10::int[])
		ON CONFLICT (crawl, host, hash) DO NOTHING RETURNING crawl, host, hash`,
		crawl, host, hash, text, state, rank, depth, hops, scope, visit)
	if err != nil {
		return nil, fmt.Errorf("insert %d urls: %w", n, err)
	}
	keys, err := pgx.CollectRows(rows, scanKey)
	if err != nil {
		return nil, fmt.Errorf("insert %d urls: %w", n, err)
	}
	return keys, nil
}

func scanKey(row pgx.CollectableRow) (k frontier.Key, err error) {
	return k, row.Scan(&k.Crawl, &k.Host, &k.Hash)
}

func (t *tx) SaveURLs(ctx context.Context, urls []*frontier.URL) error {
	n := len(urls)
	crawl, rank, depth, visit := make([]int32, n), make([]int32, n), make([]int32, n), make([]int32, n)
	host, hash, scope, release := make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n)
	state, attempts := make([]int16, n), make([]int16, n)
	expiries, code, held := make([]int16, n), make([]int16, n), make([]int16, n)
	due, lease, tried, closed := make([]*time.Time, n), make([]*time.Time, n), make([]*time.Time, n), make([]*time.Time, n)
	reason, etag, modified := make([]string, n), make([]string, n), make([]string, n)
	for i, u := range urls {
		crawl[i], host[i], hash[i] = u.Crawl, u.Host, u.Hash
		state[i], rank[i], depth[i], scope[i] = int16(u.State), u.Rank, u.Depth, u.Scope
		visit[i], release[i], attempts[i], expiries[i] = u.Visit, u.Release, u.Attempts, u.Expiries
		held[i], code[i] = int16(u.Held), u.Code
		due[i], lease[i], tried[i], closed[i] = at(u.DueAt), at(u.LeaseUntil), at(u.TriedAt), at(u.ClosedAt)
		reason[i], etag[i], modified[i] = u.Reason, u.ETag, u.LastModified
	}
	_, err := t.Exec(ctx, `UPDATE url u SET state = s.state, rank = s.rank, depth = s.depth, scope = s.scope,
		visit = s.visit, release = s.release, attempts = s.attempts, expiries = s.expiries, held = s.held, code = s.code,
		due_at = s.due_at, lease_until = s.lease_until, tried_at = s.tried_at, closed_at = s.closed_at,
		reason = s.reason, etag = s.etag, last_modified = s.last_modified
		FROM unnest($1::int[], $2::bigint[], $3::bigint[], $4::smallint[], $5::int[], $6::int[], $7::bigint[], $8::int[],
			$9::bigint[], $10::smallint[], $11::smallint[], $12::smallint[], $13::smallint[], $14::timestamptz[],
			$15::timestamptz[], $16::timestamptz[], $17::timestamptz[], $18::text[], $19::text[], $20::text[])
			AS s(crawl, host, hash, state, rank, depth, scope, visit, release, attempts, expiries, held, code,
				due_at, lease_until, tried_at, closed_at, reason, etag, last_modified)
		WHERE u.crawl = s.crawl AND u.host = s.host AND u.hash = s.hash`,
		crawl, host, hash, state, rank, depth, scope, visit, release, attempts, expiries, held, code,
		due, lease, tried, closed, reason, etag, modified)
	if err != nil {
		return fmt.Errorf("write %d urls: %w", n, err)
	}
	return nil
}
