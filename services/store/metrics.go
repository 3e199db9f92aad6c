package store

import (
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/warrenmq/warren/libs/contract"
)

type metrics struct {
	pages    *prometheus.CounterVec
	known    prometheus.Counter
	bodies   *prometheus.CounterVec
	bytes    prometheus.Counter
	changes  *prometheus.CounterVec
	dead     prometheus.Counter
	failures *prometheus.CounterVec
	size     prometheus.Histogram
	seconds  prometheus.Histogram
}

func newMetrics(registry prometheus.Registerer) (*metrics, error) {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "warren_store_" + name, Help: help})
	}
	labelled := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "warren_store_" + name, Help: help}, labels)
	}
	histogram := func(name, help string, buckets []float64) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{Name: "warren_store_" + name, Help: help, Buckets: buckets})
	}
	m := &metrics{
		pages:    labelled("pages_total", "Pages stored, by kind and class of the HTTP status.", "kind", "class"),
		known:    counter("pages_known_total", "Pages that came again and were stored already."),
		bodies:   labelled("bodies_total", "Bodies of stored pages: new ones, and those known by their hash.", "state"),
		bytes:    counter("body_bytes_total", "Bytes of new bodies as stored, compressed."),
		changes:  labelled("changes_total", "Changes published, by what changed.", "what"),
		dead:     counter("dead_total", "Messages that went to dead.store."),
		failures: labelled("failures_total", "Batches that are tried again, by the step that failed.", "step"),
		size:     histogram("batch_pages", "Pages of one transaction.", []float64{1, 2, 4, 8, 16, 32, 64, 128, 256}),
		seconds: histogram("batch_seconds", "Time of one transaction, in seconds.",
			[]float64{.001, .003, .01, .03, .1, .3, 1, 3, 10, 30}),
	}
	for _, c := range []prometheus.Collector{
		m.pages, m.known, m.bodies, m.bytes, m.changes, m.dead, m.failures, m.size, m.seconds,
	} {
		if err := registry.Register(c); err != nil {
			return nil, fmt.Errorf("register store metrics: %w", err)
		}
	}
	return m, nil
}

// committed counts a transaction. Whether a row is new is what the database said inside it.
func (m *metrics) committed(rows []Row, stored []Stored, took time.Duration) {
	m.size.Observe(float64(len(rows)))
	m.seconds.Observe(took.Seconds())
	for i, s := range stored {
		if s.Known {
			m.known.Inc()
			continue
		}
		m.pages.WithLabelValues(kindLabel(s.Kind), class(s.Code)).Inc()
		switch {
		case s.SHA256 == "":
		case s.BodyKnown:
			m.bodies.WithLabelValues("known").Inc()
		default:
			m.bodies.WithLabelValues("new").Inc()
			m.bytes.Add(float64(len(rows[i].Body)))
		}
	}
}

// kindLabel keeps the number of series small whatever a message says.
func kindLabel(kind contract.Kind) string {
	switch kind {
	case contract.KindHTML, contract.KindXML, contract.KindText, contract.KindBinary, contract.KindEmpty:
		return string(kind)
	}
	return "other"
}

func class(code int) string { return fmt.Sprintf("%dxx", code/100) }
