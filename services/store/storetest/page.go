// Package storetest tests what keeps store's pages.
//
//  1. [Run] is the suite that every store.Database must pass.
//  2. [Page], [Row] and [Message] make pages for it and for store's own tests.
package storetest

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq"
	"github.com/warrenmq/warren/libs/weburl"
	"github.com/warrenmq/warren/services/store"
)

// fetched is when the first visit of every page was; later visits are a day apart.
var fetched = time.Date(2026, 3, 1, 12, 0, 0, 123456000, time.UTC)

// Page is a visit of crawl "test" that was answered with status 200 and body. edit may change it;
// the hash and size are set after that.
func Page(t testing.TB, url string, visit int, body string, edit ...func(*contract.Page)) contract.Page {
	t.Helper()
	u, err := weburl.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	page := contract.Page{Response: contract.Response{
		V: contract.Version, Crawl: "test", ID: u.ID().String(), URL: u.String(), Visit: visit, Release: int64(visit),
		Kind: contract.KindHTML, Code: 200, FetchedAt: fetched.AddDate(0, 0, visit-1), TookMS: 42,
		Proto: "HTTP/1.1", Remote: "192.0.2.1:443",
		Header: map[string][]string{
			"content-type": {"text/html; charset=utf-8"}, "etag": {`"` + body + `"`},
			"last-modified": {"Sun, 01 Mar 2026 00:00:00 GMT"},
		},
		Host: contract.Host{Name: u.Host(), Visited: true, DelayMS: 1000, PaceMS: 1100},
	}}
	page.Charset, page.Title, page.Language, page.Text = "utf-8", "Title of "+body, "en", body
	page.Links = []contract.Link{{URL: u.String() + "next", Tag: "a", Text: "Next", NoFollow: true}}
	for _, e := range edit {
		e(&page)
	}
	page.Size, page.SHA256 = int64(len(body)), ""
	if body != "" {
		sum := sha256.Sum256([]byte(body))
		page.SHA256 = hex.EncodeToString(sum[:])
	}
	page.Received = page.Size
	return page
}

// Code sets the status of a Page.
func Code(code int) func(*contract.Page) { return func(p *contract.Page) { p.Code = code } }

// Crawl sets the crawl of a Page.
func Crawl(name string) func(*contract.Page) { return func(p *contract.Page) { p.Crawl = name } }

// Row is what store makes of a Page.
func Row(t testing.TB, url string, visit int, body string, edit ...func(*contract.Page)) store.Row {
	t.Helper()
	page := Page(t, url, visit, body, edit...)
	id, err := weburl.ParseID(page.ID)
	if err != nil {
		t.Fatal(err)
	}
	return store.Row{Page: page, URLID: id, Body: Compress(t, body)}
}

// Message is the message of a Page.
func Message(t testing.TB, url string, visit int, body string, edit ...func(*contract.Page)) mq.Message {
	t.Helper()
	page := Page(t, url, visit, body, edit...)
	message, err := contract.EncodeEnvelope(page, Compress(t, body))
	if err != nil {
		t.Fatal(err)
	}
	return mq.Message{Key: contract.PageKey(page.Kind, page.Host.Name), Body: message, ContentType: "application/octet-stream"}
}

// Compress is body in zstd, nothing for nothing.
func Compress(t testing.TB, body string) []byte {
	t.Helper()
	if body == "" {
		return nil
	}
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	compressed := encoder.EncodeAll([]byte(body), nil)
	if err := encoder.Close(); err != nil {
		t.Fatal(err)
	}
	return compressed
}
