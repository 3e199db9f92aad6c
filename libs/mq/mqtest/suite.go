package mqtest

import (
	"context"
	"testing"

	"github.com/warrenmq/warren/libs/mq"
)

// Driver is what the suite needs to know of a driver.
type Driver struct {
	// Open makes an empty broker, with the topology of so many fetch shards, for one test.
	Open func(t *testing.T, shards int) Broker
	// Cannot names tests of the suite that the driver cannot pass, each with the reason.
	Cannot map[string]string
}

// Broker is a broker of one test's own.
type Broker interface {
	// Start starts a bus as a process of its own would have one, and returns when it is Connected.
	Start(t *testing.T) Process
	// Tap binds a queue of the test's own to pattern and returns what arrives in it.
	Tap(t *testing.T, pattern string) <-chan mq.Message
}

// Process is a bus that can die.
type Process interface {
	mq.Bus
	// Kill ends the bus without a goodbye: nothing that is in hand is settled.
	Kill()
	// Subscriptions is how many consumers of this bus the broker has accepted and not ended.
	Subscriptions() int
}

// suite is every test by name, in the order in which they run.
var suite = []struct {
	name string
	test func(*testing.T, Driver)
}{
	{"PublishIsConfirmed", testPublishIsConfirmed},
	{"PublishFromManyCallers", testPublishFromManyCallers},
	{"UnroutableIsAnError", testUnroutable},
	{"ChangeNeedsNoListener", testChangeNeedsNoListener},
	{"Topics", testTopics},
	{"MessageArrivesWhole", testMessageArrivesWhole},
	{"BigBodies", testBigBodies},
	{"WhatCannotBeSentIsRefused", testRefused},
	{"PublishEndsWithItsContext", testPublishEndsWithItsContext},
	{"PrefetchIsABound", testPrefetch},
	{"ConcurrencyIsABound", testConcurrency},
	{"OrderWithConcurrencyOne", testOrder},
	{"NilSettles", testNilSettles},
	{"RejectGoesToDead", testReject},
	{"PanicIsARejection", testPanic},
	{"OnDeadIsPublishedToo", testOnDead},
	{"OtherErrorsAreTriedAgainInPlace", testOtherErrors},
	{"DeathGivesBack", testDeathGivesBack},
	{"StopLeavesNothingHalfDone", testStop},
	{"StopEndsAWait", testStopEndsAWait},
	{"StopHasAnEnd", testStopHasAnEnd},
	{"Live", testLive},
	{"StateIsTold", testState},
	{"HigherPriorityTakesOver", testTakeover},
	{"FailoverToTheNext", testFailover},
	{"ShardsAreExclusive", testShardsAreExclusive},
}

// Run runs the suite on a driver.
func Run(t *testing.T, d Driver) {
	known := map[string]bool{}
	for _, s := range suite {
		known[s.name] = true
		if why, cannot := d.Cannot[s.name]; cannot {
			t.Logf("NOT RUN: %s: %s", s.name, why)
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.test(t, d)
		})
	}
	for name := range d.Cannot {
		if !known[name] {
			t.Errorf("Cannot names %q, which is no test of the suite", name)
		}
	}
}

// Benchmark measures publish and consume on a driver.
func Benchmark(b *testing.B, publisher mq.Publisher, consumer mq.Consumer) {
	ctx := b.Context()
	const batch = 256
	messages := make([]mq.Message, batch)
	for i := range messages {
		messages[i] = mq.Message{Key: "page.html.com.example", Body: make([]byte, 1024)}
	}
	b.Run("Publish", func(b *testing.B) {
		for n := 0; n < b.N; n += batch {
			if err := publisher.Publish(ctx, messages[:min(batch, b.N-n)]...); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Consume", func(b *testing.B) {
		b.StopTimer()
		for n := 0; n < b.N; n += batch {
			if err := publisher.Publish(ctx, messages[:min(batch, b.N-n)]...); err != nil {
				b.Fatal(err)
			}
		}
		b.StartTimer()
		ctx, stop := context.WithCancel(ctx)
		got := make(chan struct{}, 1024)
		done := make(chan error, 1)
		go func() {
			done <- consumer.Consume(ctx, mq.Subscription{Queue: "store", Prefetch: 256},
				func(context.Context, mq.Delivery) error { got <- struct{}{}; return nil })
		}()
		for range b.N {
			<-got
		}
		stop()
		if err := <-done; err != nil {
			b.Fatal(err)
		}
	})
}
