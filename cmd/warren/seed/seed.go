// Package seed is "warren seed": it sends URLs to the crawl.
//
//  1. In: URLs as arguments, from files (--file) or from standard input ("-"), one a line.
//  2. Each is read as the crawl reads URLs. A bad one is reported with its place and value and is
//     not sent; the others are.
//  3. Out: url.seed messages, each of some URLs, or, if a flag of the crawl itself is given, one
//     crawl.start with all URLs in it, which takes effect whole or not at all.
//  4. Each message is confirmed by the broker. What is not confirmed is counted; sending the same
//     URLs again is safe, since a URL is admitted once per crawl.
package seed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/warrenmq/warren/cmd/warren/exit"
	"github.com/warrenmq/warren/libs/contract"
)

const description = `Each URL starts its own part of a crawl; --scope says which links from there belong to it.
Lines that are empty or start with # are passed over. A bad line is reported and not sent;
the others are, and the exit status is 2 unless --skip-invalid is given.

With a flag of the crawl itself (--pages, --pages-per-host, --delay, --recrawl, --not-before,
--expires) the crawl is started, or changed if it runs already, by one message that takes
effect whole: what these flags do not say goes back to its default.

Settings are the services' own: WARREN_AMQP_URLS, WARREN_AMQP_USER, WARREN_AMQP_PASSWORD_FILE, …
The broker is tried 3 times (WARREN_AMQP_ATTEMPTS). To send the same URLs again is safe.

Examples:
   warren seed https://example.com/
   warren seed --crawl docs --scope prefix --pages 1000 https://docs.example.com/v2/
   cut -f1 sites.tsv | warren seed --crawl sites --depth 2 --json -`

// Command is the verb. log is for what happens on the way to the broker.
func Command(log *slog.Logger) *cli.Command {
	return &cli.Command{
		Name:      "seed",
		Usage:     "send URLs to a crawl, starting it if need be",
		ArgsUsage: "URL… | -",
		UsageText: "warren seed [options] URL… | -",

		Description:               description,
		HideHelpCommand:           true, // "help" could be a host's name
		DisableSliceFlagSeparator: true, // an expression may hold a comma
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "crawl", Value: contract.DefaultCrawl, Usage: "`NAME` of the crawl"},
			&cli.StringFlag{Name: "scope", Usage: "links to follow: host, domain, prefix or any (default: the crawl's, then host)"},
			&cli.IntFlag{Name: "depth", Usage: "most `LINKS` between seed and page (default: no limit)"},
			&cli.StringSliceFlag{Name: "include", Usage: "follow only URLs that match one `RE2` expression (may be repeated)"},
			&cli.StringSliceFlag{Name: "exclude", Usage: "do not follow URLs that match one `RE2` expression (may be repeated)"},
			&cli.IntFlag{Name: "priority", Usage: "-100 to 100; higher goes first"},
			&cli.StringSliceFlag{Name: "file", Aliases: []string{"f"}, Usage: "read URLs from `FILE`, one a line (may be repeated)"},
			&cli.BoolFlag{Name: "skip-invalid", Usage: "bad lines are reported but are no error"},
			&cli.BoolFlag{Name: "json", Usage: "print the counts as JSON"},
			&cli.DurationFlag{Name: "timeout", Value: time.Minute, Usage: "longest wait for the broker to take one batch"},
			&cli.Int64Flag{Name: "pages", Category: "Of the crawl itself", Usage: "most pages to store; 0 is no limit"},
			&cli.Int64Flag{Name: "pages-per-host", Category: "Of the crawl itself", Usage: "most pages of one host; 0 is no limit"},
			&cli.DurationFlag{Name: "delay", Category: "Of the crawl itself", Usage: "least time between two requests to a host"},
			&cli.DurationFlag{Name: "recrawl", Category: "Of the crawl itself", Usage: "visit each page again after this time"},
			&cli.TimestampFlag{Name: "not-before", Category: "Of the crawl itself", Usage: "begin at `TIME` (2006-01-02T15:04:05Z)", Config: rfc3339()},
			&cli.TimestampFlag{Name: "expires", Category: "Of the crawl itself", Usage: "end at `TIME`, finished or not", Config: rfc3339()},
		},
		Action: func(ctx context.Context, cmd *cli.Command) error { return act(ctx, cmd, log) },
	}
}

func rfc3339() cli.TimestampConfig {
	return cli.TimestampConfig{Layouts: []string{time.RFC3339, time.DateTime, time.DateOnly}, Timezone: time.UTC}
}

// result is what --json prints.
type result struct {
	Crawl     string `json:"crawl"`
	Started   bool   `json:"started"`   // by crawl.start
	Seeds     int    `json:"seeds"`     // URLs that could be sent
	Confirmed int    `json:"confirmed"` // URLs that the broker has confirmed
	Invalid   int    `json:"invalid"`   // URLs that were reported and not sent
}

func act(ctx context.Context, cmd *cli.Command, log *slog.Logger) error {
	plan, err := newPlan(cmd)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	sources, err := open(cmd)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	defer sources.close()
	bus, err := connect(ctx, log)
	if err != nil {
		return err
	}
	defer bus.close()

	done := result{Crawl: plan.spec.Name, Started: plan.start}
	send := sender{bus: bus, timeout: cmd.Duration("timeout"), done: &done}
	invalid := func(e error) {
		done.Invalid++
		fmt.Fprintln(cmd.Root().ErrWriter, "warren:", e)
	}
	if plan.start {
		err = send.start(ctx, plan, sources.urls(invalid))
	} else {
		err = send.seeds(ctx, plan, sources.urls(invalid))
	}
	return finish(cmd, done, err)
}

// finish prints the counts, whatever has happened, and decides the exit status.
func finish(cmd *cli.Command, done result, err error) error {
	if e := done.print(cmd.Root().Writer, cmd.Bool("json")); e != nil {
		return errors.Join(err, fmt.Errorf("print the counts: %w", e))
	}
	switch {
	case err != nil:
		return err
	case done.Invalid > 0 && !cmd.Bool("skip-invalid"):
		return exit.With(exit.Usage, fmt.Errorf("%s not sent because invalid; the others are", count(done.Invalid, "URL")))
	case done.Seeds == 0 && !done.Started:
		return exit.With(exit.Nothing, errors.New("there was no URL to send"))
	}
	return nil
}

func (r result) print(w io.Writer, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(r)
	}
	verb := "seeds"
	if r.Started {
		verb = "started with seeds"
	}
	_, err := fmt.Fprintf(w, "crawl %s: %s: %d of %d confirmed\n", r.Crawl, verb, r.Confirmed, r.Seeds)
	return err
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what + " was"
	}
	return fmt.Sprintf("%d %ss were", n, what)
}
