package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html/atom"
)

// mainText gathers a document's readable text. Where the page marks its main part, that is the text:
// main if it has any; else its articles, if they are a good part of all; else everything that is not
// boilerplate.
type mainText struct {
	main     collapser // in main elements
	articles collapser // in article elements outside of main
	rest     collapser // everything outside of main, articles included
}

// articlesShare: articles that hold less than one part in three are teasers or comments beside the
// text, not the text.
const articlesShare = 3

func (t *mainText) reset(limit int) {
	t.main.reset(limit)
	t.articles.reset(limit)
	t.rest.reset(limit)
}

func (t *mainText) write(p []byte, inMain, inArticle bool) {
	if inMain {
		t.main.write(p)
		return
	}
	t.rest.write(p)
	if inArticle {
		t.articles.write(p)
	}
}

// around parts the text before a tag from the text behind it, if the tag does so on a screen.
func (t *mainText) around(tag atom.Atom) {
	switch {
	case tag == atom.Td || tag == atom.Th:
		t.main.space()
		t.articles.space()
		t.rest.space()
	case isBlock(tag):
		t.main.newline()
		t.articles.newline()
		t.rest.newline()
	}
}

func (t *mainText) choose() (text string, cut bool) {
	best := &t.rest
	switch {
	case len(t.main.buf) > 0:
		best = &t.main
	case len(t.articles.buf)*articlesShare >= len(t.rest.buf):
		best = &t.articles
	}
	return best.String(), best.cut
}

func (t *mainText) trim() {
	for _, c := range []*collapser{&t.main, &t.articles, &t.rest} {
		if cap(c.buf) > 256<<10 {
			c.buf = nil
		}
	}
}

// isBlock tells the elements that stand in lines of their own.
func isBlock(tag atom.Atom) bool {
	switch tag {
	case atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Body, atom.Br, atom.Caption, atom.Center,
		atom.Dd, atom.Details, atom.Dialog, atom.Dir, atom.Div, atom.Dl, atom.Dt, atom.Fieldset, atom.Figcaption,
		atom.Figure, atom.Footer, atom.Form, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Header,
		atom.Hgroup, atom.Hr, atom.Legend, atom.Li, atom.Main, atom.Menu, atom.Nav, atom.Ol, atom.P,
		atom.Plaintext, atom.Pre, atom.Section, atom.Summary, atom.Table, atom.Tbody, atom.Tfoot, atom.Thead,
		atom.Tr, atom.Ul, atom.Xmp:
		return true
	}
	return false
}

// breaksOut tells the HTML elements that end an svg or math element by their mere appearance.
func breaksOut(tag atom.Atom) bool {
	switch tag {
	case atom.Article, atom.Aside, atom.Footer, atom.Form, atom.Header, atom.Main, atom.Nav, atom.Section:
		return false // not in the standard's list
	}
	return isBlock(tag)
}

// Plain makes plain text safe to store: control characters but tabs and newlines become spaces, line
// ends one newline, NUL U+FFFD. text must be valid UTF-8. It is cut at limit bytes, between two characters.
func Plain(text []byte, limit int) (_ string, cut bool) {
	var b strings.Builder
	b.Grow(min(len(text), limit))
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case r == '\r' && len(text) > 1 && text[1] == '\n':
			text = text[1:]
			continue
		case r == '\r':
			r = '\n'
		case r == 0:
			r = utf8.RuneError
		case unicode.IsControl(r) && r != '\n' && r != '\t':
			r = ' '
		}
		if b.Len()+utf8.RuneLen(r) > limit {
			return b.String(), true
		}
		b.WriteRune(r)
		text = text[size:]
	}
	return b.String(), false
}
