package rabbit

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/warrenmq/warren/libs/contract"
)

func TestExplain(t *testing.T) {
	for reason, want := range map[string]string{
		"PRECONDITION_FAILED - inequivalent arg 'x-queue-type' for queue 'dedup' in vhost '/': received 'quorum' but current is 'classic'":                           "queue dedup in vhost /: x-queue-type is classic, Warren declares quorum",
		"PRECONDITION_FAILED - inequivalent arg 'x-single-active-consumer' for queue 'q' in vhost 'v': received the value 'true' of type 'bool' but current is none": "queue q in vhost v: x-single-active-consumer is none, Warren declares true",
		"PRECONDITION_FAILED - inequivalent arg 'durable' for exchange 'crawl' in vhost '/': received 'true' but current is 'false'":                                 "exchange crawl in vhost /: durable is false, Warren declares true",
		"PRECONDITION_FAILED - inequivalent arg 'x-overflow' for queue 'q' in vhost '/': received none but current is the value 'reject-publish' of type 'longstr'":  "queue q in vhost /: x-overflow is reject-publish, Warren declares none",
		"PRECONDITION_FAILED - invalid arg": "PRECONDITION_FAILED - invalid arg",
	} {
		if got := explain(reason); got != want {
			t.Errorf("explain(%q)\n is %q\nnot %q", reason, got, want)
		}
	}
}

func FuzzExplain(f *testing.F) {
	f.Add("inequivalent arg 'a' for queue 'b' in vhost '/': received 'c' but current is 'd'")
	f.Fuzz(func(t *testing.T, reason string) {
		if explain(reason) == "" && reason != "" {
			t.Error("the reason is gone")
		}
	})
}

func FuzzParseNode(f *testing.F) {
	f.Add("amqp://user:s3cret@host:5672/vhost?heartbeat=5")
	f.Add("amqps://user:s3%20cret@[::1]/%2f")
	f.Add("amqp://host")
	f.Fuzz(func(t *testing.T, raw string) {
		n, err := parseNode(raw)
		if err != nil {
			if !errors.Is(err, errURL) {
				t.Errorf("an error that may show what it should not: %v", err)
			}
			return
		}
		u, err := url.Parse(n.url)
		if err != nil || u.User != nil {
			t.Errorf("%q: user information in %q, %v", raw, n.url, err)
		}
		if n.uri.Host == "" || n.uri.Port < 0 || n.String() == "" {
			t.Errorf("%q: address %q", raw, n)
		}
	})
}

func TestCredentials(t *testing.T) {
	type auth struct{ user, password string }
	for raw, want := range map[string]auth{
		"amqp://host/":                   {"cfg", "cfgpass"},
		"amqp://u:p%40@host/":            {"u", "p@"},
		"amqp://u@host/":                 {"u", "cfgpass"},
		"amqp://u:@host/":                {"u", ""},
		"amqp://guest:guest@host/vh%2fx": {"guest", "guest"},
	} {
		n, err := parseNode(raw)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Config{User: "cfg", Password: "cfgpass"}.auth(n)
		if err != nil || len(got) != 1 || got[0].Response() != "\x00"+want.user+"\x00"+want.password {
			t.Errorf("%s: %v %v", raw, got, err)
		}
	}
	n, err := parseNode("amqps://host/?auth_mechanism=external")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := DefaultConfig().auth(n); got != nil || err != nil {
		t.Errorf("external: %v %v, want the library's choice", got, err)
	}
}

func TestBackoffDoublesToItsMost(t *testing.T) {
	var b backoff
	for i := range 20 {
		want := min(backoffFirst<<i, backoffMost)
		if got := b.next(); got < want*3/4 || got > want*5/4 {
			t.Errorf("wait %d is %s, want %s give or take a quarter", i, got, want)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if b.wait(t.Context(), ended) {
		t.Error("the wait went on after a context had ended")
	}
}

// Neither a host nor a shard nor a stranger's name becomes a label.
func TestClassIsBounded(t *testing.T) {
	for name, want := range map[string]string{
		contract.FetchKey(64, 7): "fetch", "page.html.com.example": "page", "dedup": "dedup", "dead.store": "dead",
		"evil." + strings.Repeat("x", 99): "other", "": "other",
	} {
		if got := class(name); got != want {
			t.Errorf("class(%q) is %q, want %q", name, got, want)
		}
	}
}

func TestGate(t *testing.T) {
	g := newGate()
	ended, cancel := context.WithCancel(t.Context())
	if err := g.wait(t.Context(), t.Context()); err != nil {
		t.Errorf("a new gate is shut: %v", err)
	}
	g.shut(context.DeadlineExceeded)
	g.shut(context.DeadlineExceeded) // told twice, by a broker with two alarms
	opened := make(chan error, 1)
	go func() { opened <- g.wait(t.Context(), t.Context()) }()
	cancel()
	if err := g.wait(t.Context(), ended); err == nil {
		t.Error("the caller's context did not end the wait")
	}
	if err := g.wait(ended, t.Context()); err == nil {
		t.Error("the session's context did not end the wait")
	}
	g.open()
	g.open()
	select {
	case err := <-opened:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the gate is open, and one still waits")
	}
}
