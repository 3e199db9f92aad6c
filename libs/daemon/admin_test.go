package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
)

// inProcess runs a process with channels in place of signals, in this process.
type inProcess struct {
	d       *Daemon
	signals chan os.Signal
	status  chan int
	log     *bytes.Buffer // read after status
}

func startProcess(t *testing.T, run func(ctx context.Context, d *Daemon) error) *inProcess {
	t.Helper()
	t.Setenv("WARREN_ADMIN_ADDR", "127.0.0.1:0")
	p := &inProcess{signals: make(chan os.Signal, 2), status: make(chan int, 1), log: &bytes.Buffer{}}
	started := make(chan *Daemon, 1)
	go func() {
		self := process{name: "test", stdout: io.Discard, stderr: p.log, signals: p.signals, exit: func(int) {}}
		p.status <- self.main(nil, func(ctx context.Context, d *Daemon) error {
			started <- d
			return run(ctx, d)
		})
	}()
	p.d = <-started
	return p
}

func (p *inProcess) get(t *testing.T, path string) (int, string) {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get("http://" + p.d.Addr() + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(body)
}

func untilDone(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }

func TestAdminServer(t *testing.T) {
	broker := make(chan error, 1)
	begun := make(chan struct{})
	p := startProcess(t, func(ctx context.Context, d *Daemon) error {
		d.Ready("broker", func(context.Context) error { err := <-broker; broker <- err; return err })
		d.Ready("database", func(context.Context) error { return nil })
		d.Handle("GET /api/v1/status", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, "a service's own")
		}))
		return d.Run(ctx, func(ctx context.Context) error { close(begun); return untilDone(ctx) })
	})
	<-begun
	set := func(err error) {
		select {
		case <-broker:
		default:
		}
		broker <- err
	}

	set(errors.New("suspended: dial amqp://warren:hunter2@mq:5672/: refused"))
	code, body := p.get(t, "/readyz")
	if code != 503 || !strings.Contains(body, "[-]broker: suspended") || strings.Contains(body, "database") {
		t.Errorf("readyz with a broker away: %d %q", code, body)
	}
	if strings.Contains(body, "hunter2") {
		t.Errorf("readyz shows a password: %q", body)
	}
	set(nil)
	if code, body = p.get(t, "/readyz"); code != 200 || body != "ready\n" {
		t.Errorf("readyz: %d %q", code, body)
	}
	if _, body = p.get(t, "/readyz?verbose"); body != "[+]broker: ok\n[+]database: ok\nready\n" {
		t.Errorf("readyz?verbose: %q", body)
	}
	for path, want := range map[string]string{
		"/livez":         "ok",
		"/metrics":       `warren_build_info{goversion="go1.`,
		"/api/v1/status": "a service's own",
	} {
		if code, body := p.get(t, path); code != 200 || !strings.Contains(body, want) {
			t.Errorf("%s: %d %q, want %q", path, code, body, want)
		}
	}
	if _, body := p.get(t, "/metrics"); !strings.Contains(body, "go_goroutines") || !strings.Contains(body, "process_open_fds") {
		t.Error("metrics lack those of Go or of the process")
	}
	var build Build
	if _, body := p.get(t, "/version"); json.Unmarshal([]byte(body), &build) != nil || build.Service != "test" || build.Go == "" {
		t.Errorf("version: %q", body)
	}
	p.signals <- syscall.SIGTERM
	if status := <-p.status; status != 0 {
		t.Errorf("exit status %d, want 0; log:\n%s", status, p.log)
	}
}

func TestReadyzOutlastsAHangingCheck(t *testing.T) {
	begun, release := make(chan struct{}), make(chan struct{})
	p := startProcess(t, func(ctx context.Context, d *Daemon) error {
		d.Ready("deaf", func(context.Context) error { <-release; return nil })
		d.Ready("broken", func(context.Context) error { panic("nil map") })
		return d.Run(ctx, func(ctx context.Context) error { close(begun); return untilDone(ctx) })
	})
	<-begun
	code, body := p.get(t, "/readyz")
	if code != 503 || !strings.Contains(body, "[-]deaf: no answer within 2s") || !strings.Contains(body, "[-]broken: panic: nil map") {
		t.Errorf("readyz: %d %q", code, body)
	}
	close(release)
	p.signals <- syscall.SIGINT
	<-p.status
}

func TestAdminServerLostEndsTheService(t *testing.T) {
	p := startProcess(t, func(ctx context.Context, d *Daemon) error {
		_ = d.admin.listener.Close()
		return d.Run(ctx, untilDone)
	})
	if status := <-p.status; status != 1 || !strings.Contains(p.log.String(), "serve admin requests") {
		t.Errorf("exit status %d, want 1; log:\n%s", status, p.log)
	}
}

func TestLocalAddr(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]string{
		":8080":         "127.0.0.1:8080",
		"0.0.0.0:8080":  "127.0.0.1:8080",
		"[::]:8080":     "[::1]:8080",
		"10.1.2.3:8080": "10.1.2.3:8080",
		"console:8080":  "console:8080",
	} {
		if got := localAddr(addr); got != want {
			t.Errorf("localAddr(%q) = %q, want %q", addr, got, want)
		}
		if _, _, err := net.SplitHostPort(want); err != nil {
			t.Error(err)
		}
	}
}
