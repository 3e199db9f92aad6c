package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/warrenmq/warren/libs/webtest"
)

// asCommand in the environment makes the test binary be the command, so that signals can be tested.
const asCommand = "WEBTEST_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
		return
	}
	goleak.VerifyTestMain(m)
}

// The real command: ready line, the web by Host header, the admin handler, SIGTERM.
func TestCommand(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(os.Args[0], "-addr", "127.0.0.1:0", "-admin", "127.0.0.1:0", "-hosts", "3", "-seed", "5", "-delay", "1500ms")
	cmd.Env = append(os.Environ(), asCommand+"=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	out := bufio.NewReader(stdout)
	line, err := out.ReadString('\n')
	if err != nil {
		t.Fatalf("no ready line: %v; %s", err, &stderr)
	}
	var addr, admin, seed string
	if _, err := fmt.Sscanf(strings.ReplaceAll(line, ",", ""), "webtest: ready 3 hosts on %s admin on %s start from %s", &addr, &admin, &seed); err != nil {
		t.Fatalf("ready line %q: %v", line, err)
	}

	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	if want := "http://h000.web.test:" + port + "/"; seed != want {
		t.Errorf("seed %s, want %s", seed, want)
	}
	if status, _ := get(t, addr, seed); status != 200 {
		t.Errorf("the seed's status is %d, want 200", status)
	}
	if _, body := get(t, addr, "http://h001.web.test:"+port+"/robots.txt"); body != "no robots.txt here\n" {
		t.Errorf("robots.txt of h001 says %q", body)
	}
	hosts := webtest.HostNames(3)
	for i := range hosts {
		hosts[i] += ":" + port
	}
	var truth webtest.Truth
	_, body := get(t, admin, "http://admin/_expected")
	if err := json.Unmarshal([]byte(body), &truth); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(webtest.New(webtest.Options{Seed: 5, Hosts: hosts}).Truth(), truth); diff != "" {
		t.Errorf("truth of a web made here and there (-here +there):\n%s", diff)
	}

	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(out)
	if err != nil || len(rest) > 0 {
		t.Errorf("after the ready line it wrote %q, %v", rest, err)
	}
	if err := cmd.Wait(); err != nil || stderr.Len() > 0 {
		t.Errorf("after SIGTERM: %v, on stderr %q; want exit status 0 and silence", err, &stderr)
	}
}

// get asks a server for a URL, whatever host the URL names.
func get(t *testing.T, addr, url string) (status int, body string) {
	t.Helper()
	transport := &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, addr)
	}}
	defer transport.CloseIdleConnections()
	res, err := (&http.Client{Transport: transport}).Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

func TestBadArguments(t *testing.T) {
	t.Parallel()
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = busy.Close() }()
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"-hosts", "0"}, "want at least 1"},
		{[]string{"-hosts", "many"}, "invalid value"},
		{[]string{"extra"}, `"extra" is not a flag`},
		{[]string{"-addr", busy.Addr().String()}, "listen for the web"},
		{[]string{"-addr", "127.0.0.1:0", "-admin", busy.Addr().String()}, "listen for the admin handler"},
	} {
		var out bytes.Buffer
		err := run(t.Context(), tt.args, &out, io.Discard)
		if err == nil || !strings.Contains(err.Error(), tt.want) || out.Len() > 0 {
			t.Errorf("%v: error %v and output %q, want an error with %q and no ready line", tt.args, err, &out, tt.want)
		}
	}
}

// A server that fails ends the command, with the reason.
func TestOneServerFails(t *testing.T) {
	t.Parallel()
	broken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = broken.Close()
	sound, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	err = serve(t.Context(), nil, map[net.Listener]http.Handler{broken: http.NotFoundHandler(), sound: http.NotFoundHandler()})
	if err == nil || !strings.Contains(err.Error(), "closed network connection") {
		t.Errorf("error %v, want that of the broken listener", err)
	}
}
