package rabbit

import (
	"context"
	"sync"
)

// gate holds publishers back while the broker is in alarm.
type gate struct {
	mu     sync.Mutex
	opened chan struct{} // closed while the gate is open
	cause  error         // why it is shut, nil while open
}

func newGate() *gate {
	g := &gate{opened: make(chan struct{})}
	close(g.opened)
	return g
}

func (g *gate) shut(cause error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.cause == nil {
		g.opened = make(chan struct{})
	}
	g.cause = cause
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.cause != nil {
		close(g.opened)
	}
	g.cause = nil
}

func (g *gate) why() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.cause
}

// wait returns nil when the gate is open, or the error of the first context that ended.
func (g *gate) wait(session, caller context.Context) error {
	g.mu.Lock()
	opened := g.opened
	g.mu.Unlock()
	select {
	case <-opened:
		return nil
	case <-session.Done():
		return context.Cause(session)
	case <-caller.Done():
		return caller.Err()
	}
}
