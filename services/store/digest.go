package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// maxBody bounds the work on one body: the largest that a parser can be set to read, in bytes.
const maxBody = 256 << 20

// digests hashes compressed bodies. A body is found by its hash from then on, by every page that has
// the same one, so that a wrong hash would be wrong for all of them: it is not taken on trust.
type digests struct {
	decoders sync.Pool // of *zstd.Decoder; with one thread each, they own no goroutine
}

// of returns the SHA-256 and the size of a zstd-compressed body, "" and 0 for an empty one. The body is
// streamed, so that the memory does not grow with it.
func (d *digests) of(body []byte) (sum string, size int64, err error) {
	if len(body) == 0 {
		return "", 0, nil
	}
	decoder, _ := d.decoders.Get().(*zstd.Decoder)
	if decoder == nil {
		decoder, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxMemory(maxBody))
		if err != nil {
			return "", 0, fmt.Errorf("make zstd decoder: %w", err)
		}
	}
	defer d.decoders.Put(decoder)
	if err := decoder.Reset(bytes.NewReader(body)); err != nil {
		return "", 0, fmt.Errorf("decompress: %w", err)
	}
	hash := sha256.New()
	size, err = io.Copy(hash, io.LimitReader(decoder, maxBody+1))
	if err != nil {
		return "", 0, fmt.Errorf("decompress: %w", err)
	}
	if size > maxBody {
		return "", 0, errors.New("decompress: it is too large")
	}
	if size == 0 {
		return "", 0, nil
	}
	return hex.EncodeToString(hash.Sum(nil)), size, nil
}
