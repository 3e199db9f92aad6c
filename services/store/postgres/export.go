package postgres

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/services/store/export"
)

// Reader is an export.Source.
type Reader struct{ pool *pgxpool.Pool }

var _ export.Source = (*Reader)(nil)

// NewReader reads what a store has kept in pool's database. It makes no tables.
func NewReader(pool *pgxpool.Pool) *Reader { return &Reader{pool} }

// selectPages reads what the view pages shows, with the condition inside, where the primary key serves
// it: each call costs as much as it returns, wherever in the table it begins.
const selectPages = `
	select distinct on (crawl, url_id)
	       crawl, url_id, url, code, content_type, fetched_at, title, description, language, text, links, sha256
	from page where %s
	order by crawl, url_id, (code = 304), visit desc
	limit %d`

// Pages is export.Source's.
func (r *Reader) Pages(ctx context.Context, crawl string, after *export.Key, limit int) ([]export.Entry, error) {
	from := export.Key{Crawl: crawl}
	condition, behind := "crawl = $1 and url_id > $2", from.URLID[:0] // no bytes come before any bytes
	if crawl == "" {
		condition = "(crawl, url_id) > ($1, $2)"
	}
	if after != nil {
		from, behind = *after, after.URLID[:]
	}
	found, err := r.pool.Query(ctx, fmt.Sprintf(selectPages, condition, limit), from.Crawl, behind)
	if err != nil {
		return nil, tables(err)
	}
	entries, err := pgx.CollectRows(found, scanEntry)
	return entries, tables(err)
}

func scanEntry(row pgx.CollectableRow) (export.Entry, error) {
	var e export.Entry
	var id, links, sum []byte
	err := row.Scan(&e.Crawl, &id, &e.URL, &e.Status, &e.ContentType, &e.FetchedAt, &e.Title,
		&e.Description, &e.Language, &e.Text, &links, &sum)
	if err != nil {
		return e, err
	}
	var found []contract.Link
	if err := json.Unmarshal(links, &found); err != nil {
		return e, fmt.Errorf("read links: %w", err)
	}
	e.Links = make([]string, len(found))
	for i, link := range found {
		e.Links[i] = link.URL
	}
	e.URLID, e.FetchedAt, e.SHA256 = [16]byte(id), e.FetchedAt.UTC(), hex.EncodeToString(sum)
	return e, nil
}

// Body is export.Source's.
func (r *Reader) Body(ctx context.Context, sha256 string) ([]byte, error) {
	sum, err := hex.DecodeString(sha256)
	if err != nil {
		return nil, fmt.Errorf("read sha256 %q: %w", sha256, err)
	}
	var data []byte
	err = r.pool.QueryRow(ctx, "select data from body where sha256 = $1", sum).Scan(&data)
	return data, tables(err)
}

func tables(err error) error {
	if answer, ok := errors.AsType[*pgconn.PgError](err); ok && answer.Code == "42P01" { // undefined_table
		return export.ErrNoTables
	}
	return err
}
