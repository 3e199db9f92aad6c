package postgres

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/weburl"
	"github.com/warrenmq/warren/services/store"
)

// readBack puts in stored what stands under the keys of the rows that were there already. It is a
// statement of its own, so that it sees what a concurrent transaction has committed.
func readBack(ctx context.Context, tx pgx.Tx, rows []store.Row, stored []store.Stored) error {
	var there []store.Row
	var places []int
	for i := range stored {
		if stored[i].Known {
			there, places = append(there, rows[i]), append(places, i)
		}
	}
	if len(there) == 0 {
		return nil
	}
	crawls, ids, visits := keys(there)
	// The limit keeps this an index look-up for each key, also in a plan that was made when the table
	// was empty and is kept with the connection.
	found, err := tx.Query(ctx, `
		select key.n::int, page.crawl, page.url_id, page.visit, url, kind, code, fetched_at, truncated,
		       location, header, host_facts, links, sha256, change, old_sha256
		from unnest($1::text[], $2::bytea[], $3::int[]) with ordinality as key (crawl, url_id, visit, n)
		cross join lateral (
			select * from page
			where page.crawl = key.crawl and page.url_id = key.url_id and page.visit = key.visit limit 1
		) as page`,
		crawls, ids, visits)
	if err != nil {
		return err
	}
	defer found.Close()
	count := 0
	for ; found.Next(); count++ {
		n, s, err := scan(found)
		if err != nil {
			return err
		}
		s.BodyKnown = stored[places[n-1]].BodyKnown
		stored[places[n-1]] = s
	}
	if err := found.Err(); err != nil {
		return err
	}
	if count != len(there) {
		return errGone
	}
	return nil
}

func scan(found pgx.Rows) (n int, s store.Stored, err error) {
	var id, hash, old, header, host, links []byte
	var fetchedAt time.Time
	err = found.Scan(&n, &s.Crawl, &id, &s.Visit, &s.URL, &s.Kind, &s.Code, &fetchedAt, &s.Truncated,
		&s.Location, &header, &host, &links, &hash, &s.Change, &old)
	if err != nil {
		return 0, s, err
	}
	for from, into := range map[*[]byte]any{&header: &s.Header, &host: &s.Host, &links: &s.Links} {
		if err := json.Unmarshal(*from, into); err != nil {
			return 0, s, fmt.Errorf("read %T: %w", into, err)
		}
	}
	s.V, s.Known = contract.Version, true
	s.ID, s.FetchedAt = weburl.ID(id).String(), fetchedAt.UTC()
	s.SHA256, s.OldSHA256 = hex.EncodeToString(hash), hex.EncodeToString(old)
	return n, s, nil
}
