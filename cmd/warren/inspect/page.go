package inspect

import (
	"fmt"
	"io"

	"github.com/urfave/cli/v3"

	"github.com/warrenmq/warren/cmd/warren/term"
	"github.com/warrenmq/warren/services/parser"
)

type pageQuestion struct {
	File        string `json:"file"`
	URL         string `json:"url"` // of the page; charset needs none
	ContentType string `json:"content_type"`
}

type charsetAnswer struct {
	Encoding string `json:"encoding"`
}

func links() verb[pageQuestion, parser.Inspection] {
	return verb[pageQuestion, parser.Inspection]{
		Command: cli.Command{
			Name:      "links",
			Usage:     "base, title, canonical URL, charset and links of an HTML page",
			UsageText: "warren inspect links --file FILE [--content-type TYPE] URL",
			Flags:     pageFlags(),
		},
		ask: func(cmd *cli.Command) (q pageQuestion, err error) {
			if q, err = askPage(cmd); err != nil {
				return q, err
			}
			q.URL, err = oneURL(cmd)
			return q, err
		},
		answer: func(q pageQuestion, load loader) (parser.Inspection, error) {
			body, err := load(q.File)
			if err != nil {
				return parser.Inspection{}, fmt.Errorf("read page: %w", err)
			}
			return parser.Inspect(body, q.ContentType, q.URL)
		},
		show: showLinks,
	}
}

func showLinks(w io.Writer, _ pageQuestion, a parser.Inspection) {
	fmt.Fprintf(w, "base       %s\ncanonical  %s\ncharset    %s\ntitle      %s\n",
		term.Text(a.Base, 4096), term.Text(a.Canonical, 4096), a.Charset, term.Text(a.Title, 500))
	for _, link := range a.Links {
		fmt.Fprintf(w, "link       %s\n", term.Text(link, 4096))
	}
}

func encoding() verb[pageQuestion, charsetAnswer] {
	return verb[pageQuestion, charsetAnswer]{
		Command: cli.Command{
			Name:      "charset",
			Usage:     "the encoding of an HTML page, by the Encoding standard's name",
			UsageText: "warren inspect charset --file FILE [--content-type TYPE]",
			Flags:     pageFlags(),
		},
		ask: func(cmd *cli.Command) (pageQuestion, error) {
			if cmd.Args().Present() {
				return pageQuestion{}, fmt.Errorf("argument %q: want none", term.Text(cmd.Args().First(), 80))
			}
			return askPage(cmd)
		},
		answer: func(q pageQuestion, load loader) (charsetAnswer, error) {
			body, err := load(q.File)
			if err != nil {
				return charsetAnswer{}, fmt.Errorf("read page: %w", err)
			}
			return charsetAnswer{parser.Charset(body, q.ContentType)}, nil
		},
		show: func(w io.Writer, _ pageQuestion, a charsetAnswer) { fmt.Fprintln(w, a.Encoding) },
	}
}

func pageFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "file", Usage: "the page: a `FILE`, or - for standard input"},
		&cli.StringFlag{Name: "content-type", Usage: "the response's Content-Type, a `TYPE` with or without charset"},
	}
}

func askPage(cmd *cli.Command) (pageQuestion, error) {
	name, err := file(cmd)
	return pageQuestion{File: name, ContentType: cmd.String("content-type")}, err
}
