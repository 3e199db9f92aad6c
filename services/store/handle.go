package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq"
	"github.com/warrenmq/warren/libs/weburl"
)

// handle keeps one page, in whatever batch it falls. nil means that the page is stored and that all
// that follows from it is confirmed by the broker; a rejection, that it can never be stored; any other
// error, that it must be handled again.
func (s *Service) handle(ctx context.Context, d mq.Delivery) error {
	row, err := s.read(d.Body)
	if err != nil {
		return mq.Reject(err.Error())
	}
	a := &arrival{row: row, bytes: len(d.Body), ctx: ctx, done: make(chan error, 1)}
	select {
	case s.arrived <- a:
	case <-ctx.Done():
		return fmt.Errorf("wait for a batch: %w", ctx.Err())
	}
	select {
	case err := <-a.done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("wait for the commit: %w", ctx.Err())
	}
}

// onDead ends the URL of a message that goes to dead.store, if the message still tells which. A
// message of a newer version is only parked: its URL's lease brings it again, maybe to a newer store.
func (s *Service) onDead(d mq.Delivery, _ string) []mq.Message {
	s.metrics.dead.Inc()
	if _, _, err := contract.DecodePage(d.Body); errors.Is(err, contract.ErrVersion) {
		return nil
	}
	outcome, ok := identity(d.Body)
	if !ok {
		return nil
	}
	outcome.Status, outcome.Reason = contract.StatusFailed, contract.ReasonPoison
	body, err := contract.Encode(contract.Done{V: contract.Version, Outcomes: []contract.Outcome{outcome}})
	if err != nil {
		s.deps.Log.Error("cannot end the url of a dead message", "crawl", outcome.Crawl, "id", outcome.ID, "error", err)
		return nil
	}
	return []mq.Message{{Key: contract.KeyDone, Body: body}}
}

// identity reads whose message it is from as little of it as will do: the rest may be the trouble.
func identity(message []byte) (contract.Outcome, bool) {
	head, _, _ := bytes.Cut(message, []byte{'\n'})
	var page struct {
		Crawl string          `json:"crawl"`
		ID    string          `json:"id"`
		Visit int             `json:"visit"`
		Host  json.RawMessage `json:"host"`
		Code  json.RawMessage `json:"code"`
	}
	if json.Unmarshal(head, &page) != nil {
		return contract.Outcome{}, false
	}
	id, err := weburl.ParseID(page.ID)
	if err != nil || contract.CheckCrawlName(page.Crawl) != nil || page.Visit < 1 {
		return contract.Outcome{}, false
	}
	outcome := contract.Outcome{Crawl: page.Crawl, ID: id.String(), Visit: page.Visit}
	// What the frontier can do without: it stays empty if it cannot be read.
	if json.Unmarshal(page.Host, &outcome.Host) != nil {
		outcome.Host = contract.Host{}
	}
	if json.Unmarshal(page.Code, &outcome.Code) != nil {
		outcome.Code = 0
	}
	return outcome, true
}
