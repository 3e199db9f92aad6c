// Package extract reads an HTML document: its links, title, description, language, robots directives
// and main text.
//
//  1. In comes the document as UTF-8, and the URL it was fetched from.
//  2. A tokenizer walks over it once; no tree is built, so nesting costs nothing and has no limit. A
//     small stack of open elements says what is boilerplate, main text, or of no effect (template).
//     A base element below the first link makes it walk once more, since base counts for the whole
//     document.
//  3. Out goes a Result: canonical URLs, each once, in document order; text as valid UTF-8 without
//     control characters. Every part has a limit; what was cut is named in Result.Flags.
package extract

import (
	"slices"

	"golang.org/x/net/html"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/weburl"
)

// Flags say what is missing from a Result.
const (
	FlagLinks       = "links-cut"       // more links than Limits allow
	FlagText        = "text-cut"        // more text
	FlagTitle       = "title-cut"       // a longer title
	FlagDescription = "description-cut" // a longer description
	FlagDeadline    = "deadline"        // the document took too long; what was found until then is kept
)

// Limits bound a Result. All but Links are bytes.
type Limits struct {
	Links       int // links of a page
	LinkBytes   int // of all links as they are written in a message
	LinkText    int // of one link's text
	Text        int
	Title       int
	Description int
}

// Options say how to read one document.
type Options struct {
	URL   weburl.URL              // of the document; must not be zero
	Agent string                  // the crawler's name in robots directives, lower-case
	Query func(ref string) string // encodes a reference's query as the document's charset asks; nil: as it is
	Stop  func() bool             // asked again and again; true ends the walk with FlagDeadline. May be nil
	Limits
}

// Result is what a document says. Strings are valid UTF-8 without control characters.
type Result struct {
	Base        weburl.URL // what relative links were resolved against
	Title       string
	Description string
	Canonical   string // "" if the document names none that is a web URL
	Language    string // as the document writes it: "en-US"
	Text        string // main text, blocks parted by newlines
	Directives
	Links []contract.Link // NoFollow is set on all when Directives.NoFollow is
	Flags []string        // in alphabetical order
}

// Extractor reads documents one at a time and keeps its buffers in between. The zero value is ready.
// It is not safe for concurrent use.
type Extractor struct {
	walk walk
}

// HTML reads doc, which must be valid UTF-8.
func (x *Extractor) HTML(doc []byte, o Options) Result {
	w := &x.walk
	w.reset(o, o.URL)
	w.run(doc)
	if w.lateBase {
		base := w.base
		w.reset(o, base)
		w.baseKnown = true
		w.run(doc)
	}
	result := w.result()
	w.trim()
	return result
}

// walk is the state of one walk over a document.
type walk struct {
	o        Options
	z        *html.Tokenizer
	open     stack
	links    links
	title    collapser
	linkText collapser
	text     mainText

	base        weburl.URL
	baseKnown   bool // a base element was met, the first one counts
	resolved    bool // something was resolved against base
	lateBase    bool // the base element came below that
	titleSeen   bool
	raw         rawMode
	link        int // index of the link whose text is being read, -1 for none
	description string
	ogText      string // og:description, for pages without a description
	canonical   string
	htmlLang    string
	metaLang    string
	directives  Directives
	flags       []string
}

func (w *walk) reset(o Options, base weburl.URL) {
	w.links.reset(o.Limits)
	w.open.reset()
	w.title.reset(o.Title)
	w.linkText.reset(o.LinkText)
	w.text.reset(o.Text)
	*w = walk{
		o: o, base: base, link: -1, flags: w.flags[:0],
		open: w.open, links: w.links, title: w.title, linkText: w.linkText, text: w.text,
	}
}

func (w *walk) result() Result {
	text, cut := w.text.choose()
	w.flag(FlagText, cut)
	w.flag(FlagTitle, w.title.cut)
	w.flag(FlagLinks, w.links.cut)
	slices.Sort(w.flags)
	r := Result{
		Base: w.base, Title: w.title.String(), Description: w.description, Canonical: w.canonical,
		Language: w.htmlLang, Text: text, Directives: w.directives, Links: w.links.take(),
		Flags: slices.Clone(slices.Compact(w.flags)),
	}
	if r.Description == "" {
		r.Description = w.ogText
	}
	if r.Language == "" {
		r.Language = w.metaLang
	}
	if r.NoFollow {
		for i := range r.Links {
			r.Links[i].NoFollow = true
		}
	}
	return r
}

func (w *walk) flag(name string, set bool) {
	if set {
		w.flags = append(w.flags, name)
	}
}

// trim lets go of what a large document made large, so that a pool of Extractors stays small.
func (w *walk) trim() {
	w.z = nil
	w.o = Options{}
	w.links.trim()
	w.text.trim()
	w.open.trim()
}
