package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/services/store"
	"github.com/warrenmq/warren/services/store/export"
)

// Open makes an empty database for one test, and the source that exports it.
type Open func(t *testing.T) (store.Database, export.Source)

// Run runs the suite.
func Run(t *testing.T, open Open) {
	for name, test := range map[string]func(t *testing.T, db store.Database, pages export.Source){
		"a page comes back as it was":          testKeeps,
		"a row is never changed":               testKnown,
		"a body is kept once":                  testBodies,
		"changes follow the visits":            testChanges,
		"a crawl does not see another's pages": testCrawls,
		"304 keeps the page and its date":      testNotModified,
		"a refused row leaves nothing":         testRefused,
		"a call that is cancelled is an error": testCancelled,
		"many stores at once":                  testConcurrent,
		"an export goes through all pages":     testExport,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, pages := open(t)
			test(t, db, pages)
		})
	}
}

// keep stores rows in their order of keys and fails the test on an error.
func keep(t *testing.T, db store.Database, rows ...store.Row) []store.Stored {
	t.Helper()
	slices.SortFunc(rows, store.Row.Compare)
	stored, err := db.Store(t.Context(), rows)
	if err != nil {
		t.Fatal(err)
	}
	if len(stored) != len(rows) {
		t.Fatalf("%d rows are stored as %d", len(rows), len(stored))
	}
	return stored
}

func exported(t *testing.T, pages export.Source, options export.Options) []export.Page {
	t.Helper()
	var all []export.Page
	err := export.Export(t.Context(), pages, options, func(p export.Page) error {
		all = append(all, p)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// said is what an outcome and a change are made of.
func said(s store.Stored) contract.Page {
	return contract.Page{
		Response: contract.Response{
			Crawl: s.Crawl, ID: s.ID, URL: s.URL, Visit: s.Visit, Kind: s.Kind, Code: s.Code,
			FetchedAt: s.FetchedAt, Truncated: s.Truncated, Location: s.Location, Header: s.Header, Host: s.Host,
		},
		SHA256: s.SHA256, Links: s.Links,
	}
}

func testKeeps(t *testing.T, db store.Database, pages export.Source) {
	hostile := "<b>\"';--\\ \u2028\ufffd𝕏 \x7f" + strings.Repeat("é", 5000)
	row := Row(t, "https://example.com/a?q=%00", 1, "the body", func(p *contract.Page) {
		p.Title, p.Description, p.Text, p.Flags = hostile, hostile, hostile, []string{hostile}
		p.Header["x-"+hostile] = []string{hostile, ""}
		p.Links = append(p.Links, contract.Link{URL: "https://example.org/", Text: hostile})
		p.Location, p.Truncated = "https://example.com/b", "eof"
	})
	first := keep(t, db, row)[0]
	again := keep(t, db, row)[0]
	if diff := cmp.Diff(said(first), said(again)); diff != "" || first.Known || !again.Known {
		t.Errorf("the second answer differs (known %v, then %v):\n%s", first.Known, again.Known, diff)
	}
	want := export.Page{
		URL: row.URL, Status: 200, ContentType: "text/html; charset=utf-8", FetchedAt: row.FetchedAt, Title: hostile,
		Description: hostile, Language: "en", Text: hostile, Links: []string{row.Links[0].URL, "https://example.org/"},
		SHA256: row.SHA256, Body: []byte("the body"),
	}
	if diff := cmp.Diff([]export.Page{want}, exported(t, pages, export.Options{Body: true})); diff != "" {
		t.Errorf("exported page (-want +got):\n%s", diff)
	}
}

func testKnown(t *testing.T, db store.Database, pages export.Source) {
	const url = "https://example.com/"
	keep(t, db, Row(t, url, 1, "first"))
	again := keep(t, db, Row(t, url, 1, "second", Code(503)))[0]
	if !again.Known || again.Code != 200 || again.Header["etag"][0] != `"first"` || again.Change != contract.ChangeNew {
		t.Errorf("the second answer is not the first row: %+v", again)
	}
	if all := exported(t, pages, export.Options{}); len(all) != 1 || all[0].Text != "first" {
		t.Errorf("exported %+v, want the first row alone", all)
	}
}

func testBodies(t *testing.T, db store.Database, _ export.Source) {
	rows := []store.Row{
		Row(t, "https://a.example/", 1, "same"), Row(t, "https://b.example/", 1, "same"),
		Row(t, "https://c.example/", 1, "other"), Row(t, "https://d.example/", 1, ""),
	}
	known := 0
	for _, s := range keep(t, db, rows...) {
		if s.BodyKnown {
			known++
		}
	}
	if known != 1 {
		t.Errorf("%d of same, same, other, none were known in one call, want 1", known)
	}
	if s := keep(t, db, Row(t, "https://e.example/", 1, "other"))[0]; !s.BodyKnown {
		t.Error("the body of an earlier call is not known")
	}
}

func testChanges(t *testing.T, db store.Database, _ export.Source) {
	a, b := Page(t, "https://x.example/", 1, "A").SHA256, Page(t, "https://x.example/", 1, "B").SHA256
	for n, visits := range map[string][]struct {
		code int
		body string
		want contract.Change
		old  string
	}{
		"usual": {
			{200, "A", contract.ChangeNew, ""}, {200, "A", contract.ChangeNone, ""}, {304, "", contract.ChangeNone, ""},
			{200, "B", contract.ChangeUpdated, a}, {503, "busy", contract.ChangeNone, ""},
			{404, "no", contract.ChangeGone, b}, {410, "", contract.ChangeNone, ""},
			{200, "B", contract.ChangeNew, ""}, {206, "", contract.ChangeUpdated, b},
		},
		"missing": {{404, "no", contract.ChangeNone, ""}, {200, "A", contract.ChangeNew, ""}},
		"moved": {
			{301, "", contract.ChangeNone, ""}, {200, "A", contract.ChangeNew, ""},
			{301, "", contract.ChangeNone, ""}, {200, "A", contract.ChangeNone, ""},
		},
	} {
		for i, v := range visits {
			got := keep(t, db, Row(t, "https://"+n+".example/", i+1, v.body, Code(v.code)))[0]
			if got.Change != v.want || got.OldSHA256 != v.old {
				t.Errorf("%s, visit %d, %d %q: %s from %q, want %s from %q",
					n, i+1, v.code, v.body, got.Change, got.OldSHA256, v.want, v.old)
			}
			again := keep(t, db, Row(t, "https://"+n+".example/", i+1, v.body, Code(v.code)))[0]
			if again.Change != got.Change || again.OldSHA256 != got.OldSHA256 {
				t.Errorf("%s, visit %d: %s at first, %s when it came again", n, i+1, got.Change, again.Change)
			}
		}
	}
}

func testCrawls(t *testing.T, db store.Database, pages export.Source) {
	for _, crawl := range []string{"one", "two"} {
		if got := keep(t, db, Row(t, "https://example.com/", 1, "A", Crawl(crawl)))[0]; got.Change != contract.ChangeNew {
			t.Errorf("crawl %s: %s, want new", crawl, got.Change)
		}
	}
	if all := exported(t, pages, export.Options{Crawl: "two"}); len(all) != 1 {
		t.Errorf("exported %d pages of one crawl, want 1", len(all))
	}
	if all := exported(t, pages, export.Options{}); len(all) != 2 {
		t.Errorf("exported %d pages of both crawls, want 2", len(all))
	}
	if all := exported(t, pages, export.Options{Crawl: "on"}); len(all) != 0 {
		t.Errorf("exported %d pages of a crawl that is not there", len(all))
	}
}

func testNotModified(t *testing.T, db store.Database, pages export.Source) {
	const url = "https://example.com/"
	first := Row(t, url, 1, "A")
	keep(t, db, first)
	if got := keep(t, db, Row(t, url, 2, "", Code(304)))[0]; got.Code != 304 || got.Change != contract.ChangeNone {
		t.Errorf("304 is stored as %d, %s", got.Code, got.Change)
	}
	all := exported(t, pages, export.Options{Body: true})
	if len(all) != 1 || all[0].Status != 200 || !all[0].FetchedAt.Equal(first.FetchedAt) || string(all[0].Body) != "A" {
		t.Errorf("exported %+v, want the first visit's page and date", all)
	}
	keep(t, db, Row(t, "https://only.example/", 1, "", Code(304)))
	if all := exported(t, pages, export.Options{}); len(all) != 2 {
		t.Errorf("exported %d pages, want also the one that was never more than 304", len(all))
	}
}

func testRefused(t *testing.T, db store.Database, pages export.Source) {
	bad := Row(t, "https://bad.example/", 1, "bad")
	bad.Visit = 0 // check() refuses it before; here it is any row that breaks a constraint
	rows := []store.Row{Row(t, "https://a.example/", 1, "A"), bad, Row(t, "https://z.example/", 1, "Z")}
	slices.SortFunc(rows, store.Row.Compare)
	_, err := db.Store(t.Context(), rows)
	refused, ok := errors.AsType[*store.RefusedError](err)
	if !ok || refused.Reason == "" || strings.Contains(refused.Reason, "example") {
		t.Errorf("error %v, want a RefusedError whose reason holds no URL", err)
	}
	if all := exported(t, pages, export.Options{}); len(all) != 0 {
		t.Errorf("%d rows of a refused call are there", len(all))
	}
}

func testCancelled(t *testing.T, db store.Database, pages export.Source) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := db.Store(ctx, []store.Row{Row(t, "https://a.example/", 1, "A")})
	if _, refused := errors.AsType[*store.RefusedError](err); err == nil || refused {
		t.Errorf("error %v, want one that is no refusal", err)
	}
	if all := exported(t, pages, export.Options{}); len(all) != 0 {
		t.Errorf("%d rows are there", len(all))
	}
}

// Every writer stores the same pages with the same bodies, cut into batches differently. Each page must
// be new to exactly one of them, and each body.
func testConcurrent(t *testing.T, db store.Database, pages export.Source) {
	const writers, urls, bodies = 4, 60, 7
	var mu sync.Mutex
	newPages, newBodies := map[string]int{}, map[string]int{}
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			var rows []store.Row
			for i := range urls {
				rows = append(rows, Row(t, fmt.Sprintf("https://h%d.example/%d", i%5, i), 1, fmt.Sprint("body ", i%bodies)))
			}
			slices.SortFunc(rows, store.Row.Compare)
			for batch := range slices.Chunk(rows, 7+5*w) {
				stored, err := db.Store(t.Context(), batch)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				for _, s := range stored {
					if !s.Known {
						newPages[s.ID]++
					}
					if !s.BodyKnown {
						newBodies[s.SHA256]++
					}
					if s.Change != contract.ChangeNew {
						t.Errorf("%s: %s, want new", s.URL, s.Change)
					}
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	for what, counts := range map[string]map[string]int{"page": newPages, "body": newBodies} {
		for id, n := range counts {
			if n != 1 {
				t.Errorf("%s %s was new %d times", what, id, n)
			}
		}
	}
	if len(newPages) != urls || len(newBodies) != bodies || len(exported(t, pages, export.Options{})) != urls {
		t.Errorf("%d pages and %d bodies were new, want %d and %d", len(newPages), len(newBodies), urls, bodies)
	}
}

func testExport(t *testing.T, db store.Database, pages export.Source) {
	want := map[string]string{}
	rows := make([][]store.Row, 3) // by visit
	for i := range 150 {           // more than are read at a time
		url := fmt.Sprintf("https://h%d.example/%d", i%9, i)
		for visit := range 1 + i%3 {
			want[url] = fmt.Sprint(url, " visit ", visit+1)
			rows[visit] = append(rows[visit], Row(t, url, visit+1, want[url]))
		}
	}
	for _, visit := range rows {
		keep(t, db, visit...)
	}
	got := map[string]string{}
	for _, p := range exported(t, pages, export.Options{Crawl: "test", Body: true}) {
		if _, twice := got[p.URL]; twice {
			t.Errorf("%s comes twice", p.URL)
		}
		got[p.URL] = string(p.Body)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("exported bodies (-want +got):\n%s", diff)
	}
	boom, calls := errors.New("disk full"), 0
	err := export.Export(t.Context(), pages, export.Options{}, func(export.Page) error { calls++; return boom })
	if !errors.Is(err, boom) || calls != 1 {
		t.Errorf("error %v after %d pages, want the writer's after 1", err, calls)
	}
}
