package httpget

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/warrenmq/warren/libs/weburl"
)

// maxValidator is the longest ETag or date that is sent back to a server.
const maxValidator = 1 << 10

func (c *Client) request(ctx context.Context, r Request) *http.Request {
	header := http.Header{
		"User-Agent":      {c.userAgent},
		"Accept":          {"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"},
		"Accept-Encoding": {"gzip, br, zstd, deflate"},
	}
	if sendable(r.ETag) {
		header.Set("If-None-Match", r.ETag)
	}
	if sendable(r.LastModified) {
		header.Set("If-Modified-Since", r.LastModified)
	}
	req := &http.Request{
		Method: http.MethodGet, URL: target(r.URL), Host: r.URL.Host(), Header: header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	return req.WithContext(ctx)
}

// target makes a url.URL that goes over the wire byte for byte as the canonical URL has it. net/url
// refuses URLs that browsers take ("%zz") and writes others anew ("|"), so its parser is passed by.
func target(u weburl.URL) *url.URL {
	request := u.PathQuery()
	if !strings.HasPrefix(request, "//") {
		return &url.URL{Scheme: u.Scheme(), Host: u.Host(), Opaque: request}
	}
	// An Opaque that starts with two slashes would be sent as an absolute URL, which servers must
	// but do not always take. A path that net/url writes as it stands goes the usual way.
	path, query, hasQuery := strings.Cut(request, "?")
	plain, err := url.PathUnescape(path)
	usual := &url.URL{Scheme: u.Scheme(), Host: u.Host(), Path: plain, RawPath: path, RawQuery: query, ForceQuery: hasQuery && query == ""}
	if err == nil && usual.EscapedPath() == path {
		return usual
	}
	return &url.URL{Scheme: u.Scheme(), Host: u.Host(), Opaque: "//" + u.Host() + request}
}

// sendable tells whether a validator may stand in a header: visible ASCII and spaces.
func sendable(value string) bool {
	if value == "" || len(value) > maxValidator {
		return false
	}
	for i := range len(value) {
		if value[i] < ' ' || value[i] > '~' {
			return false
		}
	}
	return true
}
