package store_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq"
	"github.com/warrenmq/warren/libs/mq/rabbit"
	"github.com/warrenmq/warren/libs/mq/rabbit/rabbittest"
	"github.com/warrenmq/warren/services/store"
	"github.com/warrenmq/warren/services/store/storetest"
)

// broker is a running bus in a virtual host of the test's own.
func broker(t *testing.T, url string) *rabbit.Bus {
	t.Helper()
	cfg := rabbit.DefaultConfig()
	cfg.URLs, cfg.Delay = []string{url}, 50*time.Millisecond
	bus, err := rabbit.New(cfg, rabbit.Deps{
		Name: "store test", Shards: 1, Log: slog.New(slog.DiscardHandler), Registry: prometheus.NewRegistry(),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- bus.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("bus: %v", err)
		}
	})
	return bus
}

// Two stores behind one real queue, with each page published twice and some that can never work: every
// page is stored once, every URL ends, each bad message is in dead.store, and all is acked.
func TestOverRabbitMQ(t *testing.T) {
	t.Parallel()
	const pages, poison = 60, 3
	db, pool := database(t)
	url := rabbittest.VHost(t)
	for range 2 {
		run(t, broker(t, url), db, func(cfg *store.Config) { cfg.Batch = 8 })
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	bus := broker(t, url)

	var mu sync.Mutex
	status := map[string]contract.Status{}
	dead := 0
	all := make(chan struct{})
	var listeners sync.WaitGroup
	defer listeners.Wait()
	defer cancel()
	listen := func(queue string, note func(mq.Delivery) error) {
		listeners.Go(func() {
			err := bus.Consume(ctx, mq.Subscription{Queue: queue, Prefetch: 8}, func(_ context.Context, d mq.Delivery) error {
				mu.Lock()
				defer mu.Unlock()
				if err := note(d); err != nil {
					return err
				}
				if len(status) == pages+poison && dead == 2*poison {
					select {
					case <-all:
					default:
						close(all)
					}
				}
				return nil
			})
			if err != nil {
				t.Errorf("consume %s: %v", queue, err)
			}
		})
	}
	listen(contract.QueueDedup, func(d mq.Delivery) error {
		done, err := contract.DecodeDone(d.Body)
		for _, o := range done.Outcomes {
			if before, told := status[o.ID]; told && before != o.Status {
				t.Errorf("%s was %s and then %s", o.ID, before, o.Status)
			}
			status[o.ID] = o.Status
		}
		return err
	})
	listen(contract.QueueDead, func(mq.Delivery) error { dead++; return nil })

	for range 2 {
		var messages []mq.Message
		for i := range pages {
			messages = append(messages, storetest.Message(t, fmt.Sprint(home, i), 1, fmt.Sprint("body ", i%7)))
		}
		for i := range poison {
			bad := storetest.Message(t, fmt.Sprint(home, "bad", i), 1, "A")
			bad.Body = append(bad.Body, "garbage behind the body"...)
			messages = append(messages, bad)
		}
		if err := bus.Publish(ctx, messages...); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case <-all:
	case <-ctx.Done():
	}
	mu.Lock()
	defer mu.Unlock()
	failed := 0
	for _, s := range status {
		if s == contract.StatusFailed {
			failed++
		}
	}
	if n := count(t, pool, "select count(*) from page"); n != pages || len(status) != pages+poison || failed != poison || dead != 2*poison {
		t.Errorf("%d rows, %d URLs ended, %d of them failed, %d dead letters; want %d, %d, %d and %d",
			n, len(status), failed, dead, pages, pages+poison, poison, 2*poison)
	}
	if n := count(t, pool, "select count(*) from body"); n != 7 {
		t.Errorf("%d bodies, want 7", n)
	}
}
