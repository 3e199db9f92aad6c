package store

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/weburl"
)

// maxLinks bounds the links of a page, design.md section 2: one page's rows in the frontier.
const maxLinks = 10_000

// read makes a row of a message. Its errors hold no URL; each means that the message can never work.
func (s *Service) read(message []byte) (Row, error) {
	page, body, err := contract.DecodePage(message)
	if err != nil {
		return Row{}, err
	}
	clean(&page)
	id, err := weburl.ParseID(page.ID)
	if err != nil {
		return Row{}, fmt.Errorf("read page: %w", err)
	}
	page.ID = id.String() // upper-case digits are the same URL
	if err := check(&page); err != nil {
		return Row{}, fmt.Errorf("read page: %w", err)
	}
	sum, size, err := s.digests.of(body)
	if err != nil {
		return Row{}, fmt.Errorf("read body: %w", err)
	}
	if sum != page.SHA256 {
		return Row{}, errors.New("read body: it does not have the page's sha256")
	}
	page.Size = size
	// As precise as a database keeps it: what is published does not depend on whether the row was new.
	page.FetchedAt = page.FetchedAt.UTC().Truncate(time.Microsecond)
	if size == 0 {
		body = nil // not even the frame that says so
	}
	return Row{Page: page, URLID: id, Body: body}, nil
}

// check refuses what would break a column, a routing key or an index. It fills in the host.
func check(p *contract.Page) error {
	if err := contract.CheckCrawlName(p.Crawl); err != nil {
		return err
	}
	if p.Host.Name == "" {
		u, err := weburl.Parse(p.URL)
		if err != nil {
			return errors.New("host is missing and url is no http or https url")
		}
		p.Host.Name = u.Host()
	}
	if p.Code < 100 || p.Code > 999 {
		return fmt.Errorf("code %d: want 100 to 999", p.Code)
	}
	for name, n := range map[string]int{"visit": p.Visit, "depth": p.Depth, "hops": p.Hops} {
		if n < 0 || n > math.MaxInt32 {
			return fmt.Errorf("%s %d: want 0 to %d", name, n, math.MaxInt32)
		}
	}
	if len(p.Links) > maxLinks {
		return fmt.Errorf("%d links: want at most %d", len(p.Links), maxLinks)
	}
	if year := p.FetchedAt.UTC().Year(); year < 1 || year > 9999 {
		return fmt.Errorf("fetched_at is in the year %d", year)
	}
	return nil
}
