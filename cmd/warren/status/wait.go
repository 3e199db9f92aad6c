package status

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/warrenmq/warren/cmd/warren/exit"
	"github.com/warrenmq/warren/libs/daemon"
)

// patience is how long dedup may be away before waiting is given up: longer than its restart.
const patience = 30 * time.Second

// waiter asks until a crawl has ended.
type waiter struct {
	api      *client
	crawl    string // "" is all crawls
	interval time.Duration
	tell     io.Writer
}

// wait returns the last answer it got, also when the time is over.
func (w waiter) wait(ctx context.Context, timeout time.Duration) (last answer[Status], err error) {
	whole := ctx
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	tick := time.NewTicker(w.interval)
	defer tick.Stop()
	heard := time.Now()
	var why error // there is no answer, as far as dedup has said
	for {
		now, err := get[Status](ctx, w.api, "/api/v1/status", "crawl", w.crawl)
		if ctx.Err() == nil {
			why = err
		}
		switch {
		case err == nil:
			last, heard = now, time.Now()
			if ended(now.Value) {
				return last, nil
			}
		case daemon.Status(err) == exit.Nothing: // its seeds may be on their way
			heard = time.Now()
		case ctx.Err() == nil && (daemon.Status(err) != exit.Unreachable || time.Since(heard) > patience):
			return last, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			if whole.Err() != nil {
				return last, whole.Err()
			}
			return last, exit.With(exit.Limit, w.late(last.Value, timeout, why))
		}
	}
}

// late says what the time was not enough for.
func (w waiter) late(s Status, timeout time.Duration, err error) error {
	if err != nil {
		return fmt.Errorf("nothing has ended within %s: %w", timeout, err)
	}
	for _, c := range s.Crawls {
		if !c.ended() {
			return fmt.Errorf("crawl %s is still %s after %s", c.Name, c.State, timeout)
		}
	}
	return fmt.Errorf("there is no crawl after %s", timeout)
}

// ended tells whether there are crawls and all have ended.
func ended(s Status) bool {
	for _, c := range s.Crawls {
		if !c.ended() {
			return false
		}
	}
	return len(s.Crawls) > 0
}
