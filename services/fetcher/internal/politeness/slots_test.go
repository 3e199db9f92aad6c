package politeness_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/warrenmq/warren/services/fetcher/internal/politeness"
)

// starts runs n requests at once, each lasting took, and returns when they started and the greatest
// number that ran at a time.
func starts(t *testing.T, hosts *politeness.Hosts, n int, took time.Duration, a politeness.Ask) (at []time.Duration, most int) {
	t.Helper()
	begin := time.Now()
	var mu sync.Mutex
	var wg sync.WaitGroup
	running := 0
	for range n {
		wg.Go(func() {
			slot, err := hosts.Wait(t.Context(), a)
			if err != nil {
				t.Errorf("Wait: %v", err)
				return
			}
			if err := slot.Start(); err != nil {
				t.Errorf("Start: %v", err)
			}
			slot.Sent()
			mu.Lock()
			at = append(at, elapsed(begin))
			running++
			most = max(most, running)
			mu.Unlock()
			pass(took) // fake time: what a request takes
			mu.Lock()
			running--
			mu.Unlock()
			slot.Done(politeness.Result{})
		})
	}
	wg.Wait()
	slices.Sort(at)
	return at, most
}

func TestStartsAreSpaced(t *testing.T) {
	t.Parallel()
	second := time.Second
	for name, c := range map[string]struct {
		perHost int
		delay   time.Duration
		took    time.Duration
		want    []time.Duration
		most    int
	}{
		"fast host":       {1, second, 10 * time.Millisecond, []time.Duration{0, second, 2 * second, 3 * second}, 1},
		"slow host":       {1, second, 3 * second / 2, []time.Duration{0, 3 * second / 2, 3 * second, 9 * second / 2}, 1},
		"no delay":        {1, 0, second / 2, []time.Duration{0, second / 2, second, 3 * second / 2}, 1},
		"two connections": {2, second, 3 * second / 2, []time.Duration{0, second, 2 * second, 3 * second}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				cfg := config()
				cfg.PerHost = c.perHost
				hosts := politeness.New(cfg, time.Now)
				at, most := starts(t, hosts, 4, c.took, ask(func(a *politeness.Ask) { a.Delay, a.Hold = c.delay, time.Minute }))
				if diff := cmp.Diff(c.want, at); diff != "" || most != c.most {
					t.Errorf("most %d, want %d; %s", most, c.most, diff)
				}
			})
		})
	}
}

func TestHostsDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hosts := politeness.New(config(), time.Now)
		begin := time.Now()
		slow := take(t, hosts, ask())
		for _, name := range []string{"b", "c", "d"} {
			serve(t, hosts, ask(func(a *politeness.Ask) { a.Host, a.Known.Name = name, name }), politeness.Result{})
		}
		if elapsed(begin) != 0 {
			t.Errorf("took %s", elapsed(begin))
		}
		slow.Done(politeness.Result{})
	})
}

func TestTheGreaterDelayCounts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hosts := politeness.New(config(), time.Now)
		patient := ask(func(a *politeness.Ask) { a.Delay, a.Hold = 5*time.Second, time.Minute })
		hasty := ask(func(a *politeness.Ask) { a.Delay, a.Hold = 0, time.Minute })
		begin := time.Now()
		var at []time.Duration
		for _, a := range []politeness.Ask{patient, hasty, hasty, patient} {
			slot := take(t, hosts, a)
			at = append(at, elapsed(begin))
			slot.Done(politeness.Result{})
		}
		if diff := cmp.Diff([]time.Duration{0, 5 * time.Second, 5 * time.Second, 10 * time.Second}, at); diff != "" {
			t.Error(diff)
		}
	})
}

func TestWhoCannotBeServedGoesAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hosts := politeness.New(config(), time.Now)
		var wg sync.WaitGroup
		for range 3 { // at 0, 1 and 2 s: that is all that fits in 2 s
			wg.Go(func() { serve(t, hosts, ask(), politeness.Result{}) })
			synctest.Wait()
		}
		begin := time.Now()
		ahead, why := heldFor(t, hosts, ask())
		if elapsed(begin) != 0 || ahead.Round(time.Second) != 2*time.Second || why != "" {
			t.Errorf("after %s held for %s: %q", elapsed(begin), ahead, why)
		}
		wg.Wait()
	})
}

func TestHoldEndsTheWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hosts := politeness.New(config(), time.Now)
		running := take(t, hosts, ask())
		begin := time.Now()
		ahead, why := heldFor(t, hosts, ask()) // the running request might end any moment, and does not
		if elapsed(begin) != 2*time.Second || why != "" {
			t.Errorf("after %s: %q", elapsed(begin), why)
		}
		if ahead <= 0 {
			t.Errorf("held for %s: the frontier would send it back at once", ahead)
		}
		running.Done(politeness.Result{})
		if waiting, run, _ := hosts.Load(); waiting != 0 || run != 0 {
			t.Errorf("waiting %d, running %d", waiting, run)
		}
	})
}

func TestStopAndContextEndTheWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hosts := politeness.New(config(), time.Now)
		running := take(t, hosts, ask())
		stop := make(chan struct{})
		close(stop)
		if _, err := hosts.Wait(t.Context(), ask(func(a *politeness.Ask) { a.Stop = stop })); !errors.Is(err, politeness.ErrStopped) {
			t.Errorf("stopped: %v", err)
		}
		if _, err := hosts.Wait(cancelled(t.Context()), ask()); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
		running.Done(politeness.Result{})
		pass(time.Second)
		// A slot is free now, so that both are ready at once; whichever wins, no slot is lost.
		for range 100 {
			if slot, err := hosts.Wait(cancelled(t.Context()), ask()); err == nil {
				slot.Cancel()
			}
		}
		serve(t, hosts, ask(), politeness.Result{})
	})
}

// A slot that was not used is no request: the next may start at once.
func TestCancelledSlotIsNoStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hosts := politeness.New(config(), time.Now)
		slot, err := hosts.Wait(t.Context(), ask())
		if err != nil {
			t.Fatal(err)
		}
		slot.Cancel()
		slot.Cancel()
		begin := time.Now()
		second := take(t, hosts, ask())
		second.Done(politeness.Result{})
		second.Done(politeness.Result{Outcome: politeness.Failed})
		if elapsed(begin) != 0 {
			t.Errorf("waited %s", elapsed(begin))
		}
	})
}

// The spacing is from request to request on the wire, so a slot whose request is not there yet blocks
// others, however many connections there may be.
func TestSlotInHandBlocksOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cfg := config()
		cfg.PerHost = 4
		hosts := politeness.New(cfg, time.Now)
		first, err := hosts.Wait(t.Context(), ask())
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		var second time.Duration
		var wg sync.WaitGroup
		wg.Go(func() {
			slot := take(t, hosts, ask(func(a *politeness.Ask) { a.Hold = time.Minute }))
			second = elapsed(begin)
			slot.Done(politeness.Result{})
		})
		pass(3 * time.Second)
		if err := first.Start(); err != nil {
			t.Fatal(err)
		}
		pass(2 * time.Second) // connecting
		first.Sent()
		pass(time.Second / 2)
		first.Sent() // the connection was dead, it was sent again
		wg.Wait()
		first.Done(politeness.Result{})
		first.Sent()
		if second != 13*time.Second/2 {
			t.Errorf("second started after %s, want 6.5 s", second)
		}
	})
}

func TestFirstGoesBeforeTheQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hosts := politeness.New(config(), time.Now)
		robots := take(t, hosts, ask())
		order := make(chan string, 2)
		var wg sync.WaitGroup
		wg.Go(func() {
			serve(t, hosts, ask(func(a *politeness.Ask) { a.Hold = time.Minute }), politeness.Result{})
			order <- "queue"
		})
		synctest.Wait()
		robots.Done(politeness.Result{})
		serve(t, hosts, ask(func(a *politeness.Ask) { a.First = true }), politeness.Result{})
		order <- "first"
		wg.Wait()
		if got := <-order; got != "first" {
			t.Errorf("%s was first", got)
		}
	})
}
