package rabbit

import (
	"fmt"
	"maps"
	"strings"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq"
)

// outgoing is a message ready for the wire but for its id.
type outgoing struct {
	key string
	amqp.Publishing
}

func (b *Bus) outgoing(m mq.Message) outgoing {
	var headers amqp.Table
	if len(m.Headers) > 0 {
		headers = make(amqp.Table, len(m.Headers))
		for name, value := range m.Headers {
			headers[name] = value
		}
	}
	return outgoing{m.Key, amqp.Publishing{
		Headers:      headers,
		ContentType:  first(m.ContentType, "application/json"),
		DeliveryMode: amqp.Persistent,
		Timestamp:    time.Now(),
		AppId:        contract.Clip(b.deps.Name, 255),
		Body:         m.Body,
	}}
}

// incoming is what a handler gets to see of a delivery. Only plain header values are kept.
func incoming(d amqp.Delivery) mq.Message {
	m := mq.Message{Key: d.RoutingKey, Body: d.Body, ContentType: d.ContentType}
	for name, value := range d.Headers {
		if text, ok := plain(value); ok {
			if m.Headers == nil {
				m.Headers = make(map[string]string, len(d.Headers))
			}
			m.Headers[name] = text
		}
	}
	return m
}

func plain(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case []byte:
		return string(v), true
	case bool, int8, uint8, int16, uint16, int32, uint32, int64, uint64, int, float32, float64:
		return fmt.Sprint(v), true
	case time.Time:
		return v.UTC().Format(time.RFC3339), true
	}
	return "", false
}

// deadLetter is d as it came, under a new key and with the three headers of mq. Headers by which the
// broker speaks or routes go, for it would read them again. So do those that are no plain values,
// and all of a stranger's if they are so many that the frame might overflow.
func deadLetter(d amqp.Delivery, queue, reason string) outgoing {
	headers, size := amqp.Table{}, 0
	for name, value := range d.Headers {
		if text, ok := plain(value); ok && !brokers(name) {
			headers[name] = value
			size += len(name) + len(text)
		}
	}
	if size > mq.MaxHeaders {
		headers = amqp.Table{}
	}
	maps.Copy(headers, amqp.Table{
		mq.HeaderReason: reason,
		mq.HeaderQueue:  queue,
		mq.HeaderKey:    d.RoutingKey,
	})
	return outgoing{contract.DeadKey(queue), amqp.Publishing{
		Headers:         headers,
		ContentType:     d.ContentType,
		ContentEncoding: d.ContentEncoding,
		CorrelationId:   d.CorrelationId,
		ReplyTo:         d.ReplyTo,
		Timestamp:       d.Timestamp,
		Type:            d.Type,
		AppId:           d.AppId,
		DeliveryMode:    amqp.Persistent,
		Body:            d.Body,
	}}
}

func brokers(header string) bool {
	switch header {
	case "CC", "BCC", "x-death", "x-delivery-count", "x-acquired-count":
		return true
	}
	return strings.HasPrefix(header, "x-first-death-") || strings.HasPrefix(header, "x-last-death-")
}
