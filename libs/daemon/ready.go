package daemon

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// checkTimeout bounds one check, and so one request, well below the probe's own timeout.
const checkTimeout = 2 * time.Second

// readiness answers /readyz: 200 when the service runs, is not draining, and every check passes;
// else 503. The body names what fails; with ?verbose it names every check.
type readiness struct {
	mu     sync.Mutex
	phase  phase
	checks []check
}

type phase int

const (
	starting phase = iota
	running
	draining
)

type check struct {
	name string
	run  func(context.Context) error
}

func (r *readiness) add(name string, run func(context.Context) error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.checks = append(r.checks, check{name, run})
}

func (r *readiness) start() { r.advance(running) }
func (r *readiness) drain() { r.advance(draining) }

// advance never goes back: a signal that comes before Run finds it draining already.
func (r *readiness) advance(to phase) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.phase = max(r.phase, to)
}

func (r *readiness) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	phase, checks := r.phase, r.checks
	r.mu.Unlock()

	errs := runAll(req.Context(), checks)
	var report strings.Builder
	ready := phase == running
	_, verbose := req.URL.Query()["verbose"]
	if phase != running {
		fmt.Fprintf(&report, "[-]service: %s\n", [...]string{"starting", "", "draining"}[phase])
	}
	for i, c := range checks {
		switch {
		case errs[i] != nil:
			ready = false
			fmt.Fprintf(&report, "[-]%s: %s\n", c.name, redact(errs[i].Error()))
		case verbose:
			fmt.Fprintf(&report, "[+]%s: ok\n", c.name)
		}
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	if !ready {
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprint(w, report.String(), "not ready\n")
		return
	}
	fmt.Fprint(w, report.String(), "ready\n")
}

// runAll runs all checks at the same time. One that does not heed its context is reported as out of
// time and left behind; it ends when it ends.
func runAll(ctx context.Context, checks []check) []error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	results := make([]chan error, len(checks))
	for i, c := range checks {
		results[i] = make(chan error, 1)
		go func() { results[i] <- guarded(ctx, c.run) }()
	}
	errs := make([]error, len(checks))
	for i := range checks {
		errs[i] = await(ctx, results[i])
	}
	return errs
}

func await(ctx context.Context, result <-chan error) error {
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
	}
	select { // one that has answered long ago, while another was waited for
	case err := <-result:
		return err
	default:
		return fmt.Errorf("no answer within %s", checkTimeout)
	}
}
