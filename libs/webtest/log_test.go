package webtest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/warrenmq/warren/libs/webtest"
)

func TestHit(t *testing.T) {
	t.Parallel()
	web := webtest.New(webtest.Options{Hosts: webtest.HostNames(1)})
	before := time.Now()
	ask(web, "GET", "http://H000.web.test:80/list?page=1", "User-Agent", "test/1", "If-None-Match", `"x"`)
	hits := web.Log()
	if len(hits) != 1 {
		t.Fatalf("%d hits, want 1", len(hits))
	}
	got := hits[0]
	if got.Start.Before(before) || got.End.Before(got.Start) || got.End.After(time.Now()) {
		t.Errorf("start %v and end %v are not in order after %v", got.Start, got.End, before)
	}
	got.Start, got.End = time.Time{}, time.Time{}
	want := webtest.Hit{
		Host: "h000.web.test", Path: "/list?page=1", Method: "GET", UserAgent: "test/1",
		RemoteAddr: "192.0.2.1:1234", Status: 200, Conditional: true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("hit (-want +got):\n%s", diff)
	}
}

// A slow request is in the log while it runs; a client that goes away is logged as such.
func TestRunningAndAbandonedRequests(t *testing.T) {
	t.Parallel()
	asked := make(chan string)
	web := webtest.New(webtest.Options{
		Hosts: webtest.HostNames(1),
		Latency: func(host, path string) time.Duration {
			if path != "/p/1.html" {
				return 0
			}
			asked <- host
			return time.Hour
		},
	})
	server := httptest.NewServer(web)
	defer server.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", server.URL+"/p/1.html", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = "h000.web.test"
	done := make(chan error, 1)
	go func() {
		res, err := server.Client().Do(req)
		if err == nil {
			_ = res.Body.Close()
		}
		done <- err
	}()
	if host := <-asked; host != "h000.web.test" {
		t.Errorf("latency asked for host %q", host)
	}
	if hits := web.Log(); len(hits) != 1 || !hits[0].End.IsZero() || hits[0].Status != 0 {
		t.Errorf("log %v while the request runs, want one hit without end and status", hits)
	}
	cancel()
	if err := <-done; err == nil {
		t.Error("the abandoned request was answered")
	}
	eventually(t, func() bool { return web.Log()[0].Status == 499 && !web.Log()[0].End.IsZero() })
}

// eventually waits until a condition holds.
func eventually(t *testing.T, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(10 * time.Second); !holds(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatal("the condition did not come to hold in 10 s")
		}
	}
}

// Who has an answer finds it in the log, ended: the hit is whole before the first byte leaves.
func TestLogIsAheadOfTheClient(t *testing.T) {
	t.Parallel()
	web := webtest.New(webtest.Options{Hosts: webtest.HostNames(1)})
	w := &watcher{ResponseRecorder: httptest.NewRecorder(), look: func() {
		if hits := web.Log(); len(hits) != 1 || hits[0].End.IsZero() || hits[0].Status != 200 {
			t.Errorf("the log is %v as the answer leaves, want one hit that has ended", hits)
		}
	}}
	web.ServeHTTP(w, httptest.NewRequest("GET", "http://h000.web.test/", nil))
	if w.looks < 2 {
		t.Errorf("%d writes seen, want header and body", w.looks)
	}
}

// watcher looks at something each time a part of the answer is written.
type watcher struct {
	*httptest.ResponseRecorder
	look  func()
	looks int
}

func (w *watcher) WriteHeader(status int) {
	w.looks++
	w.look()
	w.ResponseRecorder.WriteHeader(status)
}

func (w *watcher) Write(b []byte) (int, error) {
	w.looks++
	w.look()
	return w.ResponseRecorder.Write(b)
}

func TestAdmin(t *testing.T) {
	t.Parallel()
	web := webtest.New(webtest.Options{Hosts: webtest.HostNames(8)})
	admin := web.Admin()
	ask(web, "GET", "http://h000.web.test/robots.txt")
	ask(web, "GET", "http://h001.web.test/list?page=1")
	ask(web, "GET", "http://elsewhere.test/")

	hits, err := webtest.ReadLog(ask(admin, "GET", "http://admin/_log").Body)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(web.Log(), hits); diff != "" {
		t.Errorf("log by HTTP (-here +there):\n%s", diff)
	}
	for query, want := range map[string]webtest.Truth{"": web.Truth(), "?scope=host": web.Expected(webtest.ScopeHost)} {
		var got webtest.Truth
		if err := json.Unmarshal(read(t, ask(admin, "GET", "http://admin/_expected"+query).Body), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("truth by HTTP%s (-here +there):\n%s", query, diff)
		}
	}
	if got := ask(admin, "GET", "http://admin/_expected?scope=moon").StatusCode; got != 400 {
		t.Errorf("unknown scope: status %d, want 400", got)
	}
	if got := string(read(t, ask(admin, "GET", "http://admin/_seeds").Body)); got != "http://h000.web.test/\n" {
		t.Errorf("seeds %q", got)
	}
	if got := ask(admin, "GET", "http://admin/_reset").StatusCode; got != 204 || len(web.Log()) != 0 {
		t.Errorf("reset: status %d and %d hits, want 204 and none", got, len(web.Log()))
	}
}

func TestReadLogSaysWhichLineIsBad(t *testing.T) {
	t.Parallel()
	_, err := webtest.ReadLog(strings.NewReader("{}\n{\"status\":\"x\"}\n"))
	if err == nil || !strings.Contains(err.Error(), "hit 2") {
		t.Errorf("error %v, want one that names hit 2", err)
	}
}

func FuzzReadLog(f *testing.F) {
	f.Add([]byte(`{"host":"a.test","path":"/","start":"2026-01-02T03:04:05.6Z","status":200}` + "\n"))
	f.Add([]byte("{}{"))
	web := webtest.New(webtest.Options{Hosts: webtest.HostNames(2)})
	f.Fuzz(func(t *testing.T, data []byte) {
		hits, err := webtest.ReadLog(bytes.NewReader(data))
		if err != nil {
			return
		}
		web.Check(hits, func(string) time.Duration { return time.Second }) // whatever the log says: no panic
		var again bytes.Buffer
		enc := json.NewEncoder(&again)
		for _, hit := range hits {
			if err := enc.Encode(hit); err != nil {
				return // a year that JSON cannot carry
			}
		}
		back, err := webtest.ReadLog(&again)
		if err != nil || len(back) != len(hits) {
			t.Errorf("%d hits come back as %d: %v", len(hits), len(back), err)
		}
	})
}
