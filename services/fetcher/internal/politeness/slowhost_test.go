package politeness_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/warrenmq/warren/services/fetcher/internal/politeness"
)

// A fetcher that owned a slow host before gets its message back from one that died with it, perhaps
// behind a request: it waits a whole delay, not just what a message may be held.
func TestRedeliveredSlowHostWaitsTheWholeDelay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hosts := politeness.New(config(), time.Now)
		slow := func(redelivered bool) politeness.Ask {
			return ask(func(a *politeness.Ask) {
				a.Delay, a.Visited, a.Redelivered, a.Since = 10*time.Second, true, redelivered, time.Now()
				a.Known.Visited, a.Known.DelayMS = true, 10_000
				a.Known.Name = a.Host
			})
		}
		first := slow(false)
		first.Hold = time.Minute
		serve(t, hosts, first, politeness.Result{})
		pass(time.Hour / 12) // somebody else has the shard, asks, and dies
		again := slow(true)
		ahead, _ := heldFor(t, hosts, again)
		if ahead < 8*time.Second {
			t.Fatalf("held for %s more, want the whole delay of 10 s less the hold of 2 s", ahead)
		}
		known := hosts.Report(again.Known, &politeness.Held{Until: time.Now().Add(ahead)})
		pass(time.Until(known.NextAt))
		next := slow(false)
		next.Known = known
		begin := time.Now()
		serve(t, hosts, next, politeness.Result{})
		if got := elapsed(begin); got > 2*time.Second {
			t.Errorf("the message that came back waited %s", got)
		}
	})
}

// A host with a delay above the time after which idle hosts are forgotten is served all the same,
// however many other hosts come in between.
func TestVerySlowHostIsRemembered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cfg := config()
		hosts := politeness.New(cfg, time.Now)
		const delay = 20 * time.Minute
		known := ask().Known
		served := 0
		for i := range 6 {
			a := ask(func(a *politeness.Ask) {
				a.Delay, a.Visited, a.Known, a.Since = delay, true, known, time.Now()
			})
			if slot, err := hosts.Wait(t.Context(), a); err == nil {
				if err := slot.Start(); err != nil {
					t.Fatal(err)
				}
				slot.Sent()
				slot.Done(politeness.Result{})
				served++
				known = hosts.Report(a.Known, nil)
			} else {
				var held *politeness.Held
				if !asHeld(err, &held) {
					t.Fatal(err)
				}
				known = hosts.Report(a.Known, held)
			}
			pass(15 * time.Minute) // longer than idle hosts are kept
			serve(t, hosts, ask(func(a *politeness.Ask) {
				a.Host = fmt.Sprintf("other%d.example", i)
				a.Known.Name = a.Host
			}), politeness.Result{})
			pass(time.Until(known.NextAt))
		}
		if served < 5 {
			t.Errorf("served %d of 6 times", served)
		}
	})
}
