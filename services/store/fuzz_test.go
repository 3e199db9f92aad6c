package store_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq"
	"github.com/warrenmq/warren/libs/mq/mqtest"
	"github.com/warrenmq/warren/libs/weburl"
	"github.com/warrenmq/warren/services/store/export"
	"github.com/warrenmq/warren/services/store/postgres"
	"github.com/warrenmq/warren/services/store/storetest"
)

// FuzzText puts text, as it stands in JSON, wherever a page has text. PostgreSQL must take every page
// that is JSON at all, and give back what was put in, but for what it cannot hold.
func FuzzText(f *testing.F) {
	for _, text := range []string{
		"", "plain", `\u0000`, `\u0000\u0000a`, "\x00", "\xff", "\xc0\x80", "\xed\xa0\x80", `\ud800`, `\udfff\ud800`,
		`\ud83d\ude00`, `\ud83d`, "\ufffe\uffff", `\\u0000`, `\\`, `'; drop table page; --`, `{"a":1}`, "\u2028",
		`\b\f\n\r\t`, strings.Repeat("é", 3000), "\U0010ffff", "NaN", `\"\"`, "{}", `\N`,
	} {
		f.Add(text)
	}
	db, pool := database(f)
	bus := mqtest.NewBus()
	run(f, bus, db, quick)
	var number atomic.Int64
	f.Fuzz(func(t *testing.T, text string) {
		u, err := weburl.Parse(fmt.Sprintf("https://example.com/%d", number.Add(1)))
		if err != nil {
			t.Fatal(err)
		}
		facts := strings.ReplaceAll(fmt.Sprintf(`{"crawl":"fuzz","id":%q,"url":%q,"visit":1,"code":200,
			"fetched_at":"2026-01-01T00:00:00Z","kind":"html","title":"@","text":"@","description":"@","language":"@",
			"charset":"@","canonical":"@","truncated":"@","location":"@","proto":"@","remote":"@","flags":["@"],
			"header":{"@":["@"],"content-type":["@"]},"host":{"name":"x@","reason":"@"},
			"links":[{"url":"@","tag":"@","text":"@"}]}`, u.ID(), u), "@", text)
		facts = strings.ReplaceAll(facts, "\n\t", " ")
		err = deliver(t, bus, mq.Message{Key: "page.html.x", Body: []byte(facts + "\n")})[0]
		bus.Take("")
		var page contract.Page
		if strings.Contains(facts, "\n") || json.Unmarshal([]byte(facts), &page) != nil {
			if !rejected(err) {
				t.Fatalf("no JSON is answered with %v", err)
			}
			return
		}
		if err != nil {
			t.Fatalf("a page is answered with %v", err)
		}
		var got export.Page
		one := func(p export.Page) error {
			if p.URL == u.String() {
				got = p
			}
			return nil
		}
		if err := export.Export(t.Context(), postgres.NewReader(pool), export.Options{Crawl: "fuzz"}, one); err != nil {
			t.Fatal(err)
		}
		if _, err := pool.Exec(t.Context(), "delete from page"); err != nil {
			t.Fatal(err)
		}
		want := strings.ReplaceAll(page.Title, "\x00", "\uFFFD")
		for _, s := range []string{got.Title, got.Text, got.Description, got.Language, got.Links[0], got.ContentType} {
			if diff := cmp.Diff(want, s); diff != "" {
				t.Errorf("text came back changed (-want +got):\n%s", diff)
			}
		}
	})
}

// FuzzMessage gives the store any bytes at all: it stores them or rejects them, and never waits for
// them to become better.
func FuzzMessage(f *testing.F) {
	f.Add(storetest.Message(f, home, 1, "A").Body)
	f.Add(storetest.Message(f, home, 2, "", storetest.Code(304)).Body)
	f.Add([]byte("{}\n"))
	f.Add([]byte(`{"crawl":"a","id":"00000000000000000000000000000000","url":"u","visit":2147483647,"code":999,` +
		`"took_ms":-9223372036854775808,"release":9223372036854775807,"received":-1,"depth":2147483647,` +
		`"fetched_at":"0001-01-01T00:00:00Z","host":{"name":"h","next_at":"9999-12-31T23:59:59.999999999Z"}}` + "\n"))
	db, _ := database(f)
	bus := mqtest.NewBus()
	run(f, bus, db, quick)
	f.Fuzz(func(t *testing.T, body []byte) {
		if err := deliver(t, bus, mq.Message{Key: "page.html.x", Body: body})[0]; err != nil && !rejected(err) {
			t.Fatalf("answered with %v", err)
		}
		bus.Take("")
	})
}
