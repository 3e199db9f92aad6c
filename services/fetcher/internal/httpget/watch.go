package httpget

import (
	"context"
	"io"
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
	asked    bool      // Request.Large was called
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
