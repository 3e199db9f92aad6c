package extract_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/weburl"
	"github.com/warrenmq/warren/services/parser/internal/extract"
)

// read extracts from doc as the parser does, fetched from http://example.com/dir/page.
func read(tb testing.TB, doc string) extract.Result {
	tb.Helper()
	var x extract.Extractor
	return x.HTML([]byte(doc), options(tb))
}

func options(tb testing.TB) extract.Options {
	tb.Helper()
	u, err := weburl.Parse("http://example.com/dir/page")
	if err != nil {
		tb.Fatal(err)
	}
	return extract.Options{URL: u, Agent: "warren", Limits: extract.Limits{
		Links: 10_000, LinkBytes: 2 << 20, LinkText: 100, Text: 1 << 20, Title: 1 << 10, Description: 4 << 10,
	}}
}

// show writes links one a line: tag, URL, then nofollow and the text if there.
func show(links []contract.Link) string {
	var lines []string
	for _, l := range links {
		line := l.Tag + " " + strings.Replace(l.URL, "http://example.com", "", 1)
		if l.NoFollow {
			line += " nofollow"
		}
		if l.Text != "" {
			line += fmt.Sprintf(" %q", l.Text)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func TestLinks(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ doc, want string }{
		"a":                {`<a href="x">One  <b>two</b></a>`, `a /dir/x "One two"`},
		"a upper-case":     {`<A HREF=/x>T</A>`, `a /x "T"`},
		"a entities":       {`<a href="/?a=1&amp;b=2&copy=3">A &amp; B</a>`, `a /?a=1&b=2&copy=3 "A & B"`},
		"a without href":   {`<a name=x>t</a>`, ``},
		"a space in href":  {"<a href=' \n/a b\t'>t</a>", `a /a%20b "t"`},
		"a fragment":       {`<a href="#top">t</a>`, `a /dir/page "t"`},
		"a empty href":     {`<a href="">t</a>`, `a /dir/page "t"`},
		"a href, no value": {`<a href>t</a>`, `a /dir/page "t"`},
		"a other host":     {`<a href="//Other.example/">t</a>`, `a http://other.example/ "t"`},
		"a not closed":     {`<a href=1>one<a href=2>two`, "a /dir/1 \"one\"\na /dir/2 \"two\""},
		"a image":          {`<a href=1><img alt="The logo"></a>`, `a /dir/1 "The logo"`},
		"a image and text": {`<a href=1>see<img alt="logo">it</a>`, `a /dir/1 "see logo it"`},
		"a two hrefs":      {`<a href=1 href=2>t</a>`, `a /dir/1 "t"`},
		"a long text":      {`<a href=1>` + strings.Repeat("é", 80) + `</a>`, `a /dir/1 "` + strings.Repeat("é", 50) + `"`},
		"a text elsewhere": {`<a href=1>t</a> not this`, `a /dir/1 "t"`},
		"area":             {`<map><area href=1 alt="The  north"></map>`, `area /dir/1 "The north"`},
		"area in an a":     {`<a href=1>one<area href=2 alt=two>three</a>`, "a /dir/1 \"one\"\narea /dir/2 \"two\""},
		"frames": {`<frameset><frame src=1><frame src=""></frameset><iframe src=2><a href=3></a></iframe><iframe></iframe>`,
			"frame /dir/1\niframe /dir/2"},
		"link next":          {`<link rel="NEXT" href=2>`, `link /dir/2`},
		"link prev":          {`<link rel="prev nofollow" href=2>`, `link /dir/2 nofollow`},
		"link alternate":     {`<link rel=alternate hreflang=de href=/de/><link rel=alternate type="application/rss+xml" href=/feed>`, "link /de/\nlink /feed"},
		"link not a page":    {`<link rel=alternate type=application/json+oembed href=/o><link rel="alternate stylesheet" href=/s>`, ``},
		"link parts":         {`<link rel=stylesheet href=1><link rel="shortcut icon" href=2><link rel=preconnect href=3><link rel=manifest href=4><link href=5>`, ``},
		"canonical":          {`<link rel=canonical href="/c#x">`, `canonical /c`},
		"meta refresh":       {`<meta http-equiv=Refresh content="5; URL='/next'">`, `meta /next`},
		"meta refresh self":  {`<meta http-equiv=refresh content="30">`, ``},
		"nofollow":           {`<a rel="external NoFollow" href=1>t</a><a rel="ugc sponsored" href=2>t</a>`, "a /dir/1 nofollow \"t\"\na /dir/2 \"t\""},
		"nofollow once":      {`<a rel=nofollow href=1></a><a href=1>t</a>`, `a /dir/1 "t"`},
		"once, first place":  {`<a href=1></a><a href=2>b</a><a href=1#x>a</a>`, "a /dir/1 \"a\"\na /dir/2 \"b\""},
		"other schemes":      {"<a href='javascript:x()'></a><a href=' JaVa\tscript:x'></a><a href=mailto:a@b></a><a href='data:text/html,x'></a><a href=tel:1></a><a href='blob:http://x/1'></a><a href='ftp://x/'></a><a href='http://'></a>", ``},
		"credentials":        {`<a href="http://user:secret@example.com/x">t</a>`, `a /x "t"`},
		"noscript":           {`<head><noscript><meta http-equiv=refresh content="0;url=/n"></noscript></head><noscript><a href=1>t</a></noscript>`, "meta /n\na /dir/1 \"t\""},
		"not of the page":    {`<template><a href=1></a></template><script>"<a href=2>"</script><style><a href=3></style><textarea><a href=4></textarea><title><a href=5></title><!-- <a href=6> --><xmp><a href=7></xmp><noembed><a href=8></noembed><a href=9></a>`, `a /dir/9`},
		"plaintext":          {`<a href=1></a><plaintext><a href=2></a>`, `a /dir/1`},
		"template nested":    {`<template><template></template><a href=1></a></template><a href=2></a>`, `a /dir/2`},
		"svg self-closing":   {`<svg><title/><style/><script/></svg><a href=1></a>`, `a /dir/1`},
		"svg a":              {`<svg><a href=1><text>t</text></a></svg>`, `a /dir/1 "t"`},
		"cdata, pi, doctype": {`<!DOCTYPE html><?php <a href=1>?><![CDATA[<a href=2>]]><a href=3></a>`, "a /dir/3"},
		"no quotes closed":   {`<a href="1>t</a><a href=2>`, ``},
		"nul":                {"<a href=\"/a\x00b\">t\x00</a>", "a /a%EF%BF%BDb \"t\uFFFD\""},
		"control characters": {"<a href=\"/a\r\nSet-Cookie: x\x1b[2J\">t\x1b[2J</a>", `a /aSet-Cookie:%20x%1B[2J "t [2J"`},
		"self-closing a":     {`<a href=1 />t</a>`, `a /dir/1 "t"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, show(read(t, tc.doc).Links)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestBase(t *testing.T) {
	t.Parallel()
	const a = `<a href=1></a>`
	for name, tc := range map[string]struct{ doc, base, want string }{
		"none":             {a, "/dir/page", "/dir/1"},
		"relative":         {`<base href="sub/">` + a, "/dir/sub/", "/dir/sub/1"},
		"other host":       {`<base href="//other.example/x/">` + a, "http://other.example/x/", "http://other.example/x/1"},
		"data":             {`<base href="data:text/html,x">` + a, "/dir/page", "/dir/1"},
		"javascript":       {`<base href="javascript:x">` + a, "/dir/page", "/dir/1"},
		"two":              {`<base href="/x/"><base href="/y/">` + a, "/x/", "/x/1"},
		"first valid":      {`<base href="data:,"><base target=_top><base href="/y/">` + a, "/y/", "/y/1"},
		"second is no rel": {`<base href="/x/"><base href="z/">` + a, "/x/", "/x/1"},
		"behind a link":    {a + `<base href="/x/">`, "/x/", "/x/1"},
		"in body":          {`<body><p>t</p><base href="/x/">` + a, "/x/", "/x/1"},
		"late and two":     {a + `<base href="x/"><base href="/y/">`, "/dir/x/", "/dir/x/1"},
		"in a template":    {`<template><base href="/x/"></template>` + a, "/dir/page", "/dir/1"},
		"in a comment":     {`<!--<base href="/x/">-->` + a, "/dir/page", "/dir/1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := read(t, tc.doc)
			cut := func(s string) string { return strings.Replace(s, "http://example.com", "", 1) }
			if got := cut(r.Base.String()); got != tc.base {
				t.Errorf("base %s, want %s", got, tc.base)
			}
			if len(r.Links) != 1 || cut(r.Links[0].URL) != tc.want {
				t.Errorf("links %v, want %s", r.Links, tc.want)
			}
		})
	}
}

func TestLateBaseCorrectsAll(t *testing.T) {
	t.Parallel()
	r := read(t, `<link rel=canonical href=c><meta name=robots content=nofollow><title>T</title><p>text<a href=1>x</a><base href="/x/">`)
	want := extract.Result{
		Base: r.Base, Title: "T", Canonical: "http://example.com/x/c", Text: "textx",
		Directives: extract.Directives{NoFollow: true},
		Links: []contract.Link{
			{URL: "http://example.com/x/c", Tag: "canonical", NoFollow: true},
			{URL: "http://example.com/x/1", Tag: "a", Text: "x", NoFollow: true},
		},
	}
	if diff := cmp.Diff(want, r, cmp.AllowUnexported(weburl.URL{})); diff != "" {
		t.Error(diff)
	}
}
