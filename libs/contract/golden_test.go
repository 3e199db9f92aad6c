package contract_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/warrenmq/warren/libs/contract"
)

// Golden files pin the wire form. -update writes those that are missing and never changes one: old
// services still send and read what an old file says. A new field gets a new file (fetch-2.golden)
// with a new entry here; it has omitempty, so the old entries still write the old files.
var update = flag.Bool("update", false, "write golden files that do not exist")

var (
	moment = time.Date(2026, 11, 21, 8, 30, 15, 250_000_000, time.UTC)
	depth  = 3
)

const (
	urlID = "8f14e45fceea167a5a36dedd4bea2543"
	// A whole zstd frame of "<p>hi\n", in a raw block. Its last byte but none is a newline: a reader
	// splits at the first newline only.
	zstdBody = "\x28\xb5\x2f\xfd\x20\x06\x31\x00\x00<p>hi\n"
	hash     = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
)

func host() contract.Host {
	return contract.Host{
		Name: "www.example.com", Visited: true, DelayMS: 1000, PaceMS: 1250,
		NextAt: moment.Add(time.Minute), Reason: "Retry-After",
	}
}

func scope() contract.Scope {
	return contract.Scope{
		Kind: contract.ScopePrefix, Include: []string{`/docs/`}, Exclude: []string{`\.pdf$`, `[?&]sort=`}, Depth: &depth,
	}
}

func response() contract.Response {
	return contract.Response{
		V: 1, Crawl: "docs", ID: urlID, URL: "https://www.example.com/docs/?a=1&b=2", Visit: 2, Release: 5,
		Depth: 1, Hops: 1, Kind: contract.KindHTML, Code: 200, FetchedAt: moment, TookMS: 87, Proto: "HTTP/2.0",
		Remote: "192.0.2.7:443", Size: 6, Received: 15, Truncated: "size", Location: "https://www.example.com/new",
		Header: map[string][]string{"content-type": {"text/html; charset=utf-8"}, "link": {"<a>; rel=next", "<b>; rel=prev"}},
		Host:   host(),
	}
}

func links() []contract.Link {
	return []contract.Link{
		{URL: "https://www.example.com/a?b&c", Tag: "a", Text: "A & <b>Ö</b>", NoFollow: true},
		{URL: "https://example.org/"},
	}
}

// golden is one pinned message.
type golden struct {
	file   string
	value  any
	body   string // behind the envelope's first line
	decode func([]byte) (any, error)
}

func goldens() []golden {
	return []golden{
		{"seed", contract.Seed{URL: "https://www.example.com/docs/?a=1&b=2", Crawl: "docs", Priority: 10, Scope: scope()}, "", oneSeed},
		{"seed-bare", contract.Seed{URL: "https://example.com/", Crawl: "default"}, "", oneSeed},
		{"crawl.start", contract.CrawlSpec{
			Name: "docs", Pages: 1000, PagesPerHost: 100, Delay: ptr(contract.Duration(1500 * time.Millisecond)), Priority: -5,
			Recrawl: contract.Duration(24 * time.Hour), NotBefore: &moment, Expires: ptr(moment.Add(time.Hour)), Scope: scope(),
			Seeds: []contract.Seed{{URL: "https://example.com/", Crawl: "docs", Scope: contract.Scope{Kind: contract.ScopeAny}}},
		}, "", decoder(contract.DecodeCrawlSpec)},
		{"crawl.requeue", contract.CrawlVerb{Name: "docs", Reason: "robots", Host: "www.example.com"}, "", decoder(contract.DecodeCrawlVerb)},
		{"fetch", contract.Fetch{
			V: 1, Crawl: "docs", ID: urlID, URL: "https://www.example.com/docs/?a=1&b=2", Visit: 2, Release: 5, Attempt: 1,
			Depth: 1, Hops: 1, LeaseUntil: moment, ETag: `W/"abc"`, LastModified: "Sat, 21 Nov 2026 08:00:00 GMT",
			DelayMS: 1500, Host: host(),
		}, "", decoder(contract.DecodeFetch)},
		{"fetch-first", contract.Fetch{
			Crawl: "default", ID: urlID, URL: "https://example.com/", Visit: 1, Release: 1, Attempt: 1, LeaseUntil: moment,
			Host: contract.Host{Name: "example.com"},
		}, "", decoder(contract.DecodeFetch)},
		{"url.done", contract.Done{V: 1, Outcomes: []contract.Outcome{
			{
				Crawl: "docs", ID: urlID, Visit: 2, Status: contract.StatusDone, Reason: "cut", Code: 301, Stored: true,
				Redirect: true, ETag: `"abc"`, LastModified: "Sat, 21 Nov 2026 08:00:00 GMT", Links: links(), Host: host(),
			},
			{Crawl: "docs", ID: urlID, Visit: 1, Status: contract.StatusFailed, Reason: "lost in the pipeline"},
			{Crawl: "docs", ID: urlID, Visit: 1, Status: contract.StatusExcluded, Reason: "robots"},
		}}, "", decoder(contract.DecodeDone)},
		{"url.retry", contract.Retry{
			V: 1, Crawl: "docs", ID: urlID, Visit: 2, Release: 5, NotBefore: moment, Reason: "connection refused",
			Attempt: true, Host: host(),
		}, "", decoder(contract.DecodeRetry)},
		{"response", response(), zstdBody, envelope(contract.DecodeResponse)},
		{"response-empty", contract.Response{
			Crawl: "default", ID: urlID, URL: "https://example.com/", Visit: 1, Release: 1, Kind: contract.KindEmpty,
			Code: 304, FetchedAt: moment, Host: contract.Host{Name: "example.com"},
		}, "", envelope(contract.DecodeResponse)},
		{"page", contract.Page{
			Response: response(), Charset: "utf-8", Title: "Ünïcode & <tags>", Description: "two\nlines",
			Canonical: "https://www.example.com/docs/", Language: "en", Text: "main\ttext \u2028 \"quoted\"", NoIndex: true,
			NoFollow: true, SHA256: hash, Links: links(), Flags: []string{"links-cut", "text-cut"},
		}, zstdBody, envelope(contract.DecodePage)},
		{"change", contract.ChangeEvent{
			V: 1, Crawl: "docs", ID: urlID, URL: "https://www.example.com/docs/?a=1&b=2", Visit: 2,
			What: contract.ChangeUpdated, Code: 200, FetchedAt: moment, SHA256: hash, OldSHA256: strings.Repeat("0", 64),
		}, "", decoder(readChange)},
	}
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for _, g := range goldens() {
		t.Run(g.file, func(t *testing.T) {
			t.Parallel()
			encoded, err := encode(g)
			if err != nil {
				t.Fatal(err)
			}
			pinned := pin(t, g.file, encoded)
			if diff := cmp.Diff(string(pinned), string(encoded)); diff != "" {
				t.Errorf("the wire form has changed (-pinned +written):\n%s", diff)
			}
			decoded, err := g.decode(pinned)
			if err != nil {
				t.Fatal(err)
			}
			want := g.value
			if strings.Contains(string(pinned), "\n") {
				want = message{g.value, g.body}
			}
			if diff := cmp.Diff(want, decoded); diff != "" {
				t.Errorf("the pinned form reads differently (-want +read):\n%s", diff)
			}
		})
	}
}

// TestGoldenFilesAreAllRead fails when a file's entry was taken out: old messages must be read.
func TestGoldenFilesAreAllRead(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.golden")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".golden")
		if !slices.ContainsFunc(goldens(), func(g golden) bool { return g.file == name }) {
			t.Errorf("%s has no entry in goldens", file)
		}
	}
}

// TestGoldenFilesHoldEveryField fails when a message gets a field that no golden file pins.
func TestGoldenFilesHoldEveryField(t *testing.T) {
	t.Parallel()
	set, all := map[string]bool{}, map[string]bool{}
	for _, g := range goldens() {
		fields(reflect.ValueOf(g.value), set, all)
	}
	for field := range all {
		if !set[field] {
			t.Errorf("%s is in no golden file", field)
		}
	}
}

// fields notes in all every field of the messages within v, and in set those that are not zero.
func fields(v reflect.Value, set, all map[string]bool) {
	switch v.Kind() {
	case reflect.Slice:
		for i := range v.Len() {
			fields(v.Index(i), set, all)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			name := v.Type().String() + "." + v.Type().Field(i).Name
			all[name] = true
			set[name] = set[name] || !v.Field(i).IsZero()
			fields(v.Field(i), set, all)
		}
	}
}

func encode(g golden) ([]byte, error) {
	switch g.value.(type) {
	case contract.Response, contract.Page:
		return contract.EncodeEnvelope(g.value, []byte(g.body))
	}
	return contract.Encode(g.value)
}

func pin(t *testing.T, name string, encoded []byte) []byte {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	pinned, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && *update {
		pinned, err = encoded, os.WriteFile(path, encoded, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	return pinned
}

// message is an envelope that was read.
type message struct {
	Facts any
	Body  string
}

func decoder[T any](decode func([]byte) (T, error)) func([]byte) (any, error) {
	return func(b []byte) (any, error) { return decode(b) }
}

func envelope[T any](decode func([]byte) (T, []byte, error)) func([]byte) (any, error) {
	return func(b []byte) (any, error) {
		facts, body, err := decode(bytes.Clone(b))
		return message{facts, string(body)}, err
	}
}

func oneSeed(b []byte) (any, error) {
	seeds, err := contract.DecodeSeeds(b)
	if err != nil || len(seeds) != 1 {
		return seeds, err
	}
	return seeds[0], nil
}

// readChange reads as a tap does: no service consumes changes.
func readChange(b []byte) (c contract.ChangeEvent, err error) { return c, json.Unmarshal(b, &c) }

func ptr[T any](v T) *T { return &v }
