package webtest

import (
	"net/url"
	"strconv"
	"strings"
)

// site is one host: what it serves, and what its root lists.
type site struct {
	web     *Web
	index   int
	host    string // canonical, with a port if it is not 80
	robots  robots
	plain   int              // plain pages: /p/1.html … /p/<plain>.html
	pages   map[string]*page // by canonical path and query
	order   []*page          // the same, in the order they were laid out
	entries []string         // canonical paths that the root links to
}

// page is one resource. What it says is written from these few facts each time it is asked for, so
// Truth and the markup have one source, and Truth needs no parser.
type page struct {
	site        *site
	path        string // canonical path and query
	label       string // decides the text: pages of one label and the same links are twins
	status      int
	contentType string // as sent; "" sends none
	charset     charset
	lang        string        // "" for what is no HTML
	title       string        // what a parser must read, in UTF-8
	description string        //
	baseHrefs   []string      // <base href>, the first of which counts
	robotsMeta  string        // content of <meta name=robots>
	robotsTag   string        // X-Robots-Tag header
	links       func() []link // nil: none
	body        func() []byte // in place of the HTML written from the fields above
	location    link          // of a redirect
	refusals    int           // so many GETs are answered 503 first; always: 500 for ever
	never       string        // why no crawler may ever ask for it; "" if one may
}

// always, as page.refusals: the page answers 500 for ever.
const always = -1

// link is one link as a page writes it and as a crawler must read it.
type link struct {
	via    via
	href   string // as written, before HTML escaping
	target string // canonical URL
	rel    string // further rel tokens, as written
	closed bool   // rel says nofollow
}

// via is the element that carries a link.
type via int

const (
	viaA via = iota
	viaArea
	viaNext      // <link rel=next>
	viaCanonical // <link rel=canonical>
	viaIframe
	viaFrame
	viaRefresh // <meta http-equiv=refresh>
)

func (s *site) url(path string) string { return "http://" + s.host + path }

func (p *page) url() string { return p.site.url(p.path) }

// add puts a page on the site.
func (s *site) add(p *page) *page {
	p.site = s
	if p.label == "" {
		p.label = p.path
	}
	if p.status == 0 {
		p.status = 200
	}
	s.pages[p.path] = p
	s.order = append(s.order, p)
	return p
}

// entry makes the root link to these paths.
func (s *site) entry(paths ...string) { s.entries = append(s.entries, paths...) }

// html adds a page of text with these links, in a language that its label chooses.
func (s *site) html(path string, links ...link) *page {
	p := s.add(&page{path: path, contentType: "text/html; charset=utf-8"})
	p.speak([]string{"en", "fr", "de", "ja"}[s.dice("language "+p.label).roll(4)])
	if links != nil {
		p.links = func() []link { return links }
	}
	return p
}

// hidden adds a page that a crawler must never ask for, and says why.
func (s *site) hidden(path, why string) *page {
	p := s.html(path)
	p.never = why
	return p
}

// redirect adds a path that answers status and sends the client to where l leads.
func (s *site) redirect(path string, status int, l link) {
	s.add(&page{path: path, status: status, location: l})
}

// to is a link by <a> to a path of this host, written as it is.
func (s *site) to(path string) link { return link{href: path, target: s.url(path)} }

// as is a link by <a> to a path of this host, spelt in another way.
func (s *site) as(href, path string) link { return link{href: href, target: s.url(path)} }

// through is a link to a path of this host by another element than <a>.
func (s *site) through(v via, path string) link {
	return link{via: v, href: path, target: s.url(path)}
}

// root is a link to the host's root.
func (s *site) root() link { return link{href: s.url("/"), target: s.url("/")} }

// open returns the k-th of the other hosts that its robots.txt does not close, counted from this one.
// A web of one host leads to itself.
func (s *site) open(k int) *site {
	sites := s.web.sites
	for i := s.index + 1; i < s.index+len(sites); i++ {
		if next := sites[i%len(sites)]; !next.robots.closed {
			if k--; k <= 0 {
				return next
			}
		}
	}
	return s
}

// canonicalPath gives the path and query of a request the spelling that pages are kept under: dot
// segments gone, percent-encoding only where it is needed, in upper case.
func canonicalPath(u *url.URL) string {
	path := (&url.URL{Path: "/" + strings.TrimPrefix(u.Path, "/")}).JoinPath().EscapedPath()
	if u.RawQuery != "" {
		path += "?" + u.RawQuery
	}
	return path
}

// relative writes an absolute path as seen from a page, if it is below the page's folder.
func relative(from, to string) string {
	folder := from[:strings.LastIndex(from, "/")+1]
	rest, below := strings.CutPrefix(to, folder)
	if !below || rest == "" {
		return to
	}
	return rest
}

func numbered(prefix string, n int, suffix string) string { return prefix + strconv.Itoa(n) + suffix }
