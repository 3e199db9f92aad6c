package store_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq"
	"github.com/warrenmq/warren/libs/mq/mqtest"
	"github.com/warrenmq/warren/services/store/storetest"
)

// swap changes the facts of a message that is otherwise good.
func swap(t *testing.T, old, new string) []byte {
	t.Helper()
	body := storetest.Message(t, home, 1, "A").Body
	if !bytes.Contains(body, []byte(old)) {
		t.Fatalf("the message does not hold %s", old)
	}
	return bytes.Replace(body, []byte(old), []byte(new), 1)
}

func TestMessagesThatCanNeverWork(t *testing.T) {
	t.Parallel()
	good := storetest.Message(t, home, 1, "A").Body
	head, _, _ := bytes.Cut(good, []byte("\n"))
	id := storetest.Page(t, home, 1, "A").ID
	many := storetest.Message(t, home, 1, "A", func(p *contract.Page) {
		p.Links = make([]contract.Link, 10_001)
	}).Body
	other := append(append(bytes.Clone(head), '\n'), storetest.Compress(t, "B")...)
	torn := append(append(bytes.Clone(head), '\n'), "not zstd"...)
	for name, test := range map[string]struct {
		body   []byte
		reason string
		ends   bool // its URL is readable
	}{
		"empty":            {nil, "newline", false},
		"no JSON":          {[]byte("\x00\xff\nbody"), "invalid character", false},
		"deep JSON":        {[]byte(strings.Repeat("[", 1<<20) + "\n"), "", false},
		"an array":         {[]byte("[]\n"), "cannot unmarshal", false},
		"no newline":       {head, "newline", true},
		"no id":            {swap(t, id, ""), "missing", false},
		"id is no hex":     {swap(t, id, strings.Repeat("z", 32)), "url id", false},
		"visit 0":          {swap(t, `"visit":1`, `"visit":0`), "missing", false},
		"huge visit":       {swap(t, `"visit":1`, `"visit":3000000000`), "visit", true},
		"visit no integer": {swap(t, `"visit":1`, `"visit":1e400`), "", false},
		"crawl no name":    {swap(t, `"crawl":"test"`, `"crawl":"../etc"`), "crawl name", false},
		"wrong type":       {swap(t, `"title":"Title of A"`, `"title":["Title of A"]`), "cannot unmarshal", true},
		"wrong code":       {swap(t, `"code":200`, `"code":"200"`), "cannot unmarshal", true},
		"code 0":           {swap(t, `"code":200`, `"code":0`), "code 0", true},
		"depth negative":   {swap(t, `"depth":0`, `"depth":-1`), "depth -1", true},
		"year 10000":       {swap(t, `"2026-03-01T12:00:00.123456Z"`, `"9999-12-31T23:59:59-10:00"`), "year", true},
		"no such time":     {swap(t, `"2026-03-01T12:00:00.123456Z"`, `"yesterday"`), "", true},
		"no host":          {swap(t, `"name":"www.example.com"`, `"name":""`), "", false}, // taken from the URL
		"too many links":   {many, "10001 links", true},
		"another body":     {other, "sha256", true},
		"torn body":        {torn, "decompress", true},
		"no body":          {append(bytes.Clone(head), '\n'), "sha256", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, bus := &fake{}, mqtest.NewBus()
			run(t, bus, db, quick)
			err := deliver(t, bus, mq.Message{Key: "page.html.com.example.www", Body: test.body})[0]
			if name == "no host" {
				if keys := bus.Take("change.new.com.example.www"); err != nil || len(keys) != 1 {
					t.Errorf("%v, change %+v", err, keys)
				}
				return
			}
			if !rejected(err) || !strings.Contains(err.Error(), test.reason) || strings.Contains(err.Error(), "example") {
				t.Fatalf("answered with %v, want a rejection for %q that holds no URL", err, test.reason)
			}
			if test.ends {
				endsFailed(t, bus, id)
			} else if got := outcomes(t, bus); len(got) != 0 || len(bus.Take("dead.store")) != 1 {
				t.Errorf("outcomes %+v, want a dead letter alone", got)
			}
		})
	}
}

func endsFailed(t *testing.T, bus *mqtest.Bus, id string) {
	t.Helper()
	got := outcomes(t, bus)
	if len(got) != 1 || got[0].ID != id || got[0].Status != contract.StatusFailed || got[0].Reason != contract.ReasonPoison {
		t.Errorf("outcomes %+v, want one of %s that failed", got, id)
	}
}

// A newer parser's page is kept for later: the URL must not fail for it.
func TestANewerVersionIsParked(t *testing.T) {
	t.Parallel()
	db, bus := &fake{}, mqtest.NewBus()
	run(t, bus, db, quick)
	err := deliver(t, bus, mq.Message{Key: "page.html.com.example", Body: swap(t, `"v":1`, `"v":99`)})[0]
	if !rejected(err) || !strings.Contains(err.Error(), "version 99") {
		t.Errorf("answered with %v, want a rejection of version 99", err)
	}
	if got := outcomes(t, bus); len(got) != 0 || len(bus.Take("dead.store")) != 1 {
		t.Errorf("outcomes %+v, want a dead letter alone", got)
	}
}
