//go:build e2e

package e2e_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/webtest"
)

func (s *stack) docker(args ...string) string {
	s.Helper()
	out, err := exec.CommandContext(s.Context(), "docker", args...).CombinedOutput()
	if err != nil {
		s.Fatalf("docker %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// accessLog fetches the web's log.
func (s *stack) accessLog() []webtest.Hit {
	s.Helper()
	body := s.http(http.MethodGet, "http://"+s.port("web", 8081)+"/_log", "")
	log, err := webtest.ReadLog(bytes.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	return log
}

// http makes one request and wants 200; to the management API as the user warren.
func (s *stack) http(method, url, body string) []byte {
	s.Helper()
	req, err := http.NewRequestWithContext(s.Context(), method, url, strings.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	password, err := os.ReadFile(filepath.Join(s.root, "deploy/secrets/amqp_password.txt"))
	if err != nil {
		s.Fatal(err)
	}
	req.SetBasicAuth("warren", strings.TrimSpace(string(password)))
	client := http.Client{Timeout: time.Minute}
	resp, err := client.Do(req)
	if err != nil {
		s.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		s.Fatalf("%s %s: %s %v %s", method, url, resp.Status, err, text)
	}
	return text
}

func (s *stack) management(method, path, body string, into any) {
	s.Helper()
	text := s.http(method, "http://"+s.port("rabbitmq", 15672)+"/api"+path, body)
	if err := json.Unmarshal(text, into); err != nil {
		s.Fatalf("%s: %v: %s", path, err, text)
	}
}

// checkTap: a queue that somebody bound to one host's key has exactly that host's HTML pages, persistent.
func (s *stack) checkTap(truth webtest.Truth) {
	s.Helper()
	var got []struct {
		Payload    []byte
		RoutingKey string `json:"routing_key"`
		Properties struct {
			DeliveryMode int `json:"delivery_mode"`
		}
	}
	s.management(http.MethodPost, "/queues/%2f/tap/get", `{"count":1000,"ackmode":"ack_requeue_false","encoding":"base64"}`, &got)
	tapped := map[string]bool{}
	for _, m := range got {
		page, _, err := contract.DecodePage(m.Payload)
		if err != nil {
			s.Fatal(err)
		}
		if m.Properties.DeliveryMode != 2 {
			s.Errorf("tapped %s: delivery mode %d, want 2", page.URL, m.Properties.DeliveryMode)
		}
		if page.Host.Name != "h003.web.test" || page.Kind != contract.KindHTML {
			s.Errorf("tapped %s, key %s", page.URL, m.RoutingKey)
		}
		tapped[page.URL] = true
	}
	want := 0
	for url, fact := range truth.Stored {
		if strings.HasPrefix(url, "http://h003.web.test/") && fact.Status == 200 && strings.HasPrefix(fact.ContentType, "text/html") {
			want++
			if !tapped[url] {
				s.Errorf("not tapped: %s", url)
			}
		}
	}
	s.Logf("tapped %d pages, %d of them HTML with status 200", len(tapped), want)
}

// checkQueues: nothing is left in any queue, nothing was a dead letter.
func (s *stack) checkQueues() {
	s.Helper()
	var queues []struct {
		Name     string
		Messages int
	}
	s.until(quiet, "empty queues", func() bool {
		s.management(http.MethodGet, "/queues?disable_stats=false", "", &queues)
		left := 0
		for _, q := range queues {
			left += q.Messages
		}
		return left == 0 && len(queues) > 64
	})
}

// checkExport: one page a line, whole.
func (s *stack) checkExport(want int) {
	s.Helper()
	lines := strings.Split(strings.TrimSpace(s.warren("export", "--format", "jsonl", "--crawl", "web")), "\n")
	if len(lines) != want {
		s.Errorf("export wrote %d lines, want %d", len(lines), want)
	}
	var page struct {
		URL, Title, SHA256 string
		Status             int
	}
	if err := json.Unmarshal([]byte(lines[0]), &page); err != nil || page.URL == "" || page.Status == 0 {
		s.Errorf("first line of the export: %v %s", err, lines[0])
	}
	s.Logf("psql:\n%s", s.compose("exec", "-T", "postgres", "psql", "-U", "warren", "-c",
		"select status, url, title from pages where crawl = 'web' order by url limit 5"))
	table := s.warren("status")
	s.Logf("warren status:\n%s", table)
	if !strings.Contains(table, "web") || !strings.Contains(table, "finished") {
		s.Errorf("warren status said %q", table)
	}
}
