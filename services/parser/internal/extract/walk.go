package extract

import (
	"bytes"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// rawMode is what becomes of the text that the tokenizer returns unparsed behind a start tag.
type rawMode uint8

const (
	parsed   rawMode = iota // no raw text: it is the document's
	dropped                 // script, style, textarea …
	titled                  // the document's title
	verbatim                // xmp, plaintext: text, though no markup in it
)

// clockEvery is the number of tokens between two looks at the clock: no token but one with very many
// attributes takes more than microseconds.
const clockEvery = 64

// rawModeOf tells the elements whose text the tokenizer returns unparsed, and what becomes of it. noscript
// is one to the tokenizer too, but without scripts its content is the page's.
func rawModeOf(tag atom.Atom) rawMode {
	switch tag {
	case atom.Title:
		return titled
	case atom.Xmp, atom.Plaintext:
		return verbatim
	case atom.Script, atom.Style, atom.Textarea, atom.Iframe, atom.Noembed, atom.Noframes:
		return dropped
	}
	return parsed
}

// run walks over doc until its end, the deadline, or a base that makes the walk worthless.
func (w *walk) run(doc []byte) {
	w.z = html.NewTokenizer(bytes.NewReader(doc))
	for n := 1; !w.lateBase; n++ {
		if n%clockEvery == 0 && w.o.Stop != nil && w.o.Stop() {
			w.flag(FlagDeadline, true)
			break
		}
		kind := w.z.Next()
		if kind == html.ErrorToken {
			break
		}
		w.token(kind)
	}
	w.endLink()
}

func (w *walk) token(kind html.TokenType) {
	switch kind {
	case html.TextToken:
		w.characters()
	case html.StartTagToken, html.SelfClosingTagToken:
		w.start(nameIn(w.z.Raw()[len("<"):]), kind == html.SelfClosingTagToken)
	case html.EndTagToken:
		w.end(nameIn(w.z.Raw()[len("</"):]))
	}
}

// nameIn reads a tag's name; 0 for one that HTML does not have. The tokenizer's own TagName would
// copy it each time.
func nameIn(raw []byte) atom.Atom {
	var lower [16]byte // "foreignobject" is the longest name that anyone asks for
	for i, c := range raw {
		switch {
		case c == '>' || c == '/' || c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f':
			return atom.Lookup(lower[:i])
		case i == len(lower):
			return 0
		case 'A' <= c && c <= 'Z':
			c |= 0x20
		}
		lower[i] = c
	}
	return 0
}

// characters takes a text token. Text nobody wants is not even unescaped.
func (w *walk) characters() {
	mode := w.raw
	w.raw = parsed
	switch {
	case mode == titled:
		w.title.write(w.z.Text())
		return
	case mode == dropped || w.open.has(inert):
		return
	}
	visible := !w.open.has(hidden)
	if !visible && w.link < 0 {
		return
	}
	text := w.z.Text()
	if w.link >= 0 {
		w.linkText.write(text)
	}
	if visible {
		w.text.write(text, w.open.has(inMain), w.open.has(inArticle))
	}
}

// start takes a start tag. Only tags that mean something have their attributes read.
func (w *walk) start(tag atom.Atom, selfClosing bool) {
	if w.open.has(foreign) && !w.open.has(htmlInForeign) && breaksOut(tag) {
		w.open.leaveForeign() // HTML in an svg that was never closed
	}
	inForeign := w.open.has(foreign) && !w.open.has(htmlInForeign)
	w.startRaw(tag, inForeign, selfClosing)
	w.text.around(tag)
	if tag == atom.A {
		w.endLink() // links do not nest
	}
	if !inForeign || !selfClosing {
		w.open.push(tag)
	}
	if !w.open.has(inert) {
		w.element(tag)
	}
}

// startRaw notes what becomes of the text behind tag, where the tokenizer takes no markup.
func (w *walk) startRaw(tag atom.Atom, inForeign, selfClosing bool) {
	w.raw = rawModeOf(tag)
	switch {
	case tag == atom.Noscript, inForeign && selfClosing:
		w.z.NextIsNotRawText() // <svg><title/> is whole; the tokenizer would wait for </title>
		w.raw = parsed
	case w.raw == titled && (inForeign || w.titleSeen || w.open.has(inert)):
		w.raw = dropped
	case w.raw == titled:
		w.titleSeen = true
	}
}

func (w *walk) end(tag atom.Atom) {
	w.raw = parsed
	w.text.around(tag)
	if tag == atom.A {
		w.endLink()
	}
	w.open.pop(tag)
}
