package parser

import (
	"fmt"

	"github.com/warrenmq/warren/libs/weburl"
	"github.com/warrenmq/warren/services/parser/internal/charset"
	"github.com/warrenmq/warren/services/parser/internal/extract"
)

// Inspection is what the parser finds in one HTML document, for people (warren inspect).
type Inspection struct {
	Base      string   `json:"base"` // what relative links are resolved against
	Title     string   `json:"title"`
	Canonical string   `json:"canonical"`
	Charset   string   `json:"charset"`
	Links     []string `json:"links"` // canonical URLs, each once, in document order; never nil
}

// Inspect reads body as the HTML document that was fetched from base, an absolute URL, with that
// Content-Type ("" for none). It fails if base is no http or https URL.
func Inspect(body []byte, contentType, base string) (Inspection, error) {
	u, err := weburl.Parse(base)
	if err != nil {
		return Inspection{}, fmt.Errorf("read base: %w", err)
	}
	encoding := charset.HTML(body, contentType)
	var buf []byte
	doc, _ := encoding.Decode(&buf, body)
	var x extract.Extractor
	found := x.HTML(doc, extract.Options{
		URL: u, Agent: DefaultConfig().Agent, Query: encoding.EncodeQuery, Limits: limits(),
	})
	i := Inspection{
		Base: found.Base.String(), Title: found.Title, Canonical: found.Canonical,
		Charset: encoding.Name, Links: make([]string, len(found.Links)),
	}
	for n, link := range found.Links {
		i.Links[n] = link.URL
	}
	return i, nil
}

// Charset names the encoding of an HTML document as the Encoding standard does, lower-case.
func Charset(body []byte, contentType string) string { return charset.HTML(body, contentType).Name }
