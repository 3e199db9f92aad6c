package rabbit_test

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq"
)

// fakeBroker shakes hands as the product and version it is given, and does no more.
func fakeBroker(t *testing.T, product, version, mechanism string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				shakeHands(conn, product, version, mechanism)
			}()
		}
	}()
	return "amqp://guest:guest@" + listener.Addr().String() + "/"
}

func shakeHands(conn net.Conn, product, version, mechanism string) {
	longstr := func(s string) []byte {
		return append(binary.BigEndian.AppendUint32(nil, uint32(len(s))), s...)
	}
	var table []byte
	for name, value := range map[string]string{"product": product, "version": version} {
		table = append(append(append(table, shortstr(name)...), 'S'), longstr(value)...)
	}
	start := append([]byte{0, 9}, longstr(string(table))...)
	start = append(append(start, longstr(mechanism)...), longstr("en_US")...)
	if _, err := io.ReadFull(conn, make([]byte, 8)); err != nil {
		return
	}
	_, _ = conn.Write(methodFrame(0, 10, 10, start...))
	for {
		frame, err := readFrame(conn)
		if err != nil {
			return
		}
		switch m := method(frame); {
		case strings.HasSuffix(m, "\x00\x0a\x00\x0b"): // start-ok: tune
			_, _ = conn.Write(methodFrame(0, 10, 30, 7, 255, 0, 2, 0, 0, 0, 60))
		case strings.HasSuffix(m, "\x00\x0a\x00\x28"): // open: open-ok
			_, _ = conn.Write(methodFrame(0, 10, 41, 0))
		case strings.HasSuffix(m, "\x00\x0a\x00\x32"): // close: close-ok
			_, _ = conn.Write(methodFrame(0, 10, 51))
			return
		}
	}
}

// An old broker would do everything but what matters, without a word.
func TestOldBrokerIsRefused(t *testing.T) {
	t.Parallel()
	for product, version := range map[string]string{"RabbitMQ": "3.10.8", "LavinMQ": "2.1.0", "": ""} {
		p := start(t, settings(fakeBroker(t, product, version, "PLAIN")), 1)
		take(t, p.done, "Run to return, for ever being no choice")
		if !errors.Is(p.err, mq.ErrLost) || !strings.Contains(p.err.Error(), product+" "+version+", Warren needs RabbitMQ 4.0") {
			t.Errorf("%s %s: %v", product, version, p.err)
		}
	}
}

// A handshake that fails on our side leaves no connection behind (goleak would find its reader).
func TestLoginThatIsNotOffered(t *testing.T) {
	t.Parallel()
	cfg := settings(fakeBroker(t, "RabbitMQ", "4.2.0", "EXTERNAL"))
	cfg.Attempts = 2
	p := start(t, cfg, 1)
	take(t, p.done, "Run to return")
	if p.err == nil || !strings.Contains(p.err.Error(), "SASL") {
		t.Errorf("got %v, want a word of the mechanism", p.err)
	}
}

// A node that takes connections and says nothing is given up after ConnectTimeout.
func TestSilentNode(t *testing.T) {
	t.Parallel()
	b := newBroker(t, 1)
	via := newProxy(t, b.url)
	via.stall(toClient)
	cfg := settings(via.url())
	cfg.Attempts, cfg.ConnectTimeout = 1, 200*time.Millisecond
	p := start(t, cfg, 1)
	take(t, p.done, "Run to return")
	if p.err == nil || !strings.Contains(p.err.Error(), "no AMQP handshake within 200ms") {
		t.Errorf("got %v, want a word of the timeout", p.err)
	}
}

// What the broker has under Warren's names and cannot be changed is reported as what differs from
// what, all at once.
func TestTopologyMismatch(t *testing.T) {
	t.Parallel()
	b := newBroker(t, 2)
	ch := b.raw(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(ch.ExchangeDeclare(contract.Exchange, "fanout", true, false, false, false, nil))
	declare := func(name string, args amqp.Table) {
		t.Helper()
		_, err := ch.QueueDeclare(name, true, false, false, false, args)
		must(err)
	}
	declare(contract.QueueDead, amqp.Table{"x-queue-type": "classic", "x-overflow": "reject-publish"})
	var noSAC, otherDLX amqp.Table
	for _, q := range mq.Topology(2) {
		switch q.Name {
		case contract.FetchKey(2, 1):
			noSAC = q.Args
		case contract.QueueStore:
			otherDLX = q.Args
		}
	}
	delete(noSAC, "x-single-active-consumer")
	declare(contract.FetchKey(2, 1), noSAC)
	otherDLX["x-dead-letter-routing-key"] = "dead.others"
	declare(contract.QueueStore, otherDLX)

	p := start(t, settings(b.url), 2)
	take(t, p.done, "Run to return, for ever being no choice")
	if !errors.Is(p.err, mq.ErrLost) {
		t.Fatalf("Run: %v, want ErrLost", p.err)
	}
	for _, want := range []string{
		"exchange crawl in vhost warren-test-",
		"type is fanout, Warren declares topic",
		"queue dead in vhost warren-test-",
		"x-queue-type is classic, Warren declares quorum",
		"queue store in vhost warren-test-",
		"x-dead-letter-routing-key is dead.others, Warren declares dead.store",
		"queue fetch.2.1 in vhost warren-test-",
		"x-single-active-consumer is none, Warren declares true",
		"drain and delete what differs",
	} {
		if !strings.Contains(p.err.Error(), want) {
			t.Errorf("the error does not say %q:\n%v", want, p.err)
		}
	}
}
