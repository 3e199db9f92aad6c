package webtest_test

import (
	"bytes"
	"encoding/hex"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"

	"github.com/warrenmq/warren/libs/webtest"
)

// read takes an HTML page apart and admits its links.
func (n *naive) read(u *url.URL, res *http.Response, body []byte, fact *webtest.Fact) {
	text, err := charset.NewReader(bytes.NewReader(body), fact.ContentType)
	if err != nil {
		n.t.Fatalf("decode %s: %v", u, err)
	}
	doc, err := html.Parse(text)
	if err != nil {
		n.t.Fatalf("parse %s: %v", u, err)
	}
	d := &document{fact: fact, directives: res.Header.Get("X-Robots-Tag")}
	for node := range doc.Descendants() {
		if node.Type == html.ElementNode {
			d.element(node)
		}
	}
	base := u
	if d.base != "" {
		if base, err = u.Parse(d.base); err != nil {
			n.t.Fatalf("parse base %s: %v", d.base, err)
		}
	}
	directives := strings.ToLower(d.directives)
	none := strings.Contains(directives, "none")
	fact.Noindex = none || strings.Contains(directives, "noindex")
	silent := none || strings.Contains(directives, "nofollow")
	listed, followed := make(map[string]bool), make(map[string]bool)
	for _, l := range d.links {
		target := canonical(base, l.href)
		if target == "" || fact.Status >= 400 {
			continue
		}
		listed[target] = true
		if !l.closed && !silent {
			followed[target] = true
			n.admit(target, 0)
		}
	}
	fact.Links, fact.Followed = len(listed), len(followed)
}

// document gathers what one page says.
type document struct {
	fact       *webtest.Fact
	base       string // the first
	directives string
	links      []found
}

type found struct {
	href   string
	closed bool // by rel=nofollow
}

func (d *document) element(node *html.Node) {
	a := make(map[string]string)
	for _, attr := range node.Attr {
		a[attr.Key] = attr.Val
	}
	rel := " " + strings.Join(strings.Fields(strings.ToLower(a["rel"])), " ") + " "
	href, linked := a["href"]
	switch node.Data {
	case "html":
		d.fact.Language = a["lang"]
	case "title":
		d.fact.Title = strings.TrimSpace(node.FirstChild.Data)
	case "base":
		if d.base == "" {
			d.base = href
		}
	case "a", "area":
		if linked {
			d.links = append(d.links, found{href, strings.Contains(rel, " nofollow ")})
		}
	case "link":
		if strings.Contains(rel, " next ") || strings.Contains(rel, " canonical ") {
			d.links = append(d.links, found{href, false})
		}
	case "iframe", "frame":
		d.links = append(d.links, found{a["src"], false})
	case "meta":
		switch strings.ToLower(a["name"] + a["http-equiv"]) {
		case "description":
			d.fact.Description = a["content"]
		case "robots":
			d.directives += "," + a["content"]
		case "refresh":
			d.links = append(d.links, found{refresh.FindStringSubmatch(a["content"])[1], false})
		}
	}
}

var (
	refresh    = regexp.MustCompile(`(?i)url=['"]?([^'"]*)`)
	unreserved = regexp.MustCompile(`%(2[dDeE]|3[0-9]|4[1-9a-fA-F]|5[0-9aAfF]|6[1-9a-fA-F]|7[0-9aAeE])`)
	hexes      = regexp.MustCompile(`%[0-9a-f]{2}|%[0-9a-f][A-F0-9]|%[A-F0-9][a-f]`)
)

// canonical resolves a link as written and gives it its one form; "" if it is not for a crawler.
func canonical(base *url.URL, href string) string {
	href = strings.Trim(href, " \t\r\n")
	href = strings.NewReplacer("\n", "", "\r", "", "\t", "").Replace(href)
	href = unreserved.ReplaceAllStringFunc(href, func(s string) string {
		b, _ := hex.DecodeString(s[1:])
		return string(b)
	})
	href = hexes.ReplaceAllStringFunc(href, strings.ToUpper)
	u, err := base.Parse(href)
	if err != nil || u.Scheme != "http" || u.Host == "" {
		return ""
	}
	slash := strings.HasSuffix(u.Path, "/") || u.Path == ""
	full := path.Clean("/" + u.Path)
	if slash && full != "/" {
		full += "/"
	}
	host := strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(u.Host), ":80"), ":")
	out := "http://" + host + (&url.URL{Path: full}).EscapedPath()
	if u.RawQuery != "" {
		out += "?" + u.RawQuery
	}
	return out
}
