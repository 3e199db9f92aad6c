package charset

import "bytes"

const spaces = "\t\n\f\r "

// scanner walks over bytes as the HTML standard's prescan does. over is set when the bytes end
// before what was being read did.
type scanner struct {
	b    []byte
	i    int
	over bool
}

// to moves to the next c; false if there is none.
func (s *scanner) to(c byte) bool {
	if s.over {
		return false
	}
	at := bytes.IndexByte(s.b[s.i:], c)
	s.i += max(at, 0)
	return at >= 0
}

// past moves behind the next end.
func (s *scanner) past(end string) {
	at := bytes.Index(s.b[s.i:], []byte(end))
	if at < 0 {
		s.over = true
		return
	}
	s.i += at + len(end)
}

// tag moves behind a tag's attributes. Its ">" may be left, which is harmless.
func (s *scanner) tag() {
	for s.i < len(s.b) && !isSpace(s.b[s.i]) && s.b[s.i] != '>' {
		s.i++
	}
	for {
		if _, _, ok := s.attribute(); !ok {
			return
		}
	}
}

// attribute is the standard's "get an attribute". It is not ok at the tag's end or when the bytes
// are over. Name and value alias the input.
func (s *scanner) attribute() (name, value []byte, ok bool) {
	s.skip(spaces + "/")
	if s.end() || s.b[s.i] == '>' {
		return nil, nil, false
	}
	start := s.i
	for !s.end() {
		c := s.b[s.i]
		if c == '=' && s.i > start {
			return s.value(s.b[start:s.i])
		}
		if isSpace(c) {
			name = s.b[start:s.i]
			s.skip(spaces)
			if !s.end() && s.b[s.i] == '=' {
				return s.value(name)
			}
			return name, nil, !s.over
		}
		if c == '/' || c == '>' {
			return s.b[start:s.i], nil, true
		}
		s.i++
	}
	return nil, nil, false
}

// value reads what follows the "=" that s is at.
func (s *scanner) value(name []byte) (_, value []byte, ok bool) {
	s.i++
	s.skip(spaces)
	if s.end() {
		return nil, nil, false
	}
	switch quote := s.b[s.i]; quote {
	case '"', '\'':
		s.i++
		start := s.i
		if s.past(string(quote)); s.over {
			return nil, nil, false
		}
		return name, s.b[start : s.i-1], true
	case '>':
		return name, nil, true
	}
	start := s.i
	for !s.end() {
		if isSpace(s.b[s.i]) || s.b[s.i] == '>' {
			return name, s.b[start:s.i], true
		}
		s.i++
	}
	return nil, nil, false
}

func (s *scanner) skip(set string) {
	for s.i < len(s.b) && bytes.IndexByte([]byte(set), s.b[s.i]) >= 0 {
		s.i++
	}
}

// end tells whether the bytes are used up, and remembers it.
func (s *scanner) end() bool {
	s.over = s.over || s.i >= len(s.b)
	return s.over
}

func isSpace(c byte) bool  { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' }
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// fold compares with lower, which is lower-case ASCII.
func fold(b []byte, lower string) bool {
	return len(b) == len(lower) && indexFold(b, lower) == 0
}

// indexFold finds lower, which is lower-case ASCII letters and dashes, in b.
func indexFold(b []byte, lower string) int {
	for i := 0; i+len(lower) <= len(b); i++ {
		j := 0
		for j < len(lower) && (b[i+j] == lower[j] || isLetter(b[i+j]) && b[i+j]|0x20 == lower[j]) {
			j++
		}
		if j == len(lower) {
			return i
		}
	}
	return -1
}
