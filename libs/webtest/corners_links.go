package webtest

import "strings"

// Corners whose point is how a link is written.

// laySpellings: many spellings of one URL, and URLs that look alike and are not the same.
func (s *site) laySpellings() {
	const cafe = "/spell/caf%C3%A9.html"
	s.html(cafe, s.root())
	s.html("/~guest/", s.root())
	for _, path := range []string{"/spell/menu.html", "/spell/Menu.html", "/spell/menu.html?a=1&b=2", "/spell/menu.html?b=2&a=1"} {
		s.html(path, s.root())
	}
	links := []link{
		s.to(cafe), s.as("/spell/café.html", cafe), s.as("/spell/caf%c3%a9.html", cafe),
		s.as("/spell/c%61f%C3%A9.html", cafe), s.as("./x/../caf%C3%A9.html", cafe),
		s.as("/spell/./caf%C3%A9.html#menu", cafe), s.as("/spell/%2e/caf%C3%A9.html", cafe),
		s.as("../../../spell/caf%C3%A9.html", cafe),
		s.as("HTTP://"+strings.ToUpper(s.host)+cafe, cafe),
		s.to("/~guest/"), s.as("/%7Eguest/", "/~guest/"), s.as("/%7eguest/#a", "/~guest/"),
		s.to("/spell/menu.html"), s.to("/spell/Menu.html"),
		s.to("/spell/menu.html?a=1&b=2"), s.as("menu.html?b=2&a=1", "/spell/menu.html?b=2&a=1"),
	}
	if !strings.Contains(s.host, ":") {
		links = append(links, s.as("http://"+s.host+":80"+cafe, cafe), s.as("http://"+s.host+":"+cafe, cafe))
	}
	s.html("/spell/", links...)
	s.entry("/spell/")
}

// layElements: links by elements other than <a>.
func (s *site) layElements() {
	s.html("/elements/index.html",
		s.through(viaArea, "/elements/area.html"),
		s.through(viaNext, "/elements/next.html"),
		s.through(viaCanonical, "/elements/canonical.html"),
		s.through(viaIframe, "/elements/iframe.html"),
		s.to("/elements/frames.html"))
	s.html("/elements/frames.html",
		s.through(viaFrame, "/elements/frame-a.html"),
		s.through(viaFrame, "/elements/frame-b.html"))
	for _, name := range []string{"area", "next", "canonical", "iframe", "frame-a", "frame-b"} {
		s.html("/elements/"+name+".html", s.root())
	}
	s.entry("/elements/index.html")
}

// layBase: <base href>, relative and of another host; of two, the first counts.
func (s *site) layBase() {
	s.html("/base/deep/index.html", s.as("here.html", "/base/moved/here.html")).
		baseHrefs = []string{"../moved/", "/wrong/"}
	s.html("/base/moved/here.html", s.root())

	other := s.open(3)
	s.html("/base/abroad.html", link{href: plainPath(1)[1:], target: other.url(plainPath(1))}).
		baseHrefs = []string{other.url("/")}
	s.entry("/base/deep/index.html", "/base/abroad.html")
}

// layRefresh: meta refresh, at once and later.
func (s *site) layRefresh() {
	s.html("/refresh/now.html", link{via: viaRefresh, href: "0; url=done.html", target: s.url("/refresh/done.html")})
	s.html("/refresh/later.html", link{via: viaRefresh, href: "5;URL='/refresh/quoted.html'", target: s.url("/refresh/quoted.html")})
	s.html("/refresh/done.html", s.root())
	s.html("/refresh/quoted.html", s.root())
	s.entry("/refresh/now.html", "/refresh/later.html")
}

// layNofollow: rel=nofollow, alone and among others; a target that is also linked openly is fetched.
func (s *site) layNofollow() {
	nofollow := func(path, rel string) link {
		return link{href: path, target: s.url(path), rel: rel, closed: true}
	}
	s.html("/nofollow/index.html",
		nofollow("/nofollow/hidden.html", "nofollow"),
		nofollow("/nofollow/hidden-too.html", "noopener NoFollow"),
		nofollow("/nofollow/seen.html", "nofollow"),
		s.to("/nofollow/seen.html"))
	s.hidden("/nofollow/hidden.html", "only a nofollow link leads to it")
	s.hidden("/nofollow/hidden-too.html", "only a nofollow link leads to it")
	s.html("/nofollow/seen.html", s.root())
	s.entry("/nofollow/index.html")
}

// layQuiet: pages that forbid to follow or to index, in a meta element or in a header.
func (s *site) layQuiet() {
	s.html("/quiet/nofollow.html", s.to("/quiet/hidden-meta.html")).robotsMeta = "nofollow"
	s.html("/quiet/none.html", s.to("/quiet/hidden-none.html")).robotsMeta = "NONE"
	s.html("/quiet/header.html", s.to("/quiet/hidden-header.html")).robotsTag = "nofollow"
	s.html("/quiet/noindex.html", s.to("/quiet/behind-noindex.html")).robotsMeta = "noindex, follow"
	for _, name := range []string{"meta", "none", "header"} {
		s.hidden("/quiet/hidden-"+name+".html", "only a page that says nofollow links to it")
	}
	s.html("/quiet/behind-noindex.html", s.root())
	s.entry("/quiet/nofollow.html", "/quiet/none.html", "/quiet/header.html", "/quiet/noindex.html")
}

// hubLinks is how many links the hub has. Many are the same URL with another fragment.
const hubLinks = 300

// layHub: a page of a few hundred links.
func (s *site) layHub() {
	s.html("/hub.html").links = func() []link {
		d, sites := s.dice("hub"), s.web.sites
		links := make([]link, hubLinks)
		for i := range links {
			if i%3 == 0 {
				path := plainPath(1 + d.roll(s.plain))
				links[i] = s.as(numbered(path+"#part-", i, ""), path)
			} else {
				links[i] = sites[d.roll(len(sites))].root()
			}
		}
		return links
	}
	s.entry("/hub.html")
}

// layLists: a list over pages by query, and a long way down.
func (s *site) layLists() {
	const last = 4
	for i := 1; i <= last; i++ {
		list := s.html(numbered("/list?page=", i, ""))
		deep := s.html("/deep" + strings.Repeat("/down", i) + "/")
		if i == last {
			continue
		}
		next := numbered("/list?page=", i+1, "")
		list.links = func() []link { return []link{s.through(viaNext, next), s.as(relative("/", next), next)} }
		deep.links = func() []link { return []link{s.as("down/", deep.path+"down/")} }
	}
	s.entry("/list?page=1", "/deep/down/")
}
