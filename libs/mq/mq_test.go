package mq_test

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, key string
		want         bool
	}{
		{"url.*", "url.seed", true},
		{"url.*", "url", false},
		{"url.*", "url.a.b", false},
		{"#", "", true},
		{"#", "a.b.c", true},
		{"page.#", "page", true},
		{"page.#", "pages", false},
		{"page.html.com.example.#", "page.html.com.example", true},
		{"page.html.com.example.#", "page.html.com.example.www", true},
		{"page.html.com.example.#", "page.html.com.examples", false},
		{"#.www", "page.html.com.www", true},
		{"#.b.#", "a.b.c.d", true},
		{"*.#.d", "d", false},
		{"*.#.d", "a.d", true},
		{"a.#.#.b", "a.b", true},
		{"", "", true},
		{"", "a", false},
		{"*", "", true}, // an empty key is one empty word
		{"a..b", "a..b", true},
		{"a.*.b", "a..b", true},
	} {
		if got := mq.Match(c.pattern, c.key); got != c.want {
			t.Errorf("Match(%q, %q) is %v", c.pattern, c.key, got)
		}
	}
}

// FuzzMatch compares with a regular expression.
func FuzzMatch(f *testing.F) {
	f.Add("a.*.#.b", "a.x.y.b")
	f.Add("#.#", "a")
	f.Fuzz(func(t *testing.T, pattern, key string) {
		if len(pattern) > 200 || len(key) > 200 || strings.ContainsAny(pattern+key, "\n") {
			return
		}
		// Every word with a dot before it, so that # may be none.
		expr := "^"
		for _, word := range strings.Split(pattern, ".") {
			switch word {
			case "#":
				expr += `(?:\.[^.]*)*`
			case "*":
				expr += `\.[^.]*`
			default:
				expr += `\.` + regexp.QuoteMeta(word)
			}
		}
		re, err := regexp.Compile(expr + "$")
		if err != nil {
			return // not UTF-8
		}
		if got, want := mq.Match(pattern, key), re.MatchString("."+key); got != want {
			t.Errorf("Match(%q, %q) is %v", pattern, key, got)
		}
	})
}

func TestMatchIsNotExponential(t *testing.T) {
	if mq.Match(strings.Repeat("#.a.", 60)+"b", strings.Repeat("a.", 120)+"c") {
		t.Error("it matches")
	}
}

func TestCheck(t *testing.T) {
	ok := mq.Message{Key: strings.Repeat("k", 255), Body: make([]byte, contract.MaxMessage),
		Headers: map[string]string{"a": strings.Repeat("x", mq.MaxHeaders-1)}}
	if err := ok.Check(); err != nil {
		t.Errorf("the largest message: %v", err)
	}
	for name, m := range map[string]mq.Message{
		"no key":       {},
		"long key":     {Key: strings.Repeat("k", 256)},
		"big body":     {Key: "k", Body: make([]byte, contract.MaxMessage+1)},
		"headers":      {Key: "k", Headers: map[string]string{"a": strings.Repeat("x", mq.MaxHeaders)}},
		"header name":  {Key: "k", Headers: map[string]string{strings.Repeat("x", 129): ""}},
		"no name":      {Key: "k", Headers: map[string]string{"": ""}},
		"routing":      {Key: "k", Headers: map[string]string{"CC": "a"}},
		"content type": {Key: "k", ContentType: strings.Repeat("x", 256)},
	} {
		if err := m.Check(); !errors.Is(err, mq.ErrInvalid) {
			t.Errorf("%s: %v, want ErrInvalid", name, err)
		}
	}
}

// Every key that must be routed is bound to exactly one queue of the topology: one service gets it.
func TestTopologyRoutesEachKeyToOneQueue(t *testing.T) {
	const shards = 4
	keys := map[string]string{
		contract.KeySeed: "dedup", contract.KeyDone: "dedup", contract.KeyRetry: "dedup",
		contract.KeyCrawlStart: "crawl", contract.KeyCrawlPause: "crawl", contract.KeyCrawlResume: "crawl",
		contract.KeyCrawlCancel: "crawl", contract.KeyCrawlRequeue: "crawl",
		contract.ResponseKey(contract.KindHTML, "www.example.com"): "parser",
		contract.PageKey(contract.KindEmpty, "www.example.com"):    "store",
		contract.DeadKey("store"):                                  "dead",
		contract.DeadKey(contract.FetchKey(shards, 3)):             "dead",
		contract.FetchKey(shards, 0):                               "fetch.4.0",
		contract.FetchKey(shards, 3):                               "fetch.4.3",
	}
	names := map[string]bool{}
	for _, q := range mq.Topology(shards) {
		if names[q.Name] {
			t.Errorf("queue %s is there twice", q.Name)
		}
		names[q.Name] = true
	}
	for key, want := range keys {
		if !contract.Mandatory(key) {
			t.Errorf("%s is not mandatory", key)
		}
		var got []string
		for _, q := range mq.Topology(shards) {
			if slices.ContainsFunc(q.Bindings, func(b string) bool { return mq.Match(b, key) }) {
				got = append(got, q.Name)
			}
		}
		if !slices.Equal(got, []string{want}) {
			t.Errorf("%s goes to %q, want %s", key, got, want)
		}
	}
	for _, q := range mq.Topology(shards) {
		sac, _ := q.Args["x-single-active-consumer"].(bool)
		_, _, err := contract.ParseFetchKey(q.Name)
		if ordered := err == nil || q.Name == contract.QueueCrawl; sac != ordered {
			t.Errorf("%s: single active consumer is %v", q.Name, sac)
		}
		if q.Args["x-queue-type"] != "quorum" || q.Args["x-overflow"] != "reject-publish" {
			t.Errorf("%s: %v", q.Name, q.Args)
		}
	}
}

func TestErrors(t *testing.T) {
	err := error(&mq.PublishError{Failed: []int{1, 2}, Err: mq.ErrUnroutable})
	if !errors.Is(err, mq.ErrUnroutable) || !strings.Contains(err.Error(), "2 messages") {
		t.Errorf("%v", err)
	}
	rejection := new(mq.Rejection)
	if err := mq.Reject("why"); !errors.As(err, &rejection) || rejection.Reason != "why" {
		t.Errorf("%v", err)
	}
	for state, want := range map[mq.State]string{mq.Suspended: "suspended", mq.Connected: "connected", mq.Blocked: "blocked", mq.Lost: "lost"} {
		if state.String() != want {
			t.Errorf("state %d is %s", state, state)
		}
	}
}
