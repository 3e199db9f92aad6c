// Package export reads stored pages back for people: it is what `warren export` prints.
//
//  1. In come a [Source] (a database that store has filled) and [Options].
//  2. Pages are read in the order of their keys (crawl, host, URL), a few at a time, so that memory
//     stays small and no transaction is held open however slowly the output is taken.
//  3. Of each URL the latest visit that brought something is given; after 304 that is the one before.
//  4. Out goes one [Page] after another, to a [Writer] of JSON lines or CSV.
//
// A page that is stored while an export runs is in it or not; nothing comes twice.
package export

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/klauspost/compress/zstd"
)

// Page is one page as exported. The JSON names are the columns of CSV too.
type Page struct {
	URL         string    `json:"url"`
	Status      int       `json:"status"` // HTTP status
	ContentType string    `json:"content_type"`
	FetchedAt   time.Time `json:"fetched_at"`
	Title       string    `json:"title"`
	Description string    `json:"description"`
	Language    string    `json:"language"`
	Text        string    `json:"text"`
	Links       []string  `json:"links"`  // never nil
	SHA256      string    `json:"sha256"` // of the decoded body, hex; "" for none
	// Body is the decoded body, base64 in JSON and CSV; nil unless Options.Body, or if there is none.
	Body []byte `json:"body,omitempty"`
}

// Options say what to export.
type Options struct {
	Crawl string // "" is every crawl
	Body  bool   // with the bodies
}

// Key is a page's place in the order of an export.
type Key struct {
	Crawl string
	URLID [16]byte
}

// Entry is a page and its key.
type Entry struct {
	Key
	Page
}

// ErrNoTables says that no store has ever run on a database.
var ErrNoTables = errors.New("there are no pages in this database: no store has run on it")

// Source is where pages are stored. It returns ErrNoTables where no store has run.
type Source interface {
	// Pages returns the next pages behind after, or the first if after is nil, in the order of their
	// keys, at most limit; of the crawl, or of every crawl if it is "". Body is not filled in.
	Pages(ctx context.Context, crawl string, after *Key, limit int) ([]Entry, error)
	// Body returns the zstd-compressed body with this SHA-256 (hex).
	Body(ctx context.Context, sha256 string) ([]byte, error)
}

// chunk is the number of pages read at a time: of the largest, some 3 MiB each, about 100 MiB.
const chunk = 32

// maxBody bounds a decoded body, in bytes; store keeps none that is larger.
const maxBody = 256 << 20

// Export calls each with every page. It stops at the first error, its own or each's.
func Export(ctx context.Context, source Source, options Options, each func(Page) error) error {
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxBody))
	if err != nil {
		return fmt.Errorf("make zstd decoder: %w", err)
	}
	defer decoder.Close()
	var after *Key
	for {
		entries, err := source.Pages(ctx, options.Crawl, after, chunk)
		if err != nil {
			return fmt.Errorf("export pages: %w", err)
		}
		if len(entries) == 0 {
			return nil
		}
		for i := range entries {
			page := entries[i].Page
			if options.Body && page.SHA256 != "" {
				if page.Body, err = body(ctx, source, decoder, page.SHA256); err != nil {
					return fmt.Errorf("export body of %s: %w", page.URL, err)
				}
			}
			if err := each(page); err != nil {
				return err
			}
		}
		after = &entries[len(entries)-1].Key
	}
}

func body(ctx context.Context, source Source, decoder *zstd.Decoder, sha256 string) ([]byte, error) {
	compressed, err := source.Body(ctx, sha256)
	if err != nil {
		return nil, err
	}
	decoded, err := decoder.DecodeAll(compressed, nil)
	if err != nil {
		return nil, fmt.Errorf("decompress: %w", err)
	}
	return decoded, nil
}
