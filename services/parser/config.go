package parser

import (
	"fmt"
	"regexp"
	"time"

	"github.com/warrenmq/warren/services/parser/internal/extract"
)

// Config is the parser's settings. Environment names are WARREN_PARSER_ and the field's name.
type Config struct {
	Prefetch    int           `desc:"most responses held unacked"`
	Concurrency int           `desc:"most pages parsed at a time; 0 is one for each processor"`
	MaxBody     int           `split_words:"true" desc:"largest decompressed body that is read, in bytes; at least the fetcher's"`
	Deadline    time.Duration `desc:"longest time for one document; then what was found until then is kept"`
	Agent       string        `desc:"the crawler's name in robots meta elements and X-Robots-Tag, lower-case"`
}

// DefaultConfig fits the fetcher's defaults: bodies of 4 MiB.
func DefaultConfig() Config {
	return Config{Prefetch: 32, MaxBody: 8 << 20, Deadline: 10 * time.Second, Agent: "warren"}
}

var agentName = regexp.MustCompile(`^[a-z][a-z_-]*$`) // RFC 9309, 2.2.1, lower-case

// Validate names the variable and the value that cannot be.
func (c Config) Validate() error {
	if c.Prefetch < 1 || c.Prefetch > 65535 {
		return fmt.Errorf("WARREN_PARSER_PREFETCH is %d: want 1 to 65535", c.Prefetch)
	}
	if c.Concurrency < 0 || c.Concurrency > c.Prefetch {
		return fmt.Errorf("WARREN_PARSER_CONCURRENCY is %d: want 0 (the number of processors) to WARREN_PARSER_PREFETCH, %d", c.Concurrency, c.Prefetch)
	}
	if c.MaxBody < 64<<10 || c.MaxBody > 256<<20 {
		return fmt.Errorf("WARREN_PARSER_MAX_BODY is %d: want 65536 (64 KiB) to 268435456 (256 MiB)", c.MaxBody)
	}
	if c.Deadline <= 0 {
		return fmt.Errorf("WARREN_PARSER_DEADLINE is %s: want more than 0", c.Deadline)
	}
	if !agentName.MatchString(c.Agent) {
		return fmt.Errorf("WARREN_PARSER_AGENT is %q: want lower-case letters, '-' and '_'", c.Agent)
	}
	return nil
}

// limits of a page: design.md section 2, "Sizes". They are part of the wire and no settings.
func limits() extract.Limits {
	return extract.Limits{
		Links:       10_000,
		LinkBytes:   2 << 20,
		LinkText:    100,
		Text:        1 << 20,
		Title:       1 << 10,
		Description: 4 << 10,
	}
}
