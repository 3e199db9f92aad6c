package postgres

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/warrenmq/warren/services/dedup/internal/frontier"
)

func budgetColumns(keys []frontier.BudgetKey) (crawls []int32, hosts []int64) {
	slices.SortFunc(keys, func(a, b frontier.BudgetKey) int {
		return cmp.Or(cmp.Compare(a.Crawl, b.Crawl), cmp.Compare(a.Host, b.Host))
	})
	for _, k := range keys {
		crawls, hosts = append(crawls, k.Crawl), append(hosts, k.Host)
	}
	return crawls, hosts
}

func (t *tx) Budgets(ctx context.Context, keys []frontier.BudgetKey) (map[frontier.BudgetKey]int64, error) {
	crawls, hosts := budgetColumns(slices.Clone(keys))
	_, err := t.Exec(ctx, `INSERT INTO budget (crawl, host, taken)
		SELECT k.crawl, k.host, 0 FROM unnest($1::int[], $2::bigint[]) AS k(crawl, host) ORDER BY 1, 2
		ON CONFLICT (crawl, host) DO NOTHING`, crawls, hosts)
	if err != nil {
		return nil, fmt.Errorf("make budgets: %w", err)
	}
	rows, err := t.Query(ctx, `SELECT b.crawl, b.host, b.taken FROM budget b
		JOIN unnest($1::int[], $2::bigint[]) AS k(crawl, host) USING (crawl, host)
		ORDER BY b.crawl, b.host FOR UPDATE OF b`, crawls, hosts)
	if err != nil {
		return nil, fmt.Errorf("read budgets: %w", err)
	}
	taken := map[frontier.BudgetKey]int64{}
	var k frontier.BudgetKey
	var n int64
	_, err = pgx.ForEachRow(rows, []any{&k.Crawl, &k.Host, &n}, func() error {
		taken[k] = n
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read budgets: %w", err)
	}
	return taken, nil
}

func (t *tx) AddBudgets(ctx context.Context, deltas map[frontier.BudgetKey]int64, slept []int32) error {
	deltas = maps.Clone(deltas)
	for _, crawl := range slept {
		deltas[frontier.BudgetKey{Crawl: crawl}] += 0
	}
	keys := slices.Collect(maps.Keys(deltas))
	crawls, hosts := budgetColumns(keys)
	n, sleeps := make([]int64, len(keys)), make([]int64, len(keys))
	for i, k := range keys {
		n[i] = deltas[k]
		if k.Host == 0 && slices.Contains(slept, k.Crawl) {
			sleeps[i] = 1
		}
	}
	_, err := t.Exec(ctx, `INSERT INTO budget (crawl, host, taken, slept)
		SELECT * FROM unnest($1::int[], $2::bigint[], $3::bigint[], $4::bigint[])
		ON CONFLICT (crawl, host) DO UPDATE SET taken = budget.taken + excluded.taken, slept = budget.slept + excluded.slept`,
		crawls, hosts, n, sleeps)
	if err != nil {
		return fmt.Errorf("write budgets: %w", err)
	}
	return nil
}

func (t *tx) AddTally(ctx context.Context, tally frontier.Tally) error {
	keys := slices.SortedFunc(maps.Keys(tally), func(a, b frontier.TallyKey) int {
		return cmp.Or(cmp.Compare(a.Crawl, b.Crawl), cmp.Compare(a.Key, b.Key))
	})
	crawls, names, n := make([]int32, len(keys)), make([]string, len(keys)), make([]int64, len(keys))
	for i, k := range keys {
		crawls[i], names[i], n[i] = k.Crawl, k.Key, tally[k]
	}
	_, err := t.Exec(ctx, `INSERT INTO tally (crawl, key, slot, n)
		SELECT s.crawl, s.key, $4, s.n FROM unnest($1::int[], $2::text[], $3::bigint[]) AS s(crawl, key, n)
		ON CONFLICT (crawl, key, slot) DO UPDATE SET n = tally.n + excluded.n`, crawls, names, n, t.store.slot)
	if err != nil {
		return fmt.Errorf("write counters: %w", err)
	}
	return nil
}

func (t *tx) Tallies(ctx context.Context, crawl int32) (frontier.Tally, error) {
	rows, err := t.Query(ctx, `SELECT crawl, key, sum(n)::bigint FROM tally WHERE $1 = 0 OR crawl = $1
		GROUP BY crawl, key HAVING sum(n) <> 0`, crawl)
	if err != nil {
		return nil, fmt.Errorf("read counters: %w", err)
	}
	tally := frontier.Tally{}
	var k frontier.TallyKey
	var n int64
	_, err = pgx.ForEachRow(rows, []any{&k.Crawl, &k.Key, &n}, func() error {
		tally[k] = n
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read counters: %w", err)
	}
	return tally, nil
}

func (t *tx) CountOutstanding(ctx context.Context, after int64, limit int) ([]*frontier.Host, map[int64]int32, error) {
	hosts, err := t.hosts(ctx, `WHERE id > $1 AND (outstanding <> 0 OR id IN (SELECT u.host FROM url u WHERE u.state = 2))
		ORDER BY id LIMIT $2 FOR NO KEY UPDATE`, after, limit)
	if err != nil || len(hosts) == 0 {
		return nil, nil, err
	}
	ids := make([]int64, len(hosts))
	for i, h := range hosts {
		ids[i] = h.ID
	}
	rows, err := t.Query(ctx, `SELECT host, count(*)::int FROM url WHERE state = 2 AND host = ANY($1) GROUP BY host`, ids)
	if err != nil {
		return nil, nil, fmt.Errorf("count released urls: %w", err)
	}
	counted := map[int64]int32{}
	var id int64
	var n int32
	_, err = pgx.ForEachRow(rows, []any{&id, &n}, func() error {
		counted[id] = n
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("count released urls: %w", err)
	}
	return hosts, counted, nil
}
