package webtest

import "fmt"

// Truth is what a correct crawl of the web comes to. It starts from Seeds with no limit of depth or
// pages, obeys robots.txt and nofollow, follows at most 10 redirects in a row and makes at most 4
// attempts of a URL. All keys are canonical URLs: no fragment, no default port, lower-case host, no dot
// segments, percent-encoding only where needed and in upper case.
type Truth struct {
	Seeds []string `json:"seeds"`
	// Stored has each URL for which an answer came, whatever its status but 5xx.
	Stored map[string]Fact `json:"stored"`
	// Failed has each URL that was tried in vain, with the reason: "http 500".
	Failed map[string]string `json:"failed"`
	// Excluded has each URL that was found and may not be fetched, with the reason: "robots".
	Excluded map[string]string `json:"excluded"`
	// Never has the pages that exist and that a correct crawl never asks for, nor records at all, with
	// the reason in words.
	Never map[string]string `json:"never"`
}

// Fact is what is to be stored of a URL.
//
// Links counts what a page of status 2xx links to by <a>, <area>, <iframe>, <frame>, <link rel=next>,
// <link rel=canonical> and meta refresh, itself included, and of a redirect its Location. A link that
// stands there twice counts once, and may be followed unless each of the two says nofollow. What an error
// page links to is not what the site links to: 0.
type Fact struct {
	Status      int    `json:"status"`
	SHA256      string `json:"sha256"`       // of the body after Content-Encoding, in hex; charset as sent
	ContentType string `json:"content_type"` // as sent; "" if none was
	Title       string `json:"title"`        // decoded; "" if it is no HTML
	Description string `json:"description"`  // as Title
	Language    string `json:"language"`     // <html lang>
	Links       int    `json:"links"`        // distinct canonical http URLs it leads to, see below
	Followed    int    `json:"followed"`     // those of them that may be followed: not nofollow
	Location    string `json:"location"`     // where a redirect leads, canonical
	Noindex     bool   `json:"noindex"`      // the page asks not to be indexed
}

// Scope is how far from the seed's host the crawl may go.
type Scope int

const (
	// ScopeAll is the whole web: Warren's scope "domain" for HostNames, "any" for any hosts.
	ScopeAll Scope = iota
	// ScopeHost is the hosts of the seeds only.
	ScopeHost
)

// ParseScope reads Warren's names of scopes: "host", "domain", "any"; "" is ScopeAll.
func ParseScope(name string) (Scope, error) {
	switch name {
	case "", "domain", "any":
		return ScopeAll, nil
	case "host":
		return ScopeHost, nil
	}
	return 0, fmt.Errorf("read scope %q: want host, domain or any", name)
}

// Truth is Expected(ScopeAll).
func (w *Web) Truth() Truth { return w.Expected(ScopeAll) }

// Expected computes the truth of a crawl from the layout of the web. It renders every page once, to
// hash it: about 0.1 s for 200 hosts.
func (w *Web) Expected(scope Scope) Truth {
	x := explorer{web: w, seen: make(map[string]bool), truth: Truth{
		Seeds: w.Seeds(), Stored: make(map[string]Fact), Failed: make(map[string]string),
		Excluded: make(map[string]string), Never: make(map[string]string),
	}}
	inScope := make(map[string]bool)
	for _, seed := range w.Seeds() {
		host, _ := split(seed)
		inScope[host] = true
	}
	x.inScope = func(host string) bool { return scope == ScopeAll || inScope[host] }
	for _, seed := range w.Seeds() {
		x.admit(seed, 0)
	}
	for len(x.queue) > 0 {
		next := x.queue[0]
		x.queue = x.queue[1:]
		x.visit(next)
	}
	x.rest()
	return x.truth
}
