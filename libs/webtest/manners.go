package webtest

import (
	"fmt"
	"net/url"
	"time"
)

// host checks the hits of one host, sorted by start.
func (c *checker) host(host string, hits []Hit) {
	s := c.web.byHost[host]
	if s == nil {
		c.add(UnknownHost, hits[0], "%d requests", len(hits))
		return
	}
	c.pace(host, hits)
	c.robotsFirst(hits)
	times := make(map[string]int)
	for _, hit := range hits {
		path := hitPath(hit)
		if s.robots.blocked(path) {
			c.add(Disallowed, hit, "robots.txt forbids it")
		} else if why, ok := c.never[s.url(path)]; ok {
			c.add(NeverLinked, hit, "%s", why)
		}
		times[path]++
		if limit := c.limit(host, path, s.expected(path)); limit > 0 && times[path] == limit+1 {
			c.add(TooOften, hit, "more than %d times", limit)
		}
	}
}

// pace looks for overlaps and short gaps.
func (c *checker) pace(host string, hits []Hit) {
	var delay time.Duration
	if c.minDelay != nil {
		delay = c.minDelay(host)
	}
	last := hits[0] // the hit that ends last so far
	for i, hit := range hits[1:] {
		gap := hit.Start.Sub(hits[i].Start)
		if gap < delay-c.tolerance {
			c.add(TooSoon, hit, "%v after %s, the delay is %v", gap, hits[i].Path, delay)
		}
		if c.runsAt(last, hit.Start) {
			c.add(Overlap, hit, "%s has run since %s", last.Path, last.Start.Format("15:04:05.000000"))
		}
		if last.End.IsZero() {
			continue
		}
		if hit.End.IsZero() || hit.End.After(last.End) {
			last = hit
		}
	}
}

// runsAt tells whether a hit ran at this time. The end of one whose client went away is late: the
// server needs a moment to notice.
func (c *checker) runsAt(hit Hit, at time.Time) bool {
	end := hit.End
	if hit.Status == statusClientGone {
		end = end.Add(-c.tolerance)
	}
	return hit.End.IsZero() || at.Before(end)
}

// robotsFirst wants robots.txt answered before any page of the host is asked for.
func (c *checker) robotsFirst(hits []Hit) {
	var answered time.Time
	for _, hit := range hits {
		if hitPath(hit) == robotsPath {
			if !hit.End.IsZero() && (answered.IsZero() || hit.End.Before(answered)) {
				answered = hit.End
			}
			continue
		}
		if answered.IsZero() || hit.Start.Before(answered) {
			c.add(NoRobots, hit, "robots.txt was not answered before")
			return // one is enough: the first page of the host
		}
	}
}

func (c *checker) add(kind Kind, hit Hit, format string, args ...any) {
	c.found = append(c.found, Violation{kind, hit.Host, hit.Path, hit.Start, fmt.Sprintf(format, args...)})
}

// expected is how often a crawl without faults asks for a path; 0: any number.
func (s *site) expected(path string) int {
	if path == robotsPath {
		return 0
	}
	switch p := s.page(path); p.refusals {
	case always:
		return attempts
	default:
		return p.refusals + 1
	}
}

// hitPath is the canonical path and query of a hit.
func hitPath(hit Hit) string {
	u, err := url.ParseRequestURI(hit.Path)
	if err != nil {
		return hit.Path // no client of net/http sends it; it stands for itself
	}
	return canonicalPath(u)
}
