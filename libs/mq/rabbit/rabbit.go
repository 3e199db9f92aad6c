// Package rabbit is the RabbitMQ driver of mq, for RabbitMQ 4.0 and later.
//
//  1. [Bus.Run] keeps a session with one node of a list: it tries every node, then waits, for a
//     number of rounds or for ever.
//  2. A session is two new connections, one to consume and one to publish, since a broker in alarm
//     stops reading from those that publish. If either dies both go, and all that hangs on them:
//     nothing is ever recovered in place. The client library's own recovery would let a late
//     acknowledgement delete another message, because delivery tags start again at 1.
//  3. Each session checks the broker's version and declares the whole topology.
//  4. Publish hands messages to a few channels in confirm mode, each with a window of unconfirmed
//     messages, so that thousands of callers share them without waiting for one another.
//  5. Consume gives each subscription a channel of its own. A channel that is closed by the broker,
//     or whose consumer is cancelled by it, is replaced by a new one.
//  6. Once a second a session makes a round trip, by which [mq.Delivery.Live] is judged.
package rabbit

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	mathrand "math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/warrenmq/warren/libs/mq"
)

// Deps is what a Bus needs besides its settings.
type Deps struct {
	Name     string // of the connections, as the broker shows them: service and host
	Shards   int    // number of fetch queues to declare
	Log      *slog.Logger
	Registry prometheus.Registerer
}

// Bus is an mq.Bus on RabbitMQ. It does nothing until Run is called.
type Bus struct {
	cfg     Config
	deps    Deps
	log     *slog.Logger
	metrics *metrics
	nodes   []node // in the order in which they are tried
	queues  []mq.Queue
	id      string    // prefix of this bus's message ids
	epoch   time.Time // origin of the monotonic times kept as numbers

	running atomic.Bool
	serial  atomic.Uint64 // last message id
	turn    atomic.Uint64 // next publishing lane

	mu      sync.Mutex
	state   mq.State
	changed chan struct{}
	session *session // nil if none stands
	cause   error    // why there is none, or why it is blocked
}

var _ mq.Bus = (*Bus)(nil)

// New checks the settings and makes a bus; it connects nowhere yet.
func New(cfg Config, deps Deps) (*Bus, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if deps.Log == nil || deps.Registry == nil {
		return nil, errors.New("rabbit: Deps needs Log and Registry")
	}
	if deps.Shards < 0 {
		return nil, fmt.Errorf("rabbit: %d shards", deps.Shards)
	}
	m, err := newMetrics(deps.Registry)
	if err != nil {
		return nil, err
	}
	b := &Bus{
		cfg:     cfg,
		deps:    deps,
		log:     deps.Log.With("part", "mq"),
		metrics: m,
		queues:  mq.Topology(deps.Shards),
		id:      rand.Text()[:12],
		epoch:   time.Now(),
		changed: make(chan struct{}),
		cause:   errors.New("no session yet"),
	}
	for _, raw := range cfg.URLs {
		n, err := parseNode(raw)
		if err != nil {
			return nil, err
		}
		b.nodes = append(b.nodes, n)
	}
	// Replicas that start together spread over the nodes.
	mathrand.Shuffle(len(b.nodes), func(i, j int) { b.nodes[i], b.nodes[j] = b.nodes[j], b.nodes[i] })
	m.setState(mq.Suspended)
	return b, nil
}

// State is the state now and a channel that is closed when it changes.
func (b *Bus) State() (mq.State, <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.state, b.changed
}

// Ready is nil while the state is Connected, else it says what is amiss.
func (b *Bus) Ready(context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.state == mq.Connected {
		return nil
	}
	return fmt.Errorf("broker is %s: %w", b.state, b.cause)
}

// become says that no session stands, and why.
func (b *Bus) become(state mq.State, cause error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.session = nil
	b.set(state, cause)
}

// offer makes s the session that all use.
func (b *Bus) offer(s *session) {
	b.mu.Lock()
	b.session = s
	b.mu.Unlock()
	b.report(s)
}

// report sets the state to that of s, if s is still the session in use.
func (b *Bus) report(s *session) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.session != s {
		return
	}
	if cause := s.gate.why(); cause != nil {
		b.set(mq.Blocked, cause)
	} else {
		b.set(mq.Connected, nil)
	}
}

// set tells those who wait for a change. The caller holds mu.
func (b *Bus) set(state mq.State, cause error) {
	b.cause = cause
	if b.state == state {
		return
	}
	b.state = state
	b.metrics.setState(state)
	close(b.changed)
	b.changed = make(chan struct{})
}

// current waits for a session that stands. It fails when ctx ends or the bus is lost.
func (b *Bus) current(ctx context.Context) (*session, error) {
	for {
		b.mu.Lock()
		s, state, cause, changed := b.session, b.state, b.cause, b.changed
		b.mu.Unlock()
		if state == mq.Lost {
			return nil, fmt.Errorf("%w: %w", mq.ErrLost, cause)
		}
		if s != nil && s.ctx.Err() == nil {
			return s, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
