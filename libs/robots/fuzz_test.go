package robots_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/warrenmq/warren/libs/robots"
)

func FuzzParse(f *testing.F) {
	f.Add([]byte("User-agent: *\nDisallow: /a*b$\nAllow: /%61\nCrawl-delay: 3\nSitemap: /s\n"), "warren", "/ab")
	f.Add([]byte("\xef\xbb\xbfuser-agent warren\r\rdisallow /\r\n"), "Warren/1.0", "/robots.txt")
	f.Add([]byte("\xff\xfeU\x00:\x00"), "*", "")
	f.Fuzz(func(t *testing.T, body []byte, agent, target string) {
		file := robots.Parse(body)
		rules := file.Agent(agent)
		ok, rule := rules.Allowed(target)
		if ok != (rule.Allow || rule.Line == 0) || rule.Line < 0 || !utf8.ValidString(rule.Text) {
			t.Errorf("%v by %+v", ok, rule)
		}
		if delay, has := rules.CrawlDelay(); delay < 0 || delay > robots.MaxCrawlDelay || !has && delay != 0 {
			t.Errorf("delay %v, %v", delay, has)
		}
		for _, s := range file.Sitemaps() {
			if strings.ContainsAny(s, "\r\n#") {
				t.Errorf("sitemap %q", s)
			}
		}
		if ok, _ := rules.Allowed("/robots.txt"); !ok {
			t.Error("/robots.txt is disallowed")
		}
	})
}

// FuzzAllowed compares the matcher with a regular expression made of the
// pattern. Letters and wildcards only: encodings have a table.
func FuzzAllowed(f *testing.F) {
	f.Add("/a*b$", "/axxb")
	f.Add("/**a*", "/ba")
	f.Add("/ab*ab*b$", "/abab")
	f.Add("*$", "/")
	word := regexp.MustCompile(`^[a-c/*$]+$`)
	f.Fuzz(func(t *testing.T, pattern, target string) {
		target = "/" + target
		if !word.MatchString(pattern) || !word.MatchString(target) || strings.ContainsAny(target, "*$") || len(pattern) > 50 {
			return
		}
		body, anchored := strings.CutSuffix(pattern, "$")
		expr := "^" + strings.ReplaceAll(regexp.QuoteMeta(body), `\*`, ".*")
		if anchored {
			expr += "$"
		}
		want := regexp.MustCompile(expr).MatchString(target)
		ok, _ := robots.Parse([]byte("User-agent: *\nDisallow: " + pattern)).Agent("warren").Allowed(target)
		if ok == want {
			t.Errorf("%q matches %q: %v, by the regular expression %v", pattern, target, !ok, want)
		}
	})
}
