package inspect_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/urfave/cli/v3"

	"github.com/warrenmq/warren/cmd/warren/inspect"
	"github.com/warrenmq/warren/libs/daemon"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"warren": func() {
		err := warren(os.Stdin, os.Stdout, os.Args...)
		if err != nil {
			fmt.Fprintln(os.Stderr, "warren:", err)
		}
		os.Exit(daemon.Status(err))
	}})
}

// warren is the command with no other verb.
func warren(stdin io.Reader, stdout io.Writer, args ...string) error {
	root := &cli.Command{
		Name: "warren", Commands: []*cli.Command{inspect.Command()}, Reader: stdin, Writer: stdout,
		ExitErrHandler: func(context.Context, *cli.Command, error) {},
	}
	return root.Run(context.Background(), args)
}

func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{Dir: "testdata/script", RequireExplicitExec: true, RequireUniqueNames: true})
}

type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestWriteErrors(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"normalize", "http://h/"}, {"normalize", "--json", "http://h/"}, {"normalize", "--batch"},
	} {
		err := warren(strings.NewReader(`{"url":"http://h/"}`), closed{}, append([]string{"warren", "inspect"}, args...)...)
		if !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("%q: %v", args, err)
		}
	}
}

// FuzzBatch: whatever comes in, each line has one answer of one line.
func FuzzBatch(f *testing.F) {
	f.Add("normalize", `{"url":"http://h/","base":null}`)
	f.Add("robots", `{"file":"/dev/null","url":"/a"}`)
	f.Add("charset", "{}\n\n[]\r\nnull\n\"\n")
	f.Fuzz(func(t *testing.T, verb, in string) {
		if verb != "normalize" && strings.Contains(in, "/dev/") && !strings.Contains(in, "/dev/null") {
			return // some devices never end
		}
		var out strings.Builder
		_ = warren(strings.NewReader(in), &out, "warren", "inspect", verb, "--batch")
		want := strings.Count(in, "\n")
		if in != "" && !strings.HasSuffix(in, "\n") {
			want++
		}
		got := strings.Count(out.String(), "\n")
		switch verb {
		case "normalize", "robots", "links", "charset":
			if got != want {
				t.Errorf("%d answers for %d lines: %q", got, want, out.String())
			}
		}
	})
}
