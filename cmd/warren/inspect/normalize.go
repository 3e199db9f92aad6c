package inspect

import (
	"fmt"
	"io"

	"github.com/urfave/cli/v3"

	"github.com/warrenmq/warren/cmd/warren/term"
	"github.com/warrenmq/warren/libs/weburl"
)

type normalizeQuestion struct {
	URL  string  `json:"url"`
	Base *string `json:"base"`
}

type normalizeAnswer struct {
	URL *string `json:"url"` // nil: no URL to crawl
	u   weburl.URL
	why error
}

func normalize() verb[normalizeQuestion, normalizeAnswer] {
	return verb[normalizeQuestion, normalizeAnswer]{
		Command: cli.Command{
			Name:      "normalize",
			Usage:     "the canonical form of a URL",
			UsageText: "warren inspect normalize [--base URL] URL",
			Flags:     []cli.Flag{&cli.StringFlag{Name: "base", Usage: "the `URL` of the page the link is on"}},
		},
		ask: func(cmd *cli.Command) (q normalizeQuestion, err error) {
			if cmd.IsSet("base") {
				base := cmd.String("base")
				q.Base = &base
			}
			q.URL, err = oneURL(cmd)
			return q, err
		},
		answer: func(q normalizeQuestion, _ loader) (normalizeAnswer, error) {
			u, err := resolve(q)
			if err != nil {
				return normalizeAnswer{why: err}, nil
			}
			text := u.String()
			return normalizeAnswer{URL: &text, u: u}, nil
		},
		show: func(w io.Writer, _ normalizeQuestion, a normalizeAnswer) {
			if a.URL == nil {
				fmt.Fprintf(w, "no URL to crawl: %s\n", term.Text(a.why.Error(), 500))
				return
			}
			fmt.Fprintf(w, "url     %s\nhost    %s\ndomain  %s\nkey     %s\nid      %s\n",
				a.u, a.u.Host(), weburl.Domain(a.u.Host()), weburl.ReverseHost(a.u.Host()), a.u.ID())
		},
	}
}

func resolve(q normalizeQuestion) (weburl.URL, error) {
	if q.Base == nil {
		return weburl.Parse(q.URL)
	}
	base, err := weburl.Parse(*q.Base)
	if err != nil {
		return weburl.URL{}, fmt.Errorf("read base: %w", err)
	}
	return base.Resolve(q.URL)
}
