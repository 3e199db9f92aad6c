package parser

import (
	"slices"
	"strings"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/weburl"
	"github.com/warrenmq/warren/services/parser/internal/charset"
	"github.com/warrenmq/warren/services/parser/internal/extract"
)

// Flags of a page beside those of package extract.
const (
	// flagDecode: some bytes had no character in the page's charset and are U+FFFD in its text.
	flagDecode = "decode-error"
	// flagDropped: the page did not fit a message, and left its text behind.
	flagDropped = "text-dropped"
)

// page reads a response. body is decompressed; it and b may be used again when page has returned.
func (s *Service) page(r contract.Response, u weburl.URL, body []byte, b *scratch) contract.Page {
	p := contract.Page{Response: r, SHA256: hash(body)}
	p.V = contract.Version
	p.Header = withoutNUL(r.Header)
	switch {
	case len(body) == 0:
	case r.Kind == contract.KindHTML:
		s.html(&p, u, body, b)
	case r.Kind == contract.KindText:
		s.text(&p, body, b)
	}
	s.headers(&p, u)
	return p
}

// html reads a document. The links of a page that is not there (404) or not the page (an error, a
// redirect's note) are not what the site links to, so they are left out.
func (s *Service) html(p *contract.Page, u weburl.URL, body []byte, b *scratch) {
	encoding := charset.HTML(body, first(p.Header, "content-type"))
	doc := s.decode(p, encoding, body, b)
	end := s.deps.Now().Add(s.cfg.Deadline)
	found := b.extract.HTML(doc, extract.Options{
		URL:    u,
		Agent:  s.cfg.Agent,
		Query:  encoding.EncodeQuery,
		Stop:   func() bool { return s.deps.Now().After(end) },
		Limits: limits(),
	})
	p.Title, p.Description, p.Text = found.Title, found.Description, found.Text
	p.Canonical, p.Language = found.Canonical, found.Language
	p.NoIndex, p.NoFollow = found.NoIndex, found.NoFollow
	p.Flags = append(p.Flags, found.Flags...)
	if ok(p.Code) {
		p.Links = found.Links
	}
}

func (s *Service) text(p *contract.Page, body []byte, b *scratch) {
	encoding := charset.Text(body, first(p.Header, "content-type"))
	text, cut := extract.Plain(s.decode(p, encoding, body, b), limits().Text)
	p.Text = text
	if cut {
		p.Flags = append(p.Flags, extract.FlagText)
	}
}

// decode turns body into UTF-8. The result may alias body or b.
func (s *Service) decode(p *contract.Page, encoding charset.Encoding, body []byte, b *scratch) []byte {
	p.Charset = encoding.Name
	text, exact := encoding.Decode(&b.text, body)
	if !exact {
		p.Flags = append(p.Flags, flagDecode)
	}
	return text
}

// headers adds what the HTTP header says of any kind of page: robots directives, the language, and
// where a redirect or a Refresh leads. A redirect is not a link that nofollow could mean.
func (s *Service) headers(p *contract.Page, u weburl.URL) {
	d := extract.Directives{NoIndex: p.NoIndex, NoFollow: p.NoFollow}
	d.AddHeader(p.Header["x-robots-tag"], s.cfg.Agent)
	p.NoIndex, p.NoFollow = d.NoIndex, d.NoFollow
	if p.Language == "" {
		p.Language = extract.Language(first(p.Header, "content-language"))
	}
	if ref := extract.RefreshURL(first(p.Header, "refresh")); ref != "" && ok(p.Code) {
		addLink(p, u, ref, "meta")
	}
	if p.NoFollow {
		for i := range p.Links {
			p.Links[i].NoFollow = true
		}
	}
	// 304 is no redirect though it is 3xx: RFC 9110, 15.4.5.
	if p.Code >= 300 && p.Code <= 399 && p.Code != 304 && p.Location != "" {
		addLink(p, u, p.Location, "redirect")
	}
}

// addLink adds a link that stands in the header, unless the document has it.
func addLink(p *contract.Page, base weburl.URL, ref, tag string) {
	target, err := base.Resolve(ref)
	if err != nil {
		return
	}
	has := func(l contract.Link) bool { return l.URL == target.String() }
	if len(p.Links) < limits().Links && !slices.ContainsFunc(p.Links, has) {
		p.Links = append(p.Links, contract.Link{URL: target.String(), Tag: tag})
	}
}

func ok(code int) bool { return code >= 200 && code <= 299 }

func first(header map[string][]string, name string) string {
	if values := header[name]; len(values) > 0 {
		return values[0]
	}
	return ""
}

// withoutNUL makes a header safe to store; PostgreSQL takes no NUL in text. JSON has seen to it that
// it is UTF-8.
func withoutNUL(header map[string][]string) map[string][]string {
	for name, values := range header {
		for i, value := range values {
			values[i] = strings.ReplaceAll(value, "\x00", "\uFFFD")
		}
		if strings.Contains(name, "\x00") {
			delete(header, name)
		}
	}
	return header
}
