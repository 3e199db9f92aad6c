package webtest

import (
	"fmt"
	"html"
	"strings"
	"unicode/utf16"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
)

// charset says how a page's text becomes bytes, and by what it declares that.
type charset struct {
	code   coding
	header string // in Content-Type
	meta   string // in <meta charset>
	equiv  string // in <meta http-equiv=Content-Type>
}

type coding int

const (
	utf8 coding = iota
	utf8BOM
	utf16LE // with its byte order mark
	windows1252
	shiftJIS
	eucJP
)

// encode turns text into the bytes of the coding. The vocabularies have no letter that the coding of
// their pages lacks; a test proves it, and here such a letter is a mistake of this package.
func (c coding) encode(text string) []byte {
	var err error
	switch c {
	case utf8BOM:
		text = "\ufeff" + text
	case utf16LE:
		b := []byte{0xff, 0xfe}
		for _, u := range utf16.Encode([]rune(text)) {
			b = append(b, byte(u), byte(u>>8))
		}
		return b
	case windows1252:
		text, err = charmap.Windows1252.NewEncoder().String(text)
	case shiftJIS:
		text, err = japanese.ShiftJIS.NewEncoder().String(text)
	case eucJP:
		text, err = japanese.EUCJP.NewEncoder().String(text)
	}
	if err != nil {
		panic(fmt.Sprintf("webtest: encode text: %v", err))
	}
	return []byte(text)
}

// render writes the page's body, before any Content-Encoding.
func (p *page) render() []byte {
	switch {
	case p.body != nil:
		return p.body()
	case p.lang == "": // a redirect
		return nil
	}
	var links []link
	if p.links != nil {
		links = p.links()
	}
	var b strings.Builder
	p.writeHead(&b, links)
	if hasFrames(links) {
		p.writeFrames(&b, links)
	} else {
		p.writeBody(&b, links)
	}
	b.WriteString("</html>\n")
	return p.charset.code.encode(b.String())
}

func (p *page) writeHead(b *strings.Builder, links []link) {
	fmt.Fprintf(b, "<!DOCTYPE html>\n<html lang=%q>\n<head>\n", p.lang)
	if p.charset.meta != "" {
		fmt.Fprintf(b, "<meta charset=%q>\n", p.charset.meta)
	}
	if p.charset.equiv != "" {
		fmt.Fprintf(b, "<meta http-equiv=\"Content-Type\" content=\"text/html; charset=%s\">\n", p.charset.equiv)
	}
	for _, base := range p.baseHrefs {
		fmt.Fprintf(b, "<base href=\"%s\">\n", html.EscapeString(base))
	}
	fmt.Fprintf(b, "<title>%s</title>\n", html.EscapeString(p.title))
	fmt.Fprintf(b, "<meta name=\"description\" content=\"%s\">\n", html.EscapeString(p.description))
	if p.robotsMeta != "" {
		fmt.Fprintf(b, "<meta name=\"robots\" content=\"%s\">\n", p.robotsMeta)
	}
	for _, l := range links {
		href := html.EscapeString(l.href)
		switch l.via {
		case viaNext:
			fmt.Fprintf(b, "<link rel=\"next\" href=\"%s\">\n", href)
		case viaCanonical:
			fmt.Fprintf(b, "<link rel=\"canonical\" href=\"%s\">\n", href)
		case viaRefresh:
			fmt.Fprintf(b, "<meta http-equiv=\"refresh\" content=\"%s\">\n", href)
		}
	}
	b.WriteString("</head>\n")
}

func (p *page) writeBody(b *strings.Builder, links []link) {
	d, l := p.site.dice("text "+p.label), vocabulary(p.lang)
	fmt.Fprintf(b, "<body>\n<h1>%s</h1>\n", html.EscapeString(p.title))
	for range 2 + d.roll(3) {
		fmt.Fprintf(b, "<p>%s</p>\n", html.EscapeString(d.paragraph(l)))
	}
	for _, link := range links {
		href, rel := html.EscapeString(link.href), ""
		if link.rel != "" {
			rel = fmt.Sprintf(" rel=%q", link.rel)
		}
		switch link.via {
		case viaA:
			fmt.Fprintf(b, "<a href=\"%s\"%s>%s</a>\n", href, rel, html.EscapeString(d.words(l, 2)))
		case viaArea:
			fmt.Fprintf(b, "<map name=\"m\"><area shape=\"default\" href=\"%s\"></map>\n", href)
		case viaIframe:
			fmt.Fprintf(b, "<iframe src=\"%s\"></iframe>\n", href)
		}
	}
	b.WriteString("</body>\n")
}

func (p *page) writeFrames(b *strings.Builder, links []link) {
	b.WriteString("<frameset cols=\"50%,50%\">\n")
	for _, l := range links {
		fmt.Fprintf(b, "<frame src=\"%s\">\n", html.EscapeString(l.href))
	}
	b.WriteString("</frameset>\n")
}

func hasFrames(links []link) bool { return len(links) > 0 && links[0].via == viaFrame }
