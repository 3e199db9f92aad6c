package extract

import (
	"bytes"
	"strings"

	"golang.org/x/net/html/atom"

	"github.com/warrenmq/warren/libs/weburl"
)

// Where a link stood: contract.Link's Tag.
const (
	tagA         = "a"
	tagArea      = "area"
	tagLink      = "link"
	tagFrame     = "frame"
	tagIframe    = "iframe"
	tagMeta      = "meta"
	tagCanonical = "canonical"
)

// element reads the attributes of a tag that means something. Its slices live until the next token.
func (w *walk) element(tag atom.Atom) {
	switch tag {
	case atom.A, atom.Area, atom.Link, atom.Frame, atom.Iframe, atom.Base, atom.Meta, atom.Html:
	case atom.Img:
		if w.link < 0 {
			return
		}
	default:
		return
	}
	at := w.attributes()
	switch tag {
	case atom.A:
		if at.href != nil {
			w.link = w.addLink(at.href, tagA, hasToken(at.rel, "nofollow"))
		}
	case atom.Area:
		if at.href != nil {
			w.describe(w.addLink(at.href, tagArea, hasToken(at.rel, "nofollow")), at.alt)
		}
	case atom.Img: // an image's text is its link's
		w.linkText.space()
		w.linkText.write(at.alt)
		w.linkText.space()
	case atom.Frame:
		w.addFrame(at.src, tagFrame)
	case atom.Iframe:
		w.addFrame(at.src, tagIframe)
	case atom.Link:
		w.linkElement(at)
	case atom.Base:
		w.baseElement(at.href)
	case atom.Meta:
		w.metaElement(at)
	case atom.Html:
		if w.htmlLang == "" {
			w.htmlLang = Language(string(at.lang))
		}
	}
}

// attributes are those that anything is read from; nil if missing.
type attributes struct {
	href, src, rel, typ, alt, lang, name, property, httpEquiv, content []byte
}

func (w *walk) attributes() (at attributes) {
	for more := true; more; {
		var key, value []byte
		key, value, more = w.z.TagAttr()
		if value == nil {
			value = []byte{} // there, and empty
		}
		switch string(key) {
		case "href":
			at.href = value
		case "src":
			at.src = value
		case "rel":
			at.rel = value
		case "type":
			at.typ = value
		case "alt":
			at.alt = value
		case "lang":
			at.lang = value
		case "name":
			at.name = value
		case "property":
			at.property = value
		case "http-equiv":
			at.httpEquiv = value
		case "content":
			at.content = value
		}
	}
	return at
}

// addLink resolves a reference and adds it. -1 if it is none to crawl (mailto:, javascript:, invalid)
// or did not fit.
func (w *walk) addLink(ref []byte, tag string, noFollow bool) int {
	if w.links.cut {
		return -1 // a million more are not worth the time
	}
	u, ok := w.resolve(ref)
	if !ok {
		return -1
	}
	return w.links.add(u, tag, noFollow)
}

func (w *walk) resolve(ref []byte) (weburl.URL, bool) {
	text := string(ref)
	if w.o.Query != nil {
		text = w.o.Query(text)
	}
	w.resolved = true
	u, err := w.base.Resolve(text)
	return u, err == nil
}

// addFrame adds a frame's document; an empty src is about:blank, not the page itself.
func (w *walk) addFrame(src []byte, tag string) {
	if len(bytes.TrimSpace(src)) > 0 {
		w.addLink(src, tag, false)
	}
}

// baseElement takes the first base that is a web URL; it is relative to the document's own URL.
func (w *walk) baseElement(href []byte) {
	if w.baseKnown || href == nil {
		return
	}
	u, err := w.o.URL.Resolve(string(href))
	if err != nil {
		return
	}
	w.baseKnown = true
	w.lateBase = u != w.base && w.resolved
	w.base = u
}

// endLink gives the link that is open its text.
func (w *walk) endLink() {
	if w.link >= 0 {
		w.links.describe(w.link, w.linkText.buf)
	}
	w.link = -1
	w.linkText.reset(w.o.LinkText)
}

// describe gives a link a text that stands in an attribute.
func (w *walk) describe(link int, text []byte) {
	if link < 0 {
		return
	}
	w.endLink()
	w.linkText.write(text)
	w.link = link
	w.endLink()
}

// hasToken looks for token, lower-case, in a space-separated list as rel is.
func hasToken(list []byte, token string) bool {
	for field := range strings.FieldsSeq(string(list)) {
		if strings.EqualFold(field, token) {
			return true
		}
	}
	return false
}
