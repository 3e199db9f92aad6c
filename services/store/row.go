package store

import (
	"bytes"
	"context"
	"strings"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/weburl"
)

// Database keeps pages and their bodies. Every implementation passes storetest.
type Database interface {
	// Store keeps rows in one transaction that is durable when it returns, and tells in the same order
	// what stands under each row's key then: the row itself, or the one that was there before, which
	// is never changed. A body is kept once by its hash. Change and OldSHA256 are Judge's, from the
	// latest earlier visit that Decides.
	//
	// rows are sorted by Compare, which is the order in which locks are taken, and no two have the same
	// crawl and URL. On an error nothing is known to be stored; the call may be repeated. If the
	// error is a *RefusedError, the database will never take one of the rows.
	Store(ctx context.Context, rows []Row) ([]Stored, error)
}

// RefusedError says that the database will never take one of the rows of a call, for what is in it.
type RefusedError struct {
	Reason string // a short phrase for people, without anything of the row in it
	Err    error
}

func (e *RefusedError) Error() string { return "rows are refused: " + e.Err.Error() }

// Unwrap returns the database's own error.
func (e *RefusedError) Unwrap() error { return e.Err }

// Row is one visit of one page: checked, and clean of what no database takes.
type Row struct {
	contract.Page           // SHA256 is 64 lower-case hex digits, or "" where Body is empty
	URLID         weburl.ID // Page.ID
	Body          []byte    // zstd-compressed
}

// Compare orders rows by crawl, URL id and visit: 0 is the same key.
func (r Row) Compare(other Row) int {
	if n := r.CompareURL(other); n != 0 {
		return n
	}
	return r.Visit - other.Visit
}

// CompareURL orders rows by crawl and URL id.
func (r Row) CompareURL(other Row) int {
	if n := strings.Compare(r.Crawl, other.Crawl); n != 0 {
		return n
	}
	return bytes.Compare(r.URLID[:], other.URLID[:])
}

// Stored is what stands in the database under a row's key: of the page at least what an outcome and a
// change are made of (Crawl, ID, URL, Visit, Kind, Code, FetchedAt, Truncated, Location, Header's
// validators, Links, Host, SHA256).
type Stored struct {
	contract.Page
	Change    contract.Change
	OldSHA256 string // of the visit that Change compares with, "" for none
	Known     bool   // the row was there before the call
	BodyKnown bool   // the body was
}
