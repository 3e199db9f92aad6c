package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/warrenmq/warren/services/dedup/internal/frontier"
)

const crawlColumns = `c.id, c.name, c.spec, c.state, c.wake, c.woken, c.created_at, c.finished_at,
	coalesce(b.taken, 0), coalesce(b.slept, 0), coalesce(b.roused, 0)
	FROM crawl c LEFT JOIN budget b ON b.crawl = c.id AND b.host = 0`

func (t *tx) Crawls(ctx context.Context, names []string, lock bool) ([]*frontier.Crawl, error) {
	where := ` WHERE c.name = ANY($1)`
	if names == nil {
		where = ` WHERE (c.finished_at IS NULL OR c.wake <> c.woken) AND $1::text[] IS NULL`
	}
	where += ` ORDER BY c.id`
	if lock {
		where += ` FOR UPDATE OF c`
	}
	return t.crawls(ctx, where, names)
}

func (t *tx) CrawlsByID(ctx context.Context, ids []int32) ([]*frontier.Crawl, error) {
	return t.crawls(ctx, ` WHERE c.id = ANY($1) ORDER BY c.id`, ids)
}

func (t *tx) crawls(ctx context.Context, where string, arg any) ([]*frontier.Crawl, error) {
	rows, err := t.Query(ctx, `SELECT `+crawlColumns+where, arg)
	if err != nil {
		return nil, fmt.Errorf("read crawls: %w", err)
	}
	crawls, err := pgx.CollectRows(rows, scanCrawl)
	if err != nil {
		return nil, fmt.Errorf("read crawls: %w", err)
	}
	return crawls, nil
}

func scanCrawl(row pgx.CollectableRow) (*frontier.Crawl, error) {
	c := &frontier.Crawl{}
	var finished *time.Time
	err := row.Scan(&c.ID, &c.Name, &c.Spec, &c.State, &c.Wake, &c.Woken, &c.CreatedAt, &finished, &c.Taken, &c.Slept, &c.Roused)
	c.FinishedAt = when(finished)
	return c, err
}

func (t *tx) SaveCrawl(ctx context.Context, c *frontier.Crawl) error {
	if c.ID != 0 {
		_, err := t.Exec(ctx, `UPDATE crawl SET spec = $2, state = $3, wake = $4, finished_at = $5 WHERE id = $1`,
			c.ID, c.Spec, c.State, c.Wake, at(c.FinishedAt))
		if err != nil {
			return fmt.Errorf("write crawl %q: %w", c.Name, err)
		}
		return nil
	}
	err := t.QueryRow(ctx, `INSERT INTO crawl (name, spec, state, wake, created_at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (name) DO NOTHING RETURNING id`, c.Name, c.Spec, c.State, c.Wake, c.CreatedAt).Scan(&c.ID)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return fmt.Errorf("make crawl %q: %w", c.Name, frontier.ErrAgain)
	case err != nil:
		return fmt.Errorf("make crawl %q: %w", c.Name, err)
	}
	return nil
}

func (t *tx) Scopes(ctx context.Context, ids []int64, lock bool) ([]*frontier.ScopeRow, error) {
	text := `SELECT id, crawl, key, version, rule FROM scope WHERE id = ANY($1) ORDER BY id`
	if lock {
		text += ` FOR UPDATE`
	}
	rows, err := t.Query(ctx, text, ids)
	if err != nil {
		return nil, fmt.Errorf("read scopes: %w", err)
	}
	scopes, err := pgx.CollectRows(rows, scanScope)
	if err != nil {
		return nil, fmt.Errorf("read scopes: %w", err)
	}
	return scopes, nil
}

func scanScope(row pgx.CollectableRow) (*frontier.ScopeRow, error) {
	s := &frontier.ScopeRow{}
	return s, row.Scan(&s.ID, &s.Crawl, &s.Key, &s.Version, &s.Rule)
}

func (t *tx) SaveScopes(ctx context.Context, scopes []*frontier.ScopeRow) error {
	var crawls []int32
	var keys [][]byte
	var rules []string
	var fresh []*frontier.ScopeRow
	for _, s := range scopes {
		text, err := ruleText(s)
		if err != nil {
			return err
		}
		if s.ID != 0 {
			_, err := t.Exec(ctx, `UPDATE scope SET rule = $2, version = $3 WHERE id = $1`, s.ID, text, s.Version)
			if err != nil {
				return fmt.Errorf("write scope %d: %w", s.ID, err)
			}
			continue
		}
		fresh = append(fresh, s)
		crawls, keys, rules = append(crawls, s.Crawl), append(keys, s.Key), append(rules, text)
	}
	if len(fresh) == 0 {
		return nil
	}
	return t.insertScopes(ctx, fresh, crawls, keys, rules)
}

// insertScopes inserts what is not there and then reads all, in a statement of its own: it sees what
// another transaction has committed in between.
func (t *tx) insertScopes(ctx context.Context, fresh []*frontier.ScopeRow, crawls []int32, keys [][]byte, rules []string) error {
	_, err := t.Exec(ctx, `INSERT INTO scope (crawl, key, rule)
		SELECT * FROM unnest($1::int[], $2::bytea[], $3::jsonb[]) AS s(crawl, key, rule) ORDER BY 1, 2
		ON CONFLICT (crawl, key) DO NOTHING`, crawls, keys, rules)
	if err != nil {
		return fmt.Errorf("make scopes: %w", err)
	}
	rows, err := t.Query(ctx, `SELECT s.id, s.crawl, s.key, s.version, s.rule FROM scope s
		JOIN unnest($1::int[], $2::bytea[]) AS k(crawl, key) USING (crawl, key)`, crawls, keys)
	if err != nil {
		return fmt.Errorf("read scopes: %w", err)
	}
	there, err := pgx.CollectRows(rows, scanScope)
	if err != nil {
		return fmt.Errorf("read scopes: %w", err)
	}
	byKey := make(map[scopeKey]*frontier.ScopeRow, len(there))
	for _, s := range there {
		byKey[scopeKey{s.Crawl, string(s.Key)}] = s
	}
	for _, s := range fresh {
		*s = *byKey[scopeKey{s.Crawl, string(s.Key)}]
	}
	return nil
}

type scopeKey struct {
	crawl int32
	key   string
}

func (t *tx) Woken(ctx context.Context, c *frontier.Crawl) error {
	_, err := t.Exec(ctx, `UPDATE crawl SET woken = greatest(woken, $2) WHERE id = $1 AND woken < $2`, c.ID, c.Wake)
	if err == nil {
		_, err = t.Exec(ctx, `UPDATE budget SET roused = greatest(roused, $2) WHERE crawl = $1 AND host = 0 AND roused < $2`, c.ID, c.Slept)
	}
	if err != nil {
		return fmt.Errorf("note that crawl %q is awake: %w", c.Name, err)
	}
	return nil
}

func (t *tx) Shards(ctx context.Context) (shards int, err error) {
	if err := t.QueryRow(ctx, `SELECT value::int FROM setting WHERE key = 'shards' FOR SHARE`).Scan(&shards); err != nil {
		return 0, fmt.Errorf("read the number of shards: %w", err)
	}
	return shards, nil
}

func ruleText(s *frontier.ScopeRow) (string, error) {
	text, err := json.Marshal(s.Rule)
	if err != nil {
		return "", fmt.Errorf("write scope: %w", err)
	}
	return string(text), nil
}
