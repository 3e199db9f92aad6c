package seed

import (
	"errors"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/warrenmq/warren/libs/contract"
)

// plan is what the flags ask for.
type plan struct {
	start bool               // send crawl.start instead of seeds
	spec  contract.CrawlSpec // its seeds are yet to come
}

// crawlFlags are those that only crawl.start can carry.
func crawlFlags() []string {
	return []string{"pages", "pages-per-host", "delay", "recrawl", "not-before", "expires"}
}

func newPlan(cmd *cli.Command) (plan, error) {
	p := plan{spec: contract.CrawlSpec{
		Name:     cmd.String("crawl"),
		Priority: cmd.Int("priority"),
		Scope: contract.Scope{
			Kind:    contract.ScopeKind(cmd.String("scope")),
			Include: cmd.StringSlice("include"),
			Exclude: cmd.StringSlice("exclude"),
		},
	}}
	if cmd.IsSet("depth") {
		depth := cmd.Int("depth")
		p.spec.Depth = &depth
	}
	for _, name := range crawlFlags() {
		p.start = p.start || cmd.IsSet(name)
	}
	if p.start {
		p.crawl(cmd)
	} else if cmd.Args().Len() == 0 && !cmd.IsSet("file") {
		return p, errors.New(`want URLs, "-" for standard input, or --file; "warren seed --help" tells more`)
	}
	return p, p.check()
}

func (p *plan) crawl(cmd *cli.Command) {
	p.spec.Pages, p.spec.PagesPerHost = cmd.Int64("pages"), cmd.Int64("pages-per-host")
	p.spec.Recrawl = contract.Duration(cmd.Duration("recrawl"))
	if cmd.IsSet("delay") { // 0 is a delay too
		delay := contract.Duration(cmd.Duration("delay"))
		p.spec.Delay = &delay
	}
	p.spec.NotBefore, p.spec.Expires = moment(cmd, "not-before"), moment(cmd, "expires")
}

func moment(cmd *cli.Command, name string) *time.Time {
	if !cmd.IsSet(name) {
		return nil
	}
	t := cmd.Timestamp(name).UTC()
	return &t
}

// check asks the readers on the other side of the wire, so that nothing is sent that they refuse.
func (p plan) check() error {
	body, err := contract.Encode(p.spec)
	if err != nil {
		return err
	}
	_, err = contract.DecodeCrawlSpec(body)
	return err
}

// seed is one URL as the plan wants it. In a crawl.start the spec says the rest.
func (p plan) seed(url string) contract.Seed {
	if p.start {
		return contract.Seed{URL: url}
	}
	return contract.Seed{URL: url, Crawl: p.spec.Name, Priority: p.spec.Priority, Scope: p.spec.Scope}
}
