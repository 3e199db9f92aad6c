package charset

import "bytes"

// prescan is the HTML standard's "prescan a byte stream to determine its encoding": it reads tags
// and comments, not elements, so a meta in a script counts and one in a comment does not. A tag that
// the window cuts off says nothing.
func prescan(b []byte) (Encoding, bool) {
	switch {
	case bytes.HasPrefix(b, []byte("<\x00?\x00x\x00")):
		return known(utf16le), true
	case bytes.HasPrefix(b, []byte("\x00<\x00?\x00x")):
		return known(utf16be), true
	}
	s := scanner{b: b}
	for s.to('<') {
		rest := s.b[s.i:]
		switch {
		case bytes.HasPrefix(rest, []byte("<!--")):
			s.i += 2 // the dashes that open may also close: <!-->
			s.past("-->")
		case len(rest) > 5 && fold(rest[1:5], "meta") && (isSpace(rest[5]) || rest[5] == '/'):
			s.i += 5
			if e, ok := s.meta(); ok {
				return e, true
			}
		case isTag(rest):
			s.tag()
		case len(rest) > 1 && (rest[1] == '!' || rest[1] == '/' || rest[1] == '?'):
			s.past(">")
		default:
			s.i++
		}
	}
	return xmlDeclaration(b)
}

// isTag tells whether b starts with < or </ and a letter.
func isTag(b []byte) bool {
	b = bytes.TrimPrefix(b[1:], []byte("/"))
	return len(b) > 0 && isLetter(b[0])
}

// meta reads a meta element's attributes; s is behind its name.
func (s *scanner) meta() (Encoding, bool) {
	var found, pragma, needPragma bool
	var seen [3]bool // http-equiv, content, charset: the first of each counts
	var e Encoding
	for {
		name, value, ok := s.attribute()
		if !ok {
			break
		}
		switch {
		case fold(name, "http-equiv") && !seen[0]:
			seen[0] = true
			pragma = fold(value, "content-type")
		case fold(name, "content") && !seen[1]:
			seen[1] = true
			if label := labelIn(value); !found && len(label) > 0 {
				if e, found = Lookup(string(label)); found {
					needPragma = true
				}
			}
		case fold(name, "charset") && !seen[2]:
			seen[2] = true
			e, found = Lookup(string(value))
			needPragma = false
		}
	}
	if s.over || !found || needPragma && !pragma {
		return Encoding{}, false
	}
	return inDocument(e), true
}

// inDocument corrects what a document cannot truly say of itself: that ASCII bytes which could be
// read are UTF-16, and an encoding that only scripts use.
func inDocument(e Encoding) Encoding {
	switch e.Name {
	case utf16le, utf16be:
		return known(UTF8)
	case userDefined:
		return known(Windows1252)
	}
	return e
}

// labelIn finds the label behind "charset=" in a meta's content or a Content-Type's parameters (HTML
// standard, "extracting a character encoding from a meta element").
func labelIn(b []byte) []byte {
	for {
		at := indexFold(b, "charset")
		if at < 0 {
			return nil
		}
		b = bytes.TrimLeft(b[at+len("charset"):], spaces)
		if len(b) > 0 && b[0] == '=' {
			b = bytes.TrimLeft(b[1:], spaces)
			break
		}
	}
	if len(b) == 0 {
		return nil
	}
	if quote := b[0]; quote == '"' || quote == '\'' {
		label, _, closed := bytes.Cut(b[1:], []byte{quote})
		if !closed {
			return nil
		}
		return label
	}
	if end := bytes.IndexAny(b, ";"+spaces); end >= 0 {
		b = b[:end]
	}
	return b
}

// xmlDeclaration reads <?xml … encoding="…"?>, which XHTML pages rely on.
func xmlDeclaration(b []byte) (Encoding, bool) {
	if !bytes.HasPrefix(b, []byte("<?xml")) {
		return Encoding{}, false
	}
	b, _, _ = bytes.Cut(b, []byte(">"))
	at := bytes.Index(b, []byte("encoding"))
	if at < 0 {
		return Encoding{}, false
	}
	b = bytes.TrimLeft(b[at+len("encoding"):], spaces)
	b, equals := bytes.CutPrefix(b, []byte("="))
	b = bytes.TrimLeft(b, spaces)
	if !equals || len(b) == 0 || b[0] != '"' && b[0] != '\'' {
		return Encoding{}, false
	}
	label, _, closed := bytes.Cut(b[1:], b[:1])
	if !closed {
		return Encoding{}, false
	}
	e, ok := Lookup(string(label))
	return inDocument(e), ok
}
