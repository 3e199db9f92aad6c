package postgres

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/warrenmq/warren/services/store"
)

// Store is store.Database's.
func (d *Database) Store(ctx context.Context, rows []store.Row) ([]store.Stored, error) {
	var stored []store.Stored
	// The level is said, since a database may be set to another: only at this one does a statement
	// see what a concurrent transaction, waited for in an insert, has committed.
	err := pgx.BeginTxFunc(ctx, d.pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		before, known, err := lookUp(ctx, tx, rows)
		if err != nil {
			return fmt.Errorf("look up earlier visits: %w", err)
		}
		stored = judge(rows, before)
		if err := insert(ctx, tx, rows, known, stored); err != nil {
			return fmt.Errorf("insert %d pages: %w", len(rows), err)
		}
		if err := readBack(ctx, tx, rows, stored); err != nil {
			return fmt.Errorf("read pages back: %w", err)
		}
		return nil
	})
	if err != nil {
		return nil, refusal(fmt.Errorf("store pages: %w", err))
	}
	return stored, nil
}

// judge is what stands under each key if all rows are new.
func judge(rows []store.Row, before []store.Before) []store.Stored {
	stored := make([]store.Stored, len(rows))
	for i, row := range rows {
		what, old := store.Judge(before[i], row.Code, row.SHA256)
		stored[i] = store.Stored{Page: row.Page, Change: what, OldSHA256: old}
	}
	return stored
}

// lookUp returns the visit before each row, and the hashes of the bodies that are there.
func lookUp(ctx context.Context, tx pgx.Tx, rows []store.Row) ([]store.Before, map[string]bool, error) {
	before := make([]store.Before, len(rows))
	known := map[string]bool{}
	crawls, ids, visits := keys(rows)
	var sums [][]byte
	for _, row := range rows {
		if row.SHA256 != "" {
			sums = append(sums, sum(row.SHA256))
		}
	}
	var batch pgx.Batch
	// The code is store.Decides. An index scan backwards, once a row.
	batch.Queue(`
		select key.n::int, earlier.code, earlier.sha256
		from unnest($1::text[], $2::bytea[], $3::int[]) with ordinality as key (crawl, url_id, visit, n)
		cross join lateral (
			select code, sha256 from page
			where page.crawl = key.crawl and page.url_id = key.url_id and page.visit < key.visit
			  and (code between 200 and 299 or code in (404, 410))
			order by page.visit desc limit 1
		) as earlier`, crawls, ids, visits).Query(func(found pgx.Rows) error {
		var n, code int
		var hash []byte
		_, err := pgx.ForEachRow(found, []any{&n, &code, &hash}, func() error {
			before[n-1] = store.Before{Code: code, SHA256: hex.EncodeToString(hash)}
			return nil
		})
		return err
	})
	batch.Queue(`select sha256 from body where sha256 = any($1::bytea[])`, sums).Query(func(found pgx.Rows) error {
		var hash []byte
		_, err := pgx.ForEachRow(found, []any{&hash}, func() error {
			known[hex.EncodeToString(hash)] = true
			return nil
		})
		return err
	})
	return before, known, tx.SendBatch(ctx, &batch).Close()
}

// keys are the rows' keys as columns.
func keys(rows []store.Row) (crawls []string, ids [][]byte, visits []int) {
	for _, row := range rows {
		crawls = append(crawls, row.Crawl)
		ids = append(ids, row.URLID[:])
		visits = append(visits, row.Visit)
	}
	return crawls, ids, visits
}

// sum is the binary form of a row's hash, nil for "".
func sum(hash string) []byte {
	if hash == "" {
		return nil
	}
	b, err := hex.DecodeString(hash)
	if err != nil {
		return []byte{} // 0 bytes: the table refuses it
	}
	return b
}

// errGone is a row that was in the way and is there no more: somebody deletes pages meanwhile.
var errGone = errors.New("a page that was there is gone")
