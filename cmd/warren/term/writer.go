package term

import (
	"io"
	"unicode"
	"unicode/utf8"
)

// Writer is w itself, unless w is a terminal: then what is written goes through [Text]'s rules, line
// ends and tabs apart, so that data from the web cannot command the terminal it is looked at on.
func Writer(w io.Writer) io.Writer {
	if !isTerminal(w) {
		return w
	}
	return &filter{w: w}
}

type filter struct {
	w    io.Writer
	part []byte // of a character whose end is yet to come
}

func (f *filter) Write(p []byte) (int, error) {
	data := append(f.part, p...)
	f.part = nil
	var out []byte
	for len(data) > 0 {
		if !utf8.FullRune(data) {
			f.part = append([]byte(nil), data...)
			break
		}
		r, size := utf8.DecodeRune(data)
		if r == '\n' || r == '\t' || unicode.IsPrint(r) && (r != utf8.RuneError || size > 1) {
			out = append(out, data[:size]...)
		} else {
			out = append(out, Text(string(data[:size]), 1)...)
		}
		data = data[size:]
	}
	if _, err := f.w.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}
