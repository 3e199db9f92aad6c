package webtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// Hit is one request, as one line of the access log.
type Hit struct {
	Host        string    `json:"host"`        // lower case, without a default port
	Path        string    `json:"path"`        // with the query, as it was on the wire
	Method      string    `json:"method"`      //
	UserAgent   string    `json:"user_agent"`  //
	RemoteAddr  string    `json:"remote_addr"` // ip:port
	Start       time.Time `json:"start"`       // the request's header was read
	End         time.Time `json:"end"`         // just before the answer was sent; zero while it runs
	Status      int       `json:"status"`      // 0 while it runs; 499 if the client did not wait
	Conditional bool      `json:"conditional"` // it had If-None-Match or If-Modified-Since
}

// accessLog keeps the hits, and how often pages have refused, which Reset forgets together.
type accessLog struct {
	mu      sync.Mutex
	hits    []*Hit // by start
	refused map[*page]int
}

func (l *accessLog) begin(r *http.Request, host string) *Hit {
	hit := &Hit{
		Host: host, Path: r.URL.RequestURI(), Method: r.Method, UserAgent: r.UserAgent(), RemoteAddr: r.RemoteAddr,
		Conditional: r.Header.Get("If-None-Match") != "" || r.Header.Get("If-Modified-Since") != "",
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	// The clock is read under the lock, so that the hits stand in the order of their starts.
	hit.Start = time.Now()
	l.hits = append(l.hits, hit)
	return hit
}

func (l *accessLog) end(hit *Hit, status int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	hit.End, hit.Status = time.Now(), status
}

// refuse tells whether the page still refuses; a counted request uses up one refusal.
func (l *accessLog) refuse(p *page, counted bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refused[p] >= p.refusals {
		return false
	}
	if counted {
		if l.refused == nil {
			l.refused = make(map[*page]int)
		}
		l.refused[p]++
	}
	return true
}

// Log returns a copy of all hits since New or Reset, by start. Requests that still run are in it.
// It grows with each request: a long run calls Reset.
func (w *Web) Log() []Hit {
	w.log.mu.Lock()
	defer w.log.mu.Unlock()
	hits := make([]Hit, len(w.log.hits))
	for i, hit := range w.log.hits {
		hits[i] = *hit
	}
	return hits
}

// Reset empties the log and lets pages that recover refuse again, as after New.
func (w *Web) Reset() {
	w.log.mu.Lock()
	defer w.log.mu.Unlock()
	w.log.hits, w.log.refused = nil, nil
}

// WriteLog writes the log as JSON lines, one Hit a line.
func (w *Web) WriteLog(to io.Writer) error {
	enc := json.NewEncoder(to)
	for _, hit := range w.Log() {
		if err := enc.Encode(hit); err != nil {
			return fmt.Errorf("write the access log: %w", err)
		}
	}
	return nil
}

// ReadLog reads what WriteLog wrote.
func ReadLog(from io.Reader) ([]Hit, error) {
	var hits []Hit
	for dec := json.NewDecoder(from); ; {
		var hit Hit
		if err := dec.Decode(&hit); errors.Is(err, io.EOF) {
			return hits, nil
		} else if err != nil {
			return nil, fmt.Errorf("read hit %d of the access log: %w", len(hits)+1, err)
		}
		hits = append(hits, hit)
	}
}
