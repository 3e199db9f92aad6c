package robots_test

import (
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/warrenmq/warren/libs/robots"
)

func TestPatterns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ pattern, matches, not string }{
		{"/fish", "/fish /fish.html /fish/salmon /fishheads?id=1", "/Fish /catfish /?id=fish /desert/fish"},
		{"/fish/", "/fish/ /fish/?id=1 /fish/salmon", "/fish /fish.html"},
		{"/fish*", "/fish /fish.html /fish/salmon", "/Fish /catfish"},
		{"/*.php", "/index.php /folder/a.php?x /a.php/ /.php", "/ /windows.PHP"},
		{"/*.php$", "/a.php /folder/a.php /a.php.php", "/a.php?x /a.php/ /a.php5"},
		{"/fish*.php", "/fish.php /fishheads/catfish.php?x", "/Fish.PHP"},
		{"/a*b*c$", "/abc /a/b/c /abcabc /acbc", "/ab /abcd /acb"},
		{"/a**b", "/ab /axb", "/a /ba"},
		{"/**", "/ /x", ""},
		{"*", "/ /x", ""},
		{"*/x", "/x /a/x/", "/ax"},
		{"**a", "/a /ba", "/b"},
		{"/a$", "/a", "/a/ /ab /a?"},
		{"/a*$", "/a /ab", "/b"},
		{"/$", "/", "/a"},
		{"$", "", "/ /a"},
		{"/a$b", "/a$b /a%24b /a$bc", "/a /ab"},
		{"/a$b$", "/a$b", "/a$bc"},
		{"/a%24", "/a$ /a%24 /a$b", "/a"},
		{"/a%2a", "/a* /a%2A /a*b", "/a /ab"},
		{"fish", "", "/fish /"}, // a path begins with a slash
		{"/aa*ab$", "/aaab /aaxab", "/aab"},
		{"/?q=", "/?q=1", "/?a=&q=1"},
		// Percent-encoding: RFC 9309 2.2.2.
		{"/é", "/%C3%A9 /%c3%a9 /é /éa", "/e /%E9"},
		{"/%c3%a9", "/%C3%A9 /é", "/e"},
		{"/%62%61%7A", "/baz /%62az", "/BAZ"},
		{"/baz", "/%62%61%7A", ""},
		{"/%7efoo", "/~foo", ""},
		{"/a%2fb", "/a%2Fb /a%2fb", "/a/b"},
		{"/a/b", "/a/b", "/a%2Fb"},
		{"/a b", "/a%20b", "/ab"},
		{"/{x}|\"", "/%7Bx%7D|%22 /%7Bx%7D%7C%22", ""},
		{"/a'b?a'b", "/a'b?a%27b", ""},
		{"/%", "/% /%2 /%25 /%25x", "/%2F"},
		{"/%2", "/%2 /%252", "/%25 /%20"},
		{"/\xff", "/%FF", "/%EF%BF%BD"},
	} {
		rules := robots.Parse([]byte("User-agent: *\nDisallow: " + c.pattern)).Agent("warren")
		for _, target := range strings.Fields(c.matches) {
			if ok, _ := rules.Allowed(target); ok {
				t.Errorf("%q does not match %q", c.pattern, target)
			}
		}
		for _, target := range strings.Fields(c.not) {
			if ok, rule := rules.Allowed(target); !ok {
				t.Errorf("%q matches %q by %+v", c.pattern, target, rule)
			}
		}
	}
}

func TestMostSpecificRule(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rules, target string
		want          robots.Rule
	}{
		{"Allow: /p\nDisallow: /", "/page", robots.Rule{Line: 2, Text: "Allow: /p", Allow: true}},
		{"Disallow: /\nAllow: /p", "/page", robots.Rule{Line: 3, Text: "Allow: /p", Allow: true}},
		{"Allow: /folder\nDisallow: /folder", "/folder/page", robots.Rule{Line: 2, Text: "Allow: /folder", Allow: true}},
		{"Disallow: /folder\nAllow: /folder", "/folder/page", robots.Rule{Line: 3, Text: "Allow: /folder", Allow: true}},
		{"Allow: /page\nDisallow: /*.htm", "/page.htm", robots.Rule{Line: 3, Text: "Disallow: /*.htm"}},
		{"Allow: /page\nDisallow: /*.ph", "/page.php5", robots.Rule{Line: 2, Text: "Allow: /page", Allow: true}},
		{"Allow: /$\nDisallow: /", "/", robots.Rule{Line: 2, Text: "Allow: /$", Allow: true}},
		{"Allow: /$\nDisallow: /", "/page.htm", robots.Rule{Line: 3, Text: "Disallow: /"}},
		{"Disallow: /a # why", "/a", robots.Rule{Line: 2, Text: "Disallow: /a"}},
		{"Disallow: /%61bc\nAllow: /abc", "/abc", robots.Rule{Line: 3, Text: "Allow: /abc", Allow: true}},
		{"Disallow: /a\n\r\n\rDisallow: /a/b", "/a/b", robots.Rule{Line: 5, Text: "Disallow: /a/b"}},
		{"Disallow: /a", "/b", robots.Rule{}},
		{"Disallow: /", "/robots.txt", robots.Rule{}},
		{"Disallow: /", "/robots.txt?x", robots.Rule{Line: 2, Text: "Disallow: /"}},
		{"Disallow: /", "", robots.Rule{Line: 2, Text: "Disallow: /"}},
		{"Disallow: /", "?q", robots.Rule{Line: 2, Text: "Disallow: /"}},
	} {
		ok, rule := robots.Parse([]byte("User-agent: *\n" + c.rules)).Agent("warren").Allowed(c.target)
		if rule != c.want || ok != (c.want.Allow || c.want.Line == 0) {
			t.Errorf("%q for %q: %v, %+v; want %+v", c.rules, c.target, ok, rule, c.want)
		}
	}
}

func TestRuleTextIsPrintable(t *testing.T) {
	t.Parallel()
	for _, tail := range []string{"\x00\x1b[31m\xff\u202e", strings.Repeat("é", 10_000)} {
		_, rule := robots.Parse([]byte("User-agent: *\nDisallow: /*" + "\nDisallow: /a*" + tail + "*")).Agent("warren").Allowed("/a" + tail)
		if rule.Line != 3 || !utf8.ValidString(rule.Text) || len(rule.Text) > 220 || strings.ContainsFunc(rule.Text, unicode.IsControl) {
			t.Errorf("line %d: %q", rule.Line, rule.Text)
		}
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	body := []byte("User-agent: *\nDisallow: /a\nSitemap: s")
	for code, want := range map[int]robots.Verdict{
		200: robots.Parsed, 204: robots.Parsed, 206: robots.Parsed,
		301: robots.Unavailable, 302: robots.Unavailable, 400: robots.Unavailable, 401: robots.Unavailable, 403: robots.Unavailable,
		404: robots.Unavailable, 410: robots.Unavailable, 451: robots.Unavailable, 499: robots.Unavailable,
		0: robots.Unreachable, 429: robots.Unreachable, 500: robots.Unreachable, 503: robots.Unreachable, 599: robots.Unreachable,
		100: robots.Unreachable, 600: robots.Unreachable, 999: robots.Unreachable, -1: robots.Unreachable,
	} {
		f, verdict := robots.FromStatus(code, body)
		okA, _ := f.Agent("warren").Allowed("/a")
		okB, rule := f.Agent("warren").Allowed("/b")
		okFile, _ := f.Agent("warren").Allowed("/robots.txt")
		if verdict != want || okA != (want == robots.Unavailable) || okB != (want != robots.Unreachable) || !okFile {
			t.Errorf("%d: %s, /a %v, /b %v, itself %v", code, verdict, okA, okB, okFile)
		}
		if want == robots.Unreachable && !strings.HasPrefix(rule.Text, "robots.txt unreachable: ") {
			t.Errorf("%d: reason %q", code, rule.Text)
		}
		if sitemaps := f.Sitemaps(); (len(sitemaps) == 1) != (want == robots.Parsed) {
			t.Errorf("%d: sitemaps %q", code, sitemaps)
		}
	}
}

func TestZeroRulesAllow(t *testing.T) {
	t.Parallel()
	if ok, rule := (robots.Rules{}).Allowed("/a"); !ok || rule != (robots.Rule{}) {
		t.Errorf("%v, %+v", ok, rule)
	}
	if _, ok := (robots.Rules{}).CrawlDelay(); ok {
		t.Error("a delay")
	}
}

// Each is as bad as 512 KiB can be for one step, and takes some 30 ms. The bounds
// leave room for a busy machine; a quadratic step would take minutes.
func TestHostileFilesAreLinear(t *testing.T) {
	repeat := func(s string) string { return strings.Repeat(s, robots.MaxBytes/len(s)) }
	for name, file := range map[string]string{
		"one line":          "User-agent: *\nDisallow: /" + repeat("a")[50:],
		"stars":             "User-agent: *\nDisallow: /" + repeat("*")[50:],
		"stars and letters": "User-agent: *\nDisallow: /" + repeat("*a")[50:],
		"wildcard rules":    "User-agent: *\n" + repeat("Disallow: /*a*a*a*a*b\n")[50:],
		"groups":            repeat("User-agent: a\nAllow: /\n"),
		"agents":            repeat("User-agent: warren\n") + "Disallow: /",
		"agents, rules":     repeat("User-agent: a\n")[:robots.MaxBytes/2] + "\n" + repeat("Allow: /a\n")[:robots.MaxBytes/2],
		"line ends":         repeat("\r"),
		"sitemaps":          repeat("sitemap:x\n"),
		"percent":           "User-agent: *\nDisallow: /" + repeat("%")[50:],
		"no colon":          repeat(" "),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		rules := robots.Parse([]byte(file)).Agent("warren")
		parsed := time.Since(start)
		start = time.Now()
		rules.Allowed("/" + strings.Repeat("a", 4000))
		matched := time.Since(start)
		runtime.ReadMemStats(&after)
		if parsed > 30*time.Second || matched > 30*time.Second {
			t.Errorf("%s: parsed in %v, matched in %v", name, parsed, matched)
		}
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 200<<20 {
			t.Errorf("%s: %d MiB allocated", name, grown>>20)
		}
		t.Logf("%s: parsed in %v, matched in %v, %d KiB", name, parsed, matched, (after.TotalAlloc-before.TotalAlloc)>>10)
	}
}
