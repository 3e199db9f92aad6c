// Package daemon is what every Warren process does besides its work. Only mains import it.
//
//  1. In: the process's arguments, environment and signals.
//  2. The logger, the metrics registry and the admin server (/livez /readyz /metrics /version) are
//     made before anything else, so that a process that waits for its database can be asked.
//  3. The service's own run function loads its settings, wires its parts and calls [Daemon.Run].
//  4. The first SIGINT or SIGTERM ends the context: /readyz turns false, the service finishes what
//     it has in hand, then what lies under it (the bus) stops, the admin server last. A second
//     signal exits at once.
//  5. Out: one line saying why it ended, and the exit status: 0 done, 1 unexpected, 2 bad settings,
//     5 broker or database unreachable, 130 or 143 after a second SIGINT or SIGTERM.
package daemon

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"github.com/prometheus/client_golang/prometheus"
)

// Daemon is one running process. Main makes it.
type Daemon struct {
	Name     string               // the service's name: "parser"
	Log      *slog.Logger         // to stderr, with the service's name
	Registry *prometheus.Registry // shown at /metrics; Go, process and build metrics are in it

	admin *admin
	ready *readiness
}

// Main runs a service and returns the status for os.Exit. Arguments: none runs it; "healthcheck
// [live]" asks the process that runs already and returns 0 or 1; "version" prints the version.
// run gets a context that ends at the first SIGINT or SIGTERM.
func Main(name string, run func(ctx context.Context, d *Daemon) error) int {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	defer signal.Stop(signals)
	p := process{
		name:    name,
		stdout:  os.Stdout,
		stderr:  os.Stderr,
		signals: signals,
		exit:    os.Exit,
	}
	return p.main(os.Args[1:], run)
}

// Load fills settings, a pointer to a struct of structs that already holds the defaults, from the
// environment, and checks it. See the function [Load].
func (d *Daemon) Load(settings any) error { return Load(d.Log, settings) }

// Ready adds a check to /readyz. check returns nil when the thing named is of use now, or an error
// that says why not; it has 2 s. Checks run at the same time, for each request.
func (d *Daemon) Ready(name string, check func(context.Context) error) { d.ready.add(name, check) }

// Handle adds a handler to the admin server. pattern is http.ServeMux's: "GET /api/v1/status". It
// panics if the pattern is taken.
func (d *Daemon) Handle(pattern string, h http.Handler) { d.admin.mux.Handle(pattern, h) }

// Addr is the address the admin server listens on, its true port in it.
func (d *Daemon) Addr() string { return d.admin.listener.Addr().String() }
