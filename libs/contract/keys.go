package contract

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/warrenmq/warren/libs/weburl"
)

// Exchange is the one durable topic exchange that everything goes through.
const Exchange = "crawl"

// Queues that last. A fetch shard's queue is named by [FetchKey].
const (
	QueueDedup  = "dedup"
	QueueCrawl  = "crawl"
	QueueParser = "parser"
	QueueStore  = "store"
	QueueDead   = "dead"
)

// Routing keys without a variable part, and the bindings of the queues above.
const (
	KeySeed  = "url.seed"
	KeyDone  = "url.done"
	KeyRetry = "url.retry"

	KeyCrawlStart   = "crawl.start"
	KeyCrawlPause   = "crawl.pause"
	KeyCrawlResume  = "crawl.resume"
	KeyCrawlCancel  = "crawl.cancel"
	KeyCrawlRequeue = "crawl.requeue"

	BindDedup  = "url.*"
	BindCrawl  = "crawl.*"
	BindParser = "response.#"
	BindStore  = "page.#"
	BindDead   = "dead.#"
)

// Kind is what a body is, coarse enough to route by.
type Kind string

// The kinds.
const (
	KindHTML   Kind = "html"
	KindXML    Kind = "xml"
	KindText   Kind = "text"
	KindBinary Kind = "binary"
	KindEmpty  Kind = "empty"
)

// Change is what became of a page between two visits.
type Change string

// The changes. ChangeNone is stored and not published.
const (
	ChangeNew     Change = "new"
	ChangeUpdated Change = "updated"
	ChangeGone    Change = "gone"
	ChangeNone    Change = "same"
)

// FetchKey is the routing key and the queue name of shard n of shards: "fetch.64.7".
func FetchKey(shards, n int) string { return "fetch." + strconv.Itoa(shards) + "." + strconv.Itoa(n) }

// ParseFetchKey reads what FetchKey wrote.
func ParseFetchKey(key string) (shards, n int, err error) {
	parts := strings.Split(key, ".")
	if len(parts) == 3 && parts[0] == "fetch" {
		shards, err = strconv.Atoi(parts[1])
		if err == nil {
			n, err = strconv.Atoi(parts[2])
		}
		if err == nil && n >= 0 && n < shards {
			return shards, n, nil
		}
	}
	return 0, 0, fmt.Errorf("read fetch key %q: want fetch.<shards>.<n>", key)
}

// ResponseKey is "response.<kind>.<host reversed>", for example response.html.com.example.www.
func ResponseKey(kind Kind, host string) string {
	return "response." + string(kind) + "." + weburl.ReverseHost(host)
}

// PageKey is "page.<kind>.<host reversed>".
func PageKey(kind Kind, host string) string {
	return "page." + string(kind) + "." + weburl.ReverseHost(host)
}

// ChangeKey is "change.<what>.<host reversed>".
func ChangeKey(what Change, host string) string {
	return "change." + string(what) + "." + weburl.ReverseHost(host)
}

// DeadKey is "dead.<queue>": where a message of that queue goes that can never work.
func DeadKey(queue string) string { return "dead." + queue }

// Mandatory tells whether a message with this key must reach a queue. change, worker and control
// messages may have no listener; for all others no route is an error (rule 7 of the design).
func Mandatory(key string) bool {
	first, _, _ := strings.Cut(key, ".")
	switch first {
	case "change", "worker", "control":
		return false
	}
	return true
}
