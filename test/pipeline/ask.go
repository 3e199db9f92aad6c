package pipeline

import (
	"fmt"
	"time"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq"
)

// Seed publishes the body of a url.seed message.
func (p *Pipeline) Seed(body string) {
	p.Helper()
	p.must(p.Bus.Publish(p.Context(), mq.Message{Key: contract.KeySeed, Body: []byte(body)}))
}

// CrawlState is the state of a crawl, "" before it is known.
func (p *Pipeline) CrawlState(crawl string) (state string) {
	p.Helper()
	p.must(p.Pool.QueryRow(p.Context(), `SELECT coalesce(max(state), '') FROM crawl WHERE name = $1`, crawl).Scan(&state))
	return state
}

// Pages counts the stored pages of a crawl.
func (p *Pipeline) Pages(crawl string) (n int) {
	p.Helper()
	p.must(p.Pool.QueryRow(p.Context(), `SELECT count(*) FROM page WHERE crawl = $1`, crawl).Scan(&n))
	return n
}

// Until polls a condition every 50 ms.
func (p *Pipeline) Until(limit time.Duration, what string, condition func() bool) {
	p.Helper()
	deadline := time.After(limit)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-deadline:
			p.Fatalf("%s: not within %v; %s", what, limit, p.counts())
		case <-tick.C:
		}
	}
}

// Finished waits for a crawl's end.
func (p *Pipeline) Finished(crawl string, limit time.Duration) {
	p.Helper()
	p.Until(limit, "crawl "+crawl+" finished", func() bool { return p.CrawlState(crawl) == "finished" })
}

// counts is the frontier in one line, for a test that fails.
func (p *Pipeline) counts() string {
	rows, err := p.Pool.Query(p.Context(), `SELECT crawl, key, sum(n)::bigint FROM tally GROUP BY 1, 2 HAVING sum(n) <> 0 ORDER BY 1, 2`)
	if err != nil {
		return err.Error()
	}
	defer rows.Close()
	text := ""
	for rows.Next() {
		var crawl, n int
		var key string
		if err := rows.Scan(&crawl, &key, &n); err != nil {
			return err.Error()
		}
		text += fmt.Sprintf(" %d:%s=%d", crawl, key, n)
	}
	return "counters:" + text
}

// Stored reads what is stored of a crawl: URL, HTTP status, body hash in hex, how many rows.
func (p *Pipeline) Stored(crawl string) map[string]Row {
	p.Helper()
	rows, err := p.Pool.Query(p.Context(), `SELECT url, code, coalesce(encode(sha256, 'hex'), encode(sha256(''), 'hex')), coalesce(title, ''),
		count(*) OVER (PARTITION BY url) FROM page WHERE crawl = $1`, crawl)
	p.must(err)
	defer rows.Close()
	stored := map[string]Row{}
	for rows.Next() {
		var url string
		var r Row
		p.must(rows.Scan(&url, &r.Status, &r.SHA256, &r.Title, &r.Times))
		stored[url] = r
	}
	p.must(rows.Err())
	return stored
}

// Row is a stored page.
type Row struct {
	Status int
	SHA256 string
	Title  string
	Times  int
}

// Ended reads the URLs of a crawl that are not done, with "failed " or "excluded " and the reason.
func (p *Pipeline) Ended(crawl string) map[string]string {
	p.Helper()
	rows, err := p.Pool.Query(p.Context(), `SELECT u.url, u.state, u.reason FROM url u
		JOIN crawl c ON c.id = u.crawl WHERE c.name = $1 AND u.state <> 3`, crawl)
	p.must(err)
	defer rows.Close()
	ended := map[string]string{}
	for rows.Next() {
		var url, reason string
		var state int
		p.must(rows.Scan(&url, &state, &reason))
		ended[url] = [...]string{"waiting", "ready", "released", "done", "failed", "excluded"}[state] + " " + reason
	}
	p.must(rows.Err())
	return ended
}
