// Package contract is the wire between Warren's services: the messages, their routing keys and the
// queues they end in. Everything that travels through RabbitMQ is defined here and nowhere else.
//
//  1. Small messages (seeds, crawl verbs, fetch, url.done, url.retry, change) are one JSON object.
//  2. Messages with a body (response, page) are an [Envelope]: one line of JSON facts, a newline,
//     and the page's body, zstd-compressed. Any language reads it by splitting at the first newline.
//     No URL ever stands in a routing key, header or message id (255 bytes at most; a header table
//     over 128 KiB closes the connection).
//  3. A reader ignores fields it does not know and refuses a version above its own, so that old and
//     new services run together. People's messages (seeds, crawl verbs) are the exception: there an
//     unknown field is most likely a typing error and is refused by name.
//
// Golden files in testdata/ pin the wire form; an old golden file is never edited.
package contract

import (
	"errors"
	"fmt"
)

// Version is the version this build writes. A message without one is version 1.
const Version = 1

// MaxMessage is the largest encoded message in bytes. RabbitMQ 4 refuses more than 16 MiB and closes
// the channel, so the publisher stays well below it.
const MaxMessage = 12 << 20

// ErrVersion is returned for a message of a newer version than this build can read.
var ErrVersion = errors.New("message version is newer than this service")

// ErrTooLarge is returned by encoders when the message would exceed MaxMessage.
var ErrTooLarge = errors.New("message is too large")

func checkVersion(v int) error {
	if v > Version {
		return fmt.Errorf("version %d: %w", v, ErrVersion)
	}
	return nil
}

// Reasons that several services or people meet. A reason is a short phrase, never a URL.
const (
	ReasonRobots     = "robots"
	ReasonLost       = "lost in the pipeline"
	ReasonTooLarge   = "too large"
	ReasonBudget     = "page budget"
	ReasonHostBudget = "host page budget"
	ReasonCancelled  = "cancelled"
	ReasonExpired    = "expired"
	ReasonPoison     = "poison message"
)
