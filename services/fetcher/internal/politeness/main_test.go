package politeness_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/warrenmq/warren/services/fetcher/internal/politeness"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func config() politeness.Config {
	return politeness.Config{
		PerHost: 1, Hold: 2 * time.Second, MaxHold: time.Hour,
		BackoffStep: time.Second, MaxBackoff: time.Minute, SlowAfter: 2 * time.Second, MaxSlow: 30 * time.Second,
		BreakerAfter: 5, BreakerFor: time.Minute, MaxHosts: 100, IdleAfter: 10 * time.Minute,
	}
}

// ask is what a message of a crawl with 1 s of delay asks for, of a host nobody has visited.
func ask(change ...func(*politeness.Ask)) politeness.Ask {
	a := politeness.Ask{Host: "a.example", Delay: time.Second, Floor: -1, Hold: 2 * time.Second}
	a.Known.Name = a.Host
	for _, f := range change {
		f(&a)
	}
	return a
}

// take waits for a slot and starts it.
func take(t *testing.T, hosts *politeness.Hosts, a politeness.Ask) *politeness.Slot {
	t.Helper()
	slot, err := hosts.Wait(t.Context(), a)
	if err != nil {
		t.Fatalf("Wait: %v", err)
	}
	if err := slot.Start(); err != nil {
		t.Fatalf("Start: %v", err)
	}
	slot.Sent()
	return slot
}

// serve does a whole request that ends at once.
func serve(t *testing.T, hosts *politeness.Hosts, a politeness.Ask, r politeness.Result) {
	t.Helper()
	take(t, hosts, a).Done(r)
}

// heldFor expects Wait to fail with *Held, and returns how far away its Until is.
func heldFor(t *testing.T, hosts *politeness.Hosts, a politeness.Ask) (time.Duration, string) {
	t.Helper()
	slot, err := hosts.Wait(t.Context(), a)
	var held *politeness.Held
	if !errors.As(err, &held) {
		if slot != nil {
			slot.Cancel()
		}
		t.Fatalf("Wait = %v, want Held", err)
	}
	return time.Until(held.Until), held.Reason
}

func elapsed(start time.Time) time.Duration { return time.Since(start).Round(time.Millisecond) }

func cancelled(parent context.Context) context.Context {
	ctx, cancel := context.WithCancel(parent)
	cancel()
	return ctx
}

// pass lets time pass: all tests run in synctest bubbles, where the clock is fake and nobody waits.
func pass(d time.Duration) { <-time.After(d) }

func asHeld(err error, held **politeness.Held) bool { return errors.As(err, held) }
