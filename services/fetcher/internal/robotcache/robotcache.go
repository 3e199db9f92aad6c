// Package robotcache keeps what each origin's robots.txt says, and where fetching it stands. It
// fetches nothing itself: every request for a robots.txt takes a slot of the host, which is the
// caller's affair.
//
//  1. Look says what to do for a URL: go by these rules, fetch this address first, or wait.
//  2. The caller fetches the address and tells the cache by Answer, Redirect or Fail.
//  3. A result counts for 24 hours (RFC 9309 2.4). Up to five redirects are followed, one slot each;
//     the rules are the first origin's, wherever they came from (2.3.1.2).
//  4. An origin whose robots.txt cannot be reached must not be asked for anything else (2.3.1.4). It
//     is tried again after a pause that doubles. Rules that were read before go on to hold then.
//     After some tries without any it counts as given up, so that its URLs can come to an end.
package robotcache

import (
	"container/list"
	"fmt"
	"sync"
	"time"

	"github.com/warrenmq/warren/libs/robots"
	"github.com/warrenmq/warren/libs/weburl"
)

// MaxRedirects is how many redirects are followed.
const MaxRedirects = 5

// chainAge is how long a chain of redirects may be under way; it is begun anew then.
const chainAge = 10 * time.Minute

// Config is what a Cache is told once.
type Config struct {
	Product  string        // the product token that rules are looked up by
	MaxBytes int64         // of all files together, about
	Pause    time.Duration // after the first try that failed
	MaxPause time.Duration
	Patience int // tries in a row that must fail before an origin is given up
}

// Cache is safe for concurrent use.
type Cache struct {
	cfg Config
	now func() time.Time

	mu      sync.Mutex
	entries map[string]*list.Element // by origin
	used    *list.List               // of *entry, least recently used first
	bytes   int64
}

type entry struct {
	origin string
	weight int64

	known bool // rules hold something
	rules robots.Rules
	until time.Time // rules are fresh

	failures int
	retryAt  time.Time
	reason   string

	next  weburl.URL // the next hop of a chain of redirects
	hops  int
	begun time.Time
}

// State says what may be done with URLs of an origin.
type State int

// The states.
const (
	Known       State = iota // Rules hold
	Ask                      // fetch Next, then look again
	Unreachable              // nothing may be asked before Until
)

// Look is what the cache knows.
type Look struct {
	State   State
	Rules   robots.Rules
	Next    weburl.URL
	First   bool // Next is the origin's own robots.txt and not a redirect's target
	Until   time.Time
	Reason  string // why it is unreachable
	GivenUp bool
}

// New returns an empty cache.
func New(cfg Config, now func() time.Time) *Cache {
	return &Cache{cfg: cfg, now: now, entries: map[string]*list.Element{}, used: list.New()}
}

// Look tells what to do before u may be fetched.
func (c *Cache) Look(u weburl.URL) (Look, error) {
	own, err := u.Resolve("/robots.txt")
	if err != nil {
		return Look{}, fmt.Errorf("look for robots.txt: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	element := c.entries[u.Origin()]
	if element == nil {
		return Look{State: Ask, Next: own, First: true}, nil
	}
	c.used.MoveToBack(element)
	e, now := element.Value.(*entry), c.now()
	switch {
	case e.known && (now.Before(e.until) || now.Before(e.retryAt)):
		return Look{State: Known, Rules: e.rules}, nil
	case now.Before(e.retryAt):
		return Look{State: Unreachable, Until: e.retryAt, Reason: e.reason, GivenUp: e.failures >= c.cfg.Patience}, nil
	case !e.next.IsZero() && now.Sub(e.begun) < chainAge:
		return Look{State: Ask, Next: e.next}, nil
	}
	return Look{State: Ask, Next: own, First: true}, nil
}

// Reached tells whether origin's rules are known, whatever their age.
func (c *Cache) Reached(origin string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	element := c.entries[origin]
	return element != nil && element.Value.(*entry).known
}

// Size is the number of origins and about the bytes their files took.
func (c *Cache) Size() (origins int, bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.entries), c.bytes
}
