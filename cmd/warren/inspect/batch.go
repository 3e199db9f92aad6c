package inspect

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/urfave/cli/v3"

	"github.com/warrenmq/warren/cmd/warren/exit"
)

// maxLine is the longest line of a batch, in bytes: URLs of a megabyte are among the cases.
const maxLine = 16 << 20

// batch answers every line, in order. A line that cannot be answered is answered with its error, so
// that the n-th answer always belongs to the n-th line.
func (v verb[Q, A]) batch(ctx context.Context, cmd *cli.Command) error {
	if cmd.Args().Present() {
		return exit.With(exit.Usage, errors.New("--batch takes no arguments"))
	}
	out := bufio.NewWriter(cmd.Root().Writer)
	answers := encode(out)
	lines := bufio.NewScanner(cmd.Root().Reader)
	lines.Buffer(nil, maxLine)
	bad, n := 0, 0
	for lines.Scan() {
		if err := ctx.Err(); err != nil {
			return errors.Join(err, out.Flush())
		}
		n++
		var answer any
		a, err := v.line(lines.Bytes())
		if answer = a; err != nil {
			bad++
			answer = failure{err.Error()}
		}
		if err := answers.Encode(answer); err != nil {
			return fmt.Errorf("write answer %d: %w", n, err)
		}
	}
	if err := errors.Join(lines.Err(), out.Flush()); err != nil {
		return exit.With(exit.Usage, fmt.Errorf("after line %d: %w", n, err))
	}
	if bad > 0 {
		return exit.With(exit.Usage, fmt.Errorf("%d of %d lines could not be answered", bad, n))
	}
	return nil
}

type failure struct {
	Error string `json:"error"`
}

func (v verb[Q, A]) line(text []byte) (a A, err error) {
	var q Q
	if err := json.Unmarshal(bytes.TrimSpace(text), &q); err != nil {
		return a, fmt.Errorf("read the line: %w", err)
	}
	return v.answer(q, os.ReadFile)
}
