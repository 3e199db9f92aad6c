// Command warren is what people type: it sends seeds, shows how crawls go, exports pages, and shows
// how Warren sees one URL, one robots.txt or one page.
//
//  1. In: arguments, and the services' own settings from the environment.
//  2. One package per verb does the work; this one finds the verb and helps who mistypes it.
//  3. Out: data on standard output, all else on standard error, and an exit status that scripts can
//     rely on (package exit).
//
// The first Ctrl-C ends the work in hand in order; the second ends the process.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	"github.com/urfave/cli/v3"

	"github.com/warrenmq/warren/cmd/warren/export"
	"github.com/warrenmq/warren/cmd/warren/inspect"
	"github.com/warrenmq/warren/cmd/warren/seed"
	"github.com/warrenmq/warren/cmd/warren/status"
	"github.com/warrenmq/warren/cmd/warren/version"
	"github.com/warrenmq/warren/libs/daemon"
)

func main() {
	os.Exit(run(os.Args, os.Stdin, os.Stdout, os.Stderr))
}

// run is the whole command; it returns the exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, interrupted, stop := interruptible()
	defer stop()
	root := newRoot(logger(stderr))
	root.Reader, root.Writer, root.ErrWriter = stdin, stdout, stderr
	err := root.Run(ctx, args)
	if status := interrupted(); status != 0 && errors.Is(err, context.Canceled) {
		fmt.Fprintln(stderr, "warren: interrupted")
		return status
	}
	if err != nil {
		fmt.Fprintln(stderr, "warren:", err)
	}
	return daemon.Status(err)
}

// interruptible returns a context that the first signal ends, and a function that tells the exit
// status of that signal, 0 if there was none. A second signal has its usual effect.
func interruptible() (ctx context.Context, status func() int, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	var number atomic.Int32
	go func() {
		select {
		case s := <-signals:
			signal.Stop(signals)
			if s, ok := s.(syscall.Signal); ok {
				number.Store(128 + int32(s))
			}
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, func() int { return int(number.Load()) }, func() { signal.Stop(signals); cancel() }
}

// logger tells people what happens on the way: warnings only, and no time of day.
func logger(w io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{
		Level: slog.LevelWarn,
		ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return daemon.ReplaceSecrets(groups, a)
		},
	}))
}

func newRoot(log *slog.Logger) *cli.Command {
	root := &cli.Command{
		Name:                          "warren",
		Usage:                         "a web crawler over RabbitMQ and PostgreSQL",
		CustomRootCommandHelpTemplate: help,
		Commands: []*cli.Command{
			seed.Command(log), status.Command(log), export.Command(log), inspect.Command(), version.Command(),
		},
		Action: noVerb,
		// Errors are printed and turned into a status by run alone.
		ExitErrHandler: func(context.Context, *cli.Command, error) {},
	}
	teach(root)
	return root
}
