package webtest

import (
	"strings"
	"testing"

	"github.com/warrenmq/warren/libs/weburl"
)

// The truth's canonical URLs are Warren's: weburl reads each link, as it is written, as what the
// layout says it means.
func TestLinksReadByWeburl(t *testing.T) {
	t.Parallel()
	web := New(Options{Seed: 1, Hosts: append(HostNames(24), "127.0.1.1:8080", "127.0.1.2:8080")})
	checked := 0
	for _, s := range web.sites {
		for _, p := range s.order {
			own := parse(t, p.url())
			if own.String() != p.url() || own.Host() != s.host || own.PathQuery() != p.path {
				t.Errorf("page %s is %s to weburl, of host %s", p.url(), own, own.Host())
			}
			base := own
			if len(p.baseHrefs) > 0 {
				base = resolve(t, own, p.baseHrefs[0])
			}
			links := []link{p.location}
			if p.links != nil {
				links = p.links()
			}
			for _, l := range links {
				if l.target == "" {
					continue
				}
				if l.via == viaRefresh {
					_, l.href, _ = strings.Cut(strings.ReplaceAll(strings.ToLower(l.href), "'", ""), "url=")
				}
				if got := resolve(t, base, l.href); got.String() != l.target {
					t.Errorf("%s: link %q is %s to weburl, %s in the truth", p.url(), l.href, got, l.target)
				}
				checked++
			}
		}
	}
	if checked < 1000 {
		t.Errorf("only %d links", checked)
	}
}

// A crawl of scope domain reaches all hosts that HostNames makes.
func TestHostNamesAreOneDomain(t *testing.T) {
	t.Parallel()
	for _, host := range HostNames(1001) {
		if got := weburl.Domain(host); got != "web.test" {
			t.Errorf("domain of %s is %q, want web.test", host, got)
		}
	}
}

func parse(t *testing.T, raw string) weburl.URL {
	t.Helper()
	return resolve(t, weburl.URL{}, raw)
}

func resolve(t *testing.T, base weburl.URL, ref string) weburl.URL {
	t.Helper()
	u, err := base.Resolve(ref)
	if err != nil {
		t.Fatalf("resolve %q: %v", ref, err)
	}
	return u
}
