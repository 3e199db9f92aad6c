package parser_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/services/parser"
)

const (
	doc = `<html lang=en><title>T</title><meta name=description content=D><link rel=canonical href=/c><p>text <a href=1>one</a>`
)

func TestPages(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	html := contract.Page{Charset: "utf-8", Title: "T", Description: "D", Canonical: "http://www.example.com/c", Language: "en", Text: "text one"}
	links := []contract.Link{
		{URL: "http://www.example.com/c", Tag: "canonical"},
		{URL: "http://www.example.com/dir/1", Tag: "a", Text: "one"},
	}
	redirect := contract.Link{URL: "http://other.example/x", Tag: "redirect"}
	with := func(change func(*contract.Page)) contract.Page { p := html; change(&p); return p }
	for name, tc := range map[string]struct {
		change func(*contract.Response)
		body   string
		want   contract.Page // its extracted part
	}{
		"html":                 {nil, doc, with(func(p *contract.Page) { p.Links = links })},
		"not found":            {func(r *contract.Response) { r.Code = 404 }, doc, html},
		"error with a refresh": {func(r *contract.Response) { r.Code = 503; r.Header["refresh"] = []string{"0;url=/"} }, doc, html},
		"redirect": {func(r *contract.Response) { r.Code, r.Location = 301, redirect.URL }, doc,
			with(func(p *contract.Page) { p.Links = []contract.Link{redirect} })},
		"redirect without body": {func(r *contract.Response) { r.Code, r.Location, r.Kind = 302, redirect.URL, contract.KindEmpty }, "",
			contract.Page{Links: []contract.Link{redirect}}},
		"redirect, nofollow": {func(r *contract.Response) {
			r.Code, r.Location, r.Kind, r.Header["x-robots-tag"] = 302, redirect.URL, contract.KindEmpty, []string{"none"}
		}, "", contract.Page{Links: []contract.Link{redirect}, NoFollow: true, NoIndex: true}},
		"redirect to nowhere": {func(r *contract.Response) { r.Code, r.Location, r.Kind = 302, "mailto:x", contract.KindEmpty }, "", contract.Page{}},
		"location of a 201":   {func(r *contract.Response) { r.Code, r.Location, r.Kind = 201, redirect.URL, contract.KindEmpty }, "", contract.Page{}},
		"not modified":        {func(r *contract.Response) { r.Code, r.Kind = 304, contract.KindEmpty }, "", contract.Page{}},
		"not modified, with a location": {func(r *contract.Response) {
			r.Code, r.Location, r.Kind = 304, redirect.URL, contract.KindEmpty
		}, "", contract.Page{}},
		"html without a body": {nil, "", contract.Page{}},
		"refresh header": {func(r *contract.Response) { r.Header["refresh"] = []string{"0; url=2", "0; url=3"} }, doc,
			with(func(p *contract.Page) {
				p.Links = append(links[:2:2], contract.Link{URL: "http://www.example.com/dir/2", Tag: "meta"})
			})},
		"refresh header to a known link": {func(r *contract.Response) { r.Header["refresh"] = []string{"0; url=1"} }, doc,
			with(func(p *contract.Page) { p.Links = links })},
		"nofollow by header": {func(r *contract.Response) { r.Header["x-robots-tag"] = []string{"warren: nofollow"} }, doc,
			with(func(p *contract.Page) {
				p.NoFollow = true
				for _, l := range links {
					l.NoFollow = true
					p.Links = append(p.Links, l)
				}
			})},
		"binary": {func(r *contract.Response) {
			r.Kind = contract.KindBinary
			r.Header["x-robots-tag"], r.Header["content-language"] = []string{"noindex"}, []string{"de, en"}
		}, doc, contract.Page{NoIndex: true, Language: "de"}},
		"xml": {func(r *contract.Response) { r.Kind = contract.KindXML }, "<?xml version='1.0'?><x/>", contract.Page{}},
		"text": {func(r *contract.Response) {
			r.Kind, r.Header["content-type"] = contract.KindText, []string{"text/plain; charset=latin1"}
		}, "a\r\n\xe9\x00<b>", contract.Page{Charset: "windows-1252", Text: "a\né\uFFFD<b>", Flags: nil}},
		"broken UTF-8": {nil, "<p>a\xffb", contract.Page{Charset: "utf-8", Text: "a\uFFFDb", Flags: []string{"decode-error"}}},
		"query in the page's charset": {func(r *contract.Response) { r.Header["content-type"] = []string{"text/html; charset=windows-1252"} }, "<a href='/\xe9?\xe9'>\xe9",
			contract.Page{Charset: "windows-1252", Text: "é", Links: []contract.Link{{URL: "http://www.example.com/%C3%A9?%E9", Tag: "a", Text: "é"}}}},
		"NUL in a header":  {func(r *contract.Response) { r.Header["x"], r.Header["y\x00"] = []string{"a\x00b"}, []string{"z"} }, "", contract.Page{}},
		"no header at all": {func(r *contract.Response) { r.Header = nil }, "<p>é", contract.Page{Charset: "utf-8", Text: "é"}},
	} {
		t.Run(name, func(t *testing.T) {
			in := response()
			if tc.change != nil {
				tc.change(&in)
			}
			page, body := r.parse(t, in, tc.body)
			if body != tc.body {
				t.Errorf("body %q", body)
			}
			if (page.SHA256 == "") != (tc.body == "") || page.SHA256 != "" && len(page.SHA256) != 64 {
				t.Errorf("sha256 %q", page.SHA256)
			}
			in.Size, in.Received = int64(len(tc.body)), int64(len(tc.body))
			if strings.Contains(name, "NUL") {
				in.Header = map[string][]string{"content-type": {"text/html; charset=utf-8"}, "x": {"a\uFFFDb"}}
			}
			tc.want.Response = in
			if diff := cmp.Diff(tc.want, page, cmpopts.IgnoreFields(contract.Page{}, "SHA256"), cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSHA256(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	in := response()
	in.Kind = contract.KindBinary
	page, _ := r.parse(t, in, "abc") // FIPS 180-2, B.1
	if want := "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"; page.SHA256 != want {
		t.Errorf("got %s", page.SHA256)
	}
}

// TestDeadline: a page that takes too long goes on with what was found.
func TestDeadline(t *testing.T) {
	t.Parallel()
	var seconds atomic.Int64
	r := start(t, func(_ *parser.Config, deps *parser.Deps) {
		deps.Now = func() time.Time { return time.Unix(seconds.Add(1), 0) } // a slow machine
	})
	page, _ := r.parse(t, response(), "<title>T</title>"+strings.Repeat("<a href=1>x</a>", 10_000)+"<a href=2>")
	if page.Title != "T" || len(page.Links) != 1 || !cmp.Equal(page.Flags, []string{"deadline"}) {
		t.Errorf("title %q, %d links, flags %q", page.Title, len(page.Links), page.Flags)
	}
}

func TestInspect(t *testing.T) {
	t.Parallel()
	got, err := parser.Inspect([]byte(`<base href=/b/><title>T</title><link rel=canonical href=c><a href=x></a><a href=mailto:x></a>`), "text/html; charset=koi8-r", "http://example.com/dir/page")
	if err != nil {
		t.Fatal(err)
	}
	want := parser.Inspection{
		Base: "http://example.com/b/", Title: "T", Canonical: "http://example.com/b/c", Charset: "koi8-r",
		Links: []string{"http://example.com/b/c", "http://example.com/b/x"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got, err := parser.Inspect(nil, "", "http://example.com"); err != nil || got.Links == nil || got.Charset != "windows-1252" {
		t.Errorf("nothing: %+v, %v", got, err)
	}
	if _, err := parser.Inspect(nil, "", "no url"); err == nil {
		t.Error("a base that is no URL is no error")
	}
	if got := parser.Charset([]byte("é"), ""); got != "utf-8" {
		t.Errorf("charset %s", got)
	}
}
