package extract_test

import (
	"strings"
	"testing"

	"github.com/warrenmq/warren/services/parser/internal/extract"
)

func TestText(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ doc, want string }{
		"blocks":            {"<p>One\n  two<p>three<br>four <b>fi</b>ve<ul><li>a<li>b</ul>", "One two\nthree\nfour five\na\nb"},
		"cells":             {`<table><tr><td>a<td>b<tr><td>c</table>`, "a b\nc"},
		"head is no text":   {`<head><title>T</title><style>x</style></head><body>b`, "b"},
		"scripts":           {`a<script>x()</script><style>y</style><textarea>z</textarea>b`, "ab"},
		"boilerplate":       {`<header>h</header><nav>n</nav><p>text</p><aside>s</aside><footer>f</footer>`, "text"},
		"main":              {`<p>before</p><main><h1>T</h1><p>text</p><nav>n</nav></main><p>after</p>`, "T\ntext"},
		"main is empty":     {`<p>text</p><main><nav>n</nav></main>`, "text"},
		"two mains":         {`<main>a</main>x<main>b</main>`, "a\nb"},
		"articles":          {`<p>menu</p><article><header><h1>T</h1></header>text</article>`, "T\ntext"},
		"articles too few":  {`<p>` + strings.Repeat("text ", 20) + `<article>teaser</article>`, strings.Repeat("text ", 19) + "text\nteaser"},
		"header of its own": {`<section><header>h</header>t<footer>f</footer></section>`, "h\nt\nf"},
		"nav never closed":  {`<div><nav>n</div><p>text`, "text"},
		"stray end tags":    {`</div></nav></main><p>te</section>xt`, "te\nxt"},
		"nested nav":        {`<nav>a<nav>b</nav>c</nav>d`, "d"},
		"forms":             {`<label>Name</label><select><option>1</select><button>Go</button>t`, "Namet"},
		"svg":               {`a<svg><text>x</text><foreignObject><p>y</p></foreignObject></svg>b`, "a\nb"},
		"svg never closed":  {`<svg><g><path><p>text`, "text"},
		"template":          {`<template><p>x</p></template>y`, "y"},
		"noscript":          {`<noscript>Turn on JavaScript</noscript>y`, "y"},
		"media":             {`<video>no video<a href=x>get it</a></video><canvas>no</canvas>y`, "y"},
		"xmp, plaintext":    {`<xmp><b>x</b></xmp><plaintext><i>y`, "<b>x</b>\n<i>y"},
		"entities":          {`a&nbsp;&nbsp;b &lt;c&gt; &eacute;&#x1F600;&bogus;`, "a b <c> é😀&bogus;"},
		"control":           {"a\x00b\x01\x02c\x7fd\u0085e\u2028f", "a\uFFFDb c d e f"},
		"words":             {`<b>a</b><i>b</i> <u>c</u>`, "ab c"},
		"empty":             {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := read(t, tc.doc).Text; got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestPlain(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"a\r\nb\rc\nd\te":     "a\nb\nc\nd\te",
		"a\x00b\x1bc\u009bd":  "a\uFFFDb c d",
		"1234567890123456789": "1234567890123456",
		"123456789012345é":    "123456789012345",
		"":                    "",
	} {
		got, cut := extract.Plain([]byte(in), 16)
		if got != want || cut != (len(in) > 16) {
			t.Errorf("%q: got %q, cut %v, want %q", in, got, cut, want)
		}
	}
}
