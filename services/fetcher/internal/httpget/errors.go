package httpget

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"

	"github.com/warrenmq/warren/services/fetcher/internal/guard"
)

// Reasons why there is no response. They are few, so that they can be a metric's label, and they are
// what people read as the reason of a failed URL.
const (
	ReasonRefused     = "address refused" // by the guard: for ever
	ReasonLayers      = "too many content codings"
	ReasonDNS         = "dns"
	ReasonNoHost      = "no such host"
	ReasonConnRefused = "connection refused"
	ReasonUnreachable = "unreachable"
	ReasonConnect     = "connect timeout"
	ReasonTLS         = "tls"
	ReasonCertificate = "certificate"
	ReasonHeader      = "header timeout"
	ReasonTotal       = "timeout"
	ReasonIdle        = "stalled"
	ReasonSlow        = "too slow"
	ReasonReset       = "connection reset"
	ReasonClosed      = "connection closed"
	ReasonBigHeader   = "header too large"
	ReasonProtocol    = "protocol"
	ReasonTruncated   = "truncated"
	ReasonEncoding    = "encoding"
	ReasonNetwork     = "network"
	ReasonLocal       = "out of local resources" // file descriptors, memory: nobody's fault out there
)

// Error says why there is no response.
type Error struct {
	Reason string
	Err    error
}

func (e *Error) Error() string { return e.Reason + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Permanent tells whether asking again is of no use.
func (e *Error) Permanent() bool { return e.Reason == ReasonRefused || e.Reason == ReasonLayers }

// HostFault tells whether the error says something about the host and not about one URL of it.
func (e *Error) HostFault() bool {
	switch e.Reason {
	case ReasonLocal, ReasonRefused, ReasonLayers, ReasonTruncated, ReasonEncoding, ReasonBigHeader, ReasonProtocol, ReasonSlow:
		return false
	}
	return true
}

// Causes with which a watch ends its context.
var (
	errHeader = errors.New("header did not come in time")
	errTotal  = errors.New("answer did not come in time")
	errIdle   = errors.New("body stalled")
	errSlow   = errors.New("body drips")
	errMost   = errors.New("body is longer than the limit")
	errStatus = errors.New("status is no final one")
	errReplay = errors.New("connection closed after the request was sent")
)

// explain makes an *Error of err, or returns the error of a caller's context that ended.
func (w *watch) explain(err error) error {
	var known *Error
	if errors.As(err, &known) {
		return known
	}
	switch cause := context.Cause(w.ctx); {
	case cause == nil:
		return &Error{Reason: classify(err), Err: err}
	case errors.Is(cause, errHeader):
		return &Error{Reason: ReasonHeader, Err: cause}
	case errors.Is(cause, errTotal):
		return &Error{Reason: ReasonTotal, Err: cause}
	case errors.Is(cause, errIdle):
		return &Error{Reason: ReasonIdle, Err: cause}
	case errors.Is(cause, errSlow):
		return &Error{Reason: ReasonSlow, Err: cause}
	case errors.Is(cause, errReplay):
		return &Error{Reason: ReasonClosed, Err: cause}
	default:
		return cause
	}
}

// classify finds the reason. The order matters: what wraps is asked for before what is wrapped.
func classify(err error) string {
	var (
		refused     *guard.Refused
		dns         *net.DNSError
		certificate *tls.CertificateVerificationError
		record      tls.RecordHeaderError
		alert       tls.AlertError
		operation   *net.OpError
	)
	for _, local := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM} {
		if errors.Is(err, local) {
			return ReasonLocal
		}
	}
	dialling := errors.As(err, &operation) && operation.Op == "dial"
	switch {
	case errors.As(err, &refused):
		return ReasonRefused
	case errors.As(err, &dns) && dns.IsNotFound:
		return ReasonNoHost
	case errors.As(err, &dns):
		return ReasonDNS
	case errors.As(err, &certificate):
		return ReasonCertificate
	case errors.As(err, &record), errors.As(err, &alert):
		return ReasonTLS
	case errors.Is(err, syscall.ECONNREFUSED):
		return ReasonConnRefused
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.EADDRNOTAVAIL):
		return ReasonUnreachable
	case dialling && operation.Timeout():
		return ReasonConnect
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return ReasonReset
	}
	return classifyText(err)
}

// classifyText goes by the text where net/http has no error of its own to ask for.
func classifyText(err error) string {
	text := err.Error()
	for _, known := range []struct{ part, reason string }{
		{"headers exceeded", ReasonBigHeader},
		{"header list larger", ReasonBigHeader},
		{"TLS handshake", ReasonTLS},
		{"tls: ", ReasonTLS},
		{"malformed", ReasonProtocol},
		{"http2: ", ReasonProtocol},
		{"stream error", ReasonProtocol},
		{"connection error", ReasonProtocol},
		{"too many 1xx", ReasonProtocol},
		{"Content-Length", ReasonProtocol},
		{"transfer encoding", ReasonProtocol},
		{"server closed", ReasonClosed},
	} {
		if strings.Contains(text, known.part) {
			return known.reason
		}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return ReasonClosed
	}
	return ReasonNetwork
}
