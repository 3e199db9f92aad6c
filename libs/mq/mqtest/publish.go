package mqtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq"
)

func testPublishIsConfirmed(t *testing.T, d Driver) {
	p := d.Open(t, 1).Start(t)
	const n = 1000 // more than a window
	publish(t, p, numbered("url.seed", n)...)
	handle, got := bodies(n)
	consume(t, p, mq.Subscription{Queue: contract.QueueDedup, Prefetch: 100}, handle)
	seen := map[string]bool{}
	for range n {
		seen[take(t, got, "a message that was confirmed")] = true
	}
	if len(seen) != n {
		t.Errorf("got %d different messages of %d", len(seen), n)
	}
	if err := p.Publish(patient(t)); err != nil {
		t.Errorf("publish of nothing: %v", err)
	}
}

// Two thousand handlers that publish one message each must share the windows, not queue up for one
// another's confirms.
func testPublishFromManyCallers(t *testing.T, d Driver) {
	p := d.Open(t, 1).Start(t)
	const n = 2000
	ctx := patient(t)
	errs := make(chan error, n)
	for i := range n {
		go func() { errs <- p.Publish(ctx, mq.Message{Key: "url.seed", Body: fmt.Append(nil, i)}) }()
	}
	for range n {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
	handle, got := bodies(n)
	consume(t, p, mq.Subscription{Queue: contract.QueueDedup, Prefetch: 200}, handle)
	seen := map[string]bool{}
	for range n {
		seen[take(t, got, "a message that was confirmed")] = true
	}
	if len(seen) != n {
		t.Errorf("got %d different messages of %d", len(seen), n)
	}
}

func testUnroutable(t *testing.T, d Driver) {
	p := d.Open(t, 1).Start(t)
	err := p.Publish(patient(t),
		mq.Message{Key: "url.seed", Body: []byte("a")},
		mq.Message{Key: "nobody.listens", Body: []byte("lost")},
		mq.Message{Key: "url.too.long", Body: []byte("lost")},
		mq.Message{Key: "url.done", Body: []byte("b")})
	if !errors.Is(err, mq.ErrUnroutable) {
		t.Fatalf("got %v, want ErrUnroutable", err)
	}
	var failed *mq.PublishError
	if !errors.As(err, &failed) || !slices.Equal(failed.Failed, []int{1, 2}) {
		t.Errorf("failed messages: %+v, want 1 and 2", failed)
	}
	if text := err.Error(); !strings.Contains(text, "nobody.listens") && !strings.Contains(text, "url.too.long") {
		t.Errorf("%q does not name the message", err)
	}
	handle, got := bodies(8)
	consume(t, p, mq.Subscription{Queue: contract.QueueDedup, Prefetch: 8}, handle)
	arrived := []string{take(t, got, "a neighbour"), take(t, got, "a neighbour")}
	slices.Sort(arrived)
	if !slices.Equal(arrived, []string{"a", "b"}) {
		t.Errorf("neighbours that arrived: %q", arrived)
	}
}

func testChangeNeedsNoListener(t *testing.T, d Driver) {
	p := d.Open(t, 1).Start(t)
	publish(t, p,
		mq.Message{Key: contract.ChangeKey(contract.ChangeNew, "www.example.com"), Body: []byte("{}")},
		mq.Message{Key: "worker.fetcher.x", Body: []byte("{}")},
		mq.Message{Key: "control.fetcher", Body: []byte("{}")})
}

func testTopics(t *testing.T, d Driver) {
	broker := d.Open(t, 1)
	p := broker.Start(t)
	keys := []string{
		"page.html.com.example", "page.html.com.example.www", "page.html.com.example.a.b", "page.xml.com.example",
		"page.html.com.examples", "change.new.com.example", "url.seed", "response.html.com.example",
	}
	patterns := []string{"page.html.com.example.#", "page.*.com.example", "page.html.*.*.www", "#.example", "change.#", "url.*", "*.*"}
	taps := map[string]<-chan mq.Message{}
	for _, pattern := range patterns {
		taps[pattern] = broker.Tap(t, pattern)
	}
	for _, key := range append(keys, "url.end", "page.html.com.example.end", "page.end.com.example", "page.html.com.end.www", "change.end", "end.example") {
		// The taps of a key are bound before: mandatory or not, it is no error.
		if err := p.Publish(patient(t), mq.Message{Key: key, Body: []byte("{}")}); err != nil {
			t.Fatalf("publish %s: %v", key, err)
		}
	}
	last := map[string]string{
		"page.html.com.example.#": "page.html.com.example.end", "page.*.com.example": "page.end.com.example",
		"page.html.*.*.www": "page.html.com.end.www", "#.example": "end.example", "change.#": "change.end",
		"url.*": "url.end", "*.*": "end.example",
	}
	want := map[string][]string{
		"page.html.com.example.#": {"page.html.com.example", "page.html.com.example.www", "page.html.com.example.a.b"},
		"page.*.com.example":      {"page.html.com.example", "page.xml.com.example"},
		"page.html.*.*.www":       {"page.html.com.example.www"},
		"#.example": {"page.html.com.example", "page.xml.com.example", "change.new.com.example",
			"response.html.com.example", "page.end.com.example"},
		"change.#": {"change.new.com.example"},
		"url.*":    {"url.seed"},
		"*.*":      {"url.seed", "url.end", "change.end"},
	}
	for pattern, tap := range taps {
		var got []string
		for {
			m := take(t, tap, "what is bound to "+pattern)
			if m.Key == last[pattern] {
				break
			}
			got = append(got, m.Key)
		}
		if diff := difference(want[pattern], got); diff != "" {
			t.Errorf("%s: %s", pattern, diff)
		}
		for _, key := range keys {
			if mq.Match(pattern, key) != slices.Contains(want[pattern], key) {
				t.Errorf("mq.Match(%q, %q) is not what the broker does", pattern, key)
			}
		}
	}
}

func testMessageArrivesWhole(t *testing.T, d Driver) {
	p := d.Open(t, 1).Start(t)
	got := make(chan mq.Delivery, 2)
	consume(t, p, mq.Subscription{Queue: contract.QueueStore, Prefetch: 2}, func(_ context.Context, d mq.Delivery) error {
		got <- d
		return nil
	})
	sent := mq.Message{Key: "page.html.com.example", Body: []byte("\x00\xff\n"), ContentType: "application/x-warren",
		Headers: map[string]string{"kind": "html", "empty": "", "big": strings.Repeat("ä", 8<<10)}}
	publish(t, p, sent)
	d1 := take(t, got, "the message")
	if diff := difference(sent, d1.Message); diff != "" {
		t.Error(diff)
	}
	if d1.Queue != contract.QueueStore || d1.Redelivered {
		t.Errorf("queue %q, redelivered %v", d1.Queue, d1.Redelivered)
	}
	publish(t, p, mq.Message{Key: "page.html.com.example"})
	bare := take(t, got, "the empty message")
	if bare.ContentType != "application/json" || len(bare.Body) != 0 || len(bare.Headers) != 0 {
		t.Errorf("an empty message came as %+v", bare.Message)
	}
}

func testBigBodies(t *testing.T, d Driver) {
	p := d.Open(t, 1).Start(t)
	got := make(chan []byte, 3)
	consume(t, p, mq.Subscription{Queue: contract.QueueParser, Prefetch: 3}, func(_ context.Context, d mq.Delivery) error {
		got <- d.Body
		return nil
	})
	for _, size := range []int{11 << 20, contract.MaxMessage} {
		body := bytes.Repeat([]byte("warren \x00 "), size/9+1)[:size]
		publish(t, p, mq.Message{Key: "response.binary.com.example", Body: body})
		if !bytes.Equal(take(t, got, "a big message"), body) {
			t.Errorf("a body of %d bytes came as another", size)
		}
	}
}

// What cannot be sent fails alone, before it can close a channel that others use.
func testRefused(t *testing.T, d Driver) {
	p := d.Open(t, 1).Start(t)
	handle, got := bodies(8)
	consume(t, p, mq.Subscription{Queue: contract.QueueDedup, Prefetch: 8}, handle)
	state, changed := p.State()
	for name, m := range map[string]mq.Message{
		"body":         {Key: "url.seed", Body: make([]byte, contract.MaxMessage+1)},
		"key":          {Key: "url." + strings.Repeat("x", 300)},
		"no key":       {},
		"header":       {Key: "url.seed", Headers: map[string]string{"x": strings.Repeat("y", 200<<10)}},
		"header name":  {Key: "url.seed", Headers: map[string]string{strings.Repeat("x", 300): ""}},
		"content type": {Key: "url.seed", ContentType: strings.Repeat("x", 300)},
	} {
		err := p.Publish(patient(t), m, mq.Message{Key: "url.seed", Body: []byte(name)})
		var failed *mq.PublishError
		if !errors.Is(err, mq.ErrInvalid) || !errors.As(err, &failed) || !slices.Equal(failed.Failed, []int{0}) {
			t.Errorf("%s: got %v, want ErrInvalid for message 0", name, err)
		}
		if name == "body" && !errors.Is(err, contract.ErrTooLarge) {
			t.Errorf("%s: got %v, want ErrTooLarge", name, err)
		}
		if neighbour := take(t, got, "the neighbour of a refused message"); neighbour != name {
			t.Errorf("%s: neighbour is %q", name, neighbour)
		}
	}
	select {
	case <-changed:
		t.Errorf("the state was %s and has changed", state)
	default:
	}
}

func testPublishEndsWithItsContext(t *testing.T, d Driver) {
	p := d.Open(t, 1).Start(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var calls sync.WaitGroup
	for range 20 {
		calls.Go(func() {
			err := p.Publish(ctx, numbered("url.seed", 3)...)
			var failed *mq.PublishError
			if err != nil && (!errors.Is(err, context.Canceled) || !errors.As(err, &failed)) {
				t.Errorf("got %v, want a PublishError of context.Canceled", err)
			}
		})
	}
	calls.Wait()
	p.Kill()
	ctx, cancel = context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := p.Publish(ctx, numbered("url.seed", 1)...); !errors.Is(err, mq.ErrLost) {
		t.Errorf("publish on a dead bus: %v, want ErrLost", err)
	}
}
