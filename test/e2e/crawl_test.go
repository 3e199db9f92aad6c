//go:build e2e

package e2e_test

import (
	"encoding/json"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/warrenmq/warren/libs/webtest"
)

// TestScaledCrawl is the promise on one machine: eight fetchers and two of each other service crawl a
// web of 200 hosts whose every URL is known, while a fetcher is killed and others join.
func TestScaledCrawl(t *testing.T) {
	web := webtest.New(webtest.Options{Seed: 7, Hosts: webtest.HostNames(webHosts), Delay: crawlDelay})
	truth := web.Expected(webtest.ScopeAll)
	s := newStack(t)
	s.compose("--profile", "tools", "build")
	s.compose("up", "-d", "--wait", "rabbitmq", "postgres")
	s.compose("up", "-d", "web")
	s.admin("declare", "queue", "name=tap", "durable=true", "queue_type=quorum")
	s.admin("declare", "binding", "source=crawl", "destination=tap", "routing_key=page.html.test.web.h003.#")

	seeds := web.Seeds()
	s.seed(fmt.Sprintf(`{"url":%q,"crawl":"web","scope":"domain"}`, seeds[0])) // no service runs yet
	s.compose(append([]string{"up", "-d", "--wait"}, scaled(8)...)...)
	for _, seed := range seeds {
		s.seed(fmt.Sprintf(`{"url":%q,"crawl":"web","scope":"domain"}`, seed))
	}
	s.seed("http://" + bareHost + "/") // bare: crawl default, scope host

	s.until(3*time.Minute, "a fifth of the pages", func() bool { return s.pages("web") > len(truth.Stored)/5 })
	s.killFetcher()
	s.compose(append([]string{"up", "-d", "--no-recreate"}, scaled(9)...)...)
	s.until(8*time.Minute, "crawl web finished", func() bool { return s.finished("web") })
	s.until(time.Minute, "crawl default finished", func() bool { return s.finished("default") })

	s.checkPages(truth)
	s.checkFrontier(truth)
	s.checkLog(web)
	s.checkTap(truth)
	s.checkQueues()
	s.checkExport(len(truth.Stored))
}

// bareHost is crawled a second time, by a bare seed, as the crawl default.
const bareHost = "h153.web.test"

func (s *stack) pages(crawl string) int {
	s.Helper()
	text := s.psql(fmt.Sprintf("select count(*) from page where crawl = '%s'", crawl))[0]
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	s.Fatalf("count of pages: %q", text)
	return 0
}

// killFetcher kills one without a word: what it had in hand is delivered to another.
func (s *stack) killFetcher() {
	s.Helper()
	ids := strings.Fields(s.compose("ps", "-q", "fetcher"))
	if len(ids) != 8 {
		s.Fatalf("%d fetchers run, want 8", len(ids))
	}
	s.docker("kill", "--signal", "KILL", ids[3])
	s.docker("rm", ids[3])
}

type status struct {
	Crawls []struct {
		Name, State string
		URLs        map[string]int
		Failed      map[string]int
		Excluded    map[string]int
	}
}

// warren runs the tool service.
func (s *stack) warren(args ...string) string {
	s.Helper()
	return s.compose(append([]string{"run", "--rm", "-T", "warren"}, args...)...)
}

func (s *stack) finished(crawl string) bool {
	s.Helper()
	var st status
	if err := json.Unmarshal([]byte(s.warren("status", "--json", "--crawl", crawl)), &st); err != nil || len(st.Crawls) != 1 {
		s.Fatalf("warren status: %v %+v", err, st)
	}
	return st.Crawls[0].State == "finished"
}

// checkPages holds the stored set to the truth: every reachable URL, each once, with its status, body
// hash and title, and nothing else.
func (s *stack) checkPages(truth webtest.Truth) {
	s.Helper()
	// A body of no bytes is stored as none: it reads as the hash of nothing.
	rows := s.psql(`select url, code, coalesce(encode(sha256, 'hex'), encode(sha256(''), 'hex')),
		count(*) over (partition by url), title from page where crawl = 'web' order by url`)
	stored := map[string]bool{}
	for _, row := range rows {
		f := strings.Split(row, "\t")
		url := f[0]
		fact, known := truth.Stored[url]
		switch {
		case !known:
			s.Errorf("stored, not reachable: %s", url)
		case f[3] != "1":
			s.Errorf("stored %s times: %s", f[3], url)
		case f[1] != fmt.Sprint(fact.Status):
			s.Errorf("%s: status %s, want %d", url, f[1], fact.Status)
		case f[2] != fact.SHA256:
			s.Errorf("%s: body %s, want %s", url, f[2], fact.SHA256)
		case f[4] != fact.Title:
			s.Errorf("%s: title %q, want %q", url, f[4], fact.Title)
		}
		stored[url] = true
	}
	for url, fact := range truth.Stored {
		if !stored[url] {
			s.Errorf("not stored: %s (%d)", url, fact.Status)
		}
	}
	s.Logf("stored %d pages of %d", len(stored), len(truth.Stored))
	other := s.psql(`select count(*), count(distinct url), count(*) filter (where host <> '` + bareHost + `') from page where crawl = 'default'`)
	if f := strings.Split(other[0], "\t"); f[0] == "0" || f[0] != f[1] || f[2] != "0" {
		s.Errorf("crawl default: pages, distinct, of other hosts: %v", f)
	}
}

// checkFrontier: every admitted URL has ended, the failed and excluded ones with the reasons known.
func (s *stack) checkFrontier(truth webtest.Truth) {
	s.Helper()
	rows := s.psql(`select u.url, u.state, u.reason from url u join crawl c on c.id = u.crawl where c.name = 'web' and u.state <> 3`)
	got := map[string]string{}
	for _, row := range rows {
		f := strings.Split(row, "\t")
		got[f[0]] = map[string]string{"4": "failed ", "5": "excluded "}[f[1]] + f[2]
	}
	want := map[string]string{}
	for url, reason := range truth.Failed {
		want[url] = "failed " + reason
	}
	for url, reason := range truth.Excluded {
		want[url] = "excluded " + reason
	}
	for url := range want {
		if got[url] != want[url] {
			s.Errorf("%s: %q, want %q", url, got[url], want[url])
		}
	}
	for url := range got {
		if want[url] == "" {
			s.Errorf("%s: %q, want it done", url, got[url])
		}
	}
	if left := s.psql("select count(*) from host where outstanding <> 0"); left[0] != "0" {
		s.Errorf("%s hosts have URLs outstanding", left[0])
	}
}

// checkLog reads the web's own access log: no two requests of a host at once, none before its delay, all
// eight fetchers at work, no URL fetched again but for what was in hand of the killed one.
func (s *stack) checkLog(web *webtest.Web) {
	s.Helper()
	log := s.accessLog()
	kills := webtest.MaxFetches(func(host, _ string, expected int) int {
		if host == bareHost {
			expected *= 2
		}
		if expected == 0 {
			return 0
		}
		return expected + 1
	})
	violations := web.Check(log, func(host string) time.Duration { return max(delay, web.CrawlDelay(host)) }, kills)
	for i, v := range violations {
		if i == 20 {
			s.Errorf("and %d more", len(violations)-i)
			break
		}
		s.Errorf("%s", v)
	}
	fetchers := map[string]int{}
	for _, hit := range log {
		ip, _, err := net.SplitHostPort(hit.RemoteAddr)
		if err != nil {
			s.Fatal(err)
		}
		fetchers[ip]++
	}
	if len(fetchers) < 8 {
		s.Errorf("%d fetchers worked, want 8 at least: %v", len(fetchers), fetchers)
	}
	s.Logf("%d requests by %d fetchers: %v", len(log), len(fetchers), fetchers)
}
