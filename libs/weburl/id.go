package weburl

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// ID names a URL in 16 bytes: first 8 of its host's hash, then 8 of its own.
// So the rows of one host lie together in an index. It is a pure function of
// the canonical form, the same in every process and version.
type ID [16]byte

// ID returns u's identity. It is blind to nothing the canonical form keeps:
// http and https, or two orders of a query, are different URLs.
func (u URL) ID() ID {
	var id ID
	host, whole := HostID(u.Host()), sha256.Sum256([]byte(u.text))
	copy(id[:8], host[:])
	copy(id[8:], whole[:8])
	return id
}

// HostID is the first 8 bytes of the SHA-256 of host, as URL.Host gives it.
func HostID(host string) [8]byte {
	sum := sha256.Sum256([]byte(host))
	return [8]byte(sum[:8])
}

// String is 32 lower-case hex digits.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// ParseID reads what ID.String wrote.
func ParseID(text string) (ID, error) {
	var id ID
	if len(text) != hex.EncodedLen(len(id)) {
		return ID{}, fmt.Errorf("parse url id: %d characters instead of %d: %w", len(text), hex.EncodedLen(len(id)), ErrInvalid)
	}
	if _, err := hex.Decode(id[:], []byte(text)); err != nil {
		return ID{}, fmt.Errorf("parse url id %q: %w", text, ErrInvalid)
	}
	return id, nil
}

// Ints are the two halves as SQL bigints (big endian, two's complement).
// They sort as signed numbers, not as the bytes do; equality and "the rows of
// one host lie together" hold all the same.
func (id ID) Ints() (host, hash int64) {
	return int64(binary.BigEndian.Uint64(id[:8])), int64(binary.BigEndian.Uint64(id[8:]))
}

// IDFromInts is the inverse of Ints.
func IDFromInts(host, hash int64) ID {
	var id ID
	binary.BigEndian.PutUint64(id[:8], uint64(host))
	binary.BigEndian.PutUint64(id[8:], uint64(hash))
	return id
}

// Shard is the number of the fetch queue that serves host, as URL.Host gives
// it: hash(host) mod shards, in [0, shards). It must never change for a given
// pair, or two fetchers would serve one host. Less than one shard counts as one.
func Shard(host string, shards int) int {
	sum := HostID(host)
	return int(binary.BigEndian.Uint64(sum[:]) % uint64(max(shards, 1)))
}
