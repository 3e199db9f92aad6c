package webtest_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/warrenmq/warren/libs/webtest"
)

var update = flag.Bool("update", false, "write the golden files")

// The truth comes from the layout. A crawler that sees only HTTP must find the same, in webs of many
// sizes, as corners and robots.txt are dealt out by the host's index.
func TestTruthIsWhatACrawlerFinds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		seed         uint64
		hosts, pages int
	}{{1, 200, 0}, {2, 1, 0}, {3, 2, 9}, {4, 7, 1}, {5, 12, 40}, {6, 29, 3}} {
		t.Run(fmt.Sprintf("seed %d hosts %d", tt.seed, tt.hosts), func(t *testing.T) {
			t.Parallel()
			web := webtest.New(webtest.Options{Seed: tt.seed, Hosts: webtest.HostNames(tt.hosts), PagesPerHost: tt.pages})
			server := httptest.NewServer(web)
			defer server.Close()
			anywhere := func(string) bool { return true }
			got := crawl(t, web.Seeds(), server.Listener.Addr().String(), anywhere)
			same(t, web.Truth(), got)

			for _, v := range web.Check(web.Log(), nil) {
				t.Errorf("the crawl broke manners: %v", v)
			}
		})
	}
}

func TestTruthOfTheSeedsHost(t *testing.T) {
	t.Parallel()
	web := webtest.New(webtest.Options{Seed: 1, Hosts: webtest.HostNames(20)})
	server := httptest.NewServer(web)
	defer server.Close()
	got := crawl(t, web.Seeds(), server.Listener.Addr().String(), func(host string) bool { return host == "h000.web.test" })
	want := web.Expected(webtest.ScopeHost)
	same(t, want, got)
	if len(want.Stored) < 5 {
		t.Errorf("only %d URLs stored on the seed's host", len(want.Stored))
	}
}

// same compares all but Never, which a crawler cannot see: it must not have asked for those.
func same(t *testing.T, want, got webtest.Truth) {
	t.Helper()
	never := want.Never
	want.Never = nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("truth (-layout +crawl):\n%s", diff)
	}
	for link, why := range never {
		if _, stored := got.Stored[link]; stored || why == "" {
			t.Errorf("%s is never to be found (%q): stored %v", link, why, stored)
		}
	}
}

// The text of the web and its wire form must not change by accident: recorded runs would not compare.
func TestGoldenTruth(t *testing.T) {
	t.Parallel()
	web := webtest.New(webtest.Options{Seed: 1, Hosts: webtest.HostNames(1), PagesPerHost: 2})
	got, err := json.MarshalIndent(web.Truth(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	const file = "testdata/truth-1-host.json"
	if *update {
		if err := os.WriteFile(file, append(got, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.TrimSpace(string(want)), string(got)); diff != "" {
		t.Errorf("truth differs from %s (-want +got); go test -update if it is meant:\n%s", file, diff)
	}
}

// Whatever the size and the seed, a crawl finds every host, and reads those that are not closed.
func TestAllHostsAreFound(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 130; n += 1 + n/4 {
		for seed := range uint64(3) {
			web := webtest.New(webtest.Options{Seed: seed, Hosts: webtest.HostNames(n), PagesPerHost: 1})
			truth := web.Truth()
			for i, host := range web.Hosts() {
				root := "http://" + host + "/"
				if i%8 == 6 && truth.Excluded[root] != "robots" || i%8 != 6 && truth.Stored[root].Status != 200 {
					t.Errorf("seed %d, %d hosts: %s is not found", seed, n, root)
				}
			}
		}
	}
}

func TestSameSeedSameWeb(t *testing.T) {
	t.Parallel()
	truth := func(seed uint64) webtest.Truth {
		return webtest.New(webtest.Options{Seed: seed, Hosts: webtest.HostNames(13)}).Truth()
	}
	if diff := cmp.Diff(truth(7), truth(7)); diff != "" {
		t.Errorf("one seed, two webs:\n%s", diff)
	}
	if cmp.Equal(truth(7), truth(8)) {
		t.Error("two seeds, one web")
	}
}
