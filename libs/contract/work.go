package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// Host is what is known of a host, carried in both directions: by url.done and url.retry from the
// fetcher that served it to the frontier, and by fetch to the next fetcher that owns it.
type Host struct {
	Name    string    `json:"name"`
	Visited bool      `json:"visited,omitempty"`  // a request has been sent to it before
	DelayMS int64     `json:"delay_ms,omitempty"` // delay in force: crawl's, robots', adaptive
	PaceMS  int64     `json:"pace_ms,omitempty"`  // measured time from one request's start to the next
	NextAt  time.Time `json:"next_at,omitzero"`   // no request before (Retry-After, breaker, robots)
	Reason  string    `json:"reason,omitempty"`   // why NextAt is far away
}

// Fetch is one URL released to a shard's fetcher.
type Fetch struct {
	V            int       `json:"v,omitempty"`
	Crawl        string    `json:"crawl"`
	ID           string    `json:"id"` // weburl.ID, 32 hex digits
	URL          string    `json:"url"`
	Visit        int       `json:"visit"`
	Release      int64     `json:"release"`
	Attempt      int       `json:"attempt"` // 1 for the first
	Depth        int       `json:"depth"`
	Hops         int       `json:"hops,omitempty"` // redirects that led here
	LeaseUntil   time.Time `json:"lease_until"`
	ETag         string    `json:"etag,omitempty"`
	LastModified string    `json:"last_modified,omitempty"`
	DelayMS      int64     `json:"delay_ms,omitempty"` // the crawl's own; 0 is the fetcher's default, -1 is none
	Host         Host      `json:"host"`
}

// Status is how a visit ended.
type Status string

// The statuses.
const (
	StatusDone     Status = "done"
	StatusFailed   Status = "failed"
	StatusExcluded Status = "excluded"
)

// Outcome closes one visit of a URL. Links are what the page led to, for admission in the same
// transaction. Code is the HTTP status, 0 when no response came.
type Outcome struct {
	Crawl        string `json:"crawl"`
	ID           string `json:"id"`
	Visit        int    `json:"visit"`
	Status       Status `json:"status"`
	Reason       string `json:"reason,omitempty"`
	Code         int    `json:"code,omitempty"`
	Stored       bool   `json:"stored,omitempty"` // a page was stored: the budget stays taken
	Redirect     bool   `json:"redirect,omitempty"`
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"last_modified,omitempty"`
	Links        []Link `json:"links,omitempty"`
	Host         Host   `json:"host"`
}

// Link is a canonical URL that a page led to. Rel is the element's rel tokens that matter (nofollow).
// Tag is where it stood: a, area, link, frame, iframe, meta, canonical, redirect.
type Link struct {
	URL      string `json:"url"`
	Tag      string `json:"tag,omitempty"`
	Text     string `json:"text,omitempty"`
	NoFollow bool   `json:"nofollow,omitempty"`
}

// Done is the body of url.done: a batch of outcomes.
type Done struct {
	V        int       `json:"v,omitempty"`
	Outcomes []Outcome `json:"outcomes"`
}

// Retry is the body of url.retry: the URL goes back to the frontier. It acts only on the release it
// names. NotBefore holds the URL, Host.NextAt the host. Attempt says whether it counts as a try.
type Retry struct {
	V         int       `json:"v,omitempty"`
	Crawl     string    `json:"crawl"`
	ID        string    `json:"id"`
	Visit     int       `json:"visit"`
	Release   int64     `json:"release"`
	NotBefore time.Time `json:"not_before,omitzero"`
	Reason    string    `json:"reason"`
	Attempt   bool      `json:"attempt,omitempty"`
	Host      Host      `json:"host"`
}

// ChangeEvent is the body of change.<what>.<host>.
type ChangeEvent struct {
	V         int       `json:"v,omitempty"`
	Crawl     string    `json:"crawl"`
	ID        string    `json:"id"`
	URL       string    `json:"url"`
	Visit     int       `json:"visit"`
	What      Change    `json:"what"`
	Code      int       `json:"code"`
	FetchedAt time.Time `json:"fetched_at"`
	SHA256    string    `json:"sha256,omitempty"`
	OldSHA256 string    `json:"old_sha256,omitempty"`
}

// Encode writes a small message as JSON. It returns ErrTooLarge above MaxMessage.
func Encode(v any) ([]byte, error) {
	body, err := marshal(v)
	if err != nil {
		return nil, fmt.Errorf("write %T: %w", v, err)
	}
	if len(body) > MaxMessage {
		return nil, fmt.Errorf("write %T of %d bytes: %w", v, len(body), ErrTooLarge)
	}
	return body, nil
}

// marshal writes one line of JSON without the line's end. "&", "<" and ">" stand for themselves: as
// \u0026 they would make a page of links and text several times as long as its limits say, and a
// tap's output unreadable.
func marshal(v any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte{'\n'}), nil
}

// DecodeFetch reads a fetch message.
func DecodeFetch(body []byte) (Fetch, error) {
	var m Fetch
	err := decode(body, &m, &m.V)
	if err == nil && (m.URL == "" || m.ID == "" || m.Crawl == "") {
		err = fmt.Errorf("read fetch: url, id or crawl is missing")
	}
	return m, err
}

// DecodeDone reads a url.done message.
func DecodeDone(body []byte) (Done, error) {
	var m Done
	err := decode(body, &m, &m.V)
	for i := 0; err == nil && i < len(m.Outcomes); i++ {
		err = m.Outcomes[i].check()
	}
	if err == nil && len(m.Outcomes) == 0 {
		err = fmt.Errorf("read url.done: outcomes is empty")
	}
	return m, err
}

func (o Outcome) check() error {
	switch o.Status {
	case StatusDone, StatusFailed, StatusExcluded:
	default:
		return fmt.Errorf("read outcome: status %q: want done, failed or excluded", Clip(string(o.Status), 80))
	}
	if o.ID == "" || o.Crawl == "" || o.Visit < 1 {
		return fmt.Errorf("read outcome: id, crawl or visit is missing")
	}
	return nil
}

// DecodeRetry reads a url.retry message.
func DecodeRetry(body []byte) (Retry, error) {
	var m Retry
	err := decode(body, &m, &m.V)
	if err == nil && (m.ID == "" || m.Crawl == "" || m.Visit < 1 || m.Release < 1) {
		err = fmt.Errorf("read url.retry: id, crawl, visit or release is missing")
	}
	return m, err
}

func decode(body []byte, into any, version *int) error {
	err := json.Unmarshal(body, into)
	if err == nil {
		return checkVersion(*version)
	}
	// A newer version may have changed a field's type: that is no broken message.
	var head struct {
		V int `json:"v"`
	}
	if json.Unmarshal(body, &head) == nil && head.V > Version {
		return checkVersion(head.V)
	}
	return fmt.Errorf("read %T: %w", into, err)
}
