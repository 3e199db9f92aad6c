package webtest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/warrenmq/warren/libs/webtest"
)

// What becomes of each corner, said by hand: what the layout and the markup could get wrong together.
var (
	storedByHand = map[string]int{
		"/old/301": 301, "/old/302": 302, "/old/308": 308, "/new/moved.html": 200,
		"/chain/1": 302, "/chain/end.html": 200, "/hops/0": 302, "/hops/10": 302,
		"/loop/a": 302, "/loop/b": 301, "/loop/self": 302, "/away": 302, "/dir": 301, "/dir/": 200, "/dir/file.html": 200,
		"/missing.html": 404, "/gone.html": 410, "/flaky.html": 200, "/behind-flaky.html": 200,
		"/twin-a.html": 200, "/twin.html?copy=1": 200, "/index.html": 200, "/empty.html": 200,
		"/spell/caf%C3%A9.html": 200, "/~guest/": 200, "/spell/Menu.html": 200, "/spell/menu.html?b=2&a=1": 200,
		"/latin/header.html": 200, "/japan/meta.html": 200, "/unicode/utf16.html": 200,
		"/elements/area.html": 200, "/elements/next.html": 200, "/elements/canonical.html": 200,
		"/elements/iframe.html": 200, "/elements/frame-b.html": 200,
		"/base/moved/here.html": 200, "/refresh/done.html": 200, "/refresh/quoted.html": 200,
		"/nofollow/seen.html": 200, "/quiet/noindex.html": 200, "/quiet/behind-noindex.html": 200,
		"/files/dot.png": 200, "/files/note.txt": 200, "/files/data.json": 200,
		"/hub.html": 200, "/markup/last.html": 200, "/list?page=4": 200, "/deep/down/down/down/down/": 200,
	}
	neverByHand = []string{
		"/hops/11", "/hops/13", "/behind-gone.html", "/nofollow/hidden.html", "/nofollow/hidden-too.html",
		"/quiet/hidden-meta.html", "/quiet/hidden-none.html", "/quiet/hidden-header.html",
		"/markup/commented.html", "/markup/scripted.html", "/markup/typed.html", "/markup/style.css",
		"/orphan.html", "/behind-orphan.html",
	}
	excludedByHand = []string{"/private/closed.html", "/private/target.html", "/find?q=river", "/paper.shut"}
	// beside those that are excluded
	allowedByHand = []string{"/private/open.html", "/find", "/paper.shut.html", "/go-private"}
)

// All corners are there in a web of any size, and end as they must.
func TestCornersByHand(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 5, 6, 7, 8, 11, 12, 13, 14, 25, 200} {
		t.Run(fmt.Sprint(n, " hosts"), func(t *testing.T) {
			t.Parallel()
			web := webtest.New(webtest.Options{Seed: 1, Hosts: webtest.HostNames(n)})
			truth := web.Truth()
			for path, status := range storedByHand {
				if fact, ok := find(web, truth.Stored, path); !ok || fact.Status != status {
					t.Errorf("%s: stored %v with status %d, want %d", path, ok, fact.Status, status)
				}
			}
			if reason, _ := find(web, truth.Failed, "/broken.html"); reason != "http 500" {
				t.Errorf("/broken.html: failed(%q), want http 500", reason)
			}
			for _, path := range neverByHand {
				_, isStored := find(web, truth.Stored, path)
				if _, known := find(web, truth.Never, path); isStored || !known {
					t.Errorf("%s: stored %v, known as never to be found %v", path, isStored, known)
				}
			}
		})
	}
}

func TestRobotsByHand(t *testing.T) {
	t.Parallel()
	web := webtest.New(webtest.Options{Seed: 1})
	truth := web.Truth()
	if hosts := web.Hosts(); len(hosts) < 200 {
		t.Errorf("%d hosts by default, want at least 200", len(hosts))
	}
	for i, host := range web.Hosts() {
		for _, path := range excludedByHand {
			closed := i%8 == 2 || i%8 == 5 || i%8 == 7
			if reason := truth.Excluded["http://"+host+path]; closed != (reason == "robots") {
				t.Errorf("http://%s%s: excluded(%q), want robots: %v", host, path, reason, closed)
			}
		}
		for _, path := range allowedByHand {
			if fact, ok := truth.Stored["http://"+host+path]; ok != (i%8 == 2 || i%8 == 5 || i%8 == 7) {
				t.Errorf("http://%s%s: stored %v, with %v", host, path, ok, fact)
			}
		}
	}
}

func TestFactsByHand(t *testing.T) {
	t.Parallel()
	web := webtest.New(webtest.Options{Seed: 1})
	stored := web.Truth().Stored
	fact := func(path string) webtest.Fact {
		f, _ := find(web, stored, path)
		return f
	}
	if got, want := fact("/old/308").Location, "http://h000.web.test/new/permanent.html"; got != want {
		t.Errorf("location %s, want %s", got, want)
	}
	// Of h004's neighbours, h006 is closed, so the second that is open is h007.
	if got, want := fact("/away").Location, "http://h007.web.test/p/1.html"; got != want {
		t.Errorf("away leads to %s, want %s", got, want)
	}
	if a, b := fact("/twin-a.html"), fact("/twin-b.html"); a != b {
		t.Errorf("twins differ: %v and %v", a, b)
	}
	if a, b := fact("/empty.html").SHA256, fact("/old/301").SHA256; a != b || a[:8] != "e3b0c442" {
		t.Errorf("hashes of nothing are %s and %s", a, b)
	}
	for path, letters := range map[string]string{
		"/japan/header.html": "表東大古静川港庭船光手冬パそまゆ決見運日文ペソ能",
		"/japan/euc.html":    "表東大古静川港庭船光手冬パそまゆ決見運日文ペソ能",
	} {
		if title := fact(path).Title; !strings.ContainsAny(title, letters) {
			t.Errorf("%s: the title %q is not Japanese", path, title)
		}
	}
	if f := fact("/quiet/noindex.html"); !f.Noindex || f.Followed != 1 {
		t.Errorf("noindex page: %+v, want the flag and one link to follow", f)
	}
	if f := fact("/quiet/none.html"); !f.Noindex || f.Links != 1 || f.Followed != 0 {
		t.Errorf("page that says none: %+v, want the flag, and its link not followed", f)
	}
	if f := fact("/nofollow/index.html"); f.Links != 3 || f.Followed != 1 {
		t.Errorf("page of nofollow links: %+v, want 3 links, 1 to follow", f)
	}
	if f := fact("/gone.html"); f.Links != 0 || f.Title == "" {
		t.Errorf("error page: %+v, want a title and no links", f)
	}
	if links := fact("/hub.html").Links; links < 50 {
		t.Errorf("hub leads to %d URLs, want many", links)
	}
}

// find looks for a path on the hosts, in their order.
func find[T any](web *webtest.Web, among map[string]T, path string) (found T, ok bool) {
	for _, host := range web.Hosts() {
		if found, ok = among["http://"+host+path]; ok {
			return found, true
		}
	}
	return found, false
}
