// Package export is "warren export": the stored pages as JSON lines or CSV.
//
//  1. In: store's tables in PostgreSQL at WARREN_DATABASE_URL, read only.
//  2. Each page once, as of its latest visit that brought something.
//  3. Out: standard output, or with --out a file that appears when it is whole.
package export

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/urfave/cli/v3"

	"github.com/warrenmq/warren/cmd/warren/exit"
	"github.com/warrenmq/warren/cmd/warren/term"
	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/daemon"
	"github.com/warrenmq/warren/libs/sqldb"
	"github.com/warrenmq/warren/services/store/export"
	"github.com/warrenmq/warren/services/store/postgres"
)

const description = `One page a line: url, status, content_type, fetched_at, title, description, language, text,
links, sha256, and with --body the body in base64. In CSV the links are joined by spaces, and
a value that a spreadsheet could run as a formula gets a ' in front; JSON lines are exact.

Settings are store's own: WARREN_DATABASE_URL, WARREN_DATABASE_PASSWORD_FILE, … The database
is tried 3 times (WARREN_DATABASE_ATTEMPTS).

Examples:
   warren export | jq -r .title
   warren export --format csv --crawl docs --out docs.csv`

// Command is the verb.
func Command(log *slog.Logger) *cli.Command {
	return &cli.Command{
		Name:            "export",
		Usage:           "the stored pages as JSON lines or CSV",
		UsageText:       "warren export [options]",
		Description:     description,
		HideHelpCommand: true,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "format", Value: export.FormatJSONL, Usage: "jsonl or csv"},
			&cli.StringFlag{Name: "crawl", Usage: "only the crawl `NAME`"},
			&cli.BoolFlag{Name: "body", Usage: "with the body of each page"},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "write to `FILE`; it is replaced when all is written"},
		},
		Action: func(ctx context.Context, cmd *cli.Command) error { return act(ctx, cmd, log) },
	}
}

// attempts is how often the database is tried. A service tries for ever; a person waits.
const attempts = 3

func act(ctx context.Context, cmd *cli.Command, log *slog.Logger) error {
	options := export.Options{Crawl: cmd.String("crawl"), Body: cmd.Bool("body")}
	if err := checkArguments(cmd); err != nil {
		return exit.With(exit.Usage, err)
	}
	settings := struct{ Database sqldb.Config }{sqldb.DefaultConfig()}
	settings.Database.Attempts = attempts
	settings.Database.ApplicationName = "warren export"
	if err := daemon.Load(log, &settings); err != nil {
		return err
	}
	pool, err := sqldb.Open(ctx, settings.Database, log)
	if err != nil {
		return fmt.Errorf("open database: %w", err)
	}
	defer pool.Close()

	to, err := newTarget(cmd.String("out"), cmd.Root().Writer)
	if err != nil {
		return err
	}
	n, err := write(ctx, to, cmd.String("format"), postgres.NewReader(pool), options)
	switch {
	case errors.Is(err, export.ErrNoTables):
		err = exit.With(exit.Nothing, err)
	case sqldb.Transient(err):
		err = exit.With(exit.Unreachable, err)
	case err == nil && n == 0:
		err = exit.With(exit.Nothing, nothing(options.Crawl))
	}
	if err != nil {
		return errors.Join(err, to.discard())
	}
	return to.keep()
}

func checkArguments(cmd *cli.Command) error {
	if cmd.Args().Present() {
		return fmt.Errorf("argument %q: export takes none", term.Text(cmd.Args().First(), 80))
	}
	if cmd.IsSet("crawl") {
		if err := contract.CheckCrawlName(cmd.String("crawl")); err != nil {
			return err
		}
	}
	_, err := export.NewWriter(cmd.String("format"), io.Discard, export.Options{})
	return err
}

func nothing(crawl string) error {
	if crawl == "" {
		return errors.New("no page is stored yet")
	}
	return fmt.Errorf("no page is stored of a crawl %s", crawl)
}

// write exports everything and returns how many pages that was.
func write(ctx context.Context, to io.Writer, format string, source export.Source, options export.Options) (n int, err error) {
	writer, err := export.NewWriter(format, to, options)
	if err != nil {
		return 0, err
	}
	err = export.Export(ctx, source, options, func(page export.Page) error {
		n++
		return writer.Write(page)
	})
	if n == 0 { // an empty file with a heading would look like a result
		return 0, err
	}
	return n, errors.Join(err, writer.Flush())
}
