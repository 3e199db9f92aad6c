package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/warrenmq/warren/cmd/warren/exit"
	"github.com/warrenmq/warren/cmd/warren/term"
)

// brief is what "warren" alone says.
const brief = `Warren crawls the web with many small services over RabbitMQ and PostgreSQL.

   warren seed https://example.com/     start to crawl one host
   warren status                        how it goes, which hosts wait and why

Commands: seed, status, export (pages as JSON lines or CSV), inspect (how Warren sees
one URL, robots.txt or page), version. More: warren --help, warren COMMAND --help
`

// help is what "warren --help" says: a template of package cli without a variable part but the list
// of commands.
const help = `warren: crawls the web with many small services over RabbitMQ and PostgreSQL.
The services do the work; this command talks to them.

USAGE
   warren COMMAND [options] [arguments]

EXAMPLES
   warren seed https://example.com/                   start to crawl one host
   warren seed --crawl docs --pages 500 --delay 2s https://docs.example.com/
   warren status --crawl docs --wait                  until it has ended
   warren export --crawl docs | jq -r .title

COMMANDS{{range .VisibleCommands}}
   {{printf "%-10s" .Name}}{{.Usage}}{{end}}

   warren COMMAND --help tells a command's options, settings and examples.

SETTINGS
   Environment variables, the same as the services': WARREN_AMQP_URLS (seed),
   WARREN_DEDUP_URL (status), WARREN_DATABASE_URL (export). NO_COLOR: no colours.

OUTPUT
   Data goes to standard output, all else to standard error. --json is for programs.

EXIT STATUS
   0 done                          5 broker, database or dedup cannot be reached
   1 unexpected                    6 no such crawl, URL or page; nothing to send
   2 an argument, an input line    130 interrupted (143: terminated)
     or a setting is wrong
   4 the time given was over first
`

// noVerb runs when no command of that name exists, or none was named.
func noVerb(_ context.Context, cmd *cli.Command) error {
	if !cmd.Args().Present() {
		_, err := io.WriteString(cmd.Writer, brief)
		return err
	}
	name := cmd.Args().First()
	return exit.With(exit.Usage, fmt.Errorf("%q is no command%s; \"warren --help\" lists them",
		term.Text(name, 80), didYouMean(cli.SuggestCommand(cmd.Commands, name))))
}

// teach makes every command answer a wrong flag with the one that was perhaps meant, and not with
// its whole help, in which the error would be lost.
func teach(cmd *cli.Command) {
	cmd.OnUsageError = usageError
	for _, c := range cmd.Commands {
		teach(c)
	}
}

func usageError(_ context.Context, cmd *cli.Command, err error, _ bool) error {
	hint := ""
	if _, flag, ok := strings.Cut(err.Error(), "flag provided but not defined: -"); ok {
		hint = didYouMean(cli.SuggestFlag(cmd.Flags, strings.TrimLeft(flag, "-"), false))
		err = fmt.Errorf("there is no option --%s", term.Text(strings.TrimLeft(flag, "-"), 80))
	} else {
		err = errors.New(term.Text(err.Error(), 500))
	}
	return exit.With(exit.Usage, fmt.Errorf("%w%s; \"%s --help\" lists them", err, hint, cmd.FullName()))
}

func didYouMean(name string) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf(". Did you mean %q?", name)
}
