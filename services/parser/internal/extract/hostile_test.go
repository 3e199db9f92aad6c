package extract_test

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/warrenmq/warren/services/parser/internal/extract"
)

// patience is the most processor time a hostile document may take here. They take half a second, five
// with the race detector; what is quadratic takes minutes. Processor time, since the machine may be busy.
const patience = 30 * time.Second

func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// TestHostile reads documents made to hurt. Each is read whole, in time, and gives what it has.
func TestHostile(t *testing.T) {
	attributes := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, " a%d", i)
		}
		return b.String()
	}
	links := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	const last = `<a href=/last>t</a>`
	for name, tc := range map[string]struct {
		doc   string
		links int
		flags []string
	}{
		"600 nested":               {strings.Repeat("<font><div>", 600) + last, 1, nil},
		"1 M nested":               {strings.Repeat("<div>", 1_000_000) + last, 1, nil},
		"nested, closed crosswise": {strings.Repeat("<div><nav>", 200_000) + strings.Repeat("</section></div>", 200_000) + last, 1, nil},
		"1 M attributes":           {"<p" + attributes(1_000_000) + ">" + last, 1, nil},
		"1 M attributes of a":      {"<a href=1" + attributes(1_000_000) + ">" + last, 2, nil},
		"1 M same attributes":      {"<a" + strings.Repeat(" x", 1_000_000) + ">" + last, 1, nil},
		"attributes before tags":   {"<p" + attributes(300_000) + ">" + strings.Repeat("<i x>", 300_000) + last, 1, nil},
		"1 M links":                {links(1_000_000, "<a href=%d>"), 10_000, []string{extract.FlagLinks}},
		"1 M identical links":      {strings.Repeat("<a href=x>", 1_000_000), 1, nil},
		"1 M script links":         {strings.Repeat("<a href=javascript:x>", 300_000) + last, 1, nil},
		"1 M bases":                {strings.Repeat("<a href=x><base href=data:>", 200_000) + last, 2, nil},
		"links over 2 MiB":         {links(2_000, "<a href=%d"+strings.Repeat("x", 3000)+">"), 685, []string{extract.FlagLinks}},
		"links of ampersands":      {links(2_000, "<a href=?%d"+strings.Repeat("&", 3000)+">"), 116, []string{extract.FlagLinks}},
		"5 MB comment":             {"<!--" + strings.Repeat("- ", 2_500_000) + "-->" + last, 1, nil},
		"comment never closed":     {last + "<!--" + strings.Repeat("--", 2_500_000), 1, nil},
		"attribute never closed":   {last + `<a href="` + strings.Repeat("x", 5_000_000), 1, nil},
		"URL of 1 MB":              {"<a href=/" + strings.Repeat("x", 1_000_000) + ">" + last, 1, nil},
		"10 MB title":              {"<title>" + strings.Repeat("é ", 3_400_000) + "</title>" + last, 1, []string{extract.FlagTitle}},
		"10 MB description":        {"<meta name=description content='" + strings.Repeat("é ", 3_400_000) + "'>" + last, 1, []string{extract.FlagDescription}},
		"10 MB text":               {last + strings.Repeat("é ", 3_400_000), 1, []string{extract.FlagText}},
		"entities":                 {strings.Repeat("&notit;&#x10ffff;&", 300_000) + last, 1, []string{extract.FlagText}},
		"less-than signs":          {strings.Repeat("<", 5_000_000) + last, 1, []string{extract.FlagText}},
		"end tags":                 {strings.Repeat("</div>", 800_000) + last, 1, nil},
		"templates":                {strings.Repeat("<template>", 500_000) + last, 0, nil},
		"svgs and blocks":          {strings.Repeat("<svg><p>", 500_000) + last, 1, nil},
		"titles":                   {strings.Repeat("<title></title>", 300_000) + last, 1, nil},
		"script never closed":      {last + "<script>" + strings.Repeat("</scrip <!-- <script ", 200_000), 1, nil},
		"line of 5 MB":             {strings.Repeat("x", 5_000_000) + last, 1, []string{extract.FlagText}},
	} {
		t.Run(name, func(t *testing.T) {
			start := processorTime(t)
			r := read(t, tc.doc)
			if took := processorTime(t) - start; took > patience {
				t.Errorf("took %s", took)
			} else {
				t.Logf("%d bytes in %s", len(tc.doc), took.Round(time.Millisecond))
			}
			if len(r.Links) != tc.links {
				t.Errorf("%d links, want %d", len(r.Links), tc.links)
			}
			if !slices.Equal(r.Flags, tc.flags) {
				t.Errorf("flags %q, want %q", r.Flags, tc.flags)
			}
			check(t, r)
		})
	}
}

// check tells what holds for every document.
func check(tb testing.TB, r extract.Result) {
	tb.Helper()
	limits := options(tb).Limits
	for name, part := range map[string]struct {
		text  string
		limit int
	}{
		"title": {r.Title, limits.Title}, "description": {r.Description, limits.Description},
		"text": {r.Text, limits.Text}, "language": {r.Language, 35}, "canonical": {r.Canonical, 4096},
	} {
		if len(part.text) > part.limit {
			tb.Errorf("%s of %d bytes", name, len(part.text))
		}
		clean(tb, name, part.text)
	}
	if len(r.Links) > limits.Links {
		tb.Errorf("%d links", len(r.Links))
	}
	seen := map[string]bool{}
	for _, l := range r.Links {
		if seen[l.URL] {
			tb.Errorf("link %s twice", l.URL)
		}
		seen[l.URL] = true
		if len(l.Text) > limits.LinkText || !strings.HasPrefix(l.URL, "http") || strings.Contains(l.URL, "#") {
			tb.Errorf("link %+v", l)
		}
		clean(tb, "url", l.URL)
		clean(tb, "link text", l.Text)
	}
}

func clean(tb testing.TB, name, text string) {
	tb.Helper()
	if !utf8.ValidString(text) {
		tb.Errorf("%s is not UTF-8: %.100q", name, text)
	}
	for _, r := range text {
		if r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 {
			tb.Fatalf("%s holds %q: %.100q", name, r, text)
		}
	}
}

// TestDeadline: what was found until the time is over is kept.
func TestDeadline(t *testing.T) {
	t.Parallel()
	o := options(t)
	asked := 0
	o.Stop = func() bool { asked++; return asked > 3 }
	var x extract.Extractor
	r := x.HTML([]byte("<title>T</title>"+strings.Repeat("<a href=x>t</a><p>", 10_000)+"<a href=y>"), o)
	if !slices.Equal(r.Flags, []string{extract.FlagDeadline}) || len(r.Links) != 1 || r.Title != "T" {
		t.Errorf("got %q, %d links, flags %q", r.Title, len(r.Links), r.Flags)
	}
	if asked != 4 {
		t.Errorf("the clock was asked %d times", asked)
	}
}

// TestReuse: nothing of one document is left in the next.
func TestReuse(t *testing.T) {
	t.Parallel()
	docs := []string{
		`<html lang=en><title>T</title><base href=/x/><meta name=robots content=none><meta name=description content=d><a href=1>t<template><svg><nav>`,
		`<p>text`,
		strings.Repeat("<div><a href=y>", 5000),
		`<title>` + strings.Repeat("x", 2000),
		`<a href=2>u</a><main>m</main>`,
	}
	var x extract.Extractor
	for i, doc := range docs {
		got := fmt.Sprintf("%+v", x.HTML([]byte(doc), options(t)))
		if want := fmt.Sprintf("%+v", read(t, doc)); got != want {
			t.Errorf("document %d: got %s, want %s", i, got, want)
		}
	}
}
