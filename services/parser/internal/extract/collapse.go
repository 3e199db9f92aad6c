package extract

import (
	"unicode"
	"unicode/utf8"
)

// collapser gathers text: runs of white space and control characters become one space, blocks are
// parted by one newline, and nothing goes beyond max bytes, cut between two characters.
type collapser struct {
	buf []byte
	max int
	gap byte // what stands before the next character: 0, ' ' or '\n'
	cut bool // something did not fit
}

func (c *collapser) reset(limit int) { *c = collapser{buf: c.buf[:0], max: limit} }

func (c *collapser) String() string { return string(c.buf) }

// newline parts what comes from what was.
func (c *collapser) newline() { c.gap = '\n' }

// space parts two words.
func (c *collapser) space() {
	if c.gap == 0 {
		c.gap = ' '
	}
}

func (c *collapser) write(p []byte) {
	for len(p) > 0 && !c.cut {
		if n := plain(p); n > 0 {
			c.put(p[:n])
			p = p[n:]
			continue
		}
		r, size := rune(p[0]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(p)
		}
		switch {
		case r == 0 || r == utf8.RuneError:
			c.put([]byte("\uFFFD"))
		case unicode.IsSpace(r) || unicode.IsControl(r):
			c.space()
		default:
			c.put(p[:size])
		}
		p = p[size:]
	}
}

// plain is the length of the ASCII words at the start of p that have single spaces between them: most
// text is written as it is to be kept.
func plain(p []byte) int {
	visible := func(i int) bool { return i < len(p) && p[i] > ' ' && p[i] < 0x7f }
	n := 0
	for visible(n) || n > 0 && n < len(p) && p[n] == ' ' && visible(n+1) {
		n++
	}
	return n
}

// put appends visible characters and the gap before them.
func (c *collapser) put(p []byte) {
	room := c.max - len(c.buf)
	if c.gap != 0 && len(c.buf) > 0 {
		room--
	}
	if len(p) > room {
		c.cut = true
		for p = p[:max(room, 0)]; len(p) > 0 && (!utf8.Valid(p) || p[len(p)-1] == ' '); {
			p = p[:len(p)-1]
		}
		if len(p) == 0 {
			return
		}
	}
	if c.gap != 0 && len(c.buf) > 0 {
		c.buf = append(c.buf, c.gap)
	}
	c.gap = 0
	c.buf = append(c.buf, p...)
}
