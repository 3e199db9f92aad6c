package daemon

import (
	"context"
	"errors"
	"sync"
)

// Run runs service until it returns, on top of what lies under it.
//
//   - under (the bus, …) get a context that ends only after service has returned, so that a service
//     that drains can still publish and settle. Run waits for all of them.
//   - If one of under returns first, with an error or without, the service's context ends and Run
//     returns that error, with exit status 5 unless the error has one of its own: what lies under a
//     service is its way to the broker or the database.
//   - Otherwise Run returns the service's error; "context canceled" after a signal is no error.
//
// Run is called once. /readyz is false before it and from the first signal on.
func (d *Daemon) Run(ctx context.Context, service func(context.Context) error, under ...func(context.Context) error) error {
	serviceCtx, stopService := context.WithCancelCause(ctx)
	defer stopService(nil)
	underCtx, stopUnder := context.WithCancel(context.WithoutCancel(ctx))
	defer stopUnder()

	var running sync.WaitGroup
	for _, f := range under {
		running.Go(func() {
			if err := d.below(underCtx, f); err != nil {
				stopService(err)
			}
		})
	}
	d.ready.start()
	err := guarded(serviceCtx, service)
	d.ready.drain()
	cause := context.Cause(serviceCtx) // before stopUnder: what fails in stopping is not the reason
	stopUnder()
	running.Wait()

	var lost *underError
	if errors.As(cause, &lost) {
		return lost.Err
	}
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return nil
	}
	return err
}

// underError tells an error of what lies under the service from any other end of its context.
type underError struct{ Err error }

func (e *underError) Error() string { return e.Err.Error() }

// below runs f. Its return before underCtx has ended takes the service down.
func (d *Daemon) below(underCtx context.Context, f func(context.Context) error) error {
	err := guarded(underCtx, f)
	switch {
	case underCtx.Err() != nil: // in order: the service has returned before
		if err != nil && !errors.Is(err, context.Canceled) {
			d.Log.Warn("stopping what lies under the service", "error", err)
		}
		return nil
	case err == nil:
		err = errors.New("what lies under the service has stopped by itself")
	}
	if _, ok := ownStatus(err); !ok {
		err = Unreachable(err)
	}
	return &underError{err}
}
