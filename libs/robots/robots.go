// Package robots answers whether a robots.txt lets a crawler fetch a URL
// (RFC 9309). It fetches nothing and keeps no state. In comes the body of a
// robots.txt, then
//
//  1. Parse cuts it at MaxBytes and reads line by line whatever can be read:
//     groups, rules, crawl-delays, sitemaps (FromStatus does so by the status
//     of the response, section 2.3.1 of the RFC);
//  2. Agent merges all groups for one product token, or else those for "*", and
//     compiles their rules, the most specific first;
//  3. Allowed compares a URL with the rules until one matches.
//
// Any input is taken. Time and memory are linear in it: for Parse in the body,
// for Agent in the file (but for a sort), for Allowed in rules × URL.
package robots

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"unicode/utf16"
)

// MaxBytes is how much of a robots.txt is read. RFC 9309 2.5 wants at least
// 500 KiB. The rest is dropped, with the line it begins in.
const MaxBytes = 512 * 1024

// File is a parsed robots.txt. It is immutable and safe for concurrent use.
// It keeps the text it was made of, for all crawlers; a Rules keeps only what
// is needed for one.
type File struct {
	groups   []group
	sitemaps []string
	denied   string // the reason, if all is disallowed without a file
}

// group is one group of the file: the crawlers named, then what holds for them.
type group struct {
	agents []string // product tokens as written, or "*"
	lines  []line   // allow, disallow and crawl-delay
}

// AllowAll is the file that allows all, as an empty or unavailable one does.
func AllowAll() *File { return &File{} }

// DisallowAll is the file that allows nothing but /robots.txt, as one that
// cannot be reached does. reason becomes the Text of the deciding Rule.
func DisallowAll(reason string) *File { return &File{denied: printable(reason)} }

// Parse reads the body of a robots.txt. There is no invalid one: lines that
// cannot be understood are skipped (RFC 9309 2.2).
func Parse(body []byte) *File {
	f := &File{}
	open := false // the last line of note was a user-agent, so the next joins its group
	for l := range lines(text(body)) {
		switch l.kind {
		case sitemap:
			f.sitemaps = append(f.sitemaps, l.value)
		case userAgent:
			if !open {
				f.groups = append(f.groups, group{})
			}
			last := &f.groups[len(f.groups)-1]
			last.agents = append(last.agents, agentToken(l.value))
			open = true
		case allow, disallow, crawlDelay:
			if len(f.groups) == 0 {
				continue // a rule for nobody
			}
			last := &f.groups[len(f.groups)-1]
			last.lines = append(last.lines, l)
			// Only a rule ends the list of agents: "parsing of other
			// records must not interfere" (RFC 9309 2.2.4).
			open = open && l.kind == crawlDelay
		}
	}
	return f
}

// Sitemaps are the values of the sitemap lines, in order, as written: they may
// be relative, of another host, or no URLs at all.
func (f *File) Sitemaps() []string { return slices.Clone(f.sitemaps) }

// Agent returns what holds for a crawler: all groups that name its product
// token, whatever the case, merged; if none does, those for "*" (RFC 9309
// 2.2.1). Of product only the token counts: "warren" of "Warren/1.0 (+url)".
func (f *File) Agent(product string) Rules {
	if f.denied != "" {
		return Rules{denied: f.denied}
	}
	lines, named := f.merge(agentToken(product))
	if !named {
		lines, _ = f.merge("*")
	}
	return compile(lines)
}

// merge returns the lines of all groups for token, and whether there is any
// group: one that says nothing allows all.
func (f *File) merge(token string) (lines []line, named bool) {
	is := func(agent string) bool { return token != "" && strings.EqualFold(agent, token) }
	for _, g := range f.groups {
		if slices.ContainsFunc(g.agents, is) {
			lines, named = append(lines, g.lines...), true
		}
	}
	return lines, named
}

// agentToken is the product token a value begins with (RFC 9309 2.2.1: letters,
// "_" and "-"), or "*"; "" if there is none.
func agentToken(value string) string {
	value = strings.TrimLeft(value, blank)
	if value == "*" || len(value) > 1 && value[0] == '*' && strings.IndexByte(blank, value[1]) >= 0 {
		return "*"
	}
	end := strings.IndexFunc(value, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '_' && c != '-'
	})
	if end < 0 {
		return value
	}
	return value[:end]
}

// text cuts the body and takes off the byte order mark. UTF-16 is no valid
// robots.txt; where the mark says so beyond doubt, its rules are honoured still.
func text(body []byte) string {
	cut := len(body) > MaxBytes
	body = body[:min(len(body), MaxBytes)]
	var s string
	switch {
	case bytes.HasPrefix(body, []byte("\xff\xfe")):
		s = fromUTF16(body[2:], binary.LittleEndian)
	case bytes.HasPrefix(body, []byte("\xfe\xff")):
		s = fromUTF16(body[2:], binary.BigEndian)
	default:
		s = string(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")))
	}
	if cut { // half a line could say more than the whole: "Disallow: /"
		s = s[:strings.LastIndexAny(s, "\r\n")+1]
	}
	return s
}

func fromUTF16(body []byte, order binary.ByteOrder) string {
	units := make([]uint16, len(body)/2)
	for i := range units {
		units[i] = order.Uint16(body[2*i:])
	}
	return string(utf16.Decode(units))
}
