package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/services/store"
)

// columns of page, in the order of values.
var columns = []string{
	"crawl", "url_id", "visit", "url", "host", "kind", "code", "fetched_at", "took_ms", "release",
	"depth", "hops", "proto", "remote", "size", "received", "truncated", "location", "header",
	"host_facts", "content_type", "charset", "title", "description", "canonical", "language", "text",
	"noindex", "nofollow", "flags", "links", "sha256", "change", "old_sha256",
}

// values are a row's, in the order of columns.
func values(row store.Row, s store.Stored) ([]any, error) {
	header, host, links, err := documents(row.Page)
	if err != nil {
		return nil, err
	}
	flags := row.Flags
	if flags == nil {
		flags = []string{}
	}
	var contentType string
	if lines := row.Header["content-type"]; len(lines) > 0 {
		contentType = lines[0]
	}
	return []any{
		row.Crawl, row.URLID[:], row.Visit, row.URL, row.Host.Name, string(row.Kind), row.Code,
		row.FetchedAt, row.TookMS, row.Release, row.Depth, row.Hops, row.Proto, row.Remote, row.Size,
		row.Received, row.Truncated, row.Location, header, host, contentType, row.Charset, row.Title,
		row.Description, row.Canonical, row.Language, row.Text, row.NoIndex, row.NoFollow, flags, links,
		sum(row.SHA256), string(s.Change), sum(s.OldSHA256),
	}, nil
}

// documents are the JSON columns, never null.
func documents(p contract.Page) (header, host, links []byte, err error) {
	if p.Header == nil {
		p.Header = map[string][]string{}
	}
	if p.Links == nil {
		p.Links = []contract.Link{}
	}
	for into, v := range map[*[]byte]any{&header: p.Header, &host: p.Host, &links: p.Links} {
		if *into, err = json.Marshal(v); err != nil {
			return nil, nil, nil, fmt.Errorf("write %T: %w", v, err)
		}
	}
	return header, host, links, nil
}

func insertPage() string {
	places := make([]string, len(columns))
	for i := range places {
		places[i] = fmt.Sprintf("$%d", i+1)
	}
	return "insert into page (" + strings.Join(columns, ", ") + ") values (" +
		strings.Join(places, ", ") + ") on conflict do nothing"
}

// insert inserts bodies and pages and sets Known and BodyKnown. Within one transaction the count of
// affected rows is sure; what it means after an unanswered COMMIT, nobody asks.
func insert(ctx context.Context, tx pgx.Tx, rows []store.Row, known map[string]bool, stored []store.Stored) error {
	var batch pgx.Batch
	for _, n := range byHash(rows) {
		row := rows[n]
		stored[n].BodyKnown = known[row.SHA256]
		if row.SHA256 == "" || known[row.SHA256] {
			continue
		}
		known[row.SHA256] = true
		batch.Queue(`insert into body (sha256, size, data) values ($1, $2, $3) on conflict do nothing`,
			sum(row.SHA256), row.Size, row.Body).Exec(func(done pgconn.CommandTag) error {
			stored[n].BodyKnown = done.RowsAffected() == 0
			return nil
		})
	}
	statement := insertPage()
	for i, row := range rows {
		arguments, err := values(row, stored[i])
		if err != nil {
			return err
		}
		batch.Queue(statement, arguments...).Exec(func(done pgconn.CommandTag) error {
			stored[i].Known = done.RowsAffected() == 0
			return nil
		})
	}
	return tx.SendBatch(ctx, &batch).Close()
}

// byHash are the indexes of rows in the order of their bodies' hashes, in which locks are taken.
func byHash(rows []store.Row) []int {
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return strings.Compare(rows[a].SHA256, rows[b].SHA256) })
	return order
}
