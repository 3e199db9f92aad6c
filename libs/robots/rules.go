package robots

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// MaxCrawlDelay is where CrawlDelay is cut off: a crawler asked to wait longer
// has to look at robots.txt again first.
const MaxCrawlDelay = 24 * time.Hour

// Rule is one line of a robots.txt that decided about a URL. The zero Rule
// means that none did.
type Rule struct {
	Line  int    // from 1; 0 if there was no file to read
	Text  string // the line, printable and cut to about 200 bytes, or a reason
	Allow bool
}

// Rules are what one crawler is told by one robots.txt, apart from the File.
// They are immutable and safe for concurrent use. The zero Rules allow all.
type Rules struct {
	rules    []rule // the most specific first, allow before disallow
	delay    time.Duration
	hasDelay bool
	denied   string
}

type rule struct {
	Rule
	pattern
}

// compile sorts the lines of a crawler's groups into Rules.
func compile(lines []line) Rules {
	var r Rules
	for _, l := range lines {
		if l.kind == crawlDelay {
			if delay, ok := parseDelay(l.value); ok && (!r.hasDelay || delay > r.delay) {
				r.delay, r.hasDelay = delay, true
			}
			continue
		}
		// An empty pattern matches nothing: "Disallow:" allows all.
		if l.value != "" {
			// Cloned, or a few rules would keep the whole file in memory.
			text, value := strings.Clone(printable(l.text)), strings.Clone(l.value)
			r.rules = append(r.rules, rule{Rule{l.number, text, l.kind == allow}, compilePattern(value)})
		}
	}
	slices.SortStableFunc(r.rules, func(a, b rule) int {
		if a.octets != b.octets {
			return cmp.Compare(b.octets, a.octets)
		}
		return cmp.Compare(boolToInt(b.Allow), boolToInt(a.Allow))
	})
	return r
}

// Allowed tells whether a request target, URL.PathQuery of weburl, may be
// fetched, and by which rule. The rule with the most octets decides, Allow wins
// a tie (RFC 9309 2.2.2); if none matches the URL is allowed, and so is always
// /robots.txt itself. Percent-encoding is normalised on both sides.
func (r Rules) Allowed(pathQuery string) (ok bool, deciding Rule) {
	target := normalize(pathQuery)
	if !strings.HasPrefix(target, "/") {
		target = "/" + target
	}
	if target == "/robots.txt" {
		return true, Rule{}
	}
	if r.denied != "" {
		return false, Rule{Text: r.denied}
	}
	for i := range r.rules {
		if r.rules[i].match(target) {
			return r.rules[i].Allow, r.rules[i].Rule
		}
	}
	return true, Rule{}
}

// CrawlDelay is the longest crawl-delay for this crawler, at most
// MaxCrawlDelay; ok is false if there is none. It is no part of RFC 9309.
func (r Rules) CrawlDelay() (delay time.Duration, ok bool) { return r.delay, r.hasDelay }

// parseDelay reads seconds. What is no number of seconds, or a negative one, is
// no delay; what is too many is MaxCrawlDelay.
func parseDelay(value string) (time.Duration, bool) {
	if strings.Trim(value, "0123456789.eE+-") != "" {
		return 0, false // the hexadecimal, infinite and other numbers of Go
	}
	seconds, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsInf(seconds, 0) || seconds < 0 {
		return 0, false
	}
	if seconds > MaxCrawlDelay.Seconds() {
		return MaxCrawlDelay, true
	}
	return time.Duration(seconds * float64(time.Second)), true
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
