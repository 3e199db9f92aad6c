package term

import (
	"bytes"
	"os"
	"testing"
)

func TestFilter(t *testing.T) {
	t.Parallel()
	const in = "{\"title\":\"\x1b]0;é日\"}\n\tnext \u009b31m\xff end"
	const want = "{\"title\":\"" + `\x1b` + "]0;é日\"}\n\tnext " + `\u009b` + "31m" + `\xff` + " end"
	for size := 1; size <= len(in); size++ { // characters may be cut anywhere
		var out bytes.Buffer
		f := &filter{w: &out}
		for rest := []byte(in); len(rest) > 0; {
			part := rest[:min(size, len(rest))]
			if n, err := f.Write(part); n != len(part) || err != nil {
				t.Fatalf("Write = %d, %v", n, err)
			}
			rest = rest[len(part):]
		}
		if out.String() != want {
			t.Errorf("in parts of %d bytes: %q, want %q", size, out.String(), want)
		}
	}
}

// A character device stands for a terminal here: there is none where tests run.
func TestWhatATerminalGets(t *testing.T) {
	device, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer device.Close()
	if _, ok := Writer(device).(*filter); !ok {
		t.Error("a terminal is written to without a filter")
	}
	if w := Writer(&bytes.Buffer{}); w == nil {
		t.Error("no writer")
	} else if _, ok := w.(*filter); ok {
		t.Error("a pipe's data goes through the filter")
	}
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "")
	if !Colors(device) {
		t.Error("a terminal gets no colours")
	}
	t.Setenv("NO_COLOR", "1")
	if Colors(device) {
		t.Error("NO_COLOR is not heeded")
	}
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "dumb")
	if Colors(device) {
		t.Error("TERM=dumb is not heeded")
	}
}
