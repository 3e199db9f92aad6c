// Package status is "warren status": how the crawls go, and why a URL is not fetched.
//
//  1. In: the answers of dedup's read API at WARREN_DEDUP_URL.
//  2. Out: tables for people, or with --json the API's own answer, byte for byte.
//  3. With --wait it asks again until the crawl has ended.
package status

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/warrenmq/warren/cmd/warren/exit"
	"github.com/warrenmq/warren/cmd/warren/term"
	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/daemon"
)

const description = `Without options: every crawl with its counts by state, why URLs failed, were excluded or were
skipped, and the hosts that wait and why.

--url asks for one URL of a crawl ("default" unless --crawl names one): its state, and in one
sentence what it waits for.

--wait asks again until the crawl (without --crawl: every crawl) is finished, cancelled or
expired, and then exits with 0; with 4 if --timeout is over first.

Settings: WARREN_DEDUP_URL, default http://127.0.0.1:8080.

Examples:
   warren status
   warren status --url https://example.com/page
   warren status --crawl docs --wait --timeout 10m`

// Command is the verb.
func Command(log *slog.Logger) *cli.Command {
	return &cli.Command{
		Name:            "status",
		Usage:           "how the crawls go, which hosts wait and why",
		UsageText:       "warren status [options]",
		Description:     description,
		HideHelpCommand: true,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "crawl", Usage: "only the crawl `NAME`"},
			&cli.StringFlag{Name: "url", Usage: "one `URL` instead"},
			&cli.BoolFlag{Name: "json", Usage: "print dedup's answer as it is"},
			&cli.BoolFlag{Name: "wait", Usage: "until the crawl has ended"},
			&cli.DurationFlag{Name: "timeout", Usage: "longest wait; 0 is for ever"},
			&cli.DurationFlag{Name: "interval", Value: time.Second, Usage: "time between two questions of --wait"},
		},
		Action: func(ctx context.Context, cmd *cli.Command) error { return act(ctx, cmd, log) },
	}
}

// settings is the one thing to know: where dedup's admin server is.
type settings struct {
	Dedup struct {
		URL string `desc:"http URL of dedup's admin server"`
	}
}

// Validate is called by daemon.Load.
func (s settings) Validate() error {
	u, err := url.Parse(s.Dedup.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("WARREN_DEDUP_URL=%q: want for example http://dedup:8080", contract.Clip(s.Dedup.URL, 200))
	}
	return nil
}

func act(ctx context.Context, cmd *cli.Command, log *slog.Logger) error {
	if err := checkArguments(cmd); err != nil {
		return exit.With(exit.Usage, err)
	}
	var s settings
	s.Dedup.URL = "http://127.0.0.1:8080"
	if err := daemon.Load(log, &s); err != nil {
		return err
	}
	api := newClient(s.Dedup.URL)
	defer api.close()

	out := output{w: cmd.Root().Writer, json: cmd.Bool("json"), now: time.Now(), colors: term.Colors(cmd.Root().Writer)}
	crawl := cmd.String("crawl")
	switch {
	case cmd.IsSet("url"):
		answer, err := get[URL](ctx, api, "/api/v1/url", "crawl", crawl, "url", cmd.String("url"))
		return out.url(answer, err)
	case cmd.Bool("wait"):
		w := waiter{api: api, crawl: crawl, interval: cmd.Duration("interval"), tell: cmd.Root().ErrWriter}
		answer, err := w.wait(ctx, cmd.Duration("timeout"))
		if answer.Raw != nil { // how far it has come, even if the time is over
			out.now = time.Now()
			return errors.Join(err, out.status(answer, nil))
		}
		return err
	default:
		answer, err := get[Status](ctx, api, "/api/v1/status", "crawl", crawl)
		return out.status(answer, err)
	}
}

func checkArguments(cmd *cli.Command) error {
	switch {
	case cmd.Args().Present():
		return fmt.Errorf("argument %q: status takes none; a URL goes behind --url", term.Text(cmd.Args().First(), 80))
	case cmd.IsSet("url") && cmd.Bool("wait"):
		return errors.New("--url and --wait: want one")
	case cmd.Duration("interval") <= 0:
		return fmt.Errorf("--interval %s: want more than 0", cmd.Duration("interval"))
	case cmd.Duration("timeout") < 0:
		return fmt.Errorf("--timeout %s: want 0 or more", cmd.Duration("timeout"))
	case cmd.IsSet("crawl"):
		return contract.CheckCrawlName(cmd.String("crawl"))
	}
	return nil
}
