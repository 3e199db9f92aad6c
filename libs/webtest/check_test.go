package webtest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/warrenmq/warren/libs/webtest"
)

// at makes a hit of "host path start end", in milliseconds; end - is a request that still runs, and
// end !n one whose client went away.
func at(line string) webtest.Hit {
	epoch := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var hit webtest.Hit
	var start int
	var end string
	if _, err := fmt.Sscan(line, &hit.Host, &hit.Path, &start, &end); err != nil {
		panic(err)
	}
	hit.Method, hit.Status = "GET", 200
	hit.Start = epoch.Add(time.Duration(start) * time.Millisecond)
	if digits, gone := strings.CutPrefix(end, "!"); gone {
		hit.Status, end = 499, digits
	}
	if end == "-" {
		hit.Status = 0
		return hit
	}
	var ms int
	if _, err := fmt.Sscan(end, &ms); err != nil {
		panic(err)
	}
	hit.End = epoch.Add(time.Duration(ms) * time.Millisecond)
	return hit
}

func TestCheck(t *testing.T) {
	t.Parallel()
	// h002 closes /private/, h006 all; h004 has the nofollow corner, h007 the broken page, h008 the flaky one.
	web := webtest.New(webtest.Options{Hosts: webtest.HostNames(24), Delay: time.Second})
	second := func(string) time.Duration { return time.Second }
	const robots0 = "h000.web.test /robots.txt 0 10\n"
	for _, tt := range []struct {
		name    string
		log     string
		delay   func(string) time.Duration
		options []webtest.CheckOption
		want    []string // "kind path"
	}{
		{name: "good", delay: second, log: robots0 + `
			h000.web.test / 1000 1010
			h000.web.test /p/1.html 2000 2900
			h001.web.test /robots.txt 1000 1010
			h001.web.test / 2005 2010`},
		{name: "order of lines does not matter", delay: second, log: `
			h000.web.test / 1000 1010
			` + robots0},
		{name: "hosts do not disturb each other", delay: second, log: robots0 + `
			h001.web.test /robots.txt 5 20
			h001.web.test / 1005 1006`},
		{name: "too soon", delay: second, log: robots0 + `
			h000.web.test / 979 985`, want: []string{"too soon /"}},
		{name: "within the tolerance", delay: second, log: robots0 + `
			h000.web.test / 981 985`},
		{name: "no tolerance", delay: second, options: []webtest.CheckOption{webtest.Tolerance(0)}, log: robots0 + `
			h000.web.test / 999 1000`, want: []string{"too soon /"}},
		{name: "too soon after a short one, in a long one", delay: second, log: robots0 + `
			h000.web.test / 1000 9000
			h000.web.test /p/1.html 2000 2010
			h000.web.test /p/2.html 3000 3010`, want: []string{"overlap /p/1.html", "overlap /p/2.html"}},
		{name: "overlap without a delay", log: robots0 + `
			h000.web.test / 20 30
			h000.web.test /p/1.html 29 40`, want: []string{"overlap /p/1.html"}},
		{name: "one ends as the next starts", log: robots0 + `
			h000.web.test / 20 30
			h000.web.test /p/1.html 30 40`},
		{name: "overlap with one that never ends", log: robots0 + `
			h000.web.test / 20 -
			h000.web.test /p/1.html 9000 9001`, want: []string{"overlap /p/1.html"}},
		{name: "the server is late to see a client go", log: robots0 + `
			h000.web.test / 20 !60
			h000.web.test /p/1.html 45 70`},
		{name: "but not that late", log: robots0 + `
			h000.web.test / 20 !70
			h000.web.test /p/1.html 45 70`, want: []string{"overlap /p/1.html"}},
		{name: "no robots.txt", log: `
			h000.web.test / 20 30`, want: []string{"no robots /"}},
		{name: "robots.txt later", log: `
			h000.web.test / 20 30
			h000.web.test /p/1.html 31 32
			h000.web.test /robots.txt 40 50`, want: []string{"no robots /"}},
		{name: "robots.txt not answered yet", log: `
			h000.web.test /robots.txt 0 -
			h000.web.test / 20 30`, want: []string{"overlap /", "no robots /"}},
		{name: "robots.txt answered too late", log: `
			h000.web.test /robots.txt 0 50
			h000.web.test / 20 60`, want: []string{"overlap /", "no robots /"}},
		{name: "disallowed", log: `
			h002.web.test /robots.txt 0 10
			h002.web.test /private/closed.html 20 30
			h002.web.test /private/open.html 40 50
			h002.web.test /find?q=river 60 70
			h002.web.test /a/b.shut 80 90
			h006.web.test /robots.txt 0 10
			h006.web.test / 20 30`, want: []string{
			"disallowed /private/closed.html", "disallowed /find?q=river", "disallowed /a/b.shut", "disallowed /"}},
		{name: "disallowed by another spelling", log: `
			h002.web.test /robots.txt 0 10
			h002.web.test /%70rivate/closed.html 20 30`, want: []string{"disallowed /%70rivate/closed.html"}},
		{name: "too often, told once", log: robots0 + `
			h000.web.test / 20 30
			h000.web.test / 40 50
			h000.web.test / 60 70`, want: []string{"too often /"}},
		{name: "too often in another spelling", log: robots0 + `
			h000.web.test /p/1.html 20 30
			h000.web.test /%70/1.html 40 50`, want: []string{"too often /%70/1.html"}},
		{name: "robots.txt as often as they like", log: robots0 + `
			h000.web.test /robots.txt 20 30
			h000.web.test /robots.txt 40 50`},
		{name: "attempts", log: `
			h007.web.test /robots.txt 0 10
			h007.web.test /broken.html 20 30
			h007.web.test /broken.html 40 50
			h007.web.test /broken.html 60 70
			h007.web.test /broken.html 80 90
			h008.web.test /robots.txt 0 10
			h008.web.test /flaky.html 20 30
			h008.web.test /flaky.html 40 50
			h008.web.test /flaky.html 60 70`},
		{name: "one attempt more", log: `
			h007.web.test /robots.txt 0 10
			h007.web.test /broken.html 20 30
			h007.web.test /broken.html 40 50
			h007.web.test /broken.html 60 70
			h007.web.test /broken.html 80 90
			h007.web.test /broken.html 100 110
			h008.web.test /robots.txt 0 10
			h008.web.test /flaky.html 20 30
			h008.web.test /flaky.html 40 50
			h008.web.test /flaky.html 60 70
			h008.web.test /flaky.html 80 90`, want: []string{"too often /broken.html", "too often /flaky.html"}},
		{name: "one kill", options: []webtest.CheckOption{webtest.MaxFetches(func(_, path string, expected int) int {
			return expected + 1
		})}, log: robots0 + `
			h000.web.test / 20 30
			h000.web.test / 40 50
			h000.web.test /p/1.html 60 70
			h000.web.test /p/1.html 80 90
			h000.web.test /p/1.html 100 110`, want: []string{"too often /p/1.html"}},
		{name: "invented", log: robots0 + `
			h000.web.test /orphan.html 20 30
			h004.web.test /robots.txt 0 10
			h004.web.test /nofollow/hidden.html 20 30`, want: []string{"never linked /orphan.html", "never linked /nofollow/hidden.html"}},
		{name: "not of this web", log: `
			elsewhere.test / 20 30`, want: []string{"unknown host /"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var log []webtest.Hit
			for line := range strings.Lines(tt.log) {
				if line = strings.TrimSpace(line); line != "" {
					log = append(log, at(line))
				}
			}
			var got []string
			for _, v := range web.Check(log, tt.delay, tt.options...) {
				got = append(got, fmt.Sprintf("%s %s", v.Kind, v.Path))
				if v.Detail == "" || !strings.Contains(v.String(), v.Host) {
					t.Errorf("violation %v explains itself badly", v)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("violations (-want +got):\n%s", diff)
			}
		})
	}
}
