// Package frontier decides: which URL is admitted, released, closed, tried again, and when a crawl is
// finished. It holds the rules of the frontier over a small transaction port ([Tx]), so that
// PostgreSQL and SQLite differ in statements only.
//
//	waiting(due_at) ──sweep──▶ ready ──Release──▶ released(lease, release)
//	    ▲                        ▲                    │
//	    │                        │ lease ended        │ url.done
//	    └──── url.retry ─────────┴────────────────────┤
//	                                                  ▼
//	                                   done | failed(reason) | excluded(reason)
//
// Apply takes a batch of seeds, outcomes and retries in one transaction; Release hands out what is
// ready; Sweep repairs: due URLs, ended leases, URLs past their age, crawls that end; Command is for
// people. Whether to act depends on a row's state only, so everything may be repeated.
package frontier

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrAgain is returned by a store when a concurrent transaction won; the caller repeats the whole.
var ErrAgain = errors.New("another replica was first")

// ErrShards is returned by Release when the frontier has been given another number of shards: two
// fetchers could serve one host, one by each number.
var ErrShards = errors.New("the number of shards differs from the frontier's")

// ErrBadRow is returned by a store when the database refuses a row for good: trying again is in vain.
var ErrBadRow = errors.New("the database refuses the row")

// Config holds the frontier's own limits. DefaultConfig of the service fills it.
type Config struct {
	Hold           time.Duration // longest a fetcher holds a message for its slot
	Prefetch       int           // messages a shard's fetcher holds at most
	Outstanding    int64         // most URLs released at a time, over all hosts
	Lease          time.Duration // shortest lease
	MaxAge         time.Duration // longest a visit lasts from its first release
	MaxAttempts    int16         // attempts after which a URL has failed
	MaxExpiries    int16         // ended leases after which a URL is lost in the pipeline
	MaxHops        int16         // redirects in a row
	Cache          int           // ids remembered
	DefaultDelayMS int64         // the fetchers' delay for a crawl that names none
	Shards         int           // of the fetch queues; Release refuses to work against another number
}

// Frontier is safe for concurrent use.
type Frontier struct {
	cfg   Config
	store Store
	now   func() time.Time
	seen  *seen
	rate  *rate

	mu    sync.Mutex
	rules map[int64]*cachedRule
}

type cachedRule struct {
	version int32
	rule    *compiled
}

// New returns a frontier over a store.
func New(cfg Config, store Store, now func() time.Time) *Frontier {
	return &Frontier{
		cfg: cfg, store: store, now: now,
		seen: newSeen(cfg.Cache), rate: newRate(now()), rules: map[int64]*cachedRule{},
	}
}

// write runs f and repeats it when another replica was first.
func (f *Frontier) write(ctx context.Context, do func(Tx) error) error {
	for {
		err := f.store.Write(ctx, do)
		if !errors.Is(err, ErrAgain) || ctx.Err() != nil {
			return err
		}
	}
}

// rule returns the compiled rule of a scope's row, from the cache where the version still holds.
func (f *Frontier) rule(row *ScopeRow) (*compiled, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c := f.rules[row.ID]; c != nil && c.version == row.Version {
		return c.rule, nil
	}
	rule, err := compile(row.Rule)
	if err != nil {
		return nil, err
	}
	if len(f.rules) > 10_000 {
		clear(f.rules)
	}
	f.rules[row.ID] = &cachedRule{row.Version, rule}
	return rule, nil
}

// rate is the recent rate of closings, for the length of leases.
type rate struct {
	mu    sync.Mutex
	last  time.Time // something closed
	spans int       // intervals in value: the first ones, while the pipeline fills, say nothing
	since time.Time
	n     float64
	value float64 // per second, moving average
}

func newRate(now time.Time) *rate { return &rate{since: now} }

func (r *rate) add(now time.Time, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n > 0 {
		r.last = now
	}
	r.n += float64(n)
	if span := now.Sub(r.since).Seconds(); span >= 5 {
		r.value = r.value/2 + r.n/span/2
		r.since, r.n = now, 0
		r.spans++
	}
}

func (r *rate) perSecond() float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.spans < 4 {
		return 0
	}
	return r.value
}

func (r *rate) closedSince(t time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last.After(t)
}
