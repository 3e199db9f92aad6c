package webtest

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
)

// targets returns the distinct URLs the page leads to, and those that may be followed.
func (p *page) targets() (all, followed []string) {
	var links []link
	switch {
	case p.location.target != "":
		links = []link{p.location}
	case p.status == http.StatusOK && p.links != nil:
		links = p.links()
	}
	listed, open := make(map[string]bool), make(map[string]bool)
	for _, l := range links {
		if !listed[l.target] {
			listed[l.target] = true
			all = append(all, l.target)
		}
		if !open[l.target] && !l.closed && !p.nofollow() {
			open[l.target] = true
			followed = append(followed, l.target)
		}
	}
	return all, followed
}

func (p *page) nofollow() bool { return p.says("nofollow") || p.says("none") }

// says tells whether the page's robots directives, in meta or in the header, have this one.
func (p *page) says(directive string) bool {
	for word := range strings.SplitSeq(strings.ToLower(p.robotsMeta+","+p.robotsTag), ",") {
		if strings.TrimSpace(word) == directive {
			return true
		}
	}
	return false
}

func (p *page) fact(links, followed int) Fact {
	sum := sha256.Sum256(p.render())
	return Fact{
		Status: p.status, SHA256: hex.EncodeToString(sum[:]), ContentType: p.contentType,
		Title: p.title, Description: p.description, Language: p.lang,
		Links: links, Followed: followed, Location: p.location.target,
		Noindex: p.says("noindex") || p.says("none"),
	}
}
