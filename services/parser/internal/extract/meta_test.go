package extract_test

import (
	"strings"
	"testing"

	"github.com/warrenmq/warren/services/parser/internal/extract"
)

func TestTitleDescriptionLanguageCanonical(t *testing.T) {
	t.Parallel()
	title := func(r extract.Result) string { return r.Title }
	description := func(r extract.Result) string { return r.Description }
	language := func(r extract.Result) string { return r.Language }
	canonical := func(r extract.Result) string { return r.Canonical }
	for name, tc := range map[string]struct {
		doc  string
		part func(extract.Result) string
		want string
	}{
		"title":                     {"<title>\n A &lt;b&gt;\t c\u00a0d </title>", title, "A <b> c d"},
		"title, the first":          {`<title>1</title><title>2</title>`, title, "1"},
		"title of an svg":           {`<svg><title>icon</title></svg><title>T</title>`, title, "T"},
		"title in a template":       {`<template><title>1</title></template><title>2</title>`, title, "2"},
		"title never closed":        {`<title>T<p>x`, title, "T<p>x"},
		"title with an escape code": {"<title>a\x1b[31m\u009bb\u202e</title>", title, "a [31m b\u202e"},
		"title with NUL":            {"<title>a\x00b&#0;c&#xD800;</title>", title, "a\uFFFDb\uFFFDc\uFFFD"},
		"no title":                  {`<p>x`, title, ""},
		"description":               {`<meta name=" Description" content=" a  b ">`, description, "a b"},
		"description, the first":    {`<meta name=description content=""><meta name=description content=1><meta name=description content=2>`, description, "1"},
		"og:description":            {`<meta property=og:description content=o>`, description, "o"},
		"description before og":     {`<meta property=og:description content=o><meta name=description content=d>`, description, "d"},
		"lang":                      {`<html lang=en_US><html lang=de>`, language, "en-US"},
		"lang before meta":          {`<meta http-equiv=content-language content=de><html lang=en>`, language, "en"},
		"content-language":          {`<html><meta http-equiv="Content-Language" content="de, en">`, language, "de"},
		"no lang":                   {`<html lang="<script>">`, language, ""},
		"canonical":                 {`<link rel="Canonical" href="../c?x=1#f">`, canonical, "http://example.com/c?x=1"},
		"canonical, the first":      {`<link rel=canonical href="mailto:x"><link rel=canonical href=1><link rel=canonical href=2>`, canonical, "http://example.com/dir/1"},
		"no canonical":              {`<a rel=canonical href=1>`, canonical, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := tc.part(read(t, tc.doc)); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestRobotsMeta(t *testing.T) {
	t.Parallel()
	index, follow := extract.Directives{NoIndex: true}, extract.Directives{NoFollow: true}
	for content, want := range map[string]extract.Directives{
		`<meta name=robots content=noindex>`:                                                                       index,
		`<meta name=Robots content="NOFOLLOW , noarchive">`:                                                        follow,
		`<meta name=robots content="index,follow,all">`:                                                            {},
		`<meta name=robots content="none">`:                                                                        {NoIndex: true, NoFollow: true},
		`<meta name=googlebot content=none>`:                                                                       {},
		`<meta name=WARREN content=nofollow>`:                                                                      follow,
		`<meta name=robots content=noindex><meta name=warren content=nofollow>`:                                    {NoIndex: true, NoFollow: true},
		`<meta name=robots content="noindex"><meta name=robots content="index">`:                                   index,
		`<meta property=robots content=noindex>`:                                                                   {},
		`<meta name="" content=noindex><meta content=noindex><template><meta name=robots content=none></template>`: {},
	} {
		if got := read(t, content).Directives; got != want {
			t.Errorf("%s: got %+v, want %+v", content, got, want)
		}
	}
}

func TestNoFollowPageMarksAllLinks(t *testing.T) {
	t.Parallel()
	r := read(t, `<a href=1></a><iframe src=2></iframe><meta name=robots content=nofollow>`)
	if len(r.Links) != 2 || !r.Links[0].NoFollow || !r.Links[1].NoFollow {
		t.Errorf("links %+v", r.Links)
	}
}

func TestRobotsHeader(t *testing.T) {
	t.Parallel()
	for values, want := range map[string]extract.Directives{
		"noindex":                             {NoIndex: true},
		"noindex, nofollow":                   {NoIndex: true, NoFollow: true},
		"NONE":                                {NoIndex: true, NoFollow: true},
		"warren: nofollow":                    {NoFollow: true},
		"Warren : noindex, nofollow":          {NoIndex: true, NoFollow: true},
		"otherbot: noindex, nofollow":         {},
		"otherbot: noindex|nofollow":          {NoFollow: true},
		"otherbot: noindex, warren: nofollow": {NoFollow: true},
		"unavailable_after: 25 Jun 2010 15:00:00 PST, noindex":         {NoIndex: true},
		"max-snippet:20, max-image-preview: large, nofollow":           {NoFollow: true},
		"unavailable_after: Friday, 25 Jun 2010 15:00:00 GMT, noindex": {NoIndex: true},
		"": {},
	} {
		var got extract.Directives
		got.AddHeader(strings.Split(values, "|"), "warren")
		if got != want {
			t.Errorf("%q: got %+v, want %+v", values, got, want)
		}
	}
}

func TestRefreshURL(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"0;url=/x":           "/x",
		"5; URL = '/x y' z":  "/x y",
		`5, url="/x`:         "/x",
		"1.5;/x":             "/x",
		".5 /x":              "/x",
		"5;urls":             "urls",
		"5;url /x":           "url /x",
		"  5  ;  url=  /x  ": "/x",
		"5":                  "",
		"5;":                 "",
		"5;url=":             "",
		"url=/x":             "",
		"5x;url=/x":          "",
		"":                   "",
		"5;url=''":           "",
	} {
		if got := extract.RefreshURL(content); got != want {
			t.Errorf("%q: got %q, want %q", content, got, want)
		}
	}
}
