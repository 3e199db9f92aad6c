package contract

import (
	"bytes"
	"fmt"
	"time"
)

// Response is what a fetcher received: the first line of a response.<kind>.<host> message. The rest
// of the message is the decoded body, zstd-compressed (nothing when Size is 0).
type Response struct {
	V         int       `json:"v,omitempty"`
	Crawl     string    `json:"crawl"`
	ID        string    `json:"id"`
	URL       string    `json:"url"`
	Visit     int       `json:"visit"`
	Release   int64     `json:"release"`
	Depth     int       `json:"depth"`
	Hops      int       `json:"hops,omitempty"`
	Kind      Kind      `json:"kind"`
	Code      int       `json:"code"` // HTTP status
	FetchedAt time.Time `json:"fetched_at"`
	TookMS    int64     `json:"took_ms"`
	Proto     string    `json:"proto,omitempty"` // HTTP/1.1, HTTP/2.0
	Remote    string    `json:"remote,omitempty"`
	Size      int64     `json:"size"`     // of the decoded body that is carried, bytes
	Received  int64     `json:"received"` // bytes of body off the wire, before decoding
	Truncated string    `json:"truncated,omitempty"`
	Location  string    `json:"location,omitempty"` // canonical target of a redirect
	// Header holds the response's header fields, lower-case names, bounded and valid UTF-8.
	Header map[string][]string `json:"header,omitempty"`
	Host   Host                `json:"host"`
}

// Page is a parsed response: the first line of a page.<kind>.<host> message, the body behind it.
type Page struct {
	Response
	Charset     string   `json:"charset,omitempty"`
	Title       string   `json:"title,omitempty"`
	Description string   `json:"description,omitempty"`
	Canonical   string   `json:"canonical,omitempty"`
	Language    string   `json:"language,omitempty"`
	Text        string   `json:"text,omitempty"` // main text, at most 1 MiB
	NoIndex     bool     `json:"noindex,omitempty"`
	NoFollow    bool     `json:"nofollow,omitempty"`
	SHA256      string   `json:"sha256,omitempty"` // of the decoded body, hex; "" for none
	Links       []Link   `json:"links,omitempty"`  // at most 10,000 and 2 MiB
	Flags       []string `json:"flags,omitempty"`  // what was cut or odd: links-cut, text-cut, parse-error …
}

// EncodeEnvelope writes facts, a newline and body. facts is a Response or a Page.
func EncodeEnvelope(facts any, body []byte) ([]byte, error) {
	head, err := marshal(facts)
	if err != nil {
		return nil, fmt.Errorf("write %T: %w", facts, err)
	}
	if n := len(head) + 1 + len(body); n > MaxMessage {
		return nil, fmt.Errorf("write %T of %d bytes: %w", facts, n, ErrTooLarge)
	}
	out := make([]byte, 0, len(head)+1+len(body))
	out = append(append(out, head...), '\n')
	return append(out, body...), nil
}

// DecodeResponse splits a response message; the body aliases msg and is still compressed.
func DecodeResponse(msg []byte) (Response, []byte, error) {
	var r Response
	body, err := decodeEnvelope(msg, &r, &r.V)
	if err == nil {
		err = r.check()
	}
	return r, body, err
}

// DecodePage splits a page message; the body aliases msg and is still compressed.
func DecodePage(msg []byte) (Page, []byte, error) {
	var p Page
	body, err := decodeEnvelope(msg, &p, &p.V)
	if err == nil {
		err = p.check()
	}
	return p, body, err
}

func (r Response) check() error {
	if r.ID == "" || r.URL == "" || r.Crawl == "" || r.Visit < 1 {
		return fmt.Errorf("read response: id, url, crawl or visit is missing")
	}
	return nil
}

func decodeEnvelope(msg []byte, into any, version *int) ([]byte, error) {
	head, body, found := bytes.Cut(msg, []byte{'\n'})
	if !found {
		return nil, fmt.Errorf("read %T: no newline behind the facts", into)
	}
	return body, decode(head, into, version)
}
