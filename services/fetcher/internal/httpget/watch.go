package httpget

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// maxDrain is how much of a body that nobody wants is read, in bytes.
const maxDrain = 16 << 10

// watch holds one exchange to its limits: it ends the exchange's context, with the limit as the
// cause, so that whatever blocks stops. It is also the reader of the body off the wire.
type watch struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	limits Limits
	start  time.Time
	total  *time.Timer
	header *time.Timer
	idle   *time.Timer
	remote atomic.Value // string

	body     io.Reader
	since    time.Time // when the body could be read
	most     int64     // bytes to read off the wire at most
	received int64
	err      error // what ended the body, io.EOF if it is whole
}

func newWatch(parent context.Context, limits Limits) (*watch, context.Context) {
	ctx, cancel := context.WithCancelCause(parent)
	w := &watch{ctx: ctx, cancel: cancel, limits: limits, start: time.Now()}
	w.total = time.AfterFunc(limits.Total, func() { cancel(errTotal) })
	w.header = time.AfterFunc(limits.Header, func() { cancel(errHeader) })
	return w, ctx
}

func (w *watch) headerRead() {
	w.header.Stop()
	w.since = time.Now()
}

func (w *watch) stop() {
	w.total.Stop()
	w.header.Stop()
	if w.idle != nil {
		w.idle.Stop()
	}
	w.cancel(nil)
}

// Read reads the body off the wire, and remembers how it ended: a decoder would wrap or hide it.
func (w *watch) Read(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	if w.received >= w.most {
		w.err = errMost
		return 0, w.err
	}
	if w.idle == nil {
		w.idle = time.AfterFunc(w.limits.Idle, func() { w.cancel(errIdle) })
	} else {
		w.idle.Reset(w.limits.Idle)
	}
	n, err := w.body.Read(p[:min(int64(len(p)), w.most-w.received)])
	w.idle.Stop()
	w.received += int64(n)
	if err == nil && w.slow() {
		w.cancel(errSlow)
		err = errSlow
	}
	w.err = err
	return n, err
}

// slow tells whether the body drips. The first Idle of a body is free.
func (w *watch) slow() bool {
	since := time.Since(w.since)
	return since > w.limits.Idle && float64(w.received) < float64(w.limits.MinRate)*since.Seconds()
}

// readBody fills in the body. It returns an error only if nothing can be kept.
func (w *watch) readBody(resp *Response, answer *http.Response, limit int64) error {
	if answer.StatusCode/100 == 3 && answer.Header.Get("Location") != "" {
		// The target is the fact; the body may be a bomb. A little of it is read, as it came, so
		// that the connection can be used again.
		w.body, w.most = answer.Body, maxDrain
		_, _ = io.Copy(io.Discard, w)
		resp.Received = w.received
		return nil
	}
	// Compressed data is shorter than what it stands for, but for a little; a stream of empty
	// blocks has no end though it yields nothing.
	w.body, w.most = answer.Body, limit+64<<10
	decoder, err := decode(w, answer.Header.Values("Content-Encoding"))
	if err != nil {
		return err
	}
	defer decoder.close()
	resp.Encoded = decoder.unknown
	resp.Body, err = io.ReadAll(io.LimitReader(decoder, limit+1))
	resp.Received = w.received
	switch {
	case int64(len(resp.Body)) > limit:
		resp.Body, resp.Truncated = resp.Body[:limit], CutSize
		return nil
	case err == nil:
		return nil
	case errors.Is(w.err, errMost):
		resp.Truncated = CutSize
		return nil
	}
	return w.broken(resp, err)
}

// broken decides what becomes of a body that broke off. An answer that is not 2xx is a fact by its
// status; of a 2xx at least something of the body must have come.
func (w *watch) broken(resp *Response, err error) error {
	if context.Cause(w.ctx) != nil {
		return w.explain(err)
	}
	resp.Truncated = CutEOF
	reason := ReasonTruncated
	if (w.err == nil || errors.Is(w.err, io.EOF)) && !errors.Is(err, io.ErrUnexpectedEOF) {
		resp.Truncated, reason = CutEncoding, ReasonEncoding
	}
	if len(resp.Body) == 0 && resp.Code/100 == 2 {
		return &Error{Reason: reason, Err: err}
	}
	return nil
}
