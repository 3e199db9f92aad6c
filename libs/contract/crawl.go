package contract

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strings"
	"time"
)

// DefaultCrawl is the crawl of a seed that names none.
const DefaultCrawl = "default"

// ScopeKind says which links of a seed's pages belong to the crawl.
type ScopeKind string

// The scope kinds; all are blind to the scheme.
const (
	ScopeHost   ScopeKind = "host"   // the seed's host
	ScopeDomain ScopeKind = "domain" // the seed's registrable domain and all below it
	ScopePrefix ScopeKind = "prefix" // the seed's host, path up to its last slash
	ScopeAny    ScopeKind = "any"    // the whole web
)

// Scope is the rule a seed hands to its descendants. Include and Exclude are RE2 expressions on the
// canonical URL: with Include, a URL must match one of them; one that matches Exclude stays out.
// Depth is the greatest number of links from the seed; nil is no limit.
type Scope struct {
	Kind    ScopeKind `json:"scope,omitempty"`
	Include []string  `json:"include,omitempty"`
	Exclude []string  `json:"exclude,omitempty"`
	Depth   *int      `json:"depth,omitempty"`
}

// Seed is one URL to start from. Crawl "" is [DefaultCrawl], Kind "" is the crawl's, then host.
// Priority is -100 to 100; higher goes first.
type Seed struct {
	URL      string `json:"url"`
	Crawl    string `json:"crawl,omitempty"`
	Priority int    `json:"priority,omitempty"`
	Scope
}

// CrawlSpec is the body of crawl.start: a crawl's whole specification, its seeds in it if wanted.
// Starting a crawl that runs changes its specification and adds the seeds.
type CrawlSpec struct {
	Name         string     `json:"name"`
	Seeds        []Seed     `json:"seeds,omitempty"`
	Pages        int64      `json:"pages,omitempty"`          // page budget; 0 is no limit
	PagesPerHost int64      `json:"pages_per_host,omitempty"` // page budget of each host; 0 is no limit
	Delay        *Duration  `json:"delay,omitempty"`          // least time between two requests to a host; nil is the fetcher's own
	Priority     int        `json:"priority,omitempty"`       // added to each URL's, -100 to 100
	Recrawl      Duration   `json:"recrawl,omitempty"`        // visit each page again after; 0 is never
	NotBefore    *time.Time `json:"not_before,omitempty"`
	Expires      *time.Time `json:"expires,omitempty"`
	Scope                   // of seeds that name none
}

// CrawlVerb is the body of crawl.pause, resume, cancel and requeue; the bare name is accepted too.
// Reason and Host narrow what requeue revives: failed URLs of that reason, of that host.
type CrawlVerb struct {
	Name   string `json:"name"`
	Reason string `json:"reason,omitempty"`
	Host   string `json:"host,omitempty"`
}

// Duration is a time.Duration written as Go writes it ("1.5s"); a bare number is seconds.
type Duration time.Duration

// MarshalJSON writes "1.5s".
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(d).String()) }

// UnmarshalJSON reads "1.5s" or 1.5.
func (d *Duration) UnmarshalJSON(b []byte) error {
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	switch v := v.(type) {
	case float64:
		// Out of range the conversion's result depends on the machine.
		if v *= float64(time.Second); v >= math.MaxInt64 {
			return fmt.Errorf("read duration %s: it is too long", b)
		}
		*d = Duration(v)
	case string:
		parsed, err := time.ParseDuration(v)
		if err != nil {
			return fmt.Errorf("read duration %q: want for example \"1.5s\"", v)
		}
		*d = Duration(parsed)
	default:
		return fmt.Errorf("read duration %s: want for example \"1.5s\"", b)
	}
	if *d < 0 {
		return fmt.Errorf("read duration %s: it is negative", b)
	}
	return nil
}

var crawlName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)

// CheckCrawlName refuses what cannot be a crawl's name: 1 to 63 letters, digits, dot, dash, underscore.
func CheckCrawlName(name string) error {
	if !crawlName.MatchString(name) {
		return fmt.Errorf("crawl name %q: want 1 to 63 letters, digits, '.', '-' or '_'", Clip(name, 80))
	}
	return nil
}

// Check refuses a scope that means nothing, naming the field and the value.
func (s Scope) Check() error {
	switch s.Kind {
	case "", ScopeHost, ScopeDomain, ScopePrefix, ScopeAny:
	default:
		return fmt.Errorf("scope %q: want host, domain, prefix or any", Clip(string(s.Kind), 80))
	}
	if s.Depth != nil && *s.Depth < 0 {
		return fmt.Errorf("depth %d: it is negative", *s.Depth)
	}
	for field, list := range map[string][]string{"include": s.Include, "exclude": s.Exclude} {
		for _, expr := range list {
			if _, err := regexp.Compile(expr); err != nil {
				return fmt.Errorf("%s %q: %w", field, Clip(expr, 80), err)
			}
		}
	}
	return nil
}

// Clip cuts s to at most n bytes on a rune boundary and makes it valid UTF-8 without control
// characters, so that it is safe in a reason, a log line and a terminal.
func Clip(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || (r >= 0x80 && r < 0xa0) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	if len(s) <= n {
		return s
	}
	cut := 0
	for i := range s {
		if i > n {
			break
		}
		cut = i
	}
	return s[:cut]
}
