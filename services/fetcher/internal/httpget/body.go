package httpget

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// readBody fills in the body. It returns an error only if nothing can be kept.
func (w *watch) readBody(resp *Response, answer *http.Response, r Request) error {
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
	w.body, w.most = answer.Body, r.MaxBody+64<<10
	decoder, err := decode(w, answer.Header.Values("Content-Encoding"), func() error { return w.leave(r) })
	if err != nil {
		return err
	}
	defer decoder.close()
	resp.Encoded = decoder.unknown
	resp.Body, err = w.readAll(decoder, r)
	resp.Received = w.received
	switch {
	case int64(len(resp.Body)) > r.MaxBody:
		resp.Body, resp.Truncated = resp.Body[:r.MaxBody], CutSize
		return nil
	case err == nil:
		return nil
	case errors.Is(w.err, errMost):
		resp.Truncated = CutSize
		return nil
	}
	return w.broken(resp, err)
}

// readAll reads up to one byte more than the limit. Beyond Small it asks for leave.
func (w *watch) readAll(from io.Reader, r Request) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(from, min(Small, r.MaxBody)+1))
	if err != nil || len(body) <= Small || int64(len(body)) > r.MaxBody {
		return body, err
	}
	if err := w.leave(r); err != nil {
		return nil, err
	}
	rest := io.LimitReader(from, r.MaxBody+1-int64(len(body)))
	for {
		if len(body) == cap(body) {
			body = append(body, 0)[:len(body)]
		}
		n, err := rest.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		if errors.Is(err, io.EOF) {
			return body, nil
		}
		if err != nil {
			return body, err
		}
	}
}

// leave asks the caller, once for each response, whether much memory may be taken.
func (w *watch) leave(r Request) error {
	if w.asked || r.Large == nil {
		return nil
	}
	w.asked = true
	begin := time.Now()
	if err := r.Large(w.ctx); err != nil {
		return w.noLeave(err)
	}
	w.since = w.since.Add(time.Since(begin)) // nobody was reading: it did not drip
	return nil
}

// noLeave: that it took too long is not the server's fault.
func (w *watch) noLeave(err error) error {
	if errors.Is(context.Cause(w.ctx), errTotal) {
		return &Error{Reason: ReasonLocal, Err: err}
	}
	return err
}

// broken decides what becomes of a body that broke off. An answer that is not 2xx is a fact by its
// status; of a 2xx at least something of the body must have come.
func (w *watch) broken(resp *Response, err error) error {
	if known := (*Error)(nil); errors.As(err, &known) || context.Cause(w.ctx) != nil {
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
