package politeness_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/warrenmq/warren/services/fetcher/internal/politeness"
)

// Whatever is asked, in whatever order, however requests end: a host never has more than one request,
// two starts are never nearer than the delays of both ask for, and nothing is left behind.
func TestRandomTraffic(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { traffic(t, seed) })
		})
	}
}

type seen struct {
	mu      sync.Mutex
	running map[string]bool
	last    map[string]time.Time
	delay   map[string]time.Duration
}

func (s *seen) start(t *testing.T, host string, delay time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running[host] {
		t.Errorf("%s: two at a time", host)
	}
	if gap := time.Since(s.last[host]); gap < max(delay, s.delay[host]) {
		t.Errorf("%s: gap %s, delays %s and %s", host, gap, s.delay[host], delay)
	}
	s.running[host], s.last[host], s.delay[host] = true, time.Now(), delay
}

func (s *seen) end(host string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running[host] = false
}

func traffic(t *testing.T, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 1))
	hosts := politeness.New(config(), time.Now)
	log := &seen{running: map[string]bool{}, last: map[string]time.Time{}, delay: map[string]time.Duration{}}
	var wg sync.WaitGroup
	for range 300 {
		host := string('a' + rune(random.IntN(4)))
		delay := time.Duration(random.IntN(3000)) * time.Millisecond
		took := time.Duration(random.IntN(2000)) * time.Millisecond
		give := time.Duration(random.IntN(4000)) * time.Millisecond
		result := politeness.Result{Outcome: politeness.Outcome(random.IntN(4)), Latency: took}
		fate := random.IntN(10)
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), give)
			defer cancel()
			slot, err := hosts.Wait(ctx, ask(func(a *politeness.Ask) { a.Host, a.Delay, a.First = host, delay, fate == 9 }))
			var held *politeness.Held
			switch {
			case errors.As(err, &held), errors.Is(err, context.DeadlineExceeded):
				return
			case err != nil:
				t.Errorf("Wait: %v", err)
				return
			}
			defer slot.Cancel()
			if fate == 0 {
				return // called off before it began
			}
			if slot.Start() != nil {
				return
			}
			if fate > 2 {
				pass(took / 4)
				slot.Sent()
			}
			log.start(t, host, delay)
			pass(took)
			log.end(host)
			if fate > 1 {
				slot.Done(result)
			}
		})
		pass(time.Duration(random.IntN(500)) * time.Millisecond)
	}
	wg.Wait()
	if waiting, running, _ := hosts.Load(); waiting != 0 || running != 0 {
		t.Errorf("left behind: %d waiting, %d running", waiting, running)
	}
}
