//go:build e2e

// Package realinput_test crawls a real site whole: the documentation of Python, as Debian packages it,
// served by nginx on loopback.
package realinput_test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/warrenmq/warren/services/fetcher"
	"github.com/warrenmq/warren/test/pipeline"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const documentation = "/usr/share/doc/python3.11/html"

// pages is how many HTML files are reached by links from /index.html.
const pages = 526

func TestPythonDocumentation(t *testing.T) {
	site := serve(t, documentation)
	cfg := fetcher.DefaultConfig()
	cfg.Allow, cfg.Delay = []string{site}, 0
	p := pipeline.Start(t, pipeline.Options{Fetchers: 2, Parsers: 2, Fetcher: cfg})
	begin := time.Now()
	p.Seed("http://" + site + "/index.html")
	p.Finished("default", 5*time.Minute)
	took := time.Since(begin)

	found := map[int]int{}
	html := 0
	for url, row := range p.Stored("default") {
		if row.Times != 1 {
			t.Errorf("stored %d times: %s", row.Times, url)
		}
		found[row.Status]++
	}
	err := p.Pool.QueryRow(t.Context(), `SELECT count(*) FROM page WHERE code = 200 AND kind = 'html'`).Scan(&html)
	if err != nil {
		t.Fatal(err)
	}
	if html != pages {
		t.Errorf("%d HTML pages with status 200, want %d; by status %v; not done %v", html, pages, found, p.Ended("default"))
	}
	t.Logf("%d HTML pages, by status %v, in %v", html, found, took.Round(time.Millisecond))
}

// serve runs nginx on a free port of loopback until the end of the test and returns its address.
func serve(t *testing.T, root string) string {
	t.Helper()
	if _, err := os.Stat(filepath.Join(root, "index.html")); err != nil {
		t.Fatalf("install python3.11-doc: %v", err)
	}
	nginx, err := exec.LookPath("nginx")
	if err != nil {
		t.Fatalf("install nginx-light: %v", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := listener.Addr().String()
	_ = listener.Close()
	dir := t.TempDir()
	conf := filepath.Join(dir, "nginx.conf")
	text := fmt.Sprintf(`daemon off; worker_processes 1; pid %[1]s/pid; error_log %[1]s/error.log;
events { worker_connections 256; }
http {
	include /etc/nginx/mime.types; access_log off; gzip on;
	client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy; fastcgi_temp_path %[1]s/fastcgi;
	uwsgi_temp_path %[1]s/uwsgi; scgi_temp_path %[1]s/scgi;
	server { listen %[2]s; root %[3]s; }
}
`, dir, addr, root)
	if os.Geteuid() == 0 {
		text = "user root;\n" + text // its workers must read the test's folder
	}
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(nginx, "-c", conf, "-e", filepath.Join(dir, "error.log"))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	ready(t, addr)
	return addr
}

func ready(t *testing.T, addr string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for range 500 {
		resp, err := client.Get("http://" + addr + "/index.html")
		if err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return
			}
		}
		<-tick.C
	}
	t.Fatal("nginx does not answer")
}
