package webtest

// period is over how many open hosts the corners are dealt out, in a web that has as many.
const period = 12

// newSite lays out the host of this index, but for its corners.
func newSite(w *Web, index int, host string) *site {
	s := &site{web: w, index: index, host: host, pages: make(map[string]*page)}
	s.layRoot()
	s.layPlain()
	s.layRobots()
	return s
}

// dealCorners spreads the corners over the hosts that a crawler may read. In a web of few hosts, each
// has more of them.
func (w *Web) dealCorners() {
	var open []*site
	for _, s := range w.sites {
		s.layOrphans()
		if !s.robots.closed {
			open = append(open, s)
		}
	}
	step := min(len(open), period)
	for i, s := range open {
		for k, lay := range corners() {
			if k%step == i%step {
				lay(s)
			}
		}
	}
}

func (s *site) layOrphans() {
	s.hidden("/orphan.html", "nothing links to it").links = func() []link {
		return []link{s.to("/behind-orphan.html")}
	}
	s.hidden("/behind-orphan.html", "only an orphan links to it")
}

// corners are the parts of the real web that trouble crawlers. Each lays out its pages and tells the
// root what to link to.
func corners() []func(*site) {
	return []func(*site){
		(*site).layRedirects, (*site).layChain, (*site).layLongChain, (*site).layLoops,
		(*site).layAway, (*site).layMissing, (*site).layBroken, (*site).layFlaky,
		(*site).layTwins, (*site).laySpellings, (*site).layLatin, (*site).layJapanese,
		(*site).layUnicode, (*site).layElements, (*site).layBase, (*site).layRefresh,
		(*site).layNofollow, (*site).layQuiet, (*site).layFiles, (*site).layHub,
		(*site).layEmpty, (*site).layMarkup, (*site).layLists,
	}
}

// layRoot makes the root: it lists the host's own entries and some other hosts.
func (s *site) layRoot() {
	root := s.html("/")
	root.links = func() []link {
		d := s.dice("root links")
		var links []link
		for _, path := range s.entries {
			links = append(links, s.spelt(root, d.roll(4), path))
		}
		sites := s.web.sites
		// A binary tree spreads the crawl fast. The next host makes up for the hosts that robots.txt
		// closes: of the one before and the one above, at least one is open.
		for _, i := range []int{2*s.index + 1, 2*s.index + 2, s.index + 1, d.roll(len(sites)), d.roll(len(sites))} {
			links = append(links, sites[i%len(sites)].root())
		}
		return links
	}
}

// layPlain makes the pages that are only pages: each leads to the next, to one further on, and to
// another host.
func (s *site) layPlain() {
	pages := s.web.opts.PagesPerHost
	s.plain = max(1, pages/2+s.dice("plain pages").roll(pages+1))
	for i := 1; i <= s.plain; i++ {
		p := s.html(plainPath(i))
		p.links = func() []link {
			d := s.dice("links " + p.path)
			links := []link{s.root(), s.web.sites[d.roll(len(s.web.sites))].root()}
			for _, to := range []int{i + 1, 2 * i} {
				if to <= s.plain {
					links = append(links, s.spelt(p, d.roll(4), plainPath(to)))
				}
			}
			return links
		}
		if i <= 3 {
			s.entry(p.path)
		}
	}
}

func plainPath(i int) string { return numbered("/p/", i, ".html") }

// spelt is a link from a page to a path of its host, written in one of four ways.
func (s *site) spelt(from *page, way int, path string) link {
	switch way {
	case 1:
		return s.as(s.url(path), path)
	case 2:
		return s.as("//"+s.host+path, path)
	case 3:
		return s.as(relative(from.path, path), path)
	default:
		return s.to(path)
	}
}
