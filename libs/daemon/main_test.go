package daemon_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/warrenmq/warren/libs/daemon"
)

// helper is the variable that turns this test binary into a small service, so that signals and exit
// statuses are those of a process.
const helper = "DAEMON_TEST_HELPER"

func TestMain(m *testing.M) {
	if mode := os.Getenv(helper); mode != "" {
		os.Exit(daemon.Main("helper", services[mode]))
	}
	goleak.VerifyTestMain(m)
}

var services = map[string]func(context.Context, *daemon.Daemon) error{
	// drains: takes a moment to end, and what lies under it is there until it has ended.
	"drains": func(ctx context.Context, d *daemon.Daemon) error {
		work := make(chan string)
		service := func(ctx context.Context) error {
			work <- "begun"
			<-ctx.Done()
			work <- "finished"
			return ctx.Err()
		}
		bus := func(ctx context.Context) error {
			for {
				select {
				case what := <-work:
					d.Log.Info("work", "what", what)
				case <-ctx.Done():
					d.Log.Info("work", "what", "bus closed")
					return nil
				}
			}
		}
		return d.Run(ctx, service, bus)
	},
	// stuck never ends by itself.
	"stuck": func(ctx context.Context, d *daemon.Daemon) error {
		return d.Run(ctx, func(ctx context.Context) error {
			d.Log.Info("work", "what", "begun")
			<-ctx.Done()
			d.Log.Info("work", "what", "told to stop")
			select {}
		})
	},
	// slow waits for its database for ever, as sqldb.Open does, and heeds its context.
	"slow": func(ctx context.Context, d *daemon.Daemon) error {
		d.Log.Info("work", "what", "begun")
		<-ctx.Done()
		return daemon.Unreachable(fmt.Errorf("open database: %w", ctx.Err()))
	},
	"done":        func(context.Context, *daemon.Daemon) error { return nil },
	"unexpected":  func(context.Context, *daemon.Daemon) error { return errors.New("read frontier: no such table") },
	"panics":      func(context.Context, *daemon.Daemon) error { panic("no such shard") },
	"unreachable": func(context.Context, *daemon.Daemon) error { return daemon.Unreachable(errors.New("no database")) },
	"settings": func(_ context.Context, d *daemon.Daemon) error {
		return d.Load(&struct{ Shards int }{64})
	},
	"bus-lost": func(ctx context.Context, d *daemon.Daemon) error {
		wait := func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) }
		return d.Run(ctx, wait, func(context.Context) error { return errors.New("broker is lost") })
	},
}

func TestExitStatusOfAProcess(t *testing.T) {
	t.Parallel()
	tests := []struct {
		mode, env, args string
		status          int
		stderr          string // part of it
	}{
		{mode: "done", status: 0, stderr: "the service has ended"},
		{mode: "unexpected", status: 1, stderr: "read frontier: no such table"},
		{mode: "panics", status: 1, stderr: "panic: no such shard"},
		{mode: "unreachable", status: 5, stderr: "no database"},
		{mode: "bus-lost", status: 5, stderr: "broker is lost"},
		{mode: "settings", env: "WARREN_SHARDS=many", status: 2, stderr: `WARREN_SHARDS=\"many\": want a whole number`},
		{mode: "done", env: "WARREN_LOG_FORMAT=xml", status: 2, stderr: `WARREN_LOG_FORMAT="xml": want auto, json or text`},
		{mode: "done", env: "WARREN_LOG_LEVEL=loud", status: 2, stderr: `WARREN_LOG_LEVEL="loud": want debug, info, warn or error`},
		{mode: "done", env: "WARREN_ADMIN_ADDR=8080", status: 2, stderr: `WARREN_ADMIN_ADDR="8080": want host:port`},
		{mode: "done", env: "WARREN_ADMIN_ADDR=192.0.2.1:80", status: 2, stderr: "listen on WARREN_ADMIN_ADDR=192.0.2.1:80"},
		{mode: "done", args: "serve", status: 2, stderr: `argument "serve" is not known`},
		{mode: "done", args: "healthcheck", env: "WARREN_ADMIN_ADDR=127.0.0.1:1", status: 1, stderr: "connection refused"},
	}
	for _, test := range tests {
		t.Run(test.mode+" "+test.env+test.args, func(t *testing.T) {
			t.Parallel()
			cmd := command(t, test.mode, strings.Fields(test.args)...)
			if test.env != "" {
				cmd.Env = append(cmd.Env, test.env)
			}
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			_ = cmd.Run()
			if got := cmd.ProcessState.ExitCode(); got != test.status {
				t.Errorf("exit status %d, want %d", got, test.status)
			}
			if !strings.Contains(stderr.String(), test.stderr) {
				t.Errorf("stderr is\n%s\nwant in it %s", &stderr, test.stderr)
			}
		})
	}
}

func TestVersionVerb(t *testing.T) {
	t.Parallel()
	out, err := command(t, "done", "version").Output()
	if err != nil || !strings.HasPrefix(string(out), "helper ") || !strings.Contains(string(out), "go1.") {
		t.Errorf("version prints %q, %v", out, err)
	}
}

func TestFirstSignalDrains(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		p := start(t, "drains")
		p.await("begun")
		p.get("/readyz", http.StatusOK, "ready")
		p.send(signal)
		p.await("finished")   // the bus was there to hear it
		p.await("bus closed") // and was closed after it
		if status := p.wait(); status != 0 {
			t.Errorf("%v: exit status %d, want 0", signal, status)
		}
	}
}

func TestSecondSignalExitsAtOnce(t *testing.T) {
	t.Parallel()
	for signal, want := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		p := start(t, "stuck")
		p.await("begun")
		p.send(signal)
		p.await("told to stop")
		p.get("/readyz", http.StatusServiceUnavailable, "draining")
		p.get("/livez", http.StatusOK, "ok")
		p.send(signal)
		if status := p.wait(); status != want {
			t.Errorf("%v twice: exit status %d, want %d", signal, status, want)
		}
	}
}

func TestSignalWhileStarting(t *testing.T) {
	t.Parallel()
	p := start(t, "slow")
	p.await("begun")
	p.get("/livez", http.StatusOK, "ok")
	p.get("/readyz", http.StatusServiceUnavailable, "starting")
	p.send(syscall.SIGTERM)
	if status := p.wait(); status != 0 {
		t.Errorf("exit status %d, want 0: it was told to stop and did", status)
	}
}

func TestHealthcheckVerb(t *testing.T) {
	t.Parallel()
	p := start(t, "drains")
	p.await("begun")
	for _, verb := range []string{"healthcheck", "healthcheck live"} {
		cmd := command(t, "done", strings.Fields(verb)...)
		cmd.Env = append(cmd.Env, "WARREN_ADMIN_ADDR="+p.addr)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s of a ready service: %v: %s", verb, err, out)
		}
	}
	p.send(syscall.SIGTERM)
	p.wait()
}

// child is a running helper whose log is read line by line.
type child struct {
	t    *testing.T
	cmd  *exec.Cmd
	log  *bufio.Scanner
	addr string
}

func command(t *testing.T, mode string, args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), helper+"="+mode, "WARREN_ADMIN_ADDR=127.0.0.1:0")
	return cmd
}

func start(t *testing.T, mode string) *child {
	t.Helper()
	cmd := command(t, mode)
	pipe, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &child{t: t, cmd: cmd, log: bufio.NewScanner(pipe)}
	p.addr = p.next("the service starts")["admin"].(string)
	return p
}

// next reads the log up to a line with this message.
func (p *child) next(message string) map[string]any {
	p.t.Helper()
	for p.log.Scan() {
		var line map[string]any
		if err := json.Unmarshal(p.log.Bytes(), &line); err != nil {
			p.t.Fatalf("a log line is not JSON: %s", p.log.Bytes())
		}
		if line["msg"] == message {
			return line
		}
	}
	p.t.Fatalf("the log ended without %q", message)
	return nil
}

func (p *child) await(what string) {
	p.t.Helper()
	if got := p.next("work")["what"]; got != what {
		p.t.Fatalf("the service says %q, want %q", got, what)
	}
}

func (p *child) send(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

func (p *child) wait() int {
	for p.log.Scan() { // Wait closes the pipe: read it to its end first
		continue
	}
	_ = p.cmd.Wait()
	return p.cmd.ProcessState.ExitCode()
}

func (p *child) get(path string, status int, body string) {
	p.t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get("http://" + p.addr + path)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	got, _ := io.ReadAll(resp.Body)
	if resp.StatusCode != status || !strings.Contains(string(got), body) {
		p.t.Errorf("%s: %s %q, want %d and %q", path, resp.Status, got, status, body)
	}
}
