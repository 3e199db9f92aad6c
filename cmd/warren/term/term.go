// Package term writes for people: text from the web made harmless, aligned tables, few colours.
//
//  1. In: strings that strangers may have written (titles, host names, reasons).
//  2. What a terminal would obey or hide is written as an escape: \x1b, \u202e.
//  3. Out: lines for a terminal, or the same lines without colours for a pipe.
package term

import (
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text is s as it may be shown: every character that is not visible (control characters, marks of
// writing direction, invalid UTF-8) is written as Go writes it in a string, and what is behind the
// first limit characters is cut with "…".
func Text(s string, limit int) string {
	var out strings.Builder
	for n := 0; s != ""; n++ {
		if n == limit {
			out.WriteString("…")
			break
		}
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			out.WriteString(`\x` + strconv.FormatUint(uint64(s[0]), 16))
		case unicode.IsPrint(r):
			out.WriteRune(r)
		default:
			out.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
		s = s[size:]
	}
	return out.String()
}

// Color is a colour of a table's cell.
type Color string

// The colours, by what they mean.
const (
	Plain  Color = ""
	Good   Color = "\x1b[32m"
	Bad    Color = "\x1b[31m"
	Strong Color = "\x1b[1m"
)

// Colors tells whether w should get colours: it is a terminal that has them, and the user has not
// said no (NO_COLOR, see no-color.org).
func Colors(w io.Writer) bool {
	if os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	return isTerminal(w)
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
