//go:build e2e

// Package e2e_test runs the compose file as its users do: docker compose up, seeds by rabbitmqadmin, a
// crawl to its end, with a fetcher killed and one added on the way. Run it by `make e2e`.
package e2e_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// stack is one run of the compose file under a project name of its own.
type stack struct {
	*testing.T
	root     string
	project  string
	override string
}

const webHosts = 200

// newStack writes an override that adds the little web, with a name on the compose network for each of
// its hosts, and lets the fetchers reach private addresses on its port only.
func newStack(t *testing.T) *stack {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	s := &stack{T: t, root: root, project: fmt.Sprintf("warren-e2e-%d", os.Getpid()), override: filepath.Join(t.TempDir(), "web.yml")}
	var aliases strings.Builder
	for n := range webHosts {
		fmt.Fprintf(&aliases, "          - h%03d.web.test\n", n)
	}
	text := fmt.Sprintf(`services:
  web:
    build: {context: %q, dockerfile: deploy/Dockerfile, args: {SERVICE: webtest, DIR: libs, MAIN: ./webtest/cmd/webtest}}
    command: ["-addr", ":80", "-admin", ":8081", "-hosts", "%d", "-seed", "7", "-delay", "%s"]
    ports: ["127.0.0.1::8081"]
    networks:
      default:
        aliases:
%s  fetcher:
    environment:
      WARREN_FETCHER_ALLOW: "10.0.0.0/8:80,172.16.0.0/12:80,192.168.0.0/16:80"
      WARREN_FETCHER_DELAY: %s
      WARREN_FETCHER_RETRY_BASE: 1s
`, root, webHosts, crawlDelay, aliases.String(), delay)
	if err := os.WriteFile(s.override, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.down)
	return s
}

// The delays of the run: the fetchers' own, and what some robots.txt ask for beyond it.
const (
	quiet      = 30 * time.Second // for the broker's counts to catch up
	delay      = 500 * time.Millisecond
	crawlDelay = 900 * time.Millisecond
)

func (s *stack) command(ctx context.Context, args ...string) *exec.Cmd {
	all := append([]string{"compose", "-p", s.project, "-f", "docker-compose.yml", "-f", s.override}, args...)
	cmd := exec.CommandContext(ctx, "docker", all...)
	cmd.Dir = s.root
	cmd.Env = append(os.Environ(), "WARREN_MANAGEMENT_PORT=0") // any free one: runs must not collide
	return cmd
}

// compose runs docker compose and returns its standard output.
func (s *stack) compose(args ...string) string {
	s.Helper()
	out, err := s.try(args...)
	if err != nil {
		s.Fatalf("docker compose %s: %v", strings.Join(args, " "), err)
	}
	return out
}

func (s *stack) try(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(s.Context(), 10*time.Minute)
	defer cancel()
	cmd := s.command(ctx, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%w: %s%s", err, tail(out.String()), tail(errs.String()))
	}
	return out.String(), nil
}

func tail(s string) string { return s[max(0, len(s)-2000):] }

// down shows the services' last words if the test failed, and removes everything.
func (s *stack) down() {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	if s.Failed() {
		out, _ := s.command(ctx, "ps", "-a").CombinedOutput()
		s.Logf("%s", out)
		out, _ = s.command(ctx, "logs", "--tail", "15", "--no-color").CombinedOutput()
		s.Logf("%s", out[max(0, len(out)-20000):])
	}
	if out, err := s.command(ctx, "--profile", "tools", "down", "-v", "--remove-orphans", "-t", "20").CombinedOutput(); err != nil {
		s.Errorf("docker compose down: %v: %s", err, out)
	}
}

// scaled is how many of each service the run has.
func scaled(fetchers int) []string {
	return []string{
		"--scale", fmt.Sprintf("fetcher=%d", fetchers), "--scale", "dedup=2", "--scale", "parser=2", "--scale", "store=2",
	}
}

// admin runs rabbitmqadmin in the broker's container, as the README tells.
func (s *stack) admin(args ...string) string {
	s.Helper()
	return s.compose(append([]string{"exec", "-T", "rabbitmq", "rabbitmqadmin"}, args...)...)
}

// seed publishes a seed by rabbitmqadmin and fails if the broker did not route it.
func (s *stack) seed(payload string) {
	s.Helper()
	out := s.admin("publish", "exchange=crawl", "routing_key=url.seed", "payload="+payload)
	if !strings.Contains(out, "Message published") || strings.Contains(out, "NOT routed") {
		s.Fatalf("rabbitmqadmin said %q", out)
	}
}

// psql runs one query and returns its rows, fields separated by a tab.
func (s *stack) psql(query string) []string {
	s.Helper()
	out := s.compose("exec", "-T", "postgres", "psql", "-U", "warren", "-d", "warren", "-AtF", "\t", "-c", query)
	out = strings.TrimRight(out, "\n")
	if out == "" {
		return nil
	}
	return strings.Split(out, "\n")
}

// port is where a container's port is reached from here.
func (s *stack) port(service string, port int) string {
	s.Helper()
	addr := strings.TrimSpace(s.compose("port", service, fmt.Sprint(port)))
	if _, _, err := net.SplitHostPort(addr); err != nil {
		s.Fatalf("port %d of %s: %q", port, service, addr)
	}
	return addr
}

// until polls a condition; what says what is waited for.
func (s *stack) until(limit time.Duration, what string, condition func() bool) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), limit)
	defer cancel()
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-ctx.Done():
			s.Fatalf("%s: not within %v", what, limit)
		case <-tick.C:
		}
	}
}
