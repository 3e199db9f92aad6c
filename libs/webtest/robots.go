package webtest

import (
	"strconv"
	"strings"
	"time"
)

// robots is what a host allows, said twice: as robots.txt, and as plain facts for Truth and Check.
// The facts are no matcher of patterns: they are what the few patterns used here mean on these hosts.
type robots struct {
	body     string        // "" if the host has no robots.txt (404)
	closed   bool          // nothing may be fetched
	prefixes []string      // of path and query: nothing below may be fetched …
	suffixes []string      // … nor what ends so …
	except   []string      // … but for these paths
	delay    time.Duration // Crawl-delay
}

// blocked tells whether a crawler may not ask for a canonical path and query.
func (r robots) blocked(path string) bool {
	if path == robotsPath {
		return false
	}
	for _, open := range r.except {
		if path == open {
			return false
		}
	}
	for _, prefix := range r.prefixes {
		if strings.HasPrefix(path, prefix) {
			return true
		}
	}
	for _, suffix := range r.suffixes {
		if strings.HasSuffix(path, suffix) {
			return true
		}
	}
	return r.closed
}

const robotsPath = "/robots.txt"

// layRobots gives the host one of the kinds of robots.txt, by its index. The first host is open.
func (s *site) layRobots() {
	switch s.index % 8 {
	case 0: // allows all, by an empty rule
		s.robots.body = "# welcome\nUser-agent: *\nDisallow:\n"
	case 1, 4: // none
	case 2:
		s.layPrivate("\n", 0)
	case 3: // asks for time only
		s.robots.delay = s.web.opts.Delay
		s.robots.body = "User-agent: *\n" + delayLine(s.robots.delay, "\n") + "Allow: /\n"
	case 5: // the lines end as on Windows
		s.layPrivate("\r\n", 0)
	case 6: // closed to all; only links of other hosts lead here
		s.robots.body = "User-agent: *\nDisallow: /\n"
		s.robots.closed = true
	case 7:
		s.layPrivate("\n", s.web.opts.Delay)
	}
}

// layPrivate closes a part of the host, and makes the root link to what is closed.
func (s *site) layPrivate(eol string, delay time.Duration) {
	s.robots = robots{
		delay:    delay,
		prefixes: []string{"/private/", "/find?"},
		suffixes: []string{".shut"},
		except:   []string{"/private/open.html"},
	}
	lines := []string{
		"User-agent: some-other-crawler", "Disallow: /", "",
		"# for all the others", "user-agent: *", "Disallow: /private/", "Allow: /private/open.html",
		"Disallow: /find?", "Disallow: /*.shut$", delayLine(delay, ""),
	}
	s.robots.body = strings.Join(lines, eol) + eol

	s.html("/private/closed.html", s.to("/private/deeper.html"))
	s.hidden("/private/deeper.html", "only a disallowed page links to it")
	s.html("/private/open.html", s.root())
	s.html("/private/target.html")
	s.html("/find?q=river")
	s.html("/find", s.to("/find?q=river"))
	s.html("/paper.shut")
	s.html("/paper.shut.html")
	s.redirect("/go-private", 302, s.to("/private/target.html"))
	s.entry("/private/closed.html", "/private/open.html", "/find", "/paper.shut", "/paper.shut.html", "/go-private")
}

func delayLine(delay time.Duration, eol string) string {
	if delay <= 0 {
		return ""
	}
	return "Crawl-delay: " + strconv.FormatFloat(delay.Seconds(), 'f', -1, 64) + eol
}
