package parser

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/klauspost/compress/zstd"

	"github.com/warrenmq/warren/services/parser/internal/extract"
)

// scratch is what one page needs while it is parsed, kept for the next.
type scratch struct {
	body    []byte // decompressed
	text    []byte // in UTF-8
	extract extract.Extractor
}

// keepScratch is the largest buffer that is kept, in bytes: pages are some 20 KB, few are large.
const keepScratch = 1 << 20

func (b *scratch) trim() {
	if cap(b.body) > keepScratch {
		b.body = nil
	}
	if cap(b.text) > keepScratch {
		b.text = nil
	}
}

// leastWindow is the window, in bytes, that a frame may ask for however small MaxBody is: the largest
// that common encoders choose without being told to.
const leastWindow = 32 << 20

// newDecoder makes the one decoder that all handlers share. Its limit counts for the window a frame
// asks for too, which may be far larger than what is in the frame; decompress is stricter.
func newDecoder(cfg Config) (*zstd.Decoder, error) {
	decoder, err := zstd.NewReader(nil,
		zstd.WithDecoderConcurrency(cfg.Concurrency),
		zstd.WithDecoderMaxMemory(uint64(max(2*cfg.MaxBody, leastWindow))),
	)
	if err != nil {
		return nil, fmt.Errorf("make zstd decoder: %w", err)
	}
	return decoder, nil
}

// decompress returns the body in b's buffer. Nothing in is nothing out.
func (s *Service) decompress(b *scratch, compressed []byte) ([]byte, error) {
	if len(compressed) == 0 {
		return nil, nil
	}
	var frame zstd.Header
	if err := frame.Decode(compressed); err != nil {
		return nil, fmt.Errorf("decompress body of %d bytes: %w", len(compressed), err)
	}
	if frame.HasFCS && frame.FrameContentSize > uint64(s.cfg.MaxBody) {
		return nil, s.tooLong(frame.FrameContentSize)
	}
	body, err := s.zstd.DecodeAll(compressed, b.body[:0])
	if err != nil {
		return nil, fmt.Errorf("decompress body of %d bytes: %w", len(compressed), err)
	}
	if b.body = body; len(body) > s.cfg.MaxBody {
		return nil, s.tooLong(uint64(len(body)))
	}
	return body, nil
}

// tooLong is what an operator reads in dead.parser whose fetchers have a larger limit.
func (s *Service) tooLong(size uint64) error {
	return fmt.Errorf("decompress body: it is %d bytes, over WARREN_PARSER_MAX_BODY, %d", size, s.cfg.MaxBody)
}

// hash is the page's SHA256: hex, "" for no body.
func hash(body []byte) string {
	if len(body) == 0 {
		return ""
	}
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}
