package httpget

import (
	"crypto/tls"
	"net"
	"net/http/httptrace"
	"sync/atomic"
)

// trace follows one exchange, and keeps it one. net/http sends a GET again by itself if a connection
// that was used before ends without an answer, or if an HTTP/2 server refuses the stream: such a
// request would be in nobody's pace. A connection that is found dead before anything is written may
// be replaced.
func (w *watch) trace(r Request) *httptrace.ClientTrace {
	var wrote atomic.Bool
	return &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) {
			if wrote.Load() {
				w.forbid(info.Conn)
				return
			}
			w.remote.Store(info.Conn.RemoteAddr().String())
		},
		WroteRequest: func(info httptrace.WroteRequestInfo) {
			// Not for a second time: net/http says so before it flushes into a closed connection.
			if info.Err == nil && !wrote.Swap(true) && r.Sent != nil {
				r.Sent()
			}
		},
		GotFirstResponseByte: r.Answered,
	}
}

// forbid ends the exchange before it writes to conn. HTTP/2 looks at the context right before it
// writes, and its connection is shared. HTTP/1.1 does not look, but nobody else has its connection.
func (w *watch) forbid(conn net.Conn) {
	w.cancel(errReplay)
	if secure, ok := conn.(*tls.Conn); ok && secure.ConnectionState().NegotiatedProtocol == "h2" {
		return
	}
	_ = conn.Close()
}
