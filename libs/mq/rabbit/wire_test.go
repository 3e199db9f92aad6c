package rabbit_test

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq"
	"github.com/warrenmq/warren/libs/mq/rabbit/rabbittest"
)

// What others see of a message: persistent above all, since a broker that is killed forgets others
// although it has confirmed them.
func TestWireForm(t *testing.T) {
	t.Parallel()
	b := newBroker(t, 1)
	p := b.start(t)
	tap := b.rawTap(t, "#")
	err := p.Publish(t.Context(),
		mq.Message{Key: "url.seed", Body: []byte("{}"), Headers: map[string]string{"a": "b"}},
		mq.Message{Key: "change.new.com.example", Body: []byte("{}")})
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for range 2 {
		d := take(t, tap, "a message")
		if d.DeliveryMode != amqp.Persistent {
			t.Errorf("%s: delivery mode is %d, want 2", d.RoutingKey, d.DeliveryMode)
		}
		if d.ContentType != "application/json" || d.MessageId == "" || d.Timestamp.IsZero() || !strings.HasPrefix(d.AppId, "test ") {
			t.Errorf("%s: %+v", d.RoutingKey, d)
		}
		ids[d.MessageId] = true
	}
	if len(ids) != 2 {
		t.Error("message ids are not unique")
	}
}

// People publish by rabbitmqadmin, without any property.
func TestBareMessageIsDelivered(t *testing.T) {
	t.Parallel()
	b := newBroker(t, 1)
	p := b.start(t)
	got := make(chan mq.Delivery, 1)
	consume(t, p, mq.Subscription{Queue: contract.QueueDedup}, func(_ context.Context, d mq.Delivery) error { got <- d; return nil })
	u, err := url.Parse(b.url)
	if err != nil {
		t.Fatal(err)
	}
	rabbittest.API(t, "POST", "exchanges"+u.Path+"/crawl/publish",
		`{"properties":{},"routing_key":"url.seed","payload":"https://example.com/","payload_encoding":"string"}`)
	want := mq.Message{Key: "url.seed", Body: []byte("https://example.com/")}
	if diff := cmp.Diff(want, take(t, got, "the message").Message); diff != "" {
		t.Error(diff)
	}
}

// A stranger's headers of every type, and more of them than a frame with ours would hold.
func TestDeadLetterOfAStranger(t *testing.T) {
	t.Parallel()
	b := newBroker(t, 1)
	p := b.start(t)
	dead := b.rawTap(t, "dead.#")
	seen := make(chan map[string]string, 2)
	consume(t, p, mq.Subscription{Queue: contract.QueueDedup}, func(_ context.Context, d mq.Delivery) error {
		seen <- d.Headers
		return mq.Reject("bad\nmessage " + strings.Repeat("ü", 600))
	})
	headers := amqp.Table{
		"text": "a", "number": int64(7), "flag": true, "bytes": []byte{0xff}, "nothing": nil,
		"table": amqp.Table{"x": "y"}, "list": []any{"x"}, "x-death": []any{}, "x-mine": "kept", "x-first-death-queue": "q", "CC": []any{"url.done"}, mq.HeaderKey: "forged",
	}
	ch := b.raw(t)
	publish := func(headers amqp.Table) amqp.Delivery {
		err := ch.Publish(contract.Exchange, "url.seed", true, false, amqp.Publishing{
			Headers: headers, Body: []byte("not me"), Expiration: "60000", Priority: 3, CorrelationId: "c", Type: "t",
		})
		if err != nil {
			t.Fatal(err)
		}
		return take(t, dead, "the dead letter")
	}
	d := publish(headers)
	reason, _ := d.Headers[mq.HeaderReason].(string)
	if !strings.HasPrefix(reason, "bad message ü") || len(reason) > 510 {
		t.Errorf("reason of %d bytes: %q", len(reason), reason)
	}
	delete(d.Headers, mq.HeaderReason)
	want := amqp.Table{"text": "a", "number": int64(7), "flag": true, "bytes": []byte{0xff}, "x-mine": "kept", mq.HeaderQueue: "dedup", mq.HeaderKey: "url.seed"}
	if diff := cmp.Diff(want, d.Headers); diff != "" {
		t.Error(diff)
	}
	if d.Expiration != "" || d.CorrelationId != "c" || d.Type != "t" || d.DeliveryMode != amqp.Persistent || string(d.Body) != "not me" {
		t.Errorf("dead letter: %+v", d)
	}
	h := take(t, seen, "the headers")
	if diff := cmp.Diff(map[string]string{"text": "a", "number": "7", "flag": "true", "bytes": "\xff", "x-mine": "kept",
		"x-first-death-queue": "q", mq.HeaderKey: "forged"}, h); diff != "" {
		t.Error(diff)
	}
	if d = publish(amqp.Table{"huge": strings.Repeat("x", 130_000)}); len(d.Headers) != 3 {
		t.Errorf("%d headers, want ours only", len(d.Headers))
	}
	if got := p.metric("warren_mq_sessions_total"); got != 1 {
		t.Errorf("%v sessions: a header table has cost a connection", got)
	}
}
