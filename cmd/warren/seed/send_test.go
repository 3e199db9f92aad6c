package seed

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/daemon"
	"github.com/warrenmq/warren/libs/mq"
)

// publisher fails as it is told.
type publisher func(messages []mq.Message) error

func (p publisher) Publish(_ context.Context, messages ...mq.Message) error { return p(messages) }

func urls(n int) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for range n {
			if !yield("https://a.example/", nil) {
				return
			}
		}
	}
}

func send(p publisher, plan plan, n int) (result, error) {
	var done result
	s := sender{bus: p, timeout: time.Minute, done: &done}
	verb := s.seeds
	if plan.start {
		verb = s.start
	}
	err := verb(context.Background(), plan, urls(n))
	return done, err
}

func TestOnlyTheConfirmedAreCounted(t *testing.T) {
	t.Parallel()
	calls := 0
	done, err := send(func(messages []mq.Message) error {
		if calls++; calls == 2 {
			return &mq.PublishError{Failed: []int{0, 2}, Err: mq.ErrUnconfirmed}
		}
		return nil
	}, plan{}, 3*perBatch*perMessage)
	if !errors.Is(err, mq.ErrUnconfirmed) || daemon.Status(err) != 5 {
		t.Errorf("error %v of exit status %d, want 5", err, daemon.Status(err))
	}
	const batch = perBatch * perMessage
	if want := (result{Seeds: 2 * batch, Confirmed: 2*batch - 2*perMessage}); done != want || calls != 2 {
		t.Errorf("%+v after %d batches, want %+v after 2", done, calls, want)
	}
}

func TestALostBrokerConfirmsNothing(t *testing.T) {
	t.Parallel()
	done, err := send(func([]mq.Message) error { return mq.ErrLost }, plan{}, 5)
	if daemon.Status(err) != 5 || done != (result{Seeds: 5}) {
		t.Errorf("%+v, %v", done, err)
	}
}

func TestAStartThatIsTooLargeSendsNothing(t *testing.T) {
	t.Parallel()
	p := plan{start: true, spec: contract.CrawlSpec{Name: "docs"}}
	_, err := send(func([]mq.Message) error { t.Error("a message was sent"); return nil }, p, 600_000)
	if daemon.Status(err) != 2 || !strings.Contains(err.Error(), "with 600000 URLs: write contract.CrawlSpec of") ||
		!strings.Contains(err.Error(), "send the others with --crawl docs alone") {
		t.Errorf("error %v", err)
	}
}

func TestAnErrorOfReading(t *testing.T) {
	t.Parallel()
	s := sources{{name: "stdin line", from: strings.NewReader("https://a.example/\n" + strings.Repeat("x", maxLine+1))}}
	var done result
	sender := sender{bus: publisher(func([]mq.Message) error { return nil }), timeout: time.Minute, done: &done}
	err := sender.seeds(t.Context(), plan{}, s.urls(func(error) {}))
	if err == nil || daemon.Status(err) != 2 || !strings.Contains(err.Error(), "read stdin line 2: bufio.Scanner: token too long") {
		t.Errorf("error %v", err)
	}
	if done.Confirmed != 1 {
		t.Errorf("%+v: want the one before sent", done)
	}
}
