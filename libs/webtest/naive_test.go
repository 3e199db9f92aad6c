package webtest_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/warrenmq/warren/libs/webtest"
)

// naive is an independent crawler: it knows the web by HTTP only, one request after the other. What it
// finds must be what the web says of itself.
type naive struct {
	t      *testing.T
	client *http.Client
	scope  func(host string) bool
	robots map[string]*rules
	seen   map[string]bool
	queue  []task
	truth  webtest.Truth
}

type task struct {
	url  string
	hops int
}

// crawl crawls a web that listens at addr, or at the hosts' own names if addr is "".
func crawl(t *testing.T, seeds []string, addr string, scope func(host string) bool) webtest.Truth {
	t.Helper()
	transport := &http.Transport{
		DialContext: func(ctx context.Context, network, host string) (net.Conn, error) {
			if addr != "" {
				host = addr
			}
			return new(net.Dialer).DialContext(ctx, network, host)
		},
		MaxIdleConnsPerHost: 1,
	}
	t.Cleanup(transport.CloseIdleConnections)
	n := &naive{
		t: t, scope: scope, robots: make(map[string]*rules), seen: make(map[string]bool),
		client: &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		}},
		truth: webtest.Truth{
			Seeds: seeds, Stored: make(map[string]webtest.Fact), Failed: make(map[string]string), Excluded: make(map[string]string),
		},
	}
	for _, seed := range seeds {
		n.admit(seed, 0)
	}
	for len(n.queue) > 0 {
		next := n.queue[0]
		n.queue = n.queue[1:]
		n.visit(next)
	}
	return n.truth
}

func (n *naive) admit(link string, hops int) {
	if u, err := url.Parse(link); err != nil || !n.scope(u.Host) || hops > 10 || n.seen[link] {
		return
	}
	n.seen[link] = true
	n.queue = append(n.queue, task{link, hops})
}

func (n *naive) visit(next task) {
	u, err := url.Parse(next.url)
	if err != nil {
		n.t.Fatalf("parse %s: %v", next.url, err)
	}
	if n.robots[u.Host] == nil {
		res, body := n.get("http://" + u.Host + "/robots.txt")
		n.robots[u.Host] = readRules(res.StatusCode, string(body))
	}
	if !n.robots[u.Host].allow(u.RequestURI()) {
		n.truth.Excluded[next.url] = "robots"
		return
	}
	var res *http.Response
	var body []byte
	for range 4 {
		if res, body = n.get(next.url); res.StatusCode < 500 {
			break
		}
	}
	if res.StatusCode >= 500 {
		n.truth.Failed[next.url] = fmt.Sprintf("http %d", res.StatusCode)
		return
	}
	sum := sha256.Sum256(body)
	fact := webtest.Fact{Status: res.StatusCode, SHA256: hex.EncodeToString(sum[:]), ContentType: res.Header.Get("Content-Type")}
	if location := res.Header.Get("Location"); location != "" {
		fact.Location = canonical(u, location)
		n.admit(fact.Location, next.hops+1)
		fact.Links, fact.Followed = 1, 1
	}
	if kind, _, _ := mime.ParseMediaType(fact.ContentType); kind == "text/html" && len(body) > 0 {
		n.read(u, res, body, &fact)
	}
	n.truth.Stored[next.url] = fact
}

func (n *naive) get(link string) (*http.Response, []byte) {
	res, err := n.client.Get(link)
	if err != nil {
		n.t.Fatalf("get: %v", err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		n.t.Fatalf("read %s: %v", link, err)
	}
	return res, body
}

// rules are the rules of the group for all crawlers.
type rules struct{ lines []rule }

type rule struct {
	allow   bool
	length  int
	pattern *regexp.Regexp
}

func readRules(status int, body string) *rules {
	r := new(rules)
	if status != http.StatusOK {
		return r
	}
	mine := false
	for line := range strings.Lines(body) {
		line, _, _ = strings.Cut(line, "#")
		name, value, ok := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch name = strings.ToLower(strings.TrimSpace(name)); {
		case !ok || value == "":
		case name == "user-agent":
			mine = value == "*"
		case mine && (name == "allow" || name == "disallow"):
			p := regexp.QuoteMeta(value)
			p = strings.ReplaceAll(p, `\*`, ".*")
			p = strings.Replace(p, `\$`, "$", 1)
			r.lines = append(r.lines, rule{name == "allow", len(value), regexp.MustCompile("^" + p)})
		}
	}
	return r
}

func (r *rules) allow(target string) bool {
	best, allowed := -1, true
	for _, line := range r.lines {
		if line.pattern.MatchString(target) && (line.length > best || line.length == best && line.allow) {
			best, allowed = line.length, line.allow
		}
	}
	return allowed
}
