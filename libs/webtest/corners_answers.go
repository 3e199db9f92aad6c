package webtest

import "encoding/base64"

// Corners whose point is the answer's status or body.

// layRedirects: one of each permanent and temporary kind, relative and absolute.
func (s *site) layRedirects() {
	s.html("/new/moved.html", s.root())
	s.html("/new/found.html", s.root())
	s.html("/new/permanent.html", s.root())
	s.redirect("/old/301", 301, s.as("../new/moved.html", "/new/moved.html"))
	s.redirect("/old/302", 302, s.as(s.url("/new/found.html"), "/new/found.html"))
	s.redirect("/old/308", 308, s.to("/new/permanent.html"))
	s.entry("/old/301", "/old/302", "/old/308")
}

// layChain: three redirects in a row, the last of which carries a fragment.
func (s *site) layChain() {
	s.redirect("/chain/1", 302, s.to("/chain/2"))
	s.redirect("/chain/2", 301, s.as("3", "/chain/3"))
	s.redirect("/chain/3", 302, s.as("/chain/end.html#top", "/chain/end.html"))
	s.html("/chain/end.html", s.root())
	s.entry("/chain/1")
}

// maxHops is how many redirects in a row Warren follows (design, section 3: admission).
const maxHops = 10

// layLongChain: more redirects in a row than are followed. /hops/10 is asked for, /hops/11 is not.
func (s *site) layLongChain() {
	for i := range maxHops + 3 {
		s.redirect(numbered("/hops/", i, ""), 302, s.to(numbered("/hops/", i+1, "")))
		if i > maxHops {
			s.pages[numbered("/hops/", i, "")].never = "more than 10 redirects lead to it"
		}
	}
	s.hidden(numbered("/hops/", maxHops+3, ""), "more than 10 redirects lead to it")
	s.entry("/hops/0")
}

// layLoops: two redirects that lead to each other, and one that leads to itself.
func (s *site) layLoops() {
	s.redirect("/loop/a", 302, s.to("/loop/b"))
	s.redirect("/loop/b", 301, s.to("/loop/a"))
	s.redirect("/loop/self", 302, s.to("/loop/self"))
	s.entry("/loop/a", "/loop/self")
}

// layAway: a redirect to another host, and the usual one to a folder's trailing slash.
func (s *site) layAway() {
	other := s.open(2)
	s.redirect("/away", 302, link{href: other.url(plainPath(1)), target: other.url(plainPath(1))})
	s.redirect("/dir", 301, s.to("/dir/"))
	s.html("/dir/", s.as("file.html", "/dir/file.html"))
	s.html("/dir/file.html", s.as("./", "/dir/"), s.as("../", "/"))
	s.entry("/away", "/dir")
}

// layMissing: 404 of a path that nobody made, and 410. The links of an error page lead nowhere.
func (s *site) layMissing() {
	gone := s.html("/gone.html", s.root(), s.to("/behind-gone.html"))
	s.hidden("/behind-gone.html", "only an error page links to it")
	gone.status = 410
	s.entry("/missing.html", "/gone.html")
}

// layBroken: a page that answers 500 for ever. It ends as failed after all attempts.
func (s *site) layBroken() {
	s.html("/broken.html").refusals = always
	s.entry("/broken.html")
}

// layFlaky: a page that answers 503 twice and then is there.
func (s *site) layFlaky() {
	s.html("/flaky.html", s.to("/behind-flaky.html")).refusals = 2
	s.html("/behind-flaky.html", s.root())
	s.entry("/flaky.html")
}

// layTwins: different URLs whose bodies are the same, byte for byte.
func (s *site) layTwins() {
	for _, path := range []string{"/twin-a.html", "/twin-b.html", "/twin.html?copy=1"} {
		p := s.html(path, s.root())
		p.label = "twin"
		p.speak("en")
	}
	root := s.pages["/"]
	s.html("/index.html").twinOf(root)
	s.entry("/twin-a.html", "/twin-b.html", "/twin.html?copy=1", "/index.html")
}

// twinOf makes the page say what another says. Both must be in one folder, as links may be relative.
func (p *page) twinOf(other *page) {
	p.label, p.links = other.label, other.links
	p.lang, p.title, p.description = other.lang, other.title, other.description
}

// layEmpty: an answer 200 without a body.
func (s *site) layEmpty() {
	s.add(&page{path: "/empty.html", contentType: "text/html; charset=utf-8", body: func() []byte { return nil }})
	s.entry("/empty.html")
}

// layFiles: what is no HTML. The PNG is the same on all hosts.
func (s *site) layFiles() {
	s.add(&page{path: "/files/dot.png", contentType: "image/png", body: dotPNG})
	note := s.add(&page{path: "/files/note.txt", contentType: "text/plain; charset=utf-8"})
	note.body = func() []byte { return []byte(s.dice(note.path).paragraph(vocabulary("en")) + "\n") }
	data := s.add(&page{path: "/files/data.json", contentType: "application/json"})
	data.body = func() []byte {
		return []byte(`{"host":"` + s.host + `","words":"` + s.dice(data.path).words(vocabulary("en"), 6) + `"}` + "\n")
	}
	s.entry("/files/dot.png", "/files/note.txt", "/files/data.json")
}

// dotPNG is an image of one grey dot.
func dotPNG() []byte {
	const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNoAAAAggCB2kUIOwAA" +
		"AABJRU5ErkJggg=="
	png, err := base64.StdEncoding.DecodeString(dot)
	if err != nil {
		panic("webtest: decode the constant image: " + err.Error())
	}
	return png
}
