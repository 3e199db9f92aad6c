package contract_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/warrenmq/warren/libs/contract"
)

// What services say to each other may have fields of a later build.
func TestServicesIgnoreUnknownFields(t *testing.T) {
	t.Parallel()
	fetch, err := contract.DecodeFetch([]byte(`{"crawl":"c","id":"1","url":"https://a.example/","colour":"red"}`))
	if err != nil || fetch.URL != "https://a.example/" {
		t.Errorf("fetch reads as %+v, %v", fetch, err)
	}
	response, body, err := contract.DecodeResponse([]byte(`{"crawl":"c","id":"1","url":"https://a.example/","visit":1,"colour":{}}` + "\nbody"))
	if err != nil || response.URL != "https://a.example/" || string(body) != "body" {
		t.Errorf("response reads as %+v %q, %v", response, body, err)
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	facts := `"crawl":"c","id":"1","url":"https://a.example/","visit":1,"release":1,"outcomes":[{"crawl":"c","id":"1","visit":1,"status":"done"}]}`
	decoders := map[string]func([]byte) (any, error){
		"fetch":    decoder(contract.DecodeFetch),
		"url.done": decoder(contract.DecodeDone),
		"retry":    decoder(contract.DecodeRetry),
		"response": envelope(contract.DecodeResponse),
		"page":     envelope(contract.DecodePage),
	}
	for name, decode := range decoders {
		for _, v := range []string{`{`, `{"v":1,`} {
			if _, err := decode([]byte(v + facts + "\n")); err != nil {
				t.Errorf("%s %s: %v, want it read", name, v, err)
			}
		}
		if _, err := decode([]byte(`{"v":99,` + facts + "\n")); !errors.Is(err, contract.ErrVersion) {
			t.Errorf("%s of version 99: %v, want ErrVersion", name, err)
		}
		if _, err := decode([]byte(`{"v":99,"crawl":{"name":"a field of another type"}}` + "\n")); !errors.Is(err, contract.ErrVersion) {
			t.Errorf("%s of version 99 with a field of another type: %v, want ErrVersion", name, err)
		}
	}
}

func TestDecodeErrors(t *testing.T) {
	t.Parallel()
	checkErrors(t, contract.DecodeFetch, []errorCase{
		{"fetch empty", "", "unexpected end of JSON"},
		{"fetch without url", `{"crawl":"c","id":"1"}`, "url, id or crawl is missing"},
		{"fetch of the wrong type", `[]`, "cannot unmarshal array"},
	})
	checkErrors(t, contract.DecodeDone, []errorCase{
		{"done without outcomes", `{}`, "outcomes is empty"},
		{"done with a strange status", `{"outcomes":[{"status":"lost\u001b"}]}`, `status "lost ": want done, failed or excluded`},
		{"done without id", `{"outcomes":[{"status":"done","crawl":"c","visit":1}]}`, "id, crawl or visit is missing"},
		{"done, the second is bad", `{"outcomes":[{"status":"done","crawl":"c","id":"1","visit":1},{"status":"done","crawl":"c","id":"1"}]}`, "visit is missing"},
	})
	checkErrors(t, contract.DecodeRetry, []errorCase{
		{"retry without release", `{"crawl":"c","id":"1","visit":1}`, "release is missing"},
	})
	checkErrors(t, envelope(contract.DecodeResponse), []errorCase{
		{"response without newline", `{"crawl":"c"}`, "no newline"},
		{"response without facts", "\nbody", "unexpected end of JSON"},
		{"response without visit", `{"crawl":"c","id":"1","url":"u"}` + "\n", "visit is missing"},
		{"response whose facts are a list", "[]\n", "cannot unmarshal array"},
	})
	checkErrors(t, envelope(contract.DecodePage), []errorCase{
		{"page without id", `{"crawl":"c","url":"u","visit":1}` + "\n", "id, url, crawl or visit is missing"},
	})
}

func TestTooLarge(t *testing.T) {
	t.Parallel()
	head, err := contract.EncodeEnvelope(contract.Response{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	room := contract.MaxMessage - len(head)
	if got, err := contract.EncodeEnvelope(contract.Response{}, make([]byte, room)); err != nil || len(got) != contract.MaxMessage {
		t.Errorf("a message of just MaxMessage: %d bytes, %v", len(got), err)
	}
	if _, err := contract.EncodeEnvelope(contract.Response{}, make([]byte, room+1)); !errors.Is(err, contract.ErrTooLarge) {
		t.Errorf("one byte more: %v, want ErrTooLarge", err)
	}
	if _, err := contract.Encode(strings.Repeat("x", contract.MaxMessage)); !errors.Is(err, contract.ErrTooLarge) {
		t.Errorf("a small message that is large: %v, want ErrTooLarge", err)
	}
}

// A page at the limits that the parser keeps must fit its message, whatever characters it is of.
func TestAPageAtItsLimitsFits(t *testing.T) {
	t.Parallel()
	page := contract.Page{Text: strings.Repeat("&", 1<<20)}
	for range 10_000 {
		page.Links = append(page.Links, contract.Link{URL: "https://a.example/?" + strings.Repeat("&", 180)})
	}
	message, err := contract.EncodeEnvelope(page, make([]byte, 4<<20))
	if err != nil || len(message) > 8<<20 {
		t.Errorf("%d bytes, %v", len(message), err)
	}
}

func TestBodyIsNotCopied(t *testing.T) {
	t.Parallel()
	message, err := contract.EncodeEnvelope(response(), []byte("\nbody\n"))
	if err != nil {
		t.Fatal(err)
	}
	_, body, err := contract.DecodeResponse(message)
	if err != nil || !bytes.Equal(body, []byte("\nbody\n")) || &body[0] != &message[len(message)-len(body)] {
		t.Errorf("body is %q, %v: want the message's own bytes", body, err)
	}
}
