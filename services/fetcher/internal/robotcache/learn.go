package robotcache

import (
	"fmt"
	"time"

	"github.com/warrenmq/warren/libs/robots"
	"github.com/warrenmq/warren/libs/weburl"
)

// Answer learns from a response that is no redirect to somewhere. after is its Retry-After, 0 if it
// has none. It returns robots' verdict.
func (c *Cache) Answer(origin string, code int, body []byte, after time.Duration) robots.Verdict {
	file, verdict := robots.FromStatus(code, body)
	if verdict == robots.Unreachable {
		c.fail(origin, fmt.Sprintf("http %d", code), after)
		return verdict
	}
	rules := file.Agent(c.cfg.Product) // outside of the lock: it may be a large file
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entry(origin)
	*e = entry{origin: origin, weight: e.weight, known: true, rules: rules, until: c.now().Add(robots.MaxAge)}
	c.weigh(e, int64(len(body)))
	return verdict
}

// Redirect learns that the last request was redirected to target. Beyond MaxRedirects, or if target
// is zero because it is no address of the web, there is no robots.txt to be had: all is allowed.
func (c *Cache) Redirect(origin string, code int, target weburl.URL) {
	c.mu.Lock()
	e := c.entry(origin)
	if e.hops == 0 {
		e.begun = c.now()
	}
	if e.hops < MaxRedirects && !target.IsZero() {
		e.hops, e.next = e.hops+1, target
		c.mu.Unlock()
		return
	}
	c.mu.Unlock()
	c.Answer(origin, code, nil, 0)
}

// Fail learns that no answer came.
func (c *Cache) Fail(origin, reason string) { c.fail(origin, reason, 0) }

func (c *Cache) fail(origin, reason string, after time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entry(origin)
	pause := c.cfg.Pause
	for range e.failures {
		pause = min(2*pause, c.cfg.MaxPause)
	}
	e.failures++
	e.reason = reason
	e.retryAt = c.now().Add(min(max(pause, after), c.cfg.MaxPause))
	e.next, e.hops = weburl.URL{}, 0
}

// entry returns the origin's entry, made if there is none. The caller holds mu.
func (c *Cache) entry(origin string) *entry {
	if element := c.entries[origin]; element != nil {
		c.used.MoveToBack(element)
		return element.Value.(*entry)
	}
	e := &entry{origin: origin}
	c.entries[origin] = c.used.PushBack(e)
	c.weigh(e, 0)
	return e
}

// weigh counts an entry anew and drops others until all fit. An entry that alone is too heavy stays:
// it is in use.
func (c *Cache) weigh(e *entry, body int64) {
	const overhead = 512 // an entry without a file, about
	weight := body + int64(len(e.origin)) + overhead
	c.bytes += weight - e.weight
	e.weight = weight
	for c.bytes > c.cfg.MaxBytes && c.used.Len() > 1 {
		oldest := c.used.Front().Value.(*entry)
		c.used.Remove(c.used.Front())
		delete(c.entries, oldest.origin)
		c.bytes -= oldest.weight
	}
}
