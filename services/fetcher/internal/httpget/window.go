package httpget

import "github.com/klauspost/compress/zstd"

// admit is asked before a decoder is opened that keeps a window of so many bytes: a few bytes of
// body may declare megabytes. It returns the largest window that the decoder may take, so that a
// later zstd frame cannot have more than was asked for. A second such layer always needs leave: two
// windows that are free each are too much together.
func (d *decoder) admit(window uint64) (most uint64, err error) {
	d.windows++
	if window <= freeWindow && d.windows == 1 {
		return freeWindow, nil
	}
	return maxWindow, d.leave()
}

// brotliWindow reads WBITS (RFC 7932 9.1) off the first byte and returns the window in bytes, 0 if
// the decoder will refuse it.
func brotliWindow(head []byte) uint64 {
	if len(head) == 0 {
		return 0
	}
	low, high := head[0]>>1&7, head[0]>>4&7
	switch {
	case head[0]&1 == 0:
		return 1 << 16
	case low != 0:
		return 1 << (17 + low)
	case high == 0:
		return 1 << 17
	case high == 1: // not in the standard: large windows
		return 0
	}
	return 1 << (8 + high)
}

// zstdWindow returns the window of the first frame (RFC 8878 3.1.1.1) in bytes, 0 if there is no
// frame that can be decoded. What comes after a skippable frame cannot be seen from here: it counts
// as the largest.
func zstdWindow(head []byte) uint64 {
	var h zstd.Header
	switch err := h.Decode(head); {
	case err != nil:
		return 0
	case h.Skippable:
		return maxWindow
	case h.SingleSegment:
		return h.FrameContentSize
	}
	return h.WindowSize
}
