// Package charset finds the encoding of a document and turns it into UTF-8.
//
//  1. In comes a body, already content-decoded, and its Content-Type.
//  2. The encoding is taken from the first that says one: a byte order mark, the Content-Type, the
//     meta elements of the first 1,024 bytes (HTML), the bytes themselves if they are UTF-8 beyond
//     ASCII, a meta element further down (HTML). Else it is windows-1252. Labels and names are those
//     of the Encoding standard; a label it does not know (UTF-7 is one) counts as none.
//  3. Out goes valid UTF-8 without a byte order mark; what the encoding has no character for is
//     U+FFFD.
package charset

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
)

// Names of the Encoding standard that the code speaks of, lower-case as all names here.
const (
	UTF8        = "utf-8"
	Windows1252 = "windows-1252"
	utf16le     = "utf-16le"
	utf16be     = "utf-16be"
	replacement = "replacement"
	userDefined = "x-user-defined"
)

const (
	// window is how far a browser looks for a meta element before it parses
	// (HTML standard, "determining the character encoding").
	window = 1024
	// late is how far we look when nothing else spoke. A browser that meets a meta element while it
	// parses starts anew with its encoding; with the whole body at hand, looking further is the same.
	late = 64 << 10
)

// Encoding is one encoding of the Encoding standard. The zero value is none.
type Encoding struct {
	Name string // lower-case, "windows-1252"
	enc  encoding.Encoding
}

// Lookup finds an encoding by one of its labels ("latin1"), blind to case and surrounding space.
func Lookup(label string) (Encoding, bool) {
	enc, err := htmlindex.Get(label)
	if err != nil || enc == nil {
		return Encoding{}, false
	}
	name, err := htmlindex.Name(enc)
	if err != nil {
		return Encoding{}, false
	}
	return Encoding{Name: name, enc: enc}, true
}

// HTML finds the encoding of an HTML document.
func HTML(body []byte, contentType string) Encoding {
	if e, ok := declared(body, contentType); ok {
		return e
	}
	if e, ok := prescan(body[:min(len(body), window)]); ok {
		return e
	}
	// Text in another encoding that happens to be UTF-8 is rarer than a meta element in some script.
	if !isASCII(body) && utf8.Valid(body) {
		return known(UTF8)
	}
	if e, ok := prescan(body[:min(len(body), late)]); ok {
		return e
	}
	return known(Windows1252)
}

// Text finds the encoding of plain text.
func Text(body []byte, contentType string) Encoding {
	if e, ok := declared(body, contentType); ok {
		return e
	}
	if utf8.Valid(body) {
		return known(UTF8)
	}
	return known(Windows1252)
}

// declared is what stands above the document itself: byte order mark, then HTTP.
func declared(body []byte, contentType string) (Encoding, bool) {
	if name, _ := bom(body); name != "" {
		return known(name), true
	}
	_, parameters, _ := strings.Cut(contentType, ";")
	if label := labelIn([]byte(parameters)); len(label) > 0 {
		return Lookup(string(label))
	}
	return Encoding{}, false
}

// bom returns the encoding a byte order mark stands for and its length in bytes.
func bom(body []byte) (name string, length int) {
	switch {
	case bytes.HasPrefix(body, []byte("\xef\xbb\xbf")):
		return UTF8, 3
	case bytes.HasPrefix(body, []byte("\xfe\xff")):
		return utf16be, 2
	case bytes.HasPrefix(body, []byte("\xff\xfe")):
		return utf16le, 2
	}
	return "", 0
}

// known is Lookup for the names in this package.
func known(name string) Encoding {
	e, _ := Lookup(name)
	return e
}

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
