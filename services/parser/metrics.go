package parser

import (
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/warrenmq/warren/libs/contract"
)

type metrics struct {
	pages    *prometheus.CounterVec
	flags    *prometheus.CounterVec
	links    prometheus.Counter
	bytes    prometheus.Counter
	tooLarge prometheus.Counter
	seconds  prometheus.Histogram
}

func newMetrics(registry prometheus.Registerer) (*metrics, error) {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "warren_parser_" + name, Help: help})
	}
	labelled := func(name, help, label string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "warren_parser_" + name, Help: help}, []string{label})
	}
	m := &metrics{
		pages:    labelled("pages_total", "Pages published, by kind.", "kind"),
		flags:    labelled("flags_total", "Pages that were cut or odd, by flag.", "flag"),
		links:    counter("links_total", "Links found, each once a page."),
		bytes:    counter("body_bytes_total", "Decompressed bytes of the bodies of published pages."),
		tooLarge: counter("too_large_total", "Pages that fit no message; their URLs failed."),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "warren_parser_parse_seconds",
			Help:    "Time to decompress, hash and parse one body, in seconds.",
			Buckets: []float64{.0001, .0003, .001, .003, .01, .03, .1, .3, 1, 3, 10},
		}),
	}
	for _, c := range []prometheus.Collector{m.pages, m.flags, m.links, m.bytes, m.tooLarge, m.seconds} {
		if err := registry.Register(c); err != nil {
			return nil, fmt.Errorf("register parser metrics: %w", err)
		}
	}
	return m, nil
}

// published counts a page that the broker has confirmed.
func (m *metrics) published(p contract.Page, body int, took time.Duration) {
	m.pages.WithLabelValues(string(p.Kind)).Inc()
	for _, flag := range p.Flags {
		m.flags.WithLabelValues(flag).Inc()
	}
	m.links.Add(float64(len(p.Links)))
	m.bytes.Add(float64(body))
	m.seconds.Observe(took.Seconds())
}
