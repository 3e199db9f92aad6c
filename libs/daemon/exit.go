package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime/debug"
)

// Exit statuses.
const (
	StatusDone        = 0
	StatusUnexpected  = 1
	StatusSettings    = 2
	StatusUnreachable = 5
)

// ExitError is an error that knows the process's exit status.
type ExitError struct {
	Status int
	Err    error
}

func (e *ExitError) Error() string { return e.Err.Error() }

// Unwrap returns the error that was marked.
func (e *ExitError) Unwrap() error { return e.Err }

// ExitStatus is what [Status] looks for; other packages' errors may have it too.
func (e *ExitError) ExitStatus() int { return e.Status }

// BadSettings marks err so that the process exits with 2: trying again is of no use.
func BadSettings(err error) error { return exitError(StatusSettings, err) }

// Unreachable marks err so that the process exits with 5: the broker or the database is away.
func Unreachable(err error) error { return exitError(StatusUnreachable, err) }

func exitError(status int, err error) error {
	if err == nil {
		return nil
	}
	return &ExitError{Status: status, Err: err}
}

// Status is the exit status of an error: that of the first in its chain with a method
// ExitStatus() int; 5 for a connection that could not be made; else 1. 0 for nil.
func Status(err error) int {
	if err == nil {
		return StatusDone
	}
	if status, ok := ownStatus(err); ok {
		return status
	}
	return StatusUnexpected
}

func ownStatus(err error) (status int, ok bool) {
	var known interface {
		error
		ExitStatus() int
	}
	if errors.As(err, &known) {
		return known.ExitStatus(), true
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return StatusUnreachable, true
	}
	return 0, false
}

// guard turns a panic of f into an error with its stack: Go's own exit status for a panic is 2,
// which here says "bad settings", and the log line of a panic is not JSON.
func guard(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = exitError(StatusUnexpected, fmt.Errorf("panic: %v\n%s", v, debug.Stack()))
		}
	}()
	return f()
}

// guarded is guard for a function of a context.
func guarded(ctx context.Context, f func(context.Context) error) error {
	return guard(func() error { return f(ctx) })
}
