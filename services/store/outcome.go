package store

import (
	"errors"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq"
)

// outcome closes a stored visit. 304 is no redirect though it is 3xx: RFC 9110, 15.4.5.
func outcome(s Stored) contract.Outcome {
	o := contract.Outcome{
		Crawl:        s.Crawl,
		ID:           s.ID,
		Visit:        s.Visit,
		Status:       contract.StatusDone,
		Code:         s.Code,
		Stored:       true,
		Redirect:     s.Code/100 == 3 && s.Code != 304 && s.Location != "",
		ETag:         first(s.Header["etag"]),
		LastModified: first(s.Header["last-modified"]),
		Links:        s.Links,
		Host:         s.Host,
	}
	if !whole(s.Truncated) {
		o.ETag, o.LastModified = "", ""
	}
	if weigh(o) > maxDone {
		fit(&o)
	}
	return o
}

// whole tells whether a page that was cut in this way (Response.Truncated) is all that there will be
// of it. One that lost its end to the connection or to a broken encoding is not: with its validators
// the next visit would be answered 304, and the end never fetched. One that was cut at the size limit
// would only be cut there again.
func whole(truncated string) bool { return truncated != "eof" && truncated != "encoding" }

// fit makes a large outcome small enough for a message: first without the links' texts, which the
// frontier does not need, then as a failure, so that the URL ends and the crawl can.
func fit(o *contract.Outcome) {
	if !tooLarge(o) {
		return
	}
	bare := make([]contract.Link, len(o.Links))
	for i, link := range o.Links {
		link.Text = ""
		bare[i] = link
	}
	if o.Links = bare; tooLarge(o) {
		o.Links, o.Status, o.Reason = nil, contract.StatusFailed, contract.ReasonTooLarge
	}
}

func tooLarge(o *contract.Outcome) bool {
	_, err := contract.Encode(contract.Done{V: contract.Version, Outcomes: []contract.Outcome{*o}})
	return errors.Is(err, contract.ErrTooLarge)
}

// weigh is about the bytes of an outcome in a message.
func weigh(o contract.Outcome) int {
	n := 400 + len(o.ETag) + len(o.LastModified)
	for _, link := range o.Links {
		n += 40 + len(link.URL) + len(link.Text)
	}
	return n
}

// changes makes the change events of stored visits.
func changes(visits []*visit) []notice {
	var notices []notice
	for _, v := range visits {
		s := v.stored
		if v.err != nil || s.Change == contract.ChangeNone {
			continue
		}
		body, err := contract.Encode(contract.ChangeEvent{
			V:         contract.Version,
			Crawl:     s.Crawl,
			ID:        s.ID,
			URL:       s.URL,
			Visit:     s.Visit,
			What:      s.Change,
			Code:      s.Code,
			FetchedAt: s.FetchedAt,
			SHA256:    s.SHA256,
			OldSHA256: s.OldSHA256,
		})
		if err != nil {
			v.err = err
			continue
		}
		message := mq.Message{Key: contract.ChangeKey(s.Change, s.Host.Name), Body: body}
		notices = append(notices, notice{message, []*visit{v}})
	}
	return notices
}

func first(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}
