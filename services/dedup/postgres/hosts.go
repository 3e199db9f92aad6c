package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/warrenmq/warren/services/dedup/internal/frontier"
)

const hostColumns = `id, name, visited, has_ready, outstanding, delay_ms, pace_ms, turn, turn_at, next_at, bad_since, reason`

func scanHost(row pgx.CollectableRow) (*frontier.Host, error) {
	h := &frontier.Host{}
	var next, bad *time.Time
	err := row.Scan(&h.ID, &h.Name, &h.Visited, &h.HasReady, &h.Outstanding, &h.DelayMS, &h.PaceMS,
		&h.Turn, &h.TurnAt, &next, &bad, &h.Reason)
	h.NextAt, h.BadSince = when(next), when(bad)
	return h, err
}

func (t *tx) hosts(ctx context.Context, text string, args ...any) ([]*frontier.Host, error) {
	rows, err := t.Query(ctx, `SELECT `+hostColumns+` FROM host `+text, args...)
	if err != nil {
		return nil, fmt.Errorf("lock hosts: %w", err)
	}
	hosts, err := pgx.CollectRows(rows, scanHost)
	if err != nil {
		return nil, fmt.Errorf("lock hosts: %w", err)
	}
	return hosts, nil
}

// LockHosts asks Write to insert hosts that are not there, in a transaction of their own before this one
// is begun again: inserted here they would be locked before the others, out of order, and two replicas
// could wait for one another. A host's row that nothing refers to does no harm.
func (t *tx) LockHosts(ctx context.Context, wanted []frontier.Host) (map[int64]*frontier.Host, error) {
	ids := make([]int64, len(wanted))
	for i, h := range wanted {
		ids[i] = h.ID
	}
	locked, err := t.lockByID(ctx, ids)
	if err != nil {
		return nil, err
	}
	missing := &missingHosts{}
	for _, h := range wanted {
		if locked[h.ID] == nil && h.Name != "" {
			missing.ids, missing.names = append(missing.ids, h.ID), append(missing.names, h.Name)
			missing.at = append(missing.at, h.TurnAt)
		}
	}
	if len(missing.ids) > 0 {
		return nil, missing
	}
	return locked, nil
}

// missingHosts ends a transaction that needs hosts which are not there. It is ErrAgain.
type missingHosts struct {
	ids   []int64
	names []string
	at    []time.Time
}

func (m *missingHosts) Error() string {
	return fmt.Sprintf("%d hosts have to be made first", len(m.ids))
}

func (m *missingHosts) Unwrap() error { return frontier.ErrAgain }

func (s *Store) makeHosts(ctx context.Context, m *missingHosts) error {
	_, err := s.pool.Exec(ctx, `INSERT INTO host (id, name, turn_at)
		SELECT * FROM unnest($1::bigint[], $2::text[], $3::timestamptz[]) ON CONFLICT (id) DO NOTHING`, m.ids, m.names, m.at)
	if err != nil {
		return fmt.Errorf("make %d hosts: %w", len(m.ids), err)
	}
	return nil
}

func (t *tx) lockByID(ctx context.Context, ids []int64) (map[int64]*frontier.Host, error) {
	hosts, err := t.hosts(ctx, `WHERE id = ANY($1) ORDER BY id FOR NO KEY UPDATE`, ids)
	if err != nil {
		return nil, err
	}
	byID := make(map[int64]*frontier.Host, len(hosts))
	for _, h := range hosts {
		byID[h.ID] = h
	}
	return byID, nil
}

func (t *tx) DueHosts(ctx context.Context, now time.Time, limit int) ([]*frontier.Host, error) {
	return t.hosts(ctx, `WHERE has_ready AND turn_at <= $1 ORDER BY turn_at LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED`, now, limit)
}

func (t *tx) BadHosts(ctx context.Context, since time.Time, limit int) ([]*frontier.Host, error) {
	return t.hosts(ctx, `WHERE bad_since < $1 ORDER BY bad_since LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED`, since, limit)
}

func (t *tx) SaveHosts(ctx context.Context, hosts []*frontier.Host) error {
	n := len(hosts)
	id, delay, pace := make([]int64, n), make([]int64, n), make([]int64, n)
	visited, ready := make([]bool, n), make([]bool, n)
	outstanding, turn := make([]int32, n), make([]int32, n)
	turnAt, next, bad := make([]time.Time, n), make([]*time.Time, n), make([]*time.Time, n)
	reason := make([]string, n)
	for i, h := range hosts {
		id[i], delay[i], pace[i], visited[i], ready[i] = h.ID, h.DelayMS, h.PaceMS, h.Visited, h.HasReady
		outstanding[i], turn[i], turnAt[i] = h.Outstanding, h.Turn, h.TurnAt
		next[i], bad[i], reason[i] = at(h.NextAt), at(h.BadSince), h.Reason
	}
	_, err := t.Exec(ctx, `UPDATE host h SET visited = s.visited, has_ready = s.has_ready,
		outstanding = s.outstanding, delay_ms = s.delay_ms, pace_ms = s.pace_ms, turn = s.turn,
		turn_at = s.turn_at, next_at = s.next_at, bad_since = s.bad_since, reason = s.reason
		FROM unnest($1::bigint[], $2::bool[], $3::bool[], $4::int[], $5::bigint[], $6::bigint[], $7::int[],
			$8::timestamptz[], $9::timestamptz[], $10::timestamptz[], $11::text[])
			AS s(id, visited, has_ready, outstanding, delay_ms, pace_ms, turn, turn_at, next_at, bad_since, reason)
		WHERE h.id = s.id`, id, visited, ready, outstanding, delay, pace, turn, turnAt, next, bad, reason)
	if err != nil {
		return fmt.Errorf("write %d hosts: %w", n, err)
	}
	return nil
}
