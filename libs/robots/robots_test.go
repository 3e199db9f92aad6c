package robots_test

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/warrenmq/warren/libs/robots"
)

// allowed are the request targets of candidates that file lets agent fetch.
func allowed(file, agent string, candidates ...string) []string {
	rules := robots.Parse([]byte(file)).Agent(agent)
	return slices.DeleteFunc(candidates, func(target string) bool {
		ok, _ := rules.Allowed(target)
		return !ok
	})
}

func TestGroups(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, agent, want string }{
		"no file":                       {"", "warren", "/a /b"},
		"star":                          {"User-agent: *\nDisallow: /a", "warren", "/b"},
		"named, not star":               {"User-agent: *\nDisallow: /a\n\nUser-agent: warren\nDisallow: /b", "warren", "/a"},
		"named before star":             {"User-agent: warren\nDisallow: /b\n\nUser-agent: *\nDisallow: /a", "warren", "/a"},
		"any case":                      {"USER-AGENT: WARREN\ndisallow: /a", "Warren", "/b"},
		"token of a full user agent":    {"User-agent: Warren/1.0\nDisallow: /a", "warren/2.0 (+http://x/)", "/b"},
		"words after the token":         {"User-agent: warren crawler\nDisallow: /a", "warren", "/b"},
		"not a prefix of it":            {"User-agent: war\nDisallow: /a", "warren", "/a /b"},
		"nor it a prefix":               {"User-agent: warren-images\nDisallow: /a", "warren", "/a /b"},
		"groups of one agent merge":     {"User-agent: warren\nDisallow: /a\n\nUser-agent: x\nDisallow: /\n\nUser-agent: warren\nDisallow: /b", "warren", ""},
		"stars merge":                   {"User-agent: *\nDisallow: /a\nUser-agent: x\nAllow: /\nUser-agent: *\nDisallow: /b", "warren", ""},
		"several agents, one group":     {"User-agent: x\nUser-agent: warren\nDisallow: /a", "warren", "/b"},
		"star among the agents":         {"User-agent: x\nUser-agent: *\nDisallow: /a", "warren", "/b"},
		"blank lines end nothing":       {"User-agent: warren\n\n\nDisallow: /a", "warren", "/b"},
		"sitemap ends no agent list":    {"User-agent: warren\nSitemap: /s.xml\nUser-agent: x\nDisallow: /a", "warren", "/b"},
		"crawl-delay ends none either":  {"User-agent: warren\nCrawl-delay: 1\nUser-agent: x\nDisallow: /a", "warren", "/b"},
		"nor does an unknown line":      {"User-agent: warren\nHost: x\nUser-agent: x\nDisallow: /a", "warren", "/b"},
		"a rule does":                   {"User-agent: x\nDisallow:\nUser-agent: warren\nDisallow: /a", "x", "/a /b"},
		"rules before any agent":        {"Disallow: /\nUser-agent: *\nDisallow: /a", "warren", "/b"},
		"an empty named group":          {"User-agent: *\nDisallow: /\n\nUser-agent: warren", "warren", "/a /b"},
		"an agent without a token":      {"User-agent: 007\nDisallow: /a\nUser-agent: *\nDisallow: /b", "007", "/a"},
		"star with more is star":        {"User-agent: * all\nDisallow: /a", "warren", "/b"},
		"star glued to more is not":     {"User-agent: *x\nDisallow: /a", "warren", "/a /b"},
		"asking for nobody gets star":   {"User-agent: *\nDisallow: /a", "", "/b"},
		"an empty disallow allows":      {"User-agent: *\nDisallow:", "warren", "/a /b"},
		"an empty allow says nothing":   {"User-agent: *\nAllow:\nDisallow: /a", "warren", "/b"},
		"all":                           {"User-agent: *\nDisallow: /", "warren", ""},
		"comments":                      {"User-agent: * # all\n#Disallow: /\nDisallow: /a#b", "warren", "/b"},
		"forgotten colon":               {"User-agent *\nDisallow /a", "warren", "/b"},
		"forgotten colon, three words":  {"User-agent: *\nDisallow /a or so", "warren", "/a /b"},
		"misspelt":                      {"Useragent: *\nDisalow: /a\ndissallow: /b", "warren", ""},
		"blanks everywhere":             {" \tUser-agent \t:\t * \n\v Disallow\t:/a \f", "warren", "/b"},
		"CR":                            {"User-agent: *\rDisallow: /a\r", "warren", "/b"},
		"CRLF":                          {"User-agent: *\r\nDisallow: /a\r\n", "warren", "/b"},
		"BOM":                           {"\xef\xbb\xbfUser-agent: *\nDisallow: /a", "warren", "/b"},
		"UTF-16":                        {toUTF16("User-agent: *\nDisallow: /a", false), "warren", "/b"},
		"UTF-16 the other way":          {toUTF16("User-agent: *\nDisallow: /a", true), "warren", "/b"},
		"NUL and rubbish":               {"\x00\xff\nUser-agent: *\n\x00: \x00\nDisallow: /a\n::::\n:", "warren", "/b"},
		"HTML":                          {"<html>\n<a href=\"http://x/\">Disallow: /</a>\nNot found</html>", "warren", "/a /b"},
		"an untold line ends no file":   {"User-agent: *\n" + strings.Repeat("x", 100_000) + "\nDisallow: /a", "warren", "/b"},
		"a line longer than any target": {"User-agent: *\nDisallow: /" + strings.Repeat("a*", 100_000), "warren", "/a /b"},
	} {
		if got := strings.Join(allowed(c.file, c.agent, "/a", "/b"), " "); got != c.want {
			t.Errorf("%s: %q allowed, want %q", name, got, c.want)
		}
	}
}

func toUTF16(s string, bigEndian bool) string {
	var b []byte
	for _, unit := range append([]uint16{0xfeff}, utf16.Encode([]rune(s))...) {
		if bigEndian {
			unit = unit>>8 | unit<<8
		}
		b = append(b, byte(unit), byte(unit>>8))
	}
	return string(b)
}

func TestCutAtMaxBytes(t *testing.T) {
	t.Parallel()
	head := "User-agent: *\nDisallow: /a\n"
	fill := strings.Repeat("#\n", (robots.MaxBytes-len(head))/2+1)[:robots.MaxBytes-len(head)-len("Disallow: /")]
	if got := allowed(head+fill+"Disallow: /b", "warren", "/a", "/b", "/c"); !slices.Equal(got, []string{"/b", "/c"}) {
		t.Errorf("%q allowed: the line that is cut must not read as Disallow: /", got)
	}
	if got := allowed(head+fill+"Disallow: /", "warren", "/a", "/b"); len(got) != 0 {
		t.Errorf("%q allowed: the line fits exactly", got)
	}
	if robots.MaxBytes < 500*1024 {
		t.Error("RFC 9309 2.5: at least 500 KiB")
	}
}

func TestSitemaps(t *testing.T) {
	t.Parallel()
	f := robots.Parse([]byte("sitemap: https://x/a.xml\nUser-agent: y\nSITEMAP:/b.xml # b\nDisallow: /\nSite-map: x y\n"))
	want := []string{"https://x/a.xml", "/b.xml", "x y"}
	if got := f.Sitemaps(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	f.Sitemaps()[0] = "changed"
	if f.Sitemaps()[0] != want[0] {
		t.Error("a File is immutable")
	}
}

func TestCrawlDelay(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]time.Duration{
		"0": 0, "-0": 0, "10": 10 * time.Second, "0.5": time.Second / 2, ".25": time.Second / 4, "1e2": 100 * time.Second,
		"1e9": robots.MaxCrawlDelay, "86401": robots.MaxCrawlDelay, "9999999999999999999999": robots.MaxCrawlDelay, "1e-400": 0,
		"1e400": -1, "-1": -1, "NaN": -1, "inf": -1, "+Inf": -1, "": -1, "ten": -1, "5s": -1, "0x10": -1, "1_0": -1, "1 2": -1, "--1": -1,
	} {
		delay, ok := robots.Parse([]byte("User-agent: *\nCrawl-delay: " + value)).Agent("warren").CrawlDelay()
		if ok != (want >= 0) || ok && delay != want {
			t.Errorf("%q: %v, %v; want %v", value, delay, ok, want)
		}
	}
	for file, want := range map[string]time.Duration{
		"User-agent: *\nCrawl-delay: 1\nCrawl-delay: 3\nCrawl-delay: 2":                3 * time.Second,
		"User-agent: warren\nCrawl-delay: 2\n\nUser-agent: *\nDisallow: /":             2 * time.Second, // one group, by the RFC
		"User-agent: *\nCrawl-delay: 9\nDisallow: /a\n\nUser-agent: warren\nAllow: /":  0,
		"User-agent: warren\nAllow: /\nCrawl-delay: 4\nUser-agent: *\nCrawl-delay: 99": 4 * time.Second,
	} {
		if delay, _ := robots.Parse([]byte(file)).Agent("warren").CrawlDelay(); delay != want {
			t.Errorf("%q: %v, want %v", file, delay, want)
		}
	}
}
