package rabbit

import (
	"fmt"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq"
)

type metrics struct {
	published   *prometheus.CounterVec // topic
	returned    *prometheus.CounterVec // topic
	unconfirmed *prometheus.CounterVec // topic
	confirm     prometheus.Histogram   // seconds
	deliveries  *prometheus.CounterVec // queue
	handled     *prometheus.CounterVec // queue, result
	retries     *prometheus.CounterVec // queue
	inFlight    *prometheus.GaugeVec   // queue
	consumers   *prometheus.GaugeVec   // queue
	sessions    prometheus.Counter
	dials       *prometheus.CounterVec // result
	state       *prometheus.GaugeVec   // state
}

// results of handling a message.
const (
	resultDone     = "done"
	resultRejected = "rejected"
	resultLeft     = "left" // for the broker to deliver again: a stop, or the session was lost
)

func newMetrics(registry prometheus.Registerer) (*metrics, error) {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "warren_mq_" + name, Help: help}, labels)
	}
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "warren_mq_" + name, Help: help}, labels)
	}
	m := &metrics{
		published:   counter("published_total", "Messages confirmed by the broker, by the first word of their routing key.", "topic"),
		returned:    counter("returned_total", "Messages that no queue was bound for.", "topic"),
		unconfirmed: counter("unconfirmed_total", "Messages that the broker refused or did not confirm in time, or whose session was lost.", "topic"),
		confirm: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "warren_mq_confirm_seconds",
			Help:    "Time from writing a message to the broker's confirm.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 2.5, 13), // 0.5 ms to 30 s
		}),
		deliveries: counter("deliveries_total", "Messages received, by queue; all fetch shards are one.", "queue", "redelivered"),
		handled:    counter("handled_total", "Messages whose handling ended, by result: done, rejected or left to the broker.", "queue", "result"),
		retries:    counter("retries_total", "Times a handler was called again with the same message after an error.", "queue"),
		inFlight:   gauge("in_flight", "Handlers at work.", "queue"),
		consumers:  gauge("consumers", "Subscriptions that the broker has accepted; all fetch shards are one queue.", "queue"),
		sessions: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "warren_mq_sessions_total", Help: "Sessions with the broker; all but the first are reconnects."}),
		dials: counter("dials_total", "Attempts to open a session with a node, by result: ok or failed.", "result"),
		state: gauge("state", "1 for the state the connection is in: suspended, connected, blocked or lost.", "state"),
	}
	for _, c := range []prometheus.Collector{m.published, m.returned, m.unconfirmed, m.confirm, m.deliveries,
		m.handled, m.retries, m.inFlight, m.consumers, m.sessions, m.dials, m.state} {
		if err := registry.Register(c); err != nil {
			return nil, fmt.Errorf("register metrics of the bus: %w", err)
		}
	}
	return m, nil
}

func (m *metrics) setState(now mq.State) {
	for s := mq.Suspended; s <= mq.Lost; s++ {
		value := 0.0
		if s == now {
			value = 1
		}
		m.state.WithLabelValues(s.String()).Set(value)
	}
}

// class folds a routing key or a queue to its first word, if it is one of Warren's: hosts and shards
// are no labels, and a stranger's queue must not grow the metrics.
func class(name string) string {
	word, _, _ := strings.Cut(name, ".")
	switch word {
	case "url", "crawl", "fetch", "response", "page", "change", "worker", "control", "dead",
		contract.QueueDedup, contract.QueueParser, contract.QueueStore:
		return word
	}
	return "other"
}
