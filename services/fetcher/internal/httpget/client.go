// Package httpget asks a server one thing once, and survives every answer.
//
//  1. One GET, over HTTP/1.1 or HTTP/2, by a dialler that the caller guards. No redirect is followed,
//     no cookie, Referer or Authorization is sent, no proxy of the environment is used.
//  2. Deadlines for connecting, for the whole header, between two reads and for the whole; a least
//     rate for bodies that drip.
//  3. gzip, br, zstd and deflate are decoded here, at most two deep, and the size is capped after
//     decoding: what is longer is cut and marked.
//  4. What comes back is a [Response], an [*Error] with a short reason, or the error of a context
//     that ended. A body that broke off is no error if there is something to keep.
package httpget

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/http/httptrace"
	"syscall"
	"time"

	"github.com/warrenmq/warren/libs/weburl"
)

// Limits bound one exchange. All must be above zero.
type Limits struct {
	Connect   time.Duration // for DNS and the TCP connection, and again for the TLS handshake
	Header    time.Duration // from the start until the header is read
	Idle      time.Duration // between two reads of the body
	Total     time.Duration // from the start until the body is read
	MinRate   int64         // bytes a second on average, asked for once Idle has passed
	MaxHeader int64         // bytes
	MaxBody   int64         // bytes after decoding
	IdleConns int           // connections kept open for later
	PerHost   int           // of them, for each host
}

// Dialling says how connections are made.
type Dialling struct {
	Control  func(network, address string, conn syscall.RawConn) error // the guard; must not be nil
	Resolver *net.Resolver                                             // nil: the system's
	RootCAs  *x509.CertPool                                            // nil: the system's
}

// Client sends requests. It is safe for concurrent use.
type Client struct {
	userAgent string
	limits    Limits
	transport *http.Transport
}

// Request is what to ask for. ETag and LastModified make it conditional.
type Request struct {
	URL          weburl.URL
	ETag         string
	LastModified string
	MaxBody      int64  // 0: the client's limit
	Sent         func() // called when the request is on the wire, on any goroutine; may be nil
	Answered     func() // called at the first byte of the answer, likewise
	// Large is called once if the body grows beyond Small or its coding declares a window of more
	// than 1 MiB, and holds it up until it returns: the caller may bound how many such bodies are in
	// memory. May be nil.
	Large func(context.Context) error
}

// Small is the size up to which a body is read without asking, in bytes.
const Small = 256 << 10

// Response is what came. Body is decoded, unless Encoded says it could not be.
type Response struct {
	Code      int
	Proto     string
	Remote    string // address and port
	Header    http.Header
	Body      []byte
	Received  int64         // bytes of body off the wire
	Truncated string        // "": whole; CutSize, CutEOF, CutEncoding
	Encoded   bool          // a coding we do not know: Body is as it came
	Latency   time.Duration // from the start until the header was read
	Took      time.Duration // from the start until the body was read
}

// How a body came to be incomplete.
const (
	CutSize     = "size"     // longer than the limit
	CutEOF      = "eof"      // the connection ended early
	CutEncoding = "encoding" // the compressed data is broken
)

// New returns a client. Close it.
func New(userAgent string, limits Limits, dialling Dialling) *Client {
	dialer := &net.Dialer{
		Timeout:  limits.Connect,
		Control:  dialling.Control,
		Resolver: dialling.Resolver,
	}
	return &Client{userAgent: userAgent, limits: limits, transport: &http.Transport{
		Proxy:                  nil, // a proxy would connect where the guard cannot see
		DialContext:            dialer.DialContext,
		TLSClientConfig:        &tls.Config{RootCAs: dialling.RootCAs, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    limits.Connect,
		DisableCompression:     true, // the standard library would decode gzip without a limit
		MaxIdleConns:           limits.IdleConns,
		MaxIdleConnsPerHost:    limits.PerHost,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: limits.MaxHeader,
		ForceAttemptHTTP2:      true, // a dialler of one's own turns it off otherwise
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: limits.Idle, PingTimeout: limits.Idle},
	}}
}

// Close closes the connections that are idle.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// Get sends the request and reads the answer.
func (c *Client) Get(ctx context.Context, r Request) (*Response, error) {
	watch, ctx := newWatch(ctx, c.limits)
	defer watch.stop()
	answer, err := c.transport.RoundTrip(c.request(httptrace.WithClientTrace(ctx, watch.trace(r)), r))
	if err == nil && (answer.StatusCode < 200 || answer.StatusCode > 999) {
		answer.Body.Close()
		err = &Error{Reason: ReasonProtocol, Err: errStatus}
	}
	if err != nil {
		return nil, watch.explain(err)
	}
	defer answer.Body.Close()
	watch.headerRead()
	resp := &Response{Code: answer.StatusCode, Proto: answer.Proto, Header: answer.Header, Latency: time.Since(watch.start)}
	resp.Remote, _ = watch.remote.Load().(string)
	if r.MaxBody == 0 {
		r.MaxBody = c.limits.MaxBody
	}
	if err := watch.readBody(resp, answer, r); err != nil {
		return nil, err
	}
	resp.Took = time.Since(watch.start)
	return resp, nil
}
