package extract_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/warrenmq/warren/services/parser/internal/extract"
)

func FuzzHTML(f *testing.F) {
	for _, seed := range []string{
		`<html lang=en><title>T</title><base href=/x/><a href=1>t</a><main>m`,
		`<svg><title/><p><template><a href=2></template><noscript><a href=3>`,
		`<meta http-equiv=refresh content="1;url=x"><meta name=robots content=none><link rel=canonical href=c>`,
		`<script>"</scr"</script><!-- x --!><![CDATA[x]]><textarea></textarea><plaintext>`,
		"<a href='\x00\xff&#0;&#xd800;'>\x1b[0m&amp", `<frameset><frame src=1><iframe src=2></iframe><area href=3 alt=4>`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		doc = bytes.ToValidUTF8(doc, []byte("\uFFFD"))
		before := bytes.Clone(doc)
		start := time.Now()
		r := read(t, string(doc))
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("took %s", took)
		}
		check(t, r)
		if !bytes.Equal(doc, before) {
			t.Error("the document was changed")
		}
		if slices.Contains(r.Flags, extract.FlagDeadline) {
			t.Error("a deadline nobody set")
		}
		if again := read(t, string(doc)); fmt.Sprint(again) != fmt.Sprint(r) {
			t.Error("not deterministic")
		}
	})
}

func FuzzRefreshURL(f *testing.F) {
	f.Add("5; url='/x'")
	f.Fuzz(func(t *testing.T, content string) {
		if got := extract.RefreshURL(content); len(got) > len(content) {
			t.Errorf("%q from %q", got, content)
		}
	})
}

func FuzzPlain(f *testing.F) {
	f.Add("a\r\n\x00b\x1b")
	f.Fuzz(func(t *testing.T, text string) {
		got, _ := extract.Plain(bytes.ToValidUTF8([]byte(text), []byte("\uFFFD")), 100)
		if len(got) > 100 || !utf8.ValidString(got) || bytes.ContainsAny([]byte(got), "\x00\x1b\r") {
			t.Errorf("%q from %q", got, text)
		}
	})
}
