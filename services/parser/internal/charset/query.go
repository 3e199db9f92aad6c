package charset

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// EncodeQuery percent-encodes the non-ASCII characters of ref's query in e, as browsers do for the
// links of a document in that encoding (URL standard, "percent-encode after encoding"): é of a
// windows-1252 page is %E9. Everything else of ref stays as it is.
func (e Encoding) EncodeQuery(ref string) string {
	switch e.Name {
	case "", UTF8, utf16le, utf16be, replacement:
		return ref
	}
	at := strings.IndexByte(ref, '?')
	if hash := strings.IndexByte(ref, '#'); at < 0 || hash >= 0 && hash < at || isASCII([]byte(ref[at:])) {
		return ref
	}
	out := []byte(ref[:at])
	for query := ref[at:]; query != ""; {
		n := 0
		for n < len(query) && query[n] < utf8.RuneSelf {
			n++
		}
		out, query = append(out, query[:n]...), query[n:]
		for n = 0; n < len(query) && query[n] >= utf8.RuneSelf; {
			n++
		}
		out, query = e.appendQuery(out, query[:n]), query[n:]
	}
	return string(out)
}

// appendQuery appends a run of non-ASCII characters. A run at a time, since iso-2022-jp has a state.
func (e Encoding) appendQuery(out []byte, run string) []byte {
	if encoded, err := e.enc.NewEncoder().String(run); err == nil {
		return appendPercent(out, encoded)
	}
	for _, r := range run {
		encoded, err := e.enc.NewEncoder().String(string(r))
		if err != nil {
			out = fmt.Appendf(out, "%%26%%23%d%%3B", r) // the standard's &#233; for what e cannot say
			continue
		}
		out = appendPercent(out, encoded)
	}
	return out
}

// appendPercent leaves the trail bytes of multi-byte characters that are letters, as browsers do.
func appendPercent(out []byte, encoded string) []byte {
	for i := range len(encoded) {
		if c := encoded[i]; isLetter(c) || '0' <= c && c <= '9' {
			out = append(out, c)
		} else {
			out = fmt.Appendf(out, "%%%02X", c)
		}
	}
	return out
}
