package robots

import "strings"

// pattern is a path of a rule, taken apart at its "*".
type pattern struct {
	pieces []string // normalised; the first is a prefix, the others follow in order
	end    bool     // the last piece is a suffix: the pattern ended in "$"
	octets int      // how specific it is
}

func compilePattern(value string) pattern {
	var p pattern
	value, p.end = strings.CutSuffix(value, "$")
	p.octets = boolToInt(p.end)
	for i, piece := range strings.Split(value, "*") {
		p.octets += boolToInt(i > 0)
		// A run of "*" is one "*": no empty pieces within.
		if last := len(p.pieces) - 1; i > 1 && p.pieces[last] == "" {
			p.pieces = p.pieces[:last]
		}
		p.pieces = append(p.pieces, normalize(piece))
		p.octets += len(p.pieces[len(p.pieces)-1])
	}
	return p
}

// match compares with a normalised request target. Taking the first place for
// each piece is enough, as "*" is the only wildcard; so the time is linear.
func (p *pattern) match(target string) bool {
	rest, ok := strings.CutPrefix(target, p.pieces[0])
	if !ok {
		return false
	}
	later := p.pieces[1:]
	if len(later) == 0 {
		return !p.end || rest == ""
	}
	last := later[len(later)-1]
	for _, piece := range later[:len(later)-1] {
		at := strings.Index(rest, piece)
		if at < 0 {
			return false
		}
		rest = rest[at+len(piece):]
	}
	if p.end {
		return strings.HasSuffix(rest, last)
	}
	return strings.Contains(rest, last)
}

// normalize makes equal what RFC 9309 2.2.2 compares as equal: characters that
// are not ASCII or may not stand in a URL are percent-encoded, unreserved ones
// decoded, hex digits made upper-case. A reserved character and its encoding
// stay different, but for four: "*" and "$", whose encoding is the only way to
// write them in a pattern; "'", which browsers encode in a query alone; and a
// stray "%", which would else be the beginning of any encoding.
func normalize(s string) string {
	plain := 0
	for plain < len(s) && isPlain(s[plain]) {
		plain++
	}
	if plain == len(s) {
		return s
	}
	buf := append(make([]byte, 0, len(s)+16), s[:plain]...)
	for i := plain; i < len(s); i++ {
		c, encoded := s[i], false
		if c == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]) {
			c, encoded = unhex(s[i+1])<<4|unhex(s[i+2]), true
			i += 2
		}
		if isUnreserved(c) || !encoded && isPlain(c) {
			buf = append(buf, c)
		} else {
			const digits = "0123456789ABCDEF"
			buf = append(buf, '%', digits[c>>4], digits[c&15])
		}
	}
	return string(buf)
}

// isPlain: unreserved, and reserved that is not equal to its encoding.
func isPlain(c byte) bool {
	return isUnreserved(c) || c < 0x80 && strings.IndexByte(":/?#[]@!&()+,;=", c) >= 0
}

// isUnreserved: RFC 3986 2.3.
func isUnreserved(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '.' || c == '_' || c == '~'
}

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f' }

func unhex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c&^0x20 - 'A' + 10
}
