package robots

import (
	"iter"
	"strings"
	"unicode"
)

// blank is what is trimmed around keys and values.
const blank = " \t\v\f"

// line is one line that means something.
type line struct {
	kind   kind
	number int    // from 1
	text   string // without comment and blanks around
	value  string
}

type kind int

const (
	unknown kind = iota
	userAgent
	allow
	disallow
	crawlDelay
	sitemap
)

// lines yields the known lines of a robots.txt. CR, LF and CRLF end a line.
func lines(s string) iter.Seq[line] {
	return func(yield func(line) bool) {
		for number := 1; s != ""; number++ {
			var raw string
			raw, s = cutLine(s)
			raw, _, _ = strings.Cut(raw, "#")
			raw = strings.Trim(raw, blank)
			key, value := keyValue(raw)
			if k := kindOf(key); k != unknown && !yield(line{k, number, raw, value}) {
				return
			}
		}
	}
}

func cutLine(s string) (line, rest string) {
	end := strings.IndexAny(s, "\r\n")
	switch {
	case end < 0:
		return s, ""
	case strings.HasPrefix(s[end:], "\r\n"):
		return s[:end], s[end+2:]
	}
	return s[:end], s[end+1:]
}

// keyValue parts "key: value". A forgotten colon is forgiven, as Google's
// parser does, if there are just two words.
func keyValue(s string) (key, value string) {
	if key, value, ok := strings.Cut(s, ":"); ok {
		return strings.Trim(key, blank), strings.Trim(value, blank)
	}
	end := strings.IndexAny(s, blank)
	if end < 0 {
		return "", ""
	}
	key, value = s[:end], strings.Trim(s[end:], blank)
	if strings.ContainsAny(value, blank) {
		return "", ""
	}
	return key, value
}

// kindOf knows the keys, in any case, and the misspellings that Google's parser
// forgives: a site that wrote "disalow" meant it.
func kindOf(key string) kind {
	if len(key) > len("crawl-delay") {
		return unknown
	}
	switch strings.ToLower(key) {
	case "user-agent", "useragent", "user agent":
		return userAgent
	case "disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw":
		return disallow
	case "allow":
		return allow
	case "crawl-delay":
		return crawlDelay
	case "sitemap", "site-map":
		return sitemap
	}
	return unknown
}

// printable makes text fit for logs, terminals and databases: valid UTF-8
// without control characters, at most 200 bytes.
func printable(s string) string {
	const most = 200
	if len(s) > most {
		s = s[:most] + "…"
	}
	return strings.Map(func(c rune) rune {
		if unicode.IsPrint(c) {
			return c
		}
		return '\uFFFD'
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
