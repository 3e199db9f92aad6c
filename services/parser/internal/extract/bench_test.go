package extract_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/warrenmq/warren/services/parser/internal/extract"
)

// page is an ordinary one: 20 KB and 41 links.
func page() []byte {
	var b strings.Builder
	b.WriteString(`<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>A page about things</title>
<meta name="description" content="All one wants to know of things"><link rel="canonical" href="/things/1">
<link rel="stylesheet" href="/s.css"><script src="/x.js"></script></head><body><header><nav><ul class="menu">`)
	for i := range 20 {
		fmt.Fprintf(&b, `<li class="item"><a class="link" href="/menu/%d">Menu entry %d</a></li>`+"\n", i, i)
	}
	b.WriteString(`</ul></nav></header><main><h1>Things</h1>`)
	for i := range 20 {
		fmt.Fprintf(&b, `<p class="text" id="p%d">%s <a href="/things/%d?x=1&amp;y=2">thing %d</a> %s</p>`+"\n",
			i, strings.Repeat("Words of a sentence &amp; more of them. ", 9), i+2, i, strings.Repeat("And <em>so</em> on. ", 20))
	}
	b.WriteString(`</main><footer>All rights reserved</footer></body></html>`)
	return []byte(b.String())
}

func BenchmarkHTML(b *testing.B) {
	doc := page()
	var x extract.Extractor
	o := options(b)
	o.Query = func(ref string) string { return ref }
	o.Stop = func() bool { return false }
	if r := x.HTML(doc, o); len(r.Links) != 41 {
		b.Fatalf("%d links", len(r.Links))
	}
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		x.HTML(doc, o)
	}
}

// BenchmarkTokenizer is the floor: the tokens alone.
func BenchmarkTokenizer(b *testing.B) {
	doc := page()
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		for z := html.NewTokenizer(bytes.NewReader(doc)); z.Next() != html.ErrorToken; {
		}
	}
}
