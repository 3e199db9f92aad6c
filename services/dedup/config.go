package dedup

import (
	"fmt"
	"time"

	"github.com/warrenmq/warren/services/dedup/internal/frontier"
)

// Config is the service's settings, WARREN_DEDUP_… in the environment.
type Config struct {
	Prefetch      int           `split_words:"true" desc:"messages of the dedup queue held at most"`
	Batch         int           `split_words:"true" desc:"messages taken in one transaction at most"`
	Memory        int64         `desc:"bytes of messages decoded at a time at most"`
	BatchWait     time.Duration `split_words:"true" desc:"longest wait for a batch to fill"`
	Tick          time.Duration `split_words:"true" desc:"how often to look for work when nothing calls for it"`
	SweepEvery    time.Duration `split_words:"true" desc:"how often to look for what time brings: due URLs, ended leases, finished crawls"`
	RecountEvery  time.Duration `split_words:"true" desc:"how often to compare counters with rows"`
	Outstanding   int64         `split_words:"true" desc:"URLs released at a time at most, over all hosts"`
	FetchPrefetch int           `split_words:"true" desc:"what a fetcher holds of a shard at most (WARREN_FETCHER_PREFETCH)"`
	Hold          time.Duration `split_words:"true" desc:"how long a fetcher holds a URL for its slot (WARREN_FETCHER_HOLD)"`
	Lease         time.Duration `split_words:"true" desc:"shortest time after which a released URL is taken back"`
	MaxAge        time.Duration `split_words:"true" desc:"longest time from a visit's first try to its end"`
	MaxAttempts   int           `split_words:"true" desc:"attempts after which a URL has failed"`
	MaxExpiries   int           `split_words:"true" desc:"ended leases after which a URL is lost in the pipeline"`
	MaxHops       int           `split_words:"true" desc:"redirects followed in a row"`
	Delay         time.Duration `split_words:"true" desc:"delay assumed of a host that nothing is known of (WARREN_FETCHER_DELAY)"`
	Cache         int           `split_words:"true" desc:"URL ids remembered, about 50 bytes each"`
}

// DefaultConfig is what an empty environment means.
func DefaultConfig() Config {
	return Config{
		Prefetch: 64, Batch: 64, Memory: 32 << 20, BatchWait: 10 * time.Millisecond,
		Tick: 100 * time.Millisecond, SweepEvery: 500 * time.Millisecond, RecountEvery: 5 * time.Minute,
		Outstanding: 20_000, FetchPrefetch: 128, Hold: 2 * time.Second,
		Lease: 2 * time.Minute, MaxAge: 7 * 24 * time.Hour, MaxAttempts: 4, MaxExpiries: 5, MaxHops: 10,
		Delay: time.Second, Cache: 1_000_000,
	}
}

// Validate names the first setting that cannot be worked with.
func (c Config) Validate() error {
	positive := []struct {
		name  string
		value int64
	}{
		{"PREFETCH", int64(c.Prefetch)}, {"MEMORY", c.Memory}, {"BATCH", int64(c.Batch)}, {"BATCH_WAIT", int64(c.BatchWait)},
		{"TICK", int64(c.Tick)}, {"SWEEP_EVERY", int64(c.SweepEvery)}, {"RECOUNT_EVERY", int64(c.RecountEvery)},
		{"OUTSTANDING", c.Outstanding}, {"FETCH_PREFETCH", int64(c.FetchPrefetch)}, {"HOLD", int64(c.Hold)},
		{"LEASE", int64(c.Lease)}, {"MAX_AGE", int64(c.MaxAge)}, {"MAX_ATTEMPTS", int64(c.MaxAttempts)},
		{"MAX_EXPIRIES", int64(c.MaxExpiries)}, {"MAX_HOPS", int64(c.MaxHops)}, {"CACHE", int64(c.Cache)},
	}
	for _, p := range positive {
		if p.value <= 0 {
			return fmt.Errorf("WARREN_DEDUP_%s is %d: it must be above 0", p.name, p.value)
		}
	}
	if c.Batch > c.Prefetch {
		return fmt.Errorf("WARREN_DEDUP_BATCH is %d: above WARREN_DEDUP_PREFETCH (%d) no batch ever fills", c.Batch, c.Prefetch)
	}
	return nil
}

func (c Config) frontier(shards int) frontier.Config {
	return frontier.Config{
		Hold: c.Hold, Prefetch: c.FetchPrefetch, Outstanding: c.Outstanding, Lease: c.Lease, MaxAge: c.MaxAge,
		MaxAttempts: int16(min(c.MaxAttempts, 1000)), MaxExpiries: int16(min(c.MaxExpiries, 1000)),
		MaxHops: int16(min(c.MaxHops, 1000)), Cache: c.Cache, Shards: shards, DefaultDelayMS: c.Delay.Milliseconds(),
	}
}
