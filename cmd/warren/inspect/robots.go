package inspect

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/warrenmq/warren/cmd/warren/term"
	"github.com/warrenmq/warren/libs/robots"
	"github.com/warrenmq/warren/libs/weburl"
)

type robotsQuestion struct {
	File  string `json:"file"`
	Agent string `json:"agent"`
	URL   string `json:"url"` // absolute, or a path; "" is the path "/"
}

type robotsAnswer struct {
	Allowed  bool `json:"allowed"`
	rule     robots.Rule
	delay    time.Duration
	hasDelay bool
}

func allowed() verb[robotsQuestion, robotsAnswer] {
	return verb[robotsQuestion, robotsAnswer]{
		Command: cli.Command{
			Name:      "robots",
			Usage:     "whether a robots.txt allows a URL, and by which line",
			UsageText: "warren inspect robots --file FILE [--agent NAME] URL",
			Flags: []cli.Flag{
				&cli.StringFlag{Name: "file", Usage: "the robots.txt: a `FILE`, or - for standard input"},
				&cli.StringFlag{Name: "agent", Value: "warren", Usage: "product token of the crawler, its `NAME`"},
			},
		},
		ask: func(cmd *cli.Command) (q robotsQuestion, err error) {
			q.Agent = cmd.String("agent")
			if q.File, err = file(cmd); err != nil {
				return q, err
			}
			q.URL, err = oneURL(cmd)
			return q, err
		},
		answer: func(q robotsQuestion, load loader) (robotsAnswer, error) {
			target, err := target(q.URL)
			if err != nil {
				return robotsAnswer{}, err
			}
			body, err := load(q.File)
			if err != nil {
				return robotsAnswer{}, fmt.Errorf("read robots.txt: %w", err)
			}
			var a robotsAnswer
			rules := robots.Parse(body).Agent(q.Agent)
			a.Allowed, a.rule = rules.Allowed(target)
			a.delay, a.hasDelay = rules.CrawlDelay()
			return a, nil
		},
		show: showRobots,
	}
}

func showRobots(w io.Writer, _ robotsQuestion, a robotsAnswer) {
	word, reason := "disallowed", "no rule matches"
	if a.Allowed {
		word = "allowed"
	}
	if a.rule.Line > 0 {
		reason = fmt.Sprintf("line %d, %q", a.rule.Line, a.rule.Text)
	}
	fmt.Fprintf(w, "%s: %s\n", word, term.Text(reason, 500))
	if a.hasDelay {
		fmt.Fprintf(w, "crawl-delay: %s\n", a.delay)
	}
}

// target is the path and query of url, which may be a path only.
func target(url string) (string, error) {
	if url == "" || strings.HasPrefix(url, "/") {
		url = "http://any.invalid/" + strings.TrimPrefix(url, "/")
	}
	u, err := weburl.Parse(url)
	if err != nil {
		return "", err
	}
	return u.PathQuery(), nil
}
