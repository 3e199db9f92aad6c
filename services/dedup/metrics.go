package dedup

import "github.com/prometheus/client_golang/prometheus"

// metrics are the service's instruments. No label carries a URL, host or crawl: their number has no bound.
type metrics struct {
	messages  *prometheus.CounterVec
	errors    *prometheus.CounterVec
	admitted  prometheus.Counter
	closed    prometheus.Counter
	stale     prometheus.Counter
	released  prometheus.Counter
	putBack   prometheus.Counter
	expired   prometheus.Counter
	lost      prometheus.Counter
	recounted prometheus.Counter
	batch     prometheus.Histogram
	release   prometheus.Histogram
}

func newMetrics(r prometheus.Registerer) *metrics {
	counter := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Name: "warren_dedup_" + name, Help: help})
		r.MustRegister(c)
		return c
	}
	vec := func(name, label, help string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "warren_dedup_" + name, Help: help}, []string{label})
		r.MustRegister(c)
		return c
	}
	seconds := func(name, help string) prometheus.Histogram {
		h := prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "warren_dedup_" + name, Help: help, Buckets: prometheus.ExponentialBuckets(0.001, 2, 14),
		})
		r.MustRegister(h)
		return h
	}
	return &metrics{
		messages:  vec("messages_total", "key", "Messages taken from the dedup queue, by routing key."),
		errors:    vec("errors_total", "what", "Rounds that did not work and are repeated."),
		admitted:  counter("admitted_total", "URLs admitted to the frontier."),
		closed:    counter("closed_total", "Visits closed."),
		stale:     counter("stale_total", "Outcomes and retries that changed nothing: repeated or overtaken."),
		released:  counter("released_total", "URLs released to the fetchers."),
		putBack:   counter("put_back_total", "URLs released and taken back because the broker did not confirm them."),
		expired:   counter("expired_total", "Leases that ended."),
		lost:      counter("lost_total", "URLs given up: lease ended too often, or past their age."),
		recounted: counter("recounted_total", "Hosts whose outstanding count was wrong."),
		batch:     seconds("batch_seconds", "Time of one transaction that closes and admits."),
		release:   seconds("release_seconds", "Time of one transaction that releases."),
	}
}
