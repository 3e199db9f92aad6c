package store

import (
	"strings"

	"github.com/warrenmq/warren/libs/contract"
)

// clean replaces, in every text of a page, what PostgreSQL takes in neither text nor jsonb: NUL
// (SQLSTATE 22021, 22P05) and bytes that are no UTF-8 (22021). Lone surrogates of JSON (22P05) are
// U+FFFD already: encoding/json reads them so. This is the one place where text is cleaned; a text
// field that is new in contract.Page fails a test until it stands here.
func clean(p *contract.Page) {
	for _, text := range []*string{
		&p.Crawl, &p.ID, &p.URL, (*string)(&p.Kind), &p.Proto, &p.Remote, &p.Truncated, &p.Location,
		&p.Host.Name, &p.Host.Reason, &p.Charset, &p.Title, &p.Description, &p.Canonical, &p.Language,
		&p.Text, &p.SHA256,
	} {
		*text = cleanText(*text)
	}
	for i := range p.Links {
		link := &p.Links[i]
		link.URL, link.Tag, link.Text = cleanText(link.URL), cleanText(link.Tag), cleanText(link.Text)
	}
	for i := range p.Flags {
		p.Flags[i] = cleanText(p.Flags[i])
	}
	for name, values := range p.Header {
		for i := range values {
			values[i] = cleanText(values[i])
		}
		if good := cleanText(name); good != name {
			delete(p.Header, name)
			p.Header[good] = values
		}
	}
}

func cleanText(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if strings.IndexByte(s, 0) < 0 {
		return s
	}
	return strings.ReplaceAll(s, "\x00", "\uFFFD")
}
