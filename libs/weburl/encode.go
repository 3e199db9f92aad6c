package weburl

import "strings"

// appendPath appends "/" and the canonical form of path, whose segments are
// parted by "/" or "\", to buf. buf[start:] is the directory the path is
// relative to, without its last slash; ".." climbs there but not above start.
func appendPath(buf []byte, start int, path string) []byte {
	for {
		segment, more := path, false
		if end := strings.IndexAny(path, `/\`); end >= 0 {
			segment, path, more = path[:end], path[end+1:], true
		}
		switch dots(segment) {
		case 0:
			buf = appendEncoded(append(buf, '/'), segment, inPath)
		case 1:
			if !more {
				buf = append(buf, '/')
			}
		case 2:
			buf = climb(buf, start)
			if !more {
				buf = append(buf, '/')
			}
		}
		if !more {
			return buf
		}
	}
}

// climb drops the last segment of buf[start:], if there is one.
func climb(buf []byte, start int) []byte {
	for i := len(buf) - 1; i >= start; i-- {
		if buf[i] == '/' {
			return buf[:i]
		}
	}
	return buf
}

// dots is 1 for a segment that reads ".", 2 for "..", the dots encoded or not.
func dots(segment string) int {
	n := 0
	for ; segment != ""; n++ {
		switch {
		case segment[0] == '.':
			segment = segment[1:]
		case len(segment) >= 3 && strings.EqualFold(segment[:3], "%2e"):
			segment = segment[3:]
		default:
			return 0
		}
	}
	if n > 2 {
		return 0
	}
	return n
}

func appendQuery(buf []byte, query string) []byte {
	return appendEncoded(append(buf, '?'), query, inQuery)
}

// appendEncoded appends s: bytes that may not stand there are percent-encoded,
// encoded unreserved characters are decoded, hex digits made upper-case
// (RFC 3986 6.2.2). A byte that is not UTF-8 is encoded as it is, so that no
// two URLs become one.
func appendEncoded(buf []byte, s string, plain *[256]bool) []byte {
	for s != "" {
		run := 0
		for run < len(s) && plain[s[run]] {
			run++
		}
		buf = append(buf, s[:run]...)
		switch s = s[run:]; {
		case s == "":
		case s[0] != '%':
			buf = appendPercent(buf, s[0])
			s = s[1:]
		case len(s) >= 3 && isHex(s[1]) && isHex(s[2]):
			c := unhex(s[1])<<4 | unhex(s[2])
			if isUnreserved(c) && !completes(buf, c) {
				buf = append(buf, c)
			} else {
				buf = appendPercent(buf, c)
			}
			s = s[3:]
		default: // a stray one, which the standard leaves alone
			buf = append(buf, '%')
			s = s[1:]
		}
	}
	return buf
}

// completes tells whether c would make a percent-encoding of a stray "%": the
// 4 of "%%341" must stay encoded, or "%41" would be read, an A.
func completes(buf []byte, c byte) bool {
	n := len(buf)
	return isHex(c) && n >= 2 && (buf[n-1] == '%' || buf[n-2] == '%' && isHex(buf[n-1]))
}

func appendPercent(buf []byte, c byte) []byte {
	const digits = "0123456789ABCDEF"
	return append(buf, '%', digits[c>>4], digits[c&15])
}

// What may stand in a path and in a query as it is: all but the standard's
// path and special-query percent-encode sets. "%" is looked at on its own.
var (
	inPath  = printableBut("%\"#<>?^`{}")
	inQuery = printableBut("%\"#<>'")
)

func printableBut(encoded string) *[256]bool {
	var set [256]bool
	for c := byte('!'); c <= '~'; c++ {
		set[c] = strings.IndexByte(encoded, c) < 0
	}
	return &set
}

// isUnreserved: RFC 3986 2.3.
func isUnreserved(c byte) bool {
	return isAlpha(c) || isDigit(c) || c == '-' || c == '.' || c == '_' || c == '~'
}

func isAlpha(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isHex(c byte) bool   { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

func unhex(c byte) byte {
	if isDigit(c) {
		return c - '0'
	}
	return c&^0x20 - 'A' + 10
}
