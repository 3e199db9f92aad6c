package politeness_test

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/services/fetcher/internal/politeness"
)

func TestNewOwner(t *testing.T) {
	t.Parallel()
	second := time.Second
	for name, c := range map[string]struct {
		visited bool
		known   contract.Host
		nextAt  time.Duration // from now; 0 is none
		want    time.Duration
	}{
		"never visited":            {false, contract.Host{}, 0, 0},
		"visited":                  {true, contract.Host{}, 0, second},
		"visited, robots delay":    {true, contract.Host{DelayMS: 1500}, 0, 3 * second / 2},
		"visited, next at later":   {true, contract.Host{DelayMS: 1500}, 1800 * time.Millisecond, 1800 * time.Millisecond},
		"visited, next at past":    {true, contract.Host{}, -time.Hour, second},
		"never visited, but held":  {false, contract.Host{}, 1200 * time.Millisecond, 1200 * time.Millisecond},
		"visited, nonsense delays": {true, contract.Host{DelayMS: -5}, 0, second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				hosts := politeness.New(config(), time.Now)
				begin := time.Now()
				slot := take(t, hosts, ask(func(a *politeness.Ask) {
					a.Visited, a.Known = c.visited, c.known
					if c.nextAt != 0 {
						a.Known.NextAt = time.Now().Add(c.nextAt)
					}
				}))
				if got := elapsed(begin); got != c.want {
					t.Errorf("waited %s, want %s", got, c.want)
				}
				slot.Done(politeness.Result{})
			})
		})
	}
}

// Messages of one batch race to their handlers. Only the first says that nobody has asked the host.
func TestFirstMessageMayBeOvertaken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hosts := politeness.New(config(), time.Now)
		begin := time.Now()
		var wg sync.WaitGroup
		wg.Go(func() {
			serve(t, hosts, ask(func(a *politeness.Ask) { a.Visited = true }), politeness.Result{})
			if elapsed(begin) != 0 {
				t.Errorf("waited %s", elapsed(begin))
			}
		})
		synctest.Wait()
		serve(t, hosts, ask(), politeness.Result{})
		if elapsed(begin) != time.Second {
			t.Errorf("the second started after %s", elapsed(begin))
		}
		wg.Wait()
	})
}

// A clock that is wrong, or a message that lies, must not freeze a host for ever.
func TestFarNextAtIsClamped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hosts := politeness.New(config(), time.Now)
		ahead, why := heldFor(t, hosts, ask(func(a *politeness.Ask) {
			a.Known.NextAt, a.Known.Reason = time.Now().AddDate(100, 0, 0), "robots unreachable"
		}))
		if ahead != time.Hour || why != "robots unreachable" {
			t.Errorf("held for %s: %q", ahead, why)
		}
	})
}

// A shard may have been with another fetcher since we asked one of its hosts last.
func TestOldHistoryIsNotTrusted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hosts := politeness.New(config(), time.Now)
		tenure := politeness.NewTenure(time.Now)
		visit := func() time.Duration {
			since, leave := tenure.Enter(t.Context())
			defer leave()
			begin := time.Now()
			serve(t, hosts, ask(func(a *politeness.Ask) { a.Since, a.Visited = since, true }), politeness.Result{})
			return elapsed(begin)
		}
		visit()
		pass(10 * time.Second)
		if got := visit(); got != time.Second {
			t.Errorf("after an interruption: waited %s, want the delay", got)
		}
		_, leave := tenure.Enter(t.Context()) // another message of the shard is in hand all the time
		pass(10 * time.Second)
		visit() // the tenure began 10 s ago: that is long enough
		pass(10 * time.Second)
		if got := visit(); got != 0 {
			t.Errorf("without interruption: waited %s", got)
		}
		leave()
	})
}

// A host with a delay beyond what a message is held for must not be sent back for ever, each message
// being the only one in hand.
func TestSlowHostIsServedAcrossInterruptions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hosts := politeness.New(config(), time.Now)
		tenure := politeness.NewTenure(time.Now)
		slow := func(known contract.Host) politeness.Ask {
			since, leave := tenure.Enter(t.Context())
			leave()
			return ask(func(a *politeness.Ask) {
				a.Delay, a.Since, a.Visited, a.Known = 5*time.Second, since, true, known
				a.Known.Name = a.Host
			})
		}
		known := ask().Known
		ahead, _ := heldFor(t, hosts, slow(known)) // met for the first time: a whole delay
		if ahead != 5*time.Second {
			t.Fatalf("held for %s", ahead)
		}
		known = hosts.Report(known, &politeness.Held{Until: time.Now().Add(ahead), Reason: "x"})
		for range 3 {
			pass(time.Until(known.NextAt))
			begin := time.Now()
			serve(t, hosts, slow(known), politeness.Result{})
			if got := elapsed(begin); got != 0 {
				t.Errorf("own report: waited %s", got)
			}
			known = hosts.Report(known, nil)
		}
		// Somebody else served it meanwhile, and said so.
		pass(time.Until(known.NextAt) + 3*time.Second)
		known.NextAt = time.Now().Add(4 * time.Second)
		if ahead, _ := heldFor(t, hosts, slow(known)); ahead != 4*time.Second {
			t.Errorf("another's report: held for %s, want 4 s", ahead)
		}
		// Somebody else may have served it, and has said nothing.
		pass(time.Minute)
		known.NextAt = time.Now().Add(-time.Second)
		begin := time.Now()
		serve(t, hosts, slow(known), politeness.Result{})
		if got := elapsed(begin); got != 2*time.Second {
			t.Errorf("no report: waited %s, want the hold", got)
		}
	})
}

func TestTenure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tenure := politeness.NewTenure(time.Now)
		begin := time.Now()
		session, lose := context.WithCancel(t.Context())
		first, leaveFirst := tenure.Enter(session)
		pass(time.Second)
		second, leaveSecond := tenure.Enter(session)
		leaveFirst()
		pass(time.Second)
		third, leaveThird := tenure.Enter(session)
		if !first.Equal(begin) || !second.Equal(begin) || !third.Equal(begin) {
			t.Errorf("since = %s, %s, %s, want all %s", first, second, third, begin)
		}
		lose() // messages in hand prove nothing when their session is gone
		pass(time.Second)
		fourth, leaveFourth := tenure.Enter(t.Context())
		if got := fourth.Sub(begin); got != 3*time.Second {
			t.Errorf("after the session was lost: since %s", got)
		}
		leaveSecond()
		leaveThird()
		leaveFourth()
		pass(time.Second)
		if fifth, leave := tenure.Enter(t.Context()); fifth.Sub(begin) != 4*time.Second {
			t.Errorf("after nothing was in hand: since %s", fifth.Sub(begin))
		} else {
			leave()
		}
	})
}

func TestReport(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hosts := politeness.New(config(), time.Now)
		known := contract.Host{Name: "a.example", DelayMS: 7}
		if got := hosts.Report(known, nil); got != known {
			t.Errorf("a host that is not known: %+v", got)
		}
		serve(t, hosts, ask(), politeness.Result{})
		got := hosts.Report(known, nil)
		want := contract.Host{Name: "a.example", Visited: true, DelayMS: 1000, PaceMS: 1000, NextAt: got.NextAt}
		if got != want || time.Until(got.NextAt).Round(10*time.Millisecond) != time.Second {
			t.Errorf("report = %+v, next in %s", got, time.Until(got.NextAt))
		}
	})
}

func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hosts := politeness.New(config(), time.Now)
		busy := take(t, hosts, ask()) // never forgotten while it runs
		for i := range 1000 {
			serve(t, hosts, ask(func(a *politeness.Ask) { a.Host = strconv.Itoa(i) }), politeness.Result{})
		}
		if _, _, known := hosts.Load(); known > 100 {
			t.Errorf("%d hosts are known", known)
		}
		busy.Done(politeness.Result{})
		if r := hosts.Report(ask().Known, nil); !r.Visited {
			t.Error("the busy host was forgotten")
		}
		pass(11 * time.Minute)
		serve(t, hosts, ask(func(a *politeness.Ask) { a.Host = "new" }), politeness.Result{})
		if _, _, known := hosts.Load(); known != 1 {
			t.Errorf("%d hosts are known after a long pause", known)
		}
		hosts.Close()
		if _, _, known := hosts.Load(); known != 0 {
			t.Errorf("%d hosts are known after Close", known)
		}
	})
}
