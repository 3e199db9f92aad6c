package exit_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/warrenmq/warren/cmd/warren/exit"
	"github.com/warrenmq/warren/libs/daemon"
	"github.com/warrenmq/warren/libs/mq"
	"github.com/warrenmq/warren/libs/sqldb"
)

// The libs' own errors bring their status with them, so that no main has to know them all.
func TestStatusOfTheLibsErrors(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err  error
		want int
	}{
		{mq.ErrLost, exit.Unreachable},
		{sqldb.ErrUnreachable, exit.Unreachable},
		{sqldb.ErrUnfit, exit.Usage},
		{exit.With(exit.Nothing, errors.New("no such crawl")), exit.Nothing},
		{errors.New("anything else"), exit.Unexpected},
	} {
		if got := daemon.Status(fmt.Errorf("run: %w", test.err)); got != test.want {
			t.Errorf("exit status of %v is %d, want %d", test.err, got, test.want)
		}
	}
}
