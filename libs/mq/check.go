package mq

import (
	"errors"
	"fmt"

	"github.com/warrenmq/warren/libs/contract"
)

// ErrInvalid is the cause when a message can never be sent, however often it is tried: its key, its
// headers or its size are outside what the wire allows.
var ErrInvalid = errors.New("message cannot be sent")

// Limits of a message, besides contract.MaxMessage. AMQP writes keys and header names as short
// strings of at most 255 bytes, and RabbitMQ closes the whole connection, with all its channels, for
// a header table that does not fit one frame of 128 KiB: no message may come near that.
const (
	MaxKey     = 255
	MaxHeaders = 32 << 10 // bytes of all names and values together
)

// Check refuses a message that no broker would take. Drivers ask before anything reaches the wire,
// because the broker's own answer would close a channel or a connection that others share.
func (m Message) Check() error {
	if m.Key == "" || len(m.Key) > MaxKey {
		return fmt.Errorf("%w: routing key has %d bytes, want 1 to %d", ErrInvalid, len(m.Key), MaxKey)
	}
	if n := len(m.Body); n > contract.MaxMessage {
		return fmt.Errorf("%w: body has %d bytes, at most %d: %w", ErrInvalid, n, contract.MaxMessage, contract.ErrTooLarge)
	}
	if n := len(m.ContentType); n > 255 {
		return fmt.Errorf("%w: content type has %d bytes, at most 255", ErrInvalid, n)
	}
	size := 0
	for name, value := range m.Headers {
		if name == "" || len(name) > 128 {
			return fmt.Errorf("%w: header name has %d bytes, want 1 to 128", ErrInvalid, len(name))
		}
		if name == "CC" || name == "BCC" {
			return fmt.Errorf("%w: RabbitMQ routes by the header %s", ErrInvalid, name)
		}
		size += len(name) + len(value)
	}
	if size > MaxHeaders {
		return fmt.Errorf("%w: headers have %d bytes, at most %d", ErrInvalid, size, MaxHeaders)
	}
	return nil
}
