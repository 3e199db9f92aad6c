package webtest

import "strings"

// explorer walks the layout as a crawl walks the web.
type explorer struct {
	web     *Web
	inScope func(host string) bool
	seen    map[string]bool
	queue   []admitted
	truth   Truth
}

type admitted struct {
	url  string
	hops int // redirects that led here in a row
}

func (x *explorer) admit(url string, hops int) {
	if host, _ := split(url); x.seen[url] || hops > maxHops || !x.inScope(host) {
		return
	}
	x.seen[url] = true
	x.queue = append(x.queue, admitted{url, hops})
}

func (x *explorer) visit(a admitted) {
	host, path := split(a.url)
	s := x.web.byHost[host]
	if s.robots.blocked(path) {
		x.truth.Excluded[a.url] = "robots"
		return
	}
	p := s.page(path)
	if p.refusals == always {
		x.truth.Failed[a.url] = "http 500"
		return
	}
	all, followed := p.targets()
	x.truth.Stored[a.url] = p.fact(len(all), len(followed))
	hops := 0
	if p.location.target != "" {
		hops = a.hops + 1
	}
	for _, target := range followed {
		x.admit(target, hops)
	}
}

// rest says why the pages that are left were not found.
func (x *explorer) rest() {
	for _, s := range x.web.sites {
		for _, p := range s.order {
			if x.seen[p.url()] {
				continue
			}
			why := p.never
			switch {
			case !x.inScope(s.host):
				why = "out of scope"
			case s.robots.closed:
				why = "robots.txt closes the only way to it"
			}
			x.truth.Never[p.url()] = why
		}
	}
}

// split takes a canonical URL of this web apart.
func split(url string) (host, path string) {
	host, path, _ = strings.Cut(strings.TrimPrefix(url, "http://"), "/")
	return host, "/" + path
}
