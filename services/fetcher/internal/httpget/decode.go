package httpget

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

const (
	// maxLayers: two are seen in the wild by mistake; a hundred are an attack.
	maxLayers = 2
	// maxWindow is the largest zstd window that a server may ask for in HTTP (RFC 9659 3).
	maxWindow = 8 << 20
	// freeWindow is the largest window of br or zstd for which no leave is asked, in bytes.
	freeWindow = 1 << 20
)

// decoder reads through the layers of a content coding.
type decoder struct {
	io.Reader
	unknown bool         // a coding we do not know: nothing is decoded
	leave   func() error // asked for before much memory is taken
	windows int          // layers that have a window of their own, so far
	closers []func()
}

func (d *decoder) close() {
	for _, f := range d.closers {
		f()
	}
}

// decode reads Content-Encoding, whose codings are listed in the order in which they were applied
// (RFC 9110 8.4), and returns a reader that undoes them. It calls leave, perhaps more than once,
// before it takes memory for a large window.
func decode(wire io.Reader, header []string, leave func() error) (*decoder, error) {
	var codings []string
	for coding := range strings.SplitSeq(strings.Join(header, ","), ",") {
		if coding = strings.ToLower(strings.TrimSpace(coding)); coding != "" && coding != "identity" {
			codings = append(codings, coding)
		}
	}
	if len(codings) > maxLayers {
		return nil, &Error{Reason: ReasonLayers, Err: fmt.Errorf("%d content codings", len(codings))}
	}
	d := &decoder{Reader: wire, leave: leave}
	for _, coding := range codings {
		switch coding {
		case "gzip", "x-gzip", "deflate", "br", "zstd":
		default:
			d.unknown = true
			return d, nil
		}
	}
	for i := len(codings) - 1; i >= 0; i-- {
		d.Reader = &layer{coding: codings[i], in: bufio.NewReader(d.Reader), owner: d}
	}
	return d, nil
}

// layer undoes one coding. It looks at the data only when it is read: an empty body (304, 204) has
// no gzip header, and that is no error.
type layer struct {
	coding string
	in     *bufio.Reader
	out    io.Reader
	owner  *decoder
}

func (l *layer) Read(p []byte) (int, error) {
	if l.out == nil {
		if _, err := l.in.Peek(1); err != nil {
			return 0, err
		}
		if err := l.open(); err != nil {
			return 0, err
		}
	}
	return l.out.Read(p)
}

func (l *layer) open() (err error) {
	magic, err := l.in.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	switch l.coding {
	case "br":
		if _, err := l.owner.admit(brotliWindow(magic)); err != nil {
			return err
		}
		l.out = brotli.NewReader(l.in)
	case "zstd":
		head, _ := l.in.Peek(zstd.HeaderMaxSize) // fewer if the body is shorter; the decoder finds out
		most, err := l.owner.admit(zstdWindow(head))
		if err != nil {
			return err
		}
		z, err := zstd.NewReader(l.in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(most))
		if err != nil {
			return fmt.Errorf("read zstd: %w", err)
		}
		l.owner.closers = append(l.owner.closers, z.Close)
		l.out = z
	case "deflate":
		// The standard means zlib (RFC 9110 8.4.1.2); servers that send bare deflate are as many.
		if len(magic) == 2 && magic[0]&0x0f == 8 && (int(magic[0])<<8|int(magic[1]))%31 == 0 {
			if l.out, err = zlib.NewReader(l.in); err != nil {
				return fmt.Errorf("read deflate: %w", err)
			}
			return nil
		}
		l.out = flate.NewReader(l.in)
	default:
		// Text that only says it is gzip is read as what it is.
		if !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
			l.out = l.in
			return nil
		}
		if l.out, err = gzip.NewReader(l.in); err != nil {
			return fmt.Errorf("read gzip: %w", err)
		}
	}
	return nil
}
