package mqtest

import (
	"context"
	"fmt"
	"hash/fnv"
	"sync"
	"testing"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq"
)

// A consumer of higher priority takes the shard over, but not before the old one has settled all it
// holds; nothing is lost, nothing is done twice, and the order stays.
func testTakeover(t *testing.T, d Driver) {
	broker := d.Open(t, 1)
	p, q := broker.Start(t), broker.Start(t)
	const n, held = 10, 5
	queue := contract.FetchKey(1, 0)
	handle, low, release := hold(n)
	consume(t, p, mq.Subscription{Queue: queue, Prefetch: held, Priority: 1}, handle)
	publish(t, p, numbered(queue, n)...)
	for range held {
		take(t, low, "a message for the first owner")
	}
	all, high := bodies(n)
	consume(t, q, mq.Subscription{Queue: queue, Prefetch: n, Concurrency: 1, Priority: 10},
		func(ctx context.Context, d mq.Delivery) error {
			select {
			case <-release:
			default:
				t.Error("two owners at once")
			}
			return all(ctx, d)
		})
	standing(t, q, 1)
	close(release)
	for i := held; i < n; i++ {
		if body := take(t, high, "a message for the new owner"); body != fmt.Sprint(i) {
			t.Errorf("got message %s, want %d", body, i)
		}
	}
	if len(low) != 0 {
		t.Errorf("the old owner got %d messages after the takeover", len(low))
	}
}

func testFailover(t *testing.T, d Driver) {
	broker := d.Open(t, 1)
	first, second, third := broker.Start(t), broker.Start(t), broker.Start(t)
	queue := contract.FetchKey(1, 0)
	holdFirst, got1, _ := hold(4)
	consume(t, first, mq.Subscription{Queue: queue, Prefetch: 4, Priority: 100}, holdFirst)
	publish(t, first, numbered(queue, 4)...)
	for range 4 {
		take(t, got1, "a message for the owner")
	}
	lowest, gotLow := bodies(8)
	next, gotNext := bodies(8)
	consume(t, third, mq.Subscription{Queue: queue, Prefetch: 4, Priority: 1}, lowest)
	standing(t, third, 1)
	consume(t, second, mq.Subscription{Queue: queue, Prefetch: 4, Priority: 50}, next)
	standing(t, second, 1)
	first.Kill()
	for range 4 {
		take(t, gotNext, "a message after the failover")
	}
	if len(gotLow) != 0 {
		t.Errorf("the consumer of lowest priority got %d messages", len(gotLow))
	}
}

// owners notes who serves which shard, and finds two at once.
type owners struct {
	mu     sync.Mutex
	at     map[string]map[string]int // shard → process → handlers at work
	dead   map[string]bool
	broken []string
}

func (o *owners) enter(shard, process string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.at[shard] == nil {
		o.at[shard] = map[string]int{}
	}
	o.at[shard][process]++
	for other, n := range o.at[shard] {
		if other != process && n > 0 && !o.dead[other] && !o.dead[process] {
			o.broken = append(o.broken, fmt.Sprintf("%s by %s and %s", shard, process, other))
		}
	}
}

func (o *owners) leave(shard, process string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.at[shard][process]--
}

func (o *owners) die(process string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.dead[process] = true
}

// Processes join, leave and die while messages flow. At no time do two living ones serve a shard, and
// every message is handled.
func testShardsAreExclusive(t *testing.T, d Driver) {
	const shards, perShard = 8, 60
	broker := d.Open(t, shards)
	own := &owners{at: map[string]map[string]int{}, dead: map[string]bool{}}
	var done tally
	join := func(name string) (Process, []*consumption) {
		p := broker.Start(t)
		var runs []*consumption
		for n := range shards {
			queue := contract.FetchKey(shards, n)
			hash := fnv.New32a()
			fmt.Fprint(hash, name, n)
			runs = append(runs, consume(t, p, mq.Subscription{
				Queue: queue, Prefetch: 8, Concurrency: 4, Priority: 1 + int32(hash.Sum32()>>2),
			}, func(ctx context.Context, d mq.Delivery) error {
				own.enter(queue, name)
				defer own.leave(queue, name)
				if !d.Live() || ctx.Err() != nil {
					return mq.ErrUnsettled
				}
				done.add(queue + " " + string(d.Body))
				return nil
			}))
		}
		return p, runs
	}
	p1, _ := join("one")
	publisher, ctx := broker.Start(t), patient(t)
	fed := make(chan struct{})
	go func() {
		defer close(fed)
		for i := range perShard {
			for n := range shards {
				m := mq.Message{Key: contract.FetchKey(shards, n), Body: fmt.Append(nil, i)}
				if err := publisher.Publish(ctx, m); err != nil {
					t.Error(err)
				}
			}
		}
	}()
	total := func() int { return done.names() }
	progress := func(part int) {
		eventually(t, "the crawl goes on", func() bool { return total() >= part*shards*perShard/10 })
	}
	progress(1)
	_, leaving := join("two")
	progress(3)
	join("three")
	progress(5)
	for _, run := range leaving { // a stop: each shard goes over without overlap
		run.cancel()
	}
	progress(7)
	own.die("one")
	p1.Kill()
	closed(t, fed, "all to be published")
	eventually(t, "every message is handled", func() bool { return total() == shards*perShard })
	if len(own.broken) > 0 {
		t.Errorf("shards served by two at once: %q", own.broken)
	}
}
