package politeness_test

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/warrenmq/warren/services/fetcher/internal/politeness"
)

func TestBackoffDoublesAndHalves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cfg := config()
		cfg.BreakerAfter = 100
		hosts := politeness.New(cfg, time.Now)
		long := ask(func(a *politeness.Ask) { a.Hold = time.Hour })
		last := time.Time{}
		gap := func(r politeness.Result) time.Duration {
			slot := take(t, hosts, long)
			since := time.Since(last)
			last = time.Now()
			slot.Done(r)
			return since.Round(time.Millisecond)
		}
		bad, good := politeness.Result{Outcome: politeness.Failed}, politeness.Result{}
		gap(bad)
		for i, want := range []time.Duration{2, 4, 8, 16, 32, 60, 60} {
			if got := gap(bad); got != want*time.Second {
				t.Errorf("failure %d: gap %s, want %d s", i, got, want)
			}
		}
		// The gap after a success is still that of the request before.
		for i, want := range []time.Duration{60, 60, 30, 15} {
			if got := gap(good); got != want*time.Second {
				t.Errorf("success %d: gap %s, want %d s", i, got, want)
			}
		}
		for range 6 {
			gap(good)
		}
		if got := gap(good); got != time.Second {
			t.Errorf("at last: gap %s, want the delay", got)
		}
	})
}

func TestSlowHostIsAskedHalfTheTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hosts := politeness.New(config(), time.Now)
		serve(t, hosts, ask(), politeness.Result{Latency: 5 * time.Second})
		if ahead, _ := heldFor(t, hosts, ask()); ahead != 10*time.Second {
			t.Errorf("held for %s, want 10 s", ahead)
		}
		if r := hosts.Report(ask().Known, nil); r.DelayMS != 10_000 {
			t.Errorf("delay reported: %d ms", r.DelayMS)
		}
	})
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hosts := politeness.New(config(), time.Now)
		serve(t, hosts, ask(), politeness.Result{Outcome: politeness.Busy, RetryAfter: 90 * time.Second})
		ahead, why := heldFor(t, hosts, ask())
		if ahead != 90*time.Second || why != politeness.ReasonRetryAfter {
			t.Errorf("held for %s: %q", ahead, why)
		}
		if r := hosts.Report(ask().Known, nil); !r.Visited || time.Until(r.NextAt).Round(time.Second) != 90*time.Second || r.Reason != politeness.ReasonRetryAfter {
			t.Errorf("report = %+v", r)
		}
		serve(t, hosts, ask(func(a *politeness.Ask) { a.Host = "b" }), politeness.Result{Outcome: politeness.Busy, RetryAfter: 1000 * time.Hour})
		if ahead, _ := heldFor(t, hosts, ask(func(a *politeness.Ask) { a.Host = "b" })); ahead != time.Hour {
			t.Errorf("held for %s, want an hour at most", ahead)
		}
	})
}

func TestBreaker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cfg := config()
		cfg.MaxBackoff = time.Second
		hosts := politeness.New(cfg, time.Now)
		bad := politeness.Result{Outcome: politeness.Failed}
		for range 4 {
			serve(t, hosts, ask(), bad)
		}
		serve(t, hosts, ask(), politeness.Result{Outcome: politeness.Unknown}) // counts for nothing
		slot := take(t, hosts, ask())
		var wg sync.WaitGroup
		wg.Go(func() { // who waits already is sent away too, when the breaker opens
			begin := time.Now()
			if _, why := heldFor(t, hosts, ask()); why != politeness.ReasonBreaker || elapsed(begin) != 0 {
				t.Errorf("waiter: after %s: %q", elapsed(begin), why)
			}
		})
		synctest.Wait()
		slot.Done(bad)
		wg.Wait()
		ahead, why := heldFor(t, hosts, ask())
		if why != politeness.ReasonBreaker || ahead.Round(time.Second) != time.Minute {
			t.Errorf("open: held for %s: %q", ahead, why)
		}
		pass(ahead)
		trial := take(t, hosts, ask()) // half open
		trial.Done(bad)
		if ahead, why := heldFor(t, hosts, ask()); why != politeness.ReasonBreaker || ahead.Round(time.Second) != time.Minute {
			t.Errorf("open again: held for %s: %q", ahead, why)
		}
		pass(time.Minute + time.Second)
		// A trial that was never sent must not leave the breaker half open for ever.
		unused := take(t, hosts, ask())
		unused.Cancel()
		serve(t, hosts, ask(), politeness.Result{})
		serve(t, hosts, ask(), bad)
		serve(t, hosts, ask(), politeness.Result{})
	})
}

func TestHalfOpenLetsOneThrough(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cfg := config()
		cfg.PerHost, cfg.BreakerAfter, cfg.MaxBackoff = 2, 1, time.Second
		hosts := politeness.New(cfg, time.Now)
		serve(t, hosts, ask(), politeness.Result{Outcome: politeness.Failed})
		pass(2 * time.Minute)
		trial := take(t, hosts, ask())
		pass(time.Second)
		second, err := hosts.Wait(t.Context(), ask())
		if err != nil {
			t.Fatal(err)
		}
		var held *politeness.Held
		if err := second.Start(); !errors.As(err, &held) || held.Reason != politeness.ReasonBreaker {
			t.Errorf("second Start = %v", err)
		}
		second.Cancel()
		trial.Done(politeness.Result{})
		serve(t, hosts, ask(), politeness.Result{})
	})
}

func TestRobotsDelay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hosts := politeness.New(config(), time.Now)
		robots := take(t, hosts, ask())
		var wg sync.WaitGroup
		wg.Go(func() { // it came before robots.txt did
			if ahead, _ := heldFor(t, hosts, ask()); ahead != 5*time.Second {
				t.Errorf("waiter held for %s, want 5 s", ahead)
			}
		})
		synctest.Wait()
		hosts.SetFloor("a.example", 5*time.Second)
		wg.Wait()
		robots.Done(politeness.Result{})
		if ahead, _ := heldFor(t, hosts, ask(func(a *politeness.Ask) { a.Floor = 5 * time.Second })); ahead != 5*time.Second {
			t.Errorf("held for %s, want 5 s", ahead)
		}
		hosts.Hold("a.example", time.Now().Add(time.Minute), "robots unreachable")
		if ahead, why := heldFor(t, hosts, ask()); ahead != time.Minute || why != "robots unreachable" {
			t.Errorf("held for %s: %q", ahead, why)
		}
	})
}
