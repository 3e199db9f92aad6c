package seed_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/urfave/cli/v3"
	"go.uber.org/goleak"

	"github.com/warrenmq/warren/cmd/warren/seed"
	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/daemon"
	"github.com/warrenmq/warren/libs/mq/rabbit/rabbittest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// outcome is what a run of the command did.
type outcome struct {
	status         int
	stdout, stderr string
}

func warrenSeed(t *testing.T, stdin string, args ...string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	root := &cli.Command{
		Name: "warren", Reader: strings.NewReader(stdin), Writer: &stdout, ErrWriter: &stderr,
		Commands:       []*cli.Command{seed.Command(slog.New(slog.DiscardHandler))},
		ExitErrHandler: func(context.Context, *cli.Command, error) {},
	}
	err := root.Run(t.Context(), append([]string{"warren", "seed"}, args...))
	if err != nil {
		fmt.Fprintln(&stderr, err)
	}
	return outcome{daemon.Status(err), stdout.String(), stderr.String()}
}

func (o outcome) check(t *testing.T, status int, stdout string, stderr ...string) {
	t.Helper()
	if o.status != status || o.stdout != stdout {
		t.Errorf("exit status %d, stdout %q; want %d, %q", o.status, o.stdout, status, stdout)
	}
	for _, want := range stderr {
		if !strings.Contains(o.stderr, want) {
			t.Errorf("stderr %q; want in it %q", o.stderr, want)
		}
	}
}

// messages takes everything out of a queue: all that comes before a last message of its own. (basic.get
// does not work on a queue with a single active consumer.)
func messages(t *testing.T, url, queue string) (all []amqp.Delivery) {
	t.Helper()
	conn, err := amqp.Dial(url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	channel, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	if err := channel.PublishWithContext(t.Context(), "", queue, true, false, amqp.Publishing{Type: "last"}); err != nil {
		t.Fatal(err)
	}
	deliveries, err := channel.ConsumeWithContext(t.Context(), queue, "", true, false, false, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	for d := range deliveries {
		if d.Type == "last" {
			return all
		}
		all = append(all, d)
	}
	t.Fatalf("queue %s: the last message did not come", queue)
	return nil
}

func seedsIn(t *testing.T, url string) (all []contract.Seed) {
	t.Helper()
	for _, d := range messages(t, url, contract.QueueDedup) {
		if d.RoutingKey != contract.KeySeed || d.DeliveryMode != amqp.Persistent || d.ContentType != "application/json" {
			t.Errorf("message %s, delivery mode %d, %s", d.RoutingKey, d.DeliveryMode, d.ContentType)
		}
		seeds, err := contract.DecodeSeeds(d.Body)
		if err != nil {
			t.Errorf("dedup would refuse %s: %v", d.Body, err)
		}
		all = append(all, seeds...)
	}
	return all
}

func broker(t *testing.T) string {
	t.Helper()
	url := rabbittest.VHost(t)
	t.Setenv("WARREN_AMQP_URLS", url)
	return url
}

func TestSeedsArrive(t *testing.T) {
	url := broker(t)
	got := warrenSeed(t, "", "--crawl", "docs", "--scope", "prefix", "--depth", "0", "--include", "a{1,2}", "--include", "b",
		"--exclude", `\.pdf$`, "--priority", "-7", "HTTPS://user:secret@Example.com:443/docs/#top", "http://b.example")
	got.check(t, 0, "crawl docs: seeds: 2 of 2 confirmed\n")
	depth := 0
	scope := contract.Scope{
		Kind: contract.ScopePrefix, Include: []string{"a{1,2}", "b"}, Exclude: []string{`\.pdf$`}, Depth: &depth,
	}
	want := []contract.Seed{
		{URL: "https://example.com/docs/", Crawl: "docs", Priority: -7, Scope: scope},
		{URL: "http://b.example/", Crawl: "docs", Priority: -7, Scope: scope},
	}
	if diff := cmp.Diff(want, seedsIn(t, url)); diff != "" {
		t.Errorf("-want +in the queue:\n%s", diff)
	}
}

func TestSeedsFromAllSources(t *testing.T) {
	url := broker(t)
	file := filepath.Join(t.TempDir(), "sites.txt")
	if err := os.WriteFile(file, []byte("\ufeffhttps://c.example/\r\n# no\r\n\r\nhttps://d.example/"), 0o600); err != nil {
		t.Fatal(err)
	}
	warrenSeed(t, "https://b.example/\n", "--file", file, "--json", "https://a.example/", "-").
		check(t, 0, `{"crawl":"default","started":false,"seeds":4,"confirmed":4,"invalid":0}`+"\n")
	var urls []string
	for _, s := range seedsIn(t, url) {
		urls = append(urls, s.URL)
	}
	slices.Sort(urls)
	if got := strings.Join(urls, " "); got != "https://a.example/ https://b.example/ https://c.example/ https://d.example/" {
		t.Errorf("in the queue: %s", got)
	}
}

// A bad line is told with its place and value; the good ones around it arrive.
func TestBadLines(t *testing.T) {
	url := broker(t)
	lines := "https://a.example/\nexample.com\n\nmailto:me@example.com\nhttps://\x1b[31m/\nhttps://a.example/" +
		strings.Repeat("x", 5000) + "\nhttps://b.example/\n"
	stderr := []string{
		"stdin line 2: example.com: not a whole url: want for example https://example.com/",
		"stdin line 4: mailto:me@example.com: not an http or https url",
		`stdin line 5: https://\x1b[31m/: invalid url`,
		"stdin line 6: https://a.example/xxx", "url too long",
	}
	warrenSeed(t, lines, "-").check(t, 2, "crawl default: seeds: 2 of 2 confirmed\n",
		append(stderr, "4 URLs were not sent because invalid; the others are")...)
	warrenSeed(t, lines, "--skip-invalid", "-").check(t, 0, "crawl default: seeds: 2 of 2 confirmed\n", stderr...)
	if got := seedsIn(t, url); len(got) != 4 {
		t.Errorf("in the queue: %+v, want the two good ones twice", got)
	}
}

// Longer than one message and than one batch.
func TestALongListArrivesWhole(t *testing.T) {
	url := broker(t)
	var lines strings.Builder
	const n = 4321
	for i := range n {
		fmt.Fprintf(&lines, "https://example.com/%d\n", i)
	}
	warrenSeed(t, lines.String(), "-").check(t, 0, fmt.Sprintf("crawl default: seeds: %d of %d confirmed\n", n, n))
	seen := map[string]bool{}
	for _, s := range seedsIn(t, url) {
		seen[s.URL] = true
	}
	if len(seen) != n {
		t.Errorf("%d different URLs are in the queue, want %d", len(seen), n)
	}
}

func TestStart(t *testing.T) {
	url := broker(t)
	warrenSeed(t, "", "--crawl", "docs", "--scope", "domain", "--depth", "3", "--priority", "5", "--pages", "100", "--pages-per-host", "10",
		"--delay", "0s", "--recrawl", "24h", "--not-before", "2026-11-21T08:00:00Z", "--expires", "2026-12-24",
		"https://a.example/", "https://b.example/").
		check(t, 0, "crawl docs: started with seeds: 2 of 2 confirmed\n")
	got := messages(t, url, contract.QueueCrawl)
	if len(got) != 1 || got[0].RoutingKey != contract.KeyCrawlStart {
		t.Fatalf("in the queue crawl: %+v, want one crawl.start", got)
	}
	spec, err := contract.DecodeCrawlSpec(got[0].Body)
	if err != nil {
		t.Fatalf("dedup would refuse %s: %v", got[0].Body, err)
	}
	begin, end := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC), time.Date(2026, 12, 24, 0, 0, 0, 0, time.UTC)
	depth, delay := 3, contract.Duration(0)
	want := contract.CrawlSpec{
		Name: "docs", Pages: 100, PagesPerHost: 10, Delay: &delay, Priority: 5, Recrawl: contract.Duration(24 * time.Hour),
		NotBefore: &begin, Expires: &end, Scope: contract.Scope{Kind: contract.ScopeDomain, Depth: &depth},
		Seeds: []contract.Seed{{URL: "https://a.example/", Crawl: "docs"}, {URL: "https://b.example/", Crawl: "docs"}},
	}
	if diff := cmp.Diff(want, spec); diff != "" {
		t.Errorf("-want +in the queue:\n%s", diff)
	}
	if rest := messages(t, url, contract.QueueDedup); len(rest) != 0 {
		t.Errorf("seeds were sent beside crawl.start: %d messages", len(rest))
	}
}

func TestStartWithoutSeeds(t *testing.T) {
	url := broker(t)
	warrenSeed(t, "", "--crawl", "docs", "--delay", "5s").check(t, 0, "crawl docs: started with seeds: 0 of 0 confirmed\n")
	if got := messages(t, url, contract.QueueCrawl); len(got) != 1 {
		t.Errorf("%d messages in the queue crawl, want 1", len(got))
	}
}

func TestNothingToSend(t *testing.T) {
	broker(t)
	warrenSeed(t, "# nothing\n\n", "-").check(t, 6, "crawl default: seeds: 0 of 0 confirmed\n", "there was no URL to send")
}

func TestBrokerAway(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = listener.Close()
	t.Setenv("WARREN_AMQP_URLS", "amqp://warren:hunter2@"+listener.Addr().String())
	t.Setenv("WARREN_AMQP_DELAY", "1ms")
	got := warrenSeed(t, "", "--json", "https://a.example/", "https://b.example/")
	got.check(t, 5, `{"crawl":"default","started":false,"seeds":2,"confirmed":0,"invalid":0}`+"\n",
		"gave up after 3 rounds", "connection refused", "to send the same URLs again is safe")
	if strings.Contains(got.stderr, "hunter2") {
		t.Errorf("stderr shows the password: %s", got.stderr)
	}
}

func TestBrokerThatSaysNothing(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close() // connections are accepted by the kernel and never answered
	t.Setenv("WARREN_AMQP_URLS", "amqp://guest:guest@"+listener.Addr().String())
	warrenSeed(t, "", "--timeout", "100ms", "https://a.example/").
		check(t, 5, "crawl default: seeds: 0 of 1 confirmed\n", "the broker has taken nothing for 100ms")
}

func TestResultIsOneJSONObject(t *testing.T) {
	broker(t)
	got := warrenSeed(t, "", "--json", "https://a.example/")
	var v map[string]any
	if err := json.Unmarshal([]byte(got.stdout), &v); err != nil || len(v) != 5 {
		t.Errorf("stdout %q: %v", got.stdout, err)
	}
}
