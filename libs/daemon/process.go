package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"syscall"

	"github.com/prometheus/client_golang/prometheus"
)

// process is Main with its surroundings as arguments.
type process struct {
	name           string
	stdout, stderr io.Writer
	signals        <-chan os.Signal
	exit           func(int) // for the second signal only
}

func (p process) main(args []string, run func(context.Context, *Daemon) error) int {
	switch strings.Join(args, " ") {
	case "":
		return p.run(run)
	case "version", "--version":
		fmt.Fprintln(p.stdout, Version(p.name))
		return StatusDone
	case "healthcheck", "healthcheck ready":
		return p.healthcheck("/readyz")
	case "healthcheck live":
		return p.healthcheck("/livez")
	case "help", "-h", "-help", "--help":
		fmt.Fprintf(p.stdout, usage, p.name)
		return StatusDone
	}
	fmt.Fprintf(p.stderr, "%s: argument %q is not known\n\n"+usage, p.name, args[0], p.name)
	return StatusSettings
}

const usage = `usage: %s [healthcheck [live] | version]

Without an argument the service runs. Its settings are environment variables named WARREN_…;
its README lists them. "healthcheck" exits with 0 if the service that runs here is ready
("live": if it answers at all), else with 1.

Exit status: 0 done, 1 unexpected, 2 bad settings or usage, 5 broker or database unreachable.
`

// run is the service's life from the first log line to the exit status.
func (p process) run(run func(context.Context, *Daemon) error) int {
	own := defaultSettings()
	// No logger yet: its settings are among those that may be wrong.
	if err := fill(&own); err != nil {
		fmt.Fprintf(p.stderr, "%s: %v\n", p.name, err)
		return StatusSettings
	}
	log := newLogger(p.stderr, own.Log).With("service", p.name)
	err := p.serve(own, log, run)
	status := Status(err)
	if err != nil {
		log.Error("the service has failed", "error", err, "exit_status", status)
	} else {
		log.Info("the service has ended")
	}
	return status
}

func (p process) serve(own settings, log *slog.Logger, run func(context.Context, *Daemon) error) error {
	registry := prometheus.NewRegistry()
	registerProcess(registry, p.name)
	ready := &readiness{}
	admin, err := newAdmin(own.AdminAddr, p.name, ready, registry, log)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	defer admin.serve(func(err error) { cancel(fmt.Errorf("serve admin requests: %w", err)) })()
	defer p.listen(func(s os.Signal) {
		ready.drain()
		log.Info("signal received: finishing what is in hand; a second one exits at once", "signal", s.String())
		cancel(errSignal)
	})()

	log.Info("the service starts", "version", Version(p.name).String(), "admin", admin.listener.Addr().String())
	d := &Daemon{Name: p.name, Log: log, Registry: registry, admin: admin, ready: ready}
	err = guard(func() error { return run(ctx, d) })
	return outcome(ctx, err)
}

var errSignal = errors.New("stopped by a signal")

// outcome tells what an error means once the context's end is known: a service that was told to
// stop and says "context canceled" has done as it was told.
func outcome(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	if cause == nil {
		return err
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, errSignal) {
		err = nil
	}
	if err == nil && !errors.Is(cause, errSignal) {
		return cause
	}
	return err
}

// listen calls first for the first signal and exits at the second. The function it returns ends it.
func (p process) listen(first func(os.Signal)) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for n := 0; ; n++ {
			select {
			case <-done:
				return
			case s := <-p.signals:
				if n == 0 {
					first(s)
					continue
				}
				number, _ := s.(syscall.Signal)
				p.exit(128 + int(number))
				return
			}
		}
	}()
	return func() { close(done); <-ended }
}
