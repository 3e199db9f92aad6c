package extract

import (
	"bytes"
	"strings"
)

// hyperlinks are the rel tokens of a link element that lead to another page. What is not among them
// is a part of this page (stylesheet, icon, preload) or a hint (preconnect, dns-prefetch).
var hyperlinks = [...]string{
	"alternate", "amphtml", "author", "bookmark", "contents", "copyright", "first", "help", "index",
	"last", "license", "next", "prev", "previous", "start", "up",
}

// linkElement takes <link rel=… href=…>.
func (w *walk) linkElement(at attributes) {
	if at.href == nil {
		return
	}
	if hasToken(at.rel, "canonical") {
		if u, ok := w.resolve(at.href); ok {
			if w.canonical == "" {
				w.canonical = u.String()
			}
			w.links.add(u, tagCanonical, false)
		}
		return
	}
	if hasToken(at.rel, "stylesheet") || !isPage(at.typ) {
		return
	}
	for _, rel := range hyperlinks {
		if hasToken(at.rel, rel) {
			w.addLink(at.href, tagLink, hasToken(at.rel, "nofollow"))
			return
		}
	}
}

// isPage tells whether a link's declared type is worth a visit: a page, a feed, or not declared. An
// API's description (JSON, oEmbed, OpenSearch) stands on each page of many sites.
func isPage(typ []byte) bool {
	media, _, _ := strings.Cut(strings.ToLower(string(typ)), ";")
	switch media = strings.TrimSpace(media); media {
	case "", "text/html", "text/plain", "text/xml", "application/xml", "application/xhtml+xml",
		"application/rss+xml", "application/atom+xml":
		return true
	}
	return false
}

// metaElement takes <meta name|property|http-equiv=… content=…>.
func (w *walk) metaElement(at attributes) {
	if at.content == nil {
		return
	}
	switch strings.ToLower(string(bytes.TrimSpace(at.httpEquiv))) {
	case "refresh":
		if ref := RefreshURL(string(at.content)); ref != "" {
			w.addLink([]byte(ref), tagMeta, false)
		}
		return
	case "content-language":
		if w.metaLang == "" {
			w.metaLang = Language(string(at.content))
		}
		return
	}
	name := strings.ToLower(string(bytes.TrimSpace(at.name)))
	switch {
	case name == "robots" || name != "" && name == w.o.Agent:
		w.directives.add(string(at.content))
	case name == "description" && w.description == "":
		w.description = w.limited(at.content)
	case w.ogText == "" && strings.EqualFold(string(at.property), "og:description"):
		w.ogText = w.limited(at.content)
	}
}

// limited collapses a description and cuts it.
func (w *walk) limited(content []byte) string {
	c := collapser{max: w.o.Description}
	c.write(content)
	w.flag(FlagDescription, c.cut)
	return c.String()
}

// Language takes the first language tag of an attribute or a Content-Language field. "" if it is none.
func Language(value string) string {
	tag, _, _ := strings.Cut(value, ",")
	tag = strings.TrimSpace(tag)
	if len(tag) > 35 { // RFC 5646, 4.4.1
		return ""
	}
	for _, c := range []byte(tag) {
		if !('a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_') {
			return ""
		}
	}
	return strings.ReplaceAll(tag, "_", "-")
}
