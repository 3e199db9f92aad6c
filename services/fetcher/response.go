package fetcher

import (
	"strconv"
	"time"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq"
	"github.com/warrenmq/warren/services/fetcher/internal/httpget"
)

// contentType is that of an envelope: a line of JSON, then bytes.
const contentType = "application/vnd.warren.envelope"

// response is the message that carries what came. It fails with contract.ErrTooLarge.
func (s *Service) response(j *job, resp *httpget.Response, at time.Time) (mq.Message, error) {
	facts := contract.Response{
		V: contract.Version, Crawl: j.Crawl, ID: j.ID, URL: j.url.String(), Visit: j.Visit, Release: j.Release,
		Depth: j.Depth, Hops: j.Hops,
		Kind:      kind(resp),
		Code:      resp.Code,
		FetchedAt: at.UTC().Truncate(time.Millisecond),
		TookMS:    resp.Took.Milliseconds(),
		Proto:     resp.Proto,
		Remote:    resp.Remote,
		Size:      int64(len(resp.Body)),
		Received:  resp.Received,
		Truncated: resp.Truncated,
		Header:    httpget.BoundHeader(resp.Header),
		Host:      s.hosts.Report(j.Host, nil),
	}
	if location := resp.Header.Get("Location"); resp.Code/100 == 3 && location != "" {
		if target, err := j.url.Resolve(location); err == nil {
			facts.Location = target.String()
		}
	}
	var body []byte
	if len(resp.Body) > 0 {
		body = s.zip.EncodeAll(resp.Body, nil)
		resp.Body = nil // publishing may take long
	}
	message, err := contract.EncodeEnvelope(facts, body)
	if err != nil {
		return mq.Message{}, err
	}
	return mq.Message{
		Key:         contract.ResponseKey(facts.Kind, j.Host.Name),
		Body:        message,
		ContentType: contentType,
		Headers:     map[string]string{"warren-crawl": j.Crawl, "warren-code": strconv.Itoa(resp.Code)},
	}, nil
}
