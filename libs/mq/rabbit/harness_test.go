package rabbit_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq"
	"github.com/warrenmq/warren/libs/mq/mqtest"
	"github.com/warrenmq/warren/libs/mq/rabbit"
	"github.com/warrenmq/warren/libs/mq/rabbit/rabbittest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must happen.
const patience = 60 * time.Second

// process is a running bus.
type process struct {
	*rabbit.Bus
	registry *prometheus.Registry
	log      *logBuffer
	cancel   context.CancelFunc
	done     chan struct{}
	err      error
}

var _ mqtest.Process = (*process)(nil)

// settings are the defaults, impatient where a test would wait.
func settings(urls ...string) rabbit.Config {
	cfg := rabbit.DefaultConfig()
	cfg.URLs = urls
	cfg.Delay = 50 * time.Millisecond
	return cfg
}

// start runs a bus until the test ends; it need not be connected yet.
func start(t testing.TB, cfg rabbit.Config, shards int) *process {
	t.Helper()
	p := &process{registry: prometheus.NewRegistry(), log: &logBuffer{}, done: make(chan struct{})}
	var err error
	p.Bus, err = rabbit.New(cfg, rabbit.Deps{
		Name: "test " + t.Name(), Shards: shards, Registry: p.registry,
		Log: slog.New(slog.NewTextHandler(p.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel = cancel
	go func() {
		p.err = p.Run(ctx)
		close(p.done)
	}()
	t.Cleanup(func() {
		p.Kill()
		if p.err != nil && !errors.Is(p.err, mq.ErrLost) {
			t.Errorf("Run: %v", p.err)
		}
		if t.Failed() {
			t.Logf("log of the bus:\n%s", p.log)
		}
	})
	return p
}

func (p *process) Kill() {
	p.cancel()
	<-p.done
}

func (p *process) Subscriptions() int { return int(p.metric("warren_mq_consumers")) }

// metric is the sum over all labels.
func (p *process) metric(name string) float64 {
	families, err := p.registry.Gather()
	if err != nil {
		panic(err)
	}
	sum := 0.0
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			sum += m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return sum
}

// await waits for a state.
func (p *process) await(t testing.TB, want mq.State) {
	t.Helper()
	limit := time.After(patience)
	for {
		state, changed := p.State()
		if state == want {
			return
		}
		select {
		case <-changed:
		case <-limit:
			t.Fatalf("state is %s, waited in vain for %s", state, want)
		}
	}
}

// broker is a virtual host.
type broker struct {
	url    string
	shards int
}

func newBroker(t testing.TB, shards int) *broker { return &broker{rabbittest.VHost(t), shards} }

func (b *broker) Start(t *testing.T) mqtest.Process { return b.start(t) }

func (b *broker) start(t testing.TB) *process {
	t.Helper()
	p := start(t, settings(b.url), b.shards)
	p.await(t, mq.Connected)
	return p
}

// raw opens a channel with the bare client library.
func (b *broker) raw(t testing.TB) *amqp.Channel {
	t.Helper()
	conn, err := amqp.Dial(b.url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.CloseDeadline(time.Now().Add(5 * time.Second)) })
	ch, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	return ch
}

// rawTap binds a queue of the test's own.
func (b *broker) rawTap(t testing.TB, pattern string) <-chan amqp.Delivery {
	t.Helper()
	ch := b.raw(t)
	q, err := ch.QueueDeclare("", false, true, true, false, nil)
	if err == nil {
		err = ch.QueueBind(q.Name, pattern, contract.Exchange, false, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	deliveries, err := ch.Consume(q.Name, "", true, true, false, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	return deliveries
}

func (b *broker) Tap(t *testing.T, pattern string) <-chan mq.Message {
	got := make(chan mq.Message, 100)
	deliveries := b.rawTap(t, pattern)
	go func() {
		for d := range deliveries {
			got <- mq.Message{Key: d.RoutingKey, Body: d.Body}
		}
	}()
	return got
}

// logBuffer keeps what a bus logs.
type logBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Buffer.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Buffer.String()
}
