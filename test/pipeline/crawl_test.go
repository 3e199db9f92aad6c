package pipeline_test

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/warrenmq/warren/libs/webtest"
	"github.com/warrenmq/warren/services/fetcher"
	"github.com/warrenmq/warren/test/pipeline"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestLittleWeb crawls a small web whole over the real broker and database, while a fetcher leaves and
// one joins, and compares what is stored, failed and excluded with the truth, and the web's access log
// with good manners.
func TestLittleWeb(t *testing.T) {
	const delay = 50 * time.Millisecond
	server, err := webtest.Listen(webtest.Options{Seed: 11, PagesPerHost: 4, Delay: 2 * delay}, 24)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	truth := server.Web.Expected(webtest.ScopeAll)

	cfg := fetcher.DefaultConfig()
	cfg.Allow, cfg.Delay, cfg.RetryBase = server.Allow, delay, 200*time.Millisecond
	p := pipeline.Start(t, pipeline.Options{Fetchers: 2, Parsers: 2, Dedups: 2, Stores: 2, Fetcher: cfg})
	leaving := p.Fetcher()
	for _, seed := range server.Web.Seeds() {
		p.Seed(`{"url":"` + seed + `","scope":"any"}`)
	}
	p.Until(time.Minute, "some pages", func() bool { return p.Pages("default") > len(truth.Stored)/4 })
	leaving()
	p.Fetcher()
	p.Finished("default", 2*time.Minute)

	checkStored(t, p.Stored("default"), truth)
	checkEnded(t, p.Ended("default"), truth)
	for _, v := range server.Web.Check(server.Web.Log(), func(host string) time.Duration {
		return max(delay, server.Web.CrawlDelay(host))
	}) {
		t.Error(v)
	}
}

func checkStored(t *testing.T, stored map[string]pipeline.Row, truth webtest.Truth) {
	t.Helper()
	for url, fact := range truth.Stored {
		row, found := stored[url]
		switch {
		case !found:
			t.Errorf("not stored: %s (%d)", url, fact.Status)
		case row.Times != 1:
			t.Errorf("stored %d times: %s", row.Times, url)
		case row.Status != fact.Status || row.Title != fact.Title || row.SHA256 != fact.SHA256:
			t.Errorf("%s: stored %+v, want %+v", url, row, fact)
		}
	}
	for url := range stored {
		if _, known := truth.Stored[url]; !known {
			t.Errorf("stored, not reachable: %s", url)
		}
	}
}

func checkEnded(t *testing.T, ended map[string]string, truth webtest.Truth) {
	t.Helper()
	want := map[string]string{}
	for url, reason := range truth.Failed {
		want[url] = "failed " + reason
	}
	for url, reason := range truth.Excluded {
		want[url] = "excluded " + reason
	}
	for url, how := range want {
		if ended[url] != how {
			t.Errorf("%s: %q, want %q", url, ended[url], how)
		}
	}
	for url, how := range ended {
		if want[url] == "" {
			t.Errorf("%s: %q, want it done", url, how)
		}
	}
}
