package httpget_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/andybalholm/brotli"

	"github.com/warrenmq/warren/services/fetcher/internal/httpget"
)

// A few bytes may declare a window of megabytes: leave is asked for before it is taken.
func TestLeaveForWindows(t *testing.T) {
	t.Parallel()
	br := func(bits int) []byte {
		var out bytes.Buffer
		w := brotli.NewWriterOptions(&out, brotli.WriterOptions{Quality: 5, LGWin: bits})
		if _, err := w.Write([]byte("hi")); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	const magic, raw = "\x28\xb5\x2f\xfd", "\x11\x00\x00hi"
	small, large := magic+"\x00\x50"+raw, magic+"\x00\x58"+raw // 1 MiB, 2 MiB
	for name, c := range map[string]struct {
		coding string
		data   []byte
		asked  int
		body   string
	}{
		"zstd 1 MiB":              {"zstd", []byte(small), 0, "hi"},
		"zstd 2 MiB":              {"zstd", []byte(large), 1, "hi"},
		"zstd one segment":        {"zstd", []byte(magic + "\x20\x02" + raw), 0, "hi"},
		"zstd after a skipped":    {"zstd", []byte("\x50\x2a\x4d\x18\x01\x00\x00\x00x" + large), 1, "hi"},
		"zstd second frame large": {"zstd", []byte(small + large), 0, "hi"}, // what came before it is kept
		"zstd in zstd":            {"zstd, zstd", []byte(magic + "\x00\x50\x59\x00\x00" + magic + "\x00\x50" + "\x11\x00\x00" + "hi"), 1, "hi"},
		"br 16":                   {"br", br(16), 0, "hi"},
		"br 20":                   {"br", br(20), 0, "hi"},
		"br 22":                   {"br", br(22), 1, "hi"},
		"br 24":                   {"br", br(24), 1, "hi"},
		"br in gzip":              {"br, gzip", encode(t, "gzip", br(24)), 1, "hi"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := reply(t, encoded(t, c.coding, c.data))
			asked, client := 0, newClient(t, options{})
			resp, err := client.Get(t.Context(), httpget.Request{URL: u, Large: func(context.Context) error { asked++; return nil }})
			if err != nil || string(resp.Body) != c.body || asked != c.asked {
				t.Fatalf("%+v, %v; asked %d times, want %d", resp, err, asked, c.asked)
			}
			refused := errors.New("no leave")
			_, err = client.Get(t.Context(), httpget.Request{URL: u, Large: func(context.Context) error { return refused }})
			if (err != nil) != (c.asked > 0) {
				t.Errorf("refused: %v", err)
			}
		})
	}
}

// However large the body becomes, leave is asked for once.
func TestLeaveIsAskedOnce(t *testing.T) {
	t.Parallel()
	u := reply(t, encoded(t, "zstd, zstd", encode(t, "zstd", encode(t, "zstd", make([]byte, 900<<10)))))
	asked := 0
	resp, err := newClient(t, options{}).Get(t.Context(), httpget.Request{URL: u, Large: func(context.Context) error { asked++; return nil }})
	if err != nil || len(resp.Body) != 900<<10 || asked != 1 {
		t.Errorf("%d bytes, %v; asked %d times", len(resp.Body), err, asked)
	}
}
