package charset

import (
	"bytes"
	"unicode/utf8"

	"golang.org/x/text/transform"
)

// Decode returns body as valid UTF-8 without its byte order mark, and whether every byte had a
// character in e. The text aliases body when nothing has to change, else it is in *buf, which grows as
// needed. It is at most three times as long as body. The zero Encoding must not be asked.
func (e Encoding) Decode(buf *[]byte, body []byte) (text []byte, exact bool) {
	_, mark := bom(body)
	body = body[mark:]
	if e.Name == UTF8 && utf8.Valid(body) || e.Name == Windows1252 && isASCII(body) {
		return body, true
	}
	text, _, err := transform.Append(e.enc.NewDecoder(), (*buf)[:0], body)
	*buf = text
	if err != nil {
		// The decoders replace and do not fail. If one does, its output so far is what there is.
		return bytes.ToValidUTF8(text, []byte("\uFFFD")), false
	}
	return text, !bytes.Contains(text, []byte("\uFFFD"))
}
