package webtest

import (
	"fmt"
	"sort"
	"time"
)

// Kind names a broken manner.
type Kind string

// The manners that Check looks at.
const (
	Overlap     Kind = "overlap"      // two requests to one host at once
	TooSoon     Kind = "too soon"     // the gap between two starts on a host is below its delay
	NoRobots    Kind = "no robots"    // a page was asked for before robots.txt was answered
	Disallowed  Kind = "disallowed"   // robots.txt forbids the path
	TooOften    Kind = "too often"    // a URL was asked for more often than allowed
	NeverLinked Kind = "never linked" // no crawl of good manners can know the page
	UnknownHost Kind = "unknown host" // the host is not of this web
)

// Violation is one broken manner.
type Violation struct {
	Kind   Kind
	Host   string
	Path   string
	At     time.Time // start of the request that broke it
	Detail string
}

func (v Violation) String() string {
	return fmt.Sprintf("%s: http://%s%s at %s: %s", v.Kind, v.Host, v.Path, v.At.Format("15:04:05.000000"), v.Detail)
}

// CheckOption changes what Check allows.
type CheckOption func(*checker)

// Tolerance is how much shorter than the delay a gap may be, because a request may be slower on its way
// than the next one. Default: 20 ms.
func Tolerance(d time.Duration) CheckOption { return func(c *checker) { c.tolerance = d } }

// MaxFetches says how often a URL may be asked for; 0: any number. expected is what a crawl without faults
// needs: 1, more for pages that refuse, 0 for robots.txt. path has the query and is canonical.
// Default: expected. A test that kills fetchers allows one more for each kill.
func MaxFetches(limit func(host, path string, expected int) int) CheckOption {
	return func(c *checker) { c.limit = limit }
}

// attempts is how often Warren tries a URL that answers 5xx.
const attempts = 4

type checker struct {
	web       *Web
	tolerance time.Duration
	minDelay  func(host string) time.Duration
	limit     func(host, path string, expected int) int
	never     map[string]string
	found     []Violation
}

// Check reads a log, in any order, and returns what breaks the manners of a crawler, host by host.
// minDelay gives the least time between the starts of two requests to a host; nil: none. The log may
// be of another process, if its web had the same options.
func (w *Web) Check(log []Hit, minDelay func(host string) time.Duration, options ...CheckOption) []Violation {
	c := &checker{web: w, tolerance: 20 * time.Millisecond, minDelay: minDelay, never: w.Truth().Never}
	c.limit = func(_, _ string, expected int) int { return expected }
	for _, option := range options {
		option(c)
	}
	byHost := make(map[string][]Hit)
	for _, hit := range log {
		byHost[hit.Host] = append(byHost[hit.Host], hit)
	}
	hosts := make([]string, 0, len(byHost))
	for host, hits := range byHost {
		sort.SliceStable(hits, func(i, j int) bool { return hits[i].Start.Before(hits[j].Start) })
		hosts = append(hosts, host)
	}
	sort.Strings(hosts)
	for _, host := range hosts {
		c.host(host, byHost[host])
	}
	return c.found
}
