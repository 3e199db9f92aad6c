package parser

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq"
	"github.com/warrenmq/warren/libs/weburl"
)

// handle parses one response. nil means that its page, or the outcome of a page that fits no message,
// is confirmed; a rejection, that the message is no response; any other error, that it must be handled
// again.
func (s *Service) handle(ctx context.Context, d mq.Delivery) error {
	b := s.scratch.Get().(*scratch)
	err := s.process(ctx, d, b)
	b.trim()
	s.scratch.Put(b) // not after a panic: what it left in there is unknown
	return err
}

func (s *Service) process(ctx context.Context, d mq.Delivery, b *scratch) error {
	start := s.deps.Now()
	r, compressed, u, err := read(d.Body)
	if err != nil {
		return mq.Reject(err.Error())
	}
	body, err := s.decompress(b, compressed)
	if err != nil {
		return mq.Reject(err.Error())
	}
	p := s.page(r, u, body, b)
	took := s.deps.Now().Sub(start)
	message, err := s.encode(&p, u, compressed)
	if errors.Is(err, contract.ErrTooLarge) {
		return s.giveUp(ctx, p)
	}
	if err != nil {
		return mq.Reject(err.Error())
	}
	if err := s.deps.Bus.Publish(ctx, message); err != nil {
		return unsent("page", err)
	}
	s.metrics.published(p, len(body), took)
	return nil
}

// unsent is the answer after a failed Publish: a rejection if to try again would fail for ever, and
// hold a place of the prefetch meanwhile.
func unsent(what string, err error) error {
	if errors.Is(err, mq.ErrInvalid) {
		return mq.Reject("its " + what + " cannot be sent")
	}
	return fmt.Errorf("publish %s: %w", what, err)
}

// read takes a message apart and refuses what would not lead to a good routing key or header. Its
// errors hold no URL.
func read(message []byte) (contract.Response, []byte, weburl.URL, error) {
	r, compressed, err := contract.DecodeResponse(message)
	if err != nil {
		return r, nil, weburl.URL{}, err
	}
	if err := identify(&r); err != nil {
		return r, nil, weburl.URL{}, fmt.Errorf("read response: %w", err)
	}
	switch r.Kind {
	case contract.KindHTML, contract.KindXML, contract.KindText, contract.KindBinary, contract.KindEmpty:
	default:
		return r, nil, weburl.URL{}, fmt.Errorf("read response: kind %q is unknown", contract.Clip(string(r.Kind), 40))
	}
	u, err := weburl.Parse(r.URL)
	if err != nil {
		return r, nil, weburl.URL{}, errors.New("read response: url is no http or https url")
	}
	return r, compressed, u, nil
}

// identify refuses a response that names no visit. Its errors hold nothing of the response, for what
// stands in place of a name may be anything, a URL too.
func identify(r *contract.Response) error {
	if contract.CheckCrawlName(r.Crawl) != nil {
		return errors.New("crawl is no crawl's name")
	}
	id, err := weburl.ParseID(r.ID)
	if err != nil {
		return errors.New("id is no url id")
	}
	if r.Visit < 1 {
		return errors.New("visit is below 1")
	}
	r.ID = id.String() // upper-case digits are the same URL
	return nil
}

// encode makes the message of a page, the body as it came. A page that is too large loses its text.
func (s *Service) encode(p *contract.Page, u weburl.URL, compressed []byte) (mq.Message, error) {
	envelope, err := contract.EncodeEnvelope(*p, compressed)
	if errors.Is(err, contract.ErrTooLarge) && p.Text != "" {
		p.Text = ""
		p.Flags = append(p.Flags, flagDropped)
		envelope, err = contract.EncodeEnvelope(*p, compressed)
	}
	if err != nil {
		return mq.Message{}, err
	}
	return mq.Message{
		Key:         contract.PageKey(p.Kind, u.Host()),
		Body:        envelope,
		ContentType: "application/octet-stream",
		Headers:     map[string]string{"crawl": p.Crawl, "code": strconv.Itoa(p.Code)},
	}, nil
}

// giveUp ends the URL of a page that fits no message.
func (s *Service) giveUp(ctx context.Context, p contract.Page) error {
	message, err := failed(p.Response, contract.ReasonTooLarge)
	if err != nil {
		return mq.Reject(err.Error())
	}
	if err := s.deps.Bus.Publish(ctx, message); err != nil {
		return unsent("outcome", err)
	}
	s.metrics.tooLarge.Inc()
	s.deps.Log.Warn("a page is too large for a message", "crawl", p.Crawl, "id", p.ID, "code", p.Code)
	return nil
}

// onDead ends the URL of a message that is going to dead.parser, if the message still tells which. A
// message of a newer version is only parked: its URL's lease brings it again, maybe to a newer parser.
func (s *Service) onDead(d mq.Delivery, _ string) []mq.Message {
	// Any other error is why the message is dead; what could be read is returned beside it.
	r, _, err := contract.DecodeResponse(d.Body)
	if errors.Is(err, contract.ErrVersion) || identify(&r) != nil {
		return nil
	}
	message, err := failed(r, contract.ReasonPoison)
	if err != nil {
		s.deps.Log.Error("cannot end the url of a dead message", "crawl", r.Crawl, "id", r.ID, "error", err)
		return nil
	}
	return []mq.Message{message}
}

// failed is the url.done that ends a visit without a page.
func failed(r contract.Response, reason string) (mq.Message, error) {
	body, err := contract.Encode(contract.Done{V: contract.Version, Outcomes: []contract.Outcome{{
		Crawl: r.Crawl, ID: r.ID, Visit: r.Visit,
		Status: contract.StatusFailed, Reason: reason, Code: r.Code, Host: r.Host,
	}}})
	return mq.Message{Key: contract.KeyDone, Body: body}, err
}
