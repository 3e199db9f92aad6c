package webtest

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strconv"
	"strings"
)

// prepare turns the answer into 304 if the client has the page, else encodes it if the client likes.
func (w *Web) prepare(a *answer, r *http.Request) {
	a.header.Set("Vary", "Accept-Encoding")
	if a.unchanged(r) {
		a.status, a.body = http.StatusNotModified, nil
		a.header.Del("Content-Type")
		a.header.Del("Content-Length")
		return
	}
	textual := !strings.HasPrefix(a.header.Get("Content-Type"), "image/")
	if len(a.body) == 0 || !textual || !acceptsGzip(r) {
		return
	}
	a.body = w.gzip(a.body)
	a.header.Set("Content-Encoding", "gzip")
	a.header.Set("Content-Length", strconv.Itoa(len(a.body)))
}

// gzip encodes a body. Writers are kept, because a new one costs 800 KB, much more than a page.
func (w *Web) gzip(body []byte) []byte {
	var b bytes.Buffer
	zw, kept := w.zippers.Get().(*gzip.Writer)
	if kept {
		zw.Reset(&b)
	} else {
		zw = gzip.NewWriter(&b)
	}
	_, _ = zw.Write(body) // a bytes.Buffer takes all
	_ = zw.Close()
	w.zippers.Put(zw)
	return b.Bytes()
}

// unchanged follows RFC 9110, section 13.2.2: If-None-Match decides alone where it is present.
func (a *answer) unchanged(r *http.Request) bool {
	if tags := r.Header.Get("If-None-Match"); tags != "" {
		etag := a.header.Get("Etag")
		for tag := range strings.SplitSeq(tags, ",") {
			tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/")
			if tag == "*" || etag != "" && tag == etag {
				return true
			}
		}
		return false
	}
	since, err := http.ParseTime(r.Header.Get("If-Modified-Since"))
	if err != nil {
		return false
	}
	last, err := http.ParseTime(a.header.Get("Last-Modified"))
	return err == nil && !last.After(since)
}

// acceptsGzip reads Accept-Encoding (RFC 9110, section 12.5.3) as far as gzip goes.
func acceptsGzip(r *http.Request) bool {
	for coding := range strings.SplitSeq(strings.Join(r.Header.Values("Accept-Encoding"), ","), ",") {
		name, weight, _ := strings.Cut(strings.ToLower(strings.TrimSpace(coding)), ";")
		weight = strings.ReplaceAll(weight, " ", "")
		if strings.TrimSpace(name) == "gzip" && weight != "q=0" && !strings.HasPrefix(weight, "q=0.0") {
			return true
		}
	}
	return false
}
