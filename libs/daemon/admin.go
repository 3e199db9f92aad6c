package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// admin is the HTTP server that machines ask how the process is.
type admin struct {
	mux      *http.ServeMux
	listener net.Listener
	server   *http.Server
}

// newAdmin listens at once: whoever starts the process may ask it from then on, and a test can give
// port 0 and read the true one.
func newAdmin(addr, name string, ready *readiness, registry *prometheus.Registry, log *slog.Logger) (*admin, error) {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, BadSettings(fmt.Errorf("listen on WARREN_ADMIN_ADDR=%s: %w", addr, err))
	}
	errorLog := slog.NewLogLogger(log.Handler(), slog.LevelWarn)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.Handle("GET /readyz", ready)
	mux.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(Version(name))
	})
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		Registry: registry,
		ErrorLog: errorLog,
		Timeout:  10 * time.Second,
	}))
	return &admin{mux: mux, listener: listener, server: &http.Server{
		Handler:           mux,
		ErrorLog:          errorLog,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
	}}, nil
}

// serve answers until the function it returns is called. lost is told if serving ends before.
func (a *admin) serve(lost func(error)) (stop func()) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := a.server.Serve(a.listener); !errors.Is(err, http.ErrServerClosed) {
			lost(err)
		}
	}()
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if a.server.Shutdown(ctx) != nil {
			_ = a.server.Close() // a request that hangs does not hold the process
		}
		<-ended
	}
}
