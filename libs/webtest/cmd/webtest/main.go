// Command webtest serves the little web of package webtest, and its admin handler on a port of its own.
//
// In a container give it the hosts' names as network aliases, or point a DNS wildcard *.web.test at it.
// It prints one line when it is ready, and ends on SIGTERM or Ctrl-C.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); errors.Is(err, flag.ErrHelp) {
		return
	} else if err != nil {
		fmt.Fprintln(os.Stderr, "webtest:", err)
		stop()
		os.Exit(1)
	}
}
