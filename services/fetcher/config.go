package fetcher

import (
	"fmt"
	"strings"
	"time"

	"github.com/warrenmq/warren/services/fetcher/internal/guard"
	"github.com/warrenmq/warren/services/fetcher/internal/httpget"
	"github.com/warrenmq/warren/services/fetcher/internal/politeness"
	"github.com/warrenmq/warren/services/fetcher/internal/robotcache"
)

// Config is what people may set. Environment names are WARREN_FETCHER_ and the field's name.
type Config struct {
	UserAgent string   `split_words:"true" desc:"User-Agent; its first word is the product token for robots.txt; have a contact in it"`
	Allow     []string `desc:"addresses beside the public internet that may be asked, comma separated prefix or prefix:port"`

	Concurrency int           `desc:"requests at a time, all hosts together"`
	Prefetch    int           `desc:"most messages of a shard in hand"`
	Hold        time.Duration `desc:"longest that a message waits here for its host"`

	PerHost       int           `split_words:"true" desc:"requests to a host at a time"`
	Delay         time.Duration `desc:"between two starts to a host, where the crawl sets none; 0 is none"`
	CrawlDelayCap time.Duration `split_words:"true" desc:"a longer Crawl-delay of robots.txt counts as this"`
	RetryBase     time.Duration `split_words:"true" desc:"wait of a URL after its first failed attempt; doubles at each"`
	MaxRetry      time.Duration `split_words:"true" desc:"longest wait of a URL or a host, whatever Retry-After says"`
	MaxBackoff    time.Duration `split_words:"true" desc:"longest delay of a host that keeps failing"`
	SlowAfter     time.Duration `split_words:"true" desc:"a host that takes longer to answer is asked at most half of the time"`
	BreakerAfter  uint32        `split_words:"true" desc:"failures in a row after which a host is left alone"`
	BreakerFor    time.Duration `split_words:"true" desc:"how long it is left alone"`

	RobotsPause    time.Duration `split_words:"true" desc:"wait after robots.txt could not be reached; doubles at each try"`
	RobotsMaxPause time.Duration `split_words:"true" desc:"longest such wait"`
	RobotsPatience int           `split_words:"true" desc:"tries in a row after which URLs of the host fail instead of waiting"`
	RobotsMemory   int64         `split_words:"true" desc:"bytes of robots.txt files kept"`

	ConnectTimeout time.Duration `split_words:"true" desc:"for DNS and TCP, and again for TLS"`
	HeaderTimeout  time.Duration `split_words:"true" desc:"from the start of a request until its header is read"`
	IdleTimeout    time.Duration `split_words:"true" desc:"between two reads of a body"`
	Timeout        time.Duration `desc:"for a whole request"`
	MinRate        int64         `split_words:"true" desc:"bytes a second that a body must bring on average"`
	MaxHeader      int64         `split_words:"true" desc:"bytes of a response's header"`
	MaxBody        int64         `split_words:"true" desc:"bytes of a body after decoding; what is longer is cut"`
	LargeBodies    int           `split_words:"true" desc:"bodies over 256 KiB in memory at a time"`
	IdleConns      int           `split_words:"true" desc:"connections kept open for later"`

	MaxHosts int           `split_words:"true" desc:"hosts remembered"`
	HostIdle time.Duration `split_words:"true" desc:"a host is forgotten after so long without a message"`
}

// DefaultConfig is polite, and asks nothing but the public internet.
func DefaultConfig() Config {
	return Config{
		UserAgent:   "Warren/0.1 (+https://github.com/warrenmq/warren)",
		Concurrency: 256, Prefetch: 128, Hold: 2 * time.Second,
		PerHost: 1, Delay: time.Second, CrawlDelayCap: 30 * time.Second,
		RetryBase: 10 * time.Second, MaxRetry: time.Hour,
		MaxBackoff: time.Minute, SlowAfter: 2 * time.Second,
		BreakerAfter: 5, BreakerFor: time.Minute,
		RobotsPause: time.Minute, RobotsMaxPause: time.Hour, RobotsPatience: 4, RobotsMemory: 64 << 20,
		ConnectTimeout: 10 * time.Second, HeaderTimeout: 20 * time.Second, IdleTimeout: 15 * time.Second, Timeout: time.Minute,
		MinRate: 256, MaxHeader: 64 << 10, MaxBody: 4 << 20, LargeBodies: 24, IdleConns: 512,
		MaxHosts: 20_000, HostIdle: 10 * time.Minute,
	}
}

// Validate names the first variable that cannot be, with its value.
func (c Config) Validate() error {
	if c.product() == "" || strings.ContainsFunc(c.UserAgent, func(r rune) bool { return r < ' ' || r > '~' }) {
		return fmt.Errorf("WARREN_FETCHER_USER_AGENT=%q: want printable ASCII that begins with a product token, such as Warren/0.1 (+https://example.com/bot)", c.UserAgent)
	}
	if _, err := guard.New(c.Allow); err != nil {
		return fmt.Errorf("WARREN_FETCHER_ALLOW: %w", err)
	}
	if c.Delay < 0 {
		return fmt.Errorf("WARREN_FETCHER_DELAY=%s: want 0 or more", c.Delay)
	}
	for _, d := range []struct {
		name  string
		value time.Duration
	}{
		{"HOLD", c.Hold}, {"CRAWL_DELAY_CAP", c.CrawlDelayCap}, {"RETRY_BASE", c.RetryBase}, {"MAX_RETRY", c.MaxRetry},
		{"MAX_BACKOFF", c.MaxBackoff}, {"SLOW_AFTER", c.SlowAfter}, {"BREAKER_FOR", c.BreakerFor},
		{"ROBOTS_PAUSE", c.RobotsPause}, {"ROBOTS_MAX_PAUSE", c.RobotsMaxPause}, {"CONNECT_TIMEOUT", c.ConnectTimeout},
		{"HEADER_TIMEOUT", c.HeaderTimeout}, {"IDLE_TIMEOUT", c.IdleTimeout}, {"TIMEOUT", c.Timeout}, {"HOST_IDLE", c.HostIdle},
	} {
		if d.value <= 0 {
			return fmt.Errorf("WARREN_FETCHER_%s=%s: want more than 0", d.name, d.value)
		}
	}
	for _, n := range []struct {
		name        string
		value, most int64
	}{
		{"CONCURRENCY", int64(c.Concurrency), 1 << 16}, {"PREFETCH", int64(c.Prefetch), 2000}, // RabbitMQ's own bound
		{"PER_HOST", int64(c.PerHost), 100}, {"BREAKER_AFTER", int64(c.BreakerAfter), 1 << 20},
		{"ROBOTS_PATIENCE", int64(c.RobotsPatience), 1 << 20}, {"ROBOTS_MEMORY", c.RobotsMemory, 1 << 40},
		{"MIN_RATE", c.MinRate, 1 << 40}, {"MAX_HEADER", c.MaxHeader, 1 << 20}, {"MAX_BODY", c.MaxBody, 64 << 20},
		{"LARGE_BODIES", int64(c.LargeBodies), 1 << 16}, {"IDLE_CONNS", int64(c.IdleConns), 1 << 20}, {"MAX_HOSTS", int64(c.MaxHosts), 1 << 30},
	} {
		if n.value < 1 || n.value > n.most {
			return fmt.Errorf("WARREN_FETCHER_%s=%d: want 1 to %d", n.name, n.value, n.most)
		}
	}
	return nil
}

// product is the token by which robots.txt files call this crawler.
func (c Config) product() string {
	end := strings.IndexAny(c.UserAgent, "/ ")
	if end < 0 {
		return c.UserAgent
	}
	return c.UserAgent[:end]
}

func (c Config) limits() httpget.Limits {
	return httpget.Limits{
		Connect: c.ConnectTimeout, Header: c.HeaderTimeout, Idle: c.IdleTimeout, Total: c.Timeout, MinRate: c.MinRate,
		MaxHeader: c.MaxHeader, MaxBody: c.MaxBody, IdleConns: c.IdleConns, PerHost: c.PerHost,
	}
}

func (c Config) politeness() politeness.Config {
	return politeness.Config{
		PerHost: c.PerHost, Hold: c.Hold, MaxHold: c.MaxRetry, BackoffStep: min(time.Second, c.MaxBackoff), MaxBackoff: c.MaxBackoff,
		SlowAfter: c.SlowAfter, MaxSlow: c.CrawlDelayCap, BreakerAfter: c.BreakerAfter, BreakerFor: c.BreakerFor,
		MaxHosts: c.MaxHosts, IdleAfter: c.HostIdle,
	}
}

func (c Config) robots() robotcache.Config {
	return robotcache.Config{
		Product: c.product(), MaxBytes: c.RobotsMemory, Pause: c.RobotsPause, MaxPause: c.RobotsMaxPause, Patience: c.RobotsPatience,
	}
}
