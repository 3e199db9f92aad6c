package robotcache_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/warrenmq/warren/libs/robots"
	"github.com/warrenmq/warren/libs/weburl"
	"github.com/warrenmq/warren/services/fetcher/internal/robotcache"
)

// bench is a cache with a clock of its own.
type bench struct {
	*robotcache.Cache
	t    *testing.T
	time time.Time
}

func setup(t *testing.T, change ...func(*robotcache.Config)) *bench {
	cfg := robotcache.Config{Product: "Warren", MaxBytes: 1 << 20, Pause: time.Minute, MaxPause: time.Hour, Patience: 4}
	for _, f := range change {
		f(&cfg)
	}
	b := &bench{t: t, time: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
	b.Cache = robotcache.New(cfg, func() time.Time { return b.time })
	return b
}

func (b *bench) look(url string) robotcache.Look {
	b.t.Helper()
	look, err := b.Look(parse(b.t, url))
	if err != nil {
		b.t.Fatal(err)
	}
	return look
}

func parse(t *testing.T, url string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

const origin = "http://a.example"

func TestAskThenKnow(t *testing.T) {
	t.Parallel()
	b := setup(t)
	look := b.look(origin + "/x?y")
	if look.State != robotcache.Ask || look.Next.String() != origin+"/robots.txt" || !look.First {
		t.Fatalf("look = %+v", look)
	}
	body := "User-agent: *\nDisallow: /\n\nUser-agent: warren\nDisallow: /no\nCrawl-delay: 3\n"
	if v := b.Answer(origin, 200, []byte(body), 0); v != robots.Parsed {
		t.Errorf("verdict %s", v)
	}
	look = b.look(origin + "/x")
	yes, _ := look.Rules.Allowed("/yes")
	no, _ := look.Rules.Allowed("/no")
	if delay, _ := look.Rules.CrawlDelay(); look.State != robotcache.Known || !yes || no || delay != 3*time.Second {
		t.Errorf("look = %+v", look)
	}
	if other := b.look("https://a.example/"); other.State != robotcache.Ask {
		t.Error("another scheme is another origin")
	}
	if !b.Reached(origin) || b.Reached("https://a.example") {
		t.Error("Reached is wrong")
	}
	b.time = b.time.Add(24 * time.Hour)
	if look = b.look(origin + "/x"); look.State != robotcache.Ask {
		t.Error("a day later it must be fetched again")
	}
}

// RFC 9309 2.3.1: what each status means.
func TestStatusMatrix(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]robotcache.State{
		200: robotcache.Known, 204: robotcache.Known, 299: robotcache.Known, 300: robotcache.Known, 304: robotcache.Known,
		400: robotcache.Known, 401: robotcache.Known, 403: robotcache.Known, 404: robotcache.Known, 410: robotcache.Known,
		418: robotcache.Known, 451: robotcache.Known, 499: robotcache.Known,
		429: robotcache.Unreachable, 500: robotcache.Unreachable, 503: robotcache.Unreachable, 599: robotcache.Unreachable, 999: robotcache.Unreachable,
	} {
		b := setup(t)
		b.Answer(origin, code, []byte("User-agent: *\nDisallow: /"), 0)
		look := b.look(origin + "/")
		if look.State != want {
			t.Errorf("%d: state %d, want %d", code, look.State, want)
		}
		if ok, _ := look.Rules.Allowed("/"); want == robotcache.Known && ok != (code >= 300) {
			t.Errorf("%d: allowed = %v", code, ok)
		}
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i, minutes := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60} {
		b.Fail(origin, "dns")
		look := b.look(origin + "/")
		if look.State != robotcache.Unreachable || look.Until.Sub(b.time) != minutes*time.Minute || look.Reason != "dns" || look.GivenUp != (i >= 3) {
			t.Errorf("failure %d: %+v, until in %s", i+1, look, look.Until.Sub(b.time))
		}
		b.time = look.Until
		if look := b.look(origin + "/"); look.State != robotcache.Ask {
			t.Errorf("after failure %d: %+v", i+1, look)
		}
	}
	b.Answer(origin, 404, nil, 0)
	b.time = b.time.Add(25 * time.Hour)
	b.Answer(origin, 503, nil, 5*time.Minute)
	look := b.look(origin + "/")
	if look.State != robotcache.Known {
		t.Errorf("rules that were read before must hold on: %+v", look)
	}
	b.time = b.time.Add(5 * time.Minute)
	if look := b.look(origin + "/"); look.State != robotcache.Ask {
		t.Errorf("after Retry-After: %+v", look)
	}
}

func TestRetryAfterIsClamped(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Answer(origin, 429, nil, 100*time.Hour)
	if look := b.look(origin + "/"); look.Until.Sub(b.time) != time.Hour || look.Reason != "http 429" {
		t.Errorf("look = %+v", look)
	}
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i := range robotcache.MaxRedirects {
		target := fmt.Sprintf("https://b%d.example/r", i)
		b.Redirect(origin, 301, parse(t, target))
		if look := b.look(origin + "/"); look.State != robotcache.Ask || look.Next.String() != target || look.First {
			t.Fatalf("hop %d: %+v", i, look)
		}
	}
	if look := b.look("https://b4.example/"); look.State != robotcache.Ask || !look.First {
		t.Errorf("the target's own rules are not known: %+v", look)
	}
	b.Answer(origin, 200, []byte("User-agent: *\nDisallow: /"), 0)
	look := b.look(origin + "/")
	if ok, _ := look.Rules.Allowed("/"); look.State != robotcache.Known || ok {
		t.Errorf("the rules at the end must hold for the first origin: %+v", look)
	}
}

func TestRedirectsEnd(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(b *bench){
		"too many": func(b *bench) {
			for range robotcache.MaxRedirects + 1 {
				b.Redirect(origin, 302, parse(t, "http://b.example/r"))
			}
		},
		"to nowhere": func(b *bench) { b.Redirect(origin, 302, weburl.URL{}) },
	} {
		b := setup(t)
		end(b)
		look := b.look(origin + "/")
		if ok, _ := look.Rules.Allowed("/x"); look.State != robotcache.Known || !ok {
			t.Errorf("%s: %+v", name, look)
		}
	}
	b := setup(t)
	b.Redirect(origin, 302, parse(t, "http://b.example/r"))
	b.time = b.time.Add(time.Hour)
	if look := b.look(origin + "/"); !look.First {
		t.Errorf("an old chain: %+v", look)
	}
	b.Fail(origin, "dns")
	b.time = b.time.Add(time.Hour)
	if look := b.look(origin + "/"); !look.First {
		t.Errorf("a chain that failed: %+v", look)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *robotcache.Config) { c.MaxBytes = 100 << 10 })
	body := []byte(strings.Repeat("#", 20<<10))
	for i := range 100 {
		b.Answer(fmt.Sprintf("http://h%d.example", i), 200, body, 0)
		if _, bytes := b.Size(); bytes > 100<<10 {
			t.Fatalf("%d bytes", bytes)
		}
	}
	if look := b.look("http://h99.example/"); look.State != robotcache.Known {
		t.Error("the latest was dropped")
	}
	if look := b.look("http://h0.example/"); look.State != robotcache.Ask {
		t.Error("the oldest was kept")
	}
	for i := range 100 { // the same origin again and again weighs once
		b.Answer("http://h99.example", 200, body[:i], 0)
	}
	for i := range 10_000 {
		b.Fail(fmt.Sprintf("http://f%d.example", i), "dns")
	}
	if origins, bytes := b.Size(); bytes > 100<<10 || origins > 200 {
		t.Errorf("%d origins, %d bytes", origins, bytes)
	}
}
