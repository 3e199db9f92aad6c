package status

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/warrenmq/warren/cmd/warren/exit"
	"github.com/warrenmq/warren/cmd/warren/term"
)

// Status is dedup's answer to GET /api/v1/status. Times are null where there is none.
type Status struct {
	Crawls      []Crawl `json:"crawls"`
	Hosts       []Host  `json:"hosts"` // that wait
	Shards      int     `json:"shards"`
	Outstanding int64   `json:"outstanding"` // URLs released and not closed
}

// Crawl is one crawl with its counts of URLs by state, and of the last three by reason.
type Crawl struct {
	Name        string           `json:"name"`
	State       string           `json:"state"`
	CreatedAt   time.Time        `json:"created_at"`
	FinishedAt  *time.Time       `json:"finished_at"`
	Pages       int64            `json:"pages"`        // stored
	PagesTaken  int64            `json:"pages_taken"`  // of the budget; more than stored while pages are out
	PagesBudget int64            `json:"pages_budget"` // 0 is no limit
	URLs        map[string]int64 `json:"urls"`
	Failed      map[string]int64 `json:"failed"`
	Excluded    map[string]int64 `json:"excluded"`
	Skipped     map[string]int64 `json:"skipped"` // links that were never admitted
}

// ended tells whether nothing more will happen to the crawl by itself.
func (c Crawl) ended() bool {
	return c.State == "finished" || c.State == "cancelled" || c.State == "expired"
}

// Host is a host as dedup knows it.
type Host struct {
	Name        string     `json:"name"`
	NextAt      *time.Time `json:"next_at"`
	DelayMS     int64      `json:"delay_ms"`
	Outstanding int64      `json:"outstanding"`
	Reason      string     `json:"reason"`
}

// URL is dedup's answer to GET /api/v1/url.
type URL struct {
	URL        string     `json:"url"`
	Crawl      string     `json:"crawl"`
	State      string     `json:"state"`
	Reason     string     `json:"reason"`
	DueAt      *time.Time `json:"due_at"`
	LeaseUntil *time.Time `json:"lease_until"`
	Visit      int64      `json:"visit"`
	Release    int64      `json:"release"`
	Attempts   int64      `json:"attempts"`
	Depth      int64      `json:"depth"`
	Code       int64      `json:"code"`
	Host       Host       `json:"host"`
	Why        string     `json:"why"`
}

// client asks dedup.
type client struct {
	base string
	http *http.Client
}

// Bounds of one question. The answer grows with the number of crawls.
const (
	askTimeout = 15 * time.Second
	maxAnswer  = 64 << 20
)

func newClient(base string) *client {
	return &client{
		base: strings.TrimSuffix(base, "/"),
		http: &http.Client{Timeout: askTimeout, Transport: &http.Transport{Proxy: http.ProxyFromEnvironment}},
	}
}

func (c *client) close() { c.http.CloseIdleConnections() }

// answer is what dedup said, and the bytes it said it in.
type answer[T any] struct {
	Value T
	Raw   []byte
}

// get asks for path with the parameters that are not empty. Its error has the exit status.
func get[T any](ctx context.Context, c *client, path string, parameters ...string) (answer[T], error) {
	query := url.Values{}
	for i := 0; i < len(parameters); i += 2 {
		if parameters[i+1] != "" {
			query.Set(parameters[i], parameters[i+1])
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	var a answer[T]
	body, err := c.ask(ctx, path)
	if err != nil {
		return a, err
	}
	if err := json.Unmarshal(body, &a.Value); err != nil {
		return a, fmt.Errorf("ask dedup at %s: read the answer: %w", c.base, err)
	}
	a.Raw = body
	return a, nil
}

func (c *client) ask(ctx context.Context, path string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+path, nil)
	if err != nil {
		return nil, exit.With(exit.Usage, fmt.Errorf("ask dedup: %w", err))
	}
	resp, err := c.http.Do(req)
	if errors.Is(err, context.Canceled) {
		return nil, err
	} else if err != nil {
		return nil, exit.With(exit.Unreachable, fmt.Errorf("ask dedup: %w\nis it running? WARREN_DEDUP_URL says where", err))
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, exit.With(exit.Unreachable, fmt.Errorf("ask dedup at %s: %w", c.base, err))
	}
	return body, c.refusal(resp.StatusCode, body)
}

// refusal is dedup's own word of what is wrong, nil if nothing is.
func (c *client) refusal(code int, body []byte) error {
	if code == http.StatusOK {
		return nil
	}
	var said struct {
		Error string `json:"error"`
	}
	if json.Unmarshal(body, &said) != nil || said.Error == "" {
		return exit.With(exit.Unexpected, fmt.Errorf("ask dedup at %s: HTTP status %d and no reason; is it dedup that answers there?", c.base, code))
	}
	status := exit.Unexpected
	switch code {
	case http.StatusNotFound:
		status = exit.Nothing
	case http.StatusBadRequest:
		status = exit.Usage
	case http.StatusServiceUnavailable:
		status = exit.Unreachable
	}
	return exit.With(status, errors.New(term.Text(said.Error, 500)))
}
