package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// DecodeSeeds reads the body of url.seed as people write it: a JSON object, a JSON array of objects
// or strings, or bare URLs one a line (empty lines and lines that start with # are passed over).
// Whether a URL is a URL is not decided here. No property of the message is needed.
func DecodeSeeds(body []byte) ([]Seed, error) {
	body, err := text(body)
	if err != nil {
		return nil, fmt.Errorf("read seed: %w", err)
	}
	var seeds []Seed
	switch body[0] {
	case '{':
		var seed Seed
		if err := strict(body, &seed); err != nil {
			return nil, fmt.Errorf("read seed: %w", err)
		}
		seeds = []Seed{seed}
	case '[':
		var list seedList
		if err := strict(body, &list); err != nil {
			return nil, fmt.Errorf("read seeds: %w", err)
		}
		seeds = list
	default:
		for line := range strings.Lines(string(body)) {
			if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
				seeds = append(seeds, Seed{URL: line})
			}
		}
	}
	if len(seeds) == 0 {
		return nil, errors.New("read seed: there is no url in the body")
	}
	for i := range seeds {
		if err := seeds[i].check(); err != nil {
			return nil, fmt.Errorf("read seed %d: %w", i+1, err)
		}
	}
	return seeds, nil
}

// text is a body that people wrote, without the byte order mark that some editors put before it.
func text(body []byte) ([]byte, error) {
	body = bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")))
	if len(body) == 0 {
		return nil, errors.New("the body is empty")
	}
	if !utf8.Valid(body) {
		return nil, errors.New("the body is not UTF-8 text")
	}
	return body, nil
}

func (s *Seed) check() error {
	if s.Crawl == "" {
		s.Crawl = DefaultCrawl
	}
	if s.URL == "" {
		return errors.New("url is missing")
	}
	if s.Priority < -100 || s.Priority > 100 {
		return fmt.Errorf("priority %d: want -100 to 100", s.Priority)
	}
	if err := CheckCrawlName(s.Crawl); err != nil {
		return err
	}
	return s.Scope.Check()
}

// DecodeCrawlSpec reads and checks the body of crawl.start. Seeds may be strings or objects; those
// without a crawl get this one.
func DecodeCrawlSpec(body []byte) (CrawlSpec, error) {
	var wire struct {
		crawlSpecWire
		Seeds seedList `json:"seeds"`
	}
	body, err := text(body)
	if err == nil {
		err = strict(body, &wire)
	}
	if err != nil {
		return CrawlSpec{}, fmt.Errorf("read crawl: %w", err)
	}
	spec := CrawlSpec(wire.crawlSpecWire)
	spec.Seeds = wire.Seeds
	if err := spec.check(); err != nil {
		return CrawlSpec{}, fmt.Errorf("read crawl: %w", err)
	}
	return spec, nil
}

type crawlSpecWire CrawlSpec

func (c *CrawlSpec) check() error {
	if err := CheckCrawlName(c.Name); err != nil {
		return err
	}
	if c.Pages < 0 || c.PagesPerHost < 0 {
		return fmt.Errorf("pages %d, pages_per_host %d: a budget is not negative", c.Pages, c.PagesPerHost)
	}
	if c.Priority < -100 || c.Priority > 100 {
		return fmt.Errorf("priority %d: want -100 to 100", c.Priority)
	}
	for i := range c.Seeds {
		seed := &c.Seeds[i]
		if seed.Crawl == "" {
			seed.Crawl = c.Name
		}
		if seed.Crawl != c.Name {
			return fmt.Errorf("seed %d: its crawl is %q, not %q", i+1, Clip(seed.Crawl, 80), c.Name)
		}
		if err := seed.check(); err != nil {
			return fmt.Errorf("seed %d: %w", i+1, err)
		}
	}
	return c.Scope.Check()
}

// DecodeCrawlVerb reads the body of crawl.pause, resume, cancel, requeue: an object or the bare name.
func DecodeCrawlVerb(body []byte) (CrawlVerb, error) {
	body, err := text(body)
	if err != nil {
		return CrawlVerb{}, fmt.Errorf("read crawl verb: %w", err)
	}
	verb := CrawlVerb{Name: string(body)}
	if body[0] == '{' {
		verb = CrawlVerb{}
		if err := strict(body, &verb); err != nil {
			return CrawlVerb{}, fmt.Errorf("read crawl verb: %w", err)
		}
	}
	if err := CheckCrawlName(verb.Name); err != nil {
		return CrawlVerb{}, fmt.Errorf("read crawl verb: %w", err)
	}
	return verb, nil
}

// seedList is a list whose items are URLs or whole seeds.
type seedList []Seed

func (l *seedList) UnmarshalJSON(b []byte) error {
	var items []json.RawMessage
	if err := json.Unmarshal(b, &items); err != nil {
		return err
	}
	*l = make(seedList, len(items))
	for i, item := range items {
		var err error
		if len(item) > 0 && item[0] == '"' {
			err = json.Unmarshal(item, &(*l)[i].URL)
		} else {
			err = strict(item, &(*l)[i])
		}
		if err != nil {
			return fmt.Errorf("item %d: %w", i+1, err)
		}
	}
	return nil
}

// strict decodes one JSON value and refuses unknown fields and anything behind the value.
func strict(body []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is more behind the JSON value")
	}
	return nil
}
