// Package exit is what the warren command's exit status says. Scripts rely on it, so a status never
// changes its meaning.
package exit

import "github.com/warrenmq/warren/libs/daemon"

// The statuses.
const (
	Done        = daemon.StatusDone        // all that was asked for is done
	Unexpected  = daemon.StatusUnexpected  // a bug, or a disk that is full
	Usage       = daemon.StatusSettings    // an argument, an input line or a setting is wrong
	Limit       = 4                        // the time given is over first
	Unreachable = daemon.StatusUnreachable // broker, database or dedup cannot be reached
	Nothing     = 6                        // there is no such crawl, URL or page; there was nothing to send
	Interrupted = 130                      // by Ctrl-C; 143 by SIGTERM
)

// With gives err its exit status.
func With(status int, err error) error { return &daemon.ExitError{Status: status, Err: err} }
