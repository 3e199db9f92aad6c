package fetcher

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/warrenmq/warren/services/fetcher/internal/httpget"
	"github.com/warrenmq/warren/services/fetcher/internal/politeness"
	"github.com/warrenmq/warren/services/fetcher/internal/robotcache"
)

type metrics struct {
	messages    *prometheus.CounterVec
	ended       *prometheus.CounterVec
	retries     *prometheus.CounterVec
	requests    *prometheus.CounterVec
	errors      *prometheus.CounterVec
	seconds     *prometheus.HistogramVec
	received    prometheus.Counter
	wait        prometheus.Histogram
	notLive     prometheus.Counter
	unpublished prometheus.Counter
}

func newMetrics(registry prometheus.Registerer, hosts *politeness.Hosts, robots *robotcache.Cache) *metrics {
	auto := promauto.With(registry)
	counter := func(name, help string) prometheus.Counter {
		return auto.NewCounter(prometheus.CounterOpts{Name: "warren_fetcher_" + name, Help: help})
	}
	vector := func(name, help string, labels ...string) *prometheus.CounterVec {
		return auto.NewCounterVec(prometheus.CounterOpts{Name: "warren_fetcher_" + name, Help: help}, labels)
	}
	gauge := func(name, help string, value func() int) {
		auto.NewGaugeFunc(prometheus.GaugeOpts{Name: "warren_fetcher_" + name, Help: help}, func() float64 { return float64(value()) })
	}
	gauge("waiting", "Messages that wait for a slot of their host.", func() int { n, _, _ := hosts.Load(); return n })
	gauge("running", "Requests under way, or about to start.", func() int { _, n, _ := hosts.Load(); return n })
	gauge("hosts", "Hosts remembered.", func() int { _, _, n := hosts.Load(); return n })
	gauge("robots_origins", "Origins whose robots.txt is remembered.", func() int { n, _ := robots.Size(); return n })
	gauge("robots_bytes", "Bytes of the robots.txt files remembered, about.", func() int { _, n := robots.Size(); return int(n) })
	return &metrics{
		messages: vector("messages_total", "Messages by what became of them: done, dropped (lease ended), left (stopping), rejected.", "fate"),
		ended:    vector("ended_total", "URLs ended here, without a response, by status.", "status"),
		retries:  vector("retries_total", "URLs given back: attempt, or what they waited for.", "for"),
		requests: vector("requests_total", "Requests by what for (page, robots) and status; 0 is no response.", "for", "status"),
		errors:   vector("errors_total", "Requests without a response, by reason.", "reason"),
		seconds: auto.NewHistogramVec(prometheus.HistogramOpts{
			Name: "warren_fetcher_request_seconds", Help: "Time of a request from its start to its last byte.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 20, 40, 60},
		}, []string{"for"}),
		received: counter("received_bytes_total", "Bytes of bodies off the wire."),
		wait: auto.NewHistogram(prometheus.HistogramOpts{
			Name: "warren_fetcher_wait_seconds", Help: "Wait of a message for a slot.",
			Buckets: []float64{.001, .01, .1, .25, .5, 1, 1.5, 2, 3},
		}),
		notLive:     counter("not_live_total", "Requests not started because the broker was silent."),
		unpublished: counter("publish_failures_total", "Tries to publish a result that failed."),
	}
}

func (m *metrics) request(what string, resp *httpget.Response, err error, took time.Duration) {
	m.seconds.WithLabelValues(what).Observe(took.Seconds())
	if err == nil {
		m.requests.WithLabelValues(what, status(resp.Code)).Inc()
		m.received.Add(float64(resp.Received))
		return
	}
	reason := "cancelled"
	var why *httpget.Error
	if errors.As(err, &why) {
		reason = why.Reason
	}
	m.requests.WithLabelValues(what, "0").Inc()
	m.errors.WithLabelValues(reason).Inc()
}

// status keeps a server from making up a label for each of its answers.
func status(code int) string {
	if http.StatusText(code) == "" {
		return "other"
	}
	return strconv.Itoa(code)
}
