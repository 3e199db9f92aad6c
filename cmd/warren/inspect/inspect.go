// Package inspect is "warren inspect": how Warren sees one URL, one robots.txt or one page. The
// answers come from the very packages the services use, so they also serve as a conformance test.
//
//  1. In: one case as arguments and options, or with --batch many, one JSON object a line.
//  2. libs/weburl, libs/robots or services/parser is asked. Nothing is fetched.
//  3. Out: lines for people, with --json one JSON object; with --batch an object for each line
//     that came in, in the same order. What the web wrote is made harmless for a terminal.
package inspect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/warrenmq/warren/cmd/warren/exit"
	"github.com/warrenmq/warren/cmd/warren/term"
)

// Command is the verb. It reads the root command's Reader and writes to its Writer.
func Command() *cli.Command {
	return &cli.Command{
		Name:            "inspect",
		Usage:           "how Warren sees one URL, robots.txt or page",
		UsageText:       "warren inspect normalize|robots|links|charset [options] [arguments]",
		Description:     description,
		HideHelpCommand: true,
		Commands: []*cli.Command{
			normalize().command(), allowed().command(), links().command(), encoding().command(),
		},
		Action: func(_ context.Context, cmd *cli.Command) error {
			return exit.With(exit.Usage, fmt.Errorf("inspect %q: want normalize, robots, links or charset",
				term.Text(cmd.Args().First(), 80)))
		},
	}
}

const description = `Nothing is fetched: pages and robots.txt are files, or - for standard input.

With --batch each line of standard input is a JSON object, and each line of standard output its
answer:
   normalize {"url", "base"}                  {"url"}, null if it is no URL to crawl
   robots    {"file", "agent", "url"}         {"allowed"}
   links     {"file", "url", "content_type"}  {"base", "title", "canonical", "charset", "links"}
   charset   {"file", "content_type"}         {"encoding"}
A line that cannot be answered gets {"error"}, and the exit status is 2.

Examples:
   warren inspect normalize --base https://example.com/a/ ../b
   curl -s https://example.com/robots.txt | warren inspect robots --file - https://example.com/a
   warren inspect links --file page.html https://example.com/page`

// verb is one kind of question Q and its answer A; the JSON forms of both are public.
type verb[Q, A any] struct {
	cli.Command
	// ask makes the question of a single case from arguments and options.
	ask func(cmd *cli.Command) (Q, error)
	// answer opens files by load.
	answer func(q Q, load loader) (A, error)
	// show writes an answer for people.
	show func(w io.Writer, q Q, a A)
}

// loader reads the file of a name.
type loader func(name string) ([]byte, error)

func (v verb[Q, A]) command() *cli.Command {
	cmd := v.Command
	cmd.HideHelpCommand = true
	cmd.Flags = append(cmd.Flags,
		&cli.BoolFlag{Name: "json", Usage: "print the answer as JSON"},
		&cli.BoolFlag{Name: "batch", Usage: "answer each JSON object on standard input"})
	cmd.Action = func(ctx context.Context, cmd *cli.Command) error {
		if cmd.Bool("batch") {
			return v.batch(ctx, cmd)
		}
		return v.single(cmd)
	}
	return &cmd
}

func (v verb[Q, A]) single(cmd *cli.Command) error {
	root := cmd.Root()
	q, err := v.ask(cmd)
	if err != nil {
		return exit.With(exit.Usage, fmt.Errorf("%w; \"%s --help\" tells more", err, cmd.FullName()))
	}
	a, err := v.answer(q, func(name string) ([]byte, error) {
		if name == "-" {
			return io.ReadAll(root.Reader)
		}
		return os.ReadFile(name)
	})
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	if cmd.Bool("json") {
		return encode(root.Writer).Encode(a)
	}
	var out strings.Builder
	v.show(&out, q, a)
	_, err = io.WriteString(root.Writer, out.String())
	return err
}

// encode writes URLs as they are, not with \u0026 for "&".
func encode(w io.Writer) *json.Encoder {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e
}

// oneURL is the only argument of a verb.
func oneURL(cmd *cli.Command) (string, error) {
	if cmd.Args().Len() != 1 {
		return "", fmt.Errorf("%d arguments: want one URL", cmd.Args().Len())
	}
	return cmd.Args().First(), nil
}

// file is the option --file.
func file(cmd *cli.Command) (string, error) {
	if cmd.String("file") == "" {
		return "", errors.New("--file is missing: want a file's name, or - for standard input")
	}
	return cmd.String("file"), nil
}
