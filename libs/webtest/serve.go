package webtest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// statusClientGone is logged when the client went away before it was answered (nginx's number).
const statusClientGone = 499

// answer is a response before it is sent.
type answer struct {
	status   int
	header   http.Header
	body     []byte
	sendable bool // the body may be sent gzip-encoded, and 304 in its place
}

// ServeHTTP answers for the host that the Host header names; 421 (RFC 9110, section 15.5.20) if it is
// none of this web. The log has the request from its start on, and its end before the client can see
// the answer: who has an answer finds it in the log, and no client can start a next request before
// the End of this one.
func (w *Web) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	host, path := canonicalHost(r.Host), canonicalPath(r.URL)
	hit := w.log.begin(r, host)
	a := w.answer(r, host, path)
	if !w.wait(r, host, path) {
		w.log.end(hit, statusClientGone)
		return
	}
	if a.sendable {
		w.prepare(&a, r)
	}
	w.log.end(hit, a.status)
	for name, values := range a.header {
		rw.Header()[name] = values
	}
	rw.WriteHeader(a.status)
	if r.Method != http.MethodHead {
		// An error here means that the client went away. The hit stands all the same.
		_, _ = rw.Write(a.body)
	}
}

// answer finds out what to say. It counts the request if the page refuses its first ones.
func (w *Web) answer(r *http.Request, host, path string) answer {
	s := w.byHost[host]
	switch {
	case s == nil:
		return plain(http.StatusMisdirectedRequest, "no such host in this web\n")
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		return plain(http.StatusMethodNotAllowed, "only GET and HEAD\n")
	case path == robotsPath && s.robots.body == "":
		return plain(http.StatusNotFound, "no robots.txt here\n")
	case path == robotsPath:
		return plain(http.StatusOK, s.robots.body)
	}
	p := s.page(path)
	switch {
	case p.refusals == always:
		return plain(http.StatusInternalServerError, "broken for ever\n")
	case p.refusals > 0 && w.log.refuse(p, r.Method == http.MethodGet):
		return plain(http.StatusServiceUnavailable, "try again\n")
	}
	return p.answer()
}

func plain(status int, text string) answer {
	h := http.Header{"Content-Type": {"text/plain; charset=utf-8"}, "Content-Length": {strconv.Itoa(len(text))}}
	return answer{status: status, header: h, body: []byte(text)}
}

// page returns the page of a canonical path; what nobody made is a 404 that links home.
func (s *site) page(path string) *page {
	if p := s.pages[path]; p != nil {
		return p
	}
	return &page{
		site: s, path: path, label: path, status: http.StatusNotFound, contentType: "text/html; charset=utf-8",
		lang: "en", title: "Not found: " + path, description: "There is no such page.",
		links: func() []link { return []link{s.root()} },
	}
}

// answer is what the page says when it does not refuse.
func (p *page) answer() answer {
	a := answer{status: p.status, header: http.Header{}, body: p.render(), sendable: p.status == http.StatusOK}
	if p.location.href != "" {
		a.header.Set("Location", p.location.href)
	}
	if p.contentType != "" {
		a.header.Set("Content-Type", p.contentType)
	}
	if p.robotsTag != "" {
		a.header.Set("X-Robots-Tag", p.robotsTag)
	}
	a.header.Set("Content-Length", strconv.Itoa(len(a.body)))
	if a.sendable {
		// One third of the pages has each validator, one third has both.
		d := p.site.dice("validators " + p.path)
		kind := d.roll(3)
		if kind != 0 {
			sum := sha256.Sum256(a.body)
			a.header.Set("Etag", fmt.Sprintf(`"%s"`, hex.EncodeToString(sum[:8])))
		}
		if kind != 1 {
			a.header.Set("Last-Modified", modified(d).Format(http.TimeFormat))
		}
	}
	return a
}

// modified is a date in 2024.
func modified(d *dice) time.Time {
	return time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(d.roll(366*24)) * time.Hour)
}

// wait lets the time of Options.Latency pass; false if the client went away meanwhile.
func (w *Web) wait(r *http.Request, host, path string) bool {
	if w.opts.Latency == nil {
		return true
	}
	delay := w.opts.Latency(host, path)
	if delay <= 0 {
		return true
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
		return false
	}
}
