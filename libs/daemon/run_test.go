package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"testing"
)

func testDaemon() *Daemon {
	return &Daemon{Name: "test", Log: slog.New(slog.DiscardHandler), ready: &readiness{}}
}

// diary notes what happens in which order.
type diary struct {
	mu    sync.Mutex
	lines []string
}

func (d *diary) note(line string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, line)
}

func TestRunStopsTheServiceFirst(t *testing.T) {
	t.Parallel()
	var diary diary
	ctx, stop := context.WithCancel(t.Context())
	under := func(ctx context.Context) error {
		<-ctx.Done()
		diary.note("under ends")
		return ctx.Err()
	}
	err := testDaemon().Run(ctx, func(ctx context.Context) error {
		stop()
		<-ctx.Done()
		diary.note("service ends")
		return ctx.Err()
	}, under, under)
	if err != nil {
		t.Errorf("Run: %v, want nil: it was told to stop", err)
	}
	if want := []string{"service ends", "under ends", "under ends"}; !slices.Equal(diary.lines, want) {
		t.Errorf("order is %q, want %q", diary.lines, want)
	}
}

func TestRunErrors(t *testing.T) {
	t.Parallel()
	var (
		errService = errors.New("service broke")
		errUnder   = errors.New("bus broke")
	)
	returns := func(err error) func(context.Context) error {
		return func(context.Context) error { return err }
	}
	tests := []struct {
		name           string
		service, under func(context.Context) error
		want           error
		status         int
	}{
		{"done", returns(nil), untilDone, nil, 0},
		{"service fails", returns(errService), untilDone, errService, 1},
		{"bus fails", untilDone, returns(errUnder), errUnder, 5},
		{"bus fails and so the service", func(ctx context.Context) error { <-ctx.Done(); return errService }, returns(errUnder), errUnder, 5},
		{"bus knows its status", untilDone, returns(BadSettings(errUnder)), errUnder, 2},
		{"bus ends too early", untilDone, returns(nil), nil, 5},
		{"bus fails in stopping", returns(errService), func(ctx context.Context) error { <-ctx.Done(); return errUnder }, errService, 1},
		{"service panics", func(context.Context) error { panic(1) }, untilDone, nil, 1},
		{"bus panics", untilDone, func(context.Context) error { panic(1) }, nil, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			err := testDaemon().Run(t.Context(), test.service, test.under)
			if test.want != nil && !errors.Is(err, test.want) {
				t.Errorf("Run: %v, want %v", err, test.want)
			}
			if got := Status(err); got != test.status {
				t.Errorf("exit status %d of %v, want %d", got, err, test.status)
			}
		})
	}
}

type busError struct{}

func (busError) Error() string   { return "broker is lost" }
func (busError) ExitStatus() int { return 5 }

func TestStatus(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = listener.Close()
	_, refused := net.Dial("tcp", listener.Addr().String())
	for _, test := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{errors.New("x"), 1},
		{BadSettings(errors.New("x")), 2},
		{fmt.Errorf("open database: %w", Unreachable(errors.New("x"))), 5},
		{fmt.Errorf("open database: %w", refused), 5},
		{fmt.Errorf("run bus: %w", busError{}), 5},
		{errors.Join(errors.New("x"), BadSettings(errors.New("y"))), 2},
	} {
		if got := Status(test.err); got != test.want {
			t.Errorf("Status(%v) = %d, want %d", test.err, got, test.want)
		}
	}
	if Unreachable(nil) != nil || BadSettings(nil) != nil {
		t.Error("no error was made one")
	}
}
