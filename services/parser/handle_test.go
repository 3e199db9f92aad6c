package parser_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq"
	"github.com/warrenmq/warren/libs/mq/mqtest"
	"github.com/warrenmq/warren/services/parser"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestGolden pins a page message: its key, its headers and its facts.
func TestGolden(t *testing.T) {
	t.Parallel()
	body, err := os.ReadFile("testdata/page.html")
	if err != nil {
		t.Fatal(err)
	}
	r := start(t, nil)
	in := response()
	in.Header["content-type"] = []string{"text/html"}
	in.Header["x-robots-tag"] = []string{"otherbot: noindex", "warren: nofollow"}
	message := encode(t, in, string(body))
	if err := r.deliver(t, message); err != nil {
		t.Fatal(err)
	}
	published := r.bus.Take("")
	if len(published) != 1 {
		t.Fatalf("published %d messages", len(published))
	}
	head, compressed, _ := bytes.Cut(published[0].Body, []byte("\n"))
	if _, original, _ := bytes.Cut(message, []byte("\n")); !bytes.Equal(compressed, original) {
		t.Error("the compressed body did not pass unchanged")
	}
	var facts bytes.Buffer
	if err := json.Indent(&facts, head, "", "  "); err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("key: %s\ncontent type: %s\nheaders: %v\n%s\n",
		published[0].Key, published[0].ContentType, published[0].Headers, facts.String())
	golden(t, "page.golden", got)
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Error(diff)
	}
}

// TestPublishFails: a response is not acked before its page is confirmed, and comes out the same at
// the next try.
func TestPublishFails(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	message := encode(t, response(), "<title>T</title><a href=x>")
	r.bus.FailNext(1, mq.ErrUnconfirmed)
	err := r.deliver(t, message)
	var rejection *mq.Rejection
	if !errors.Is(err, mq.ErrUnconfirmed) || errors.As(err, &rejection) {
		t.Fatalf("handle: %v", err)
	}
	if published := r.bus.Take(""); len(published) != 0 {
		t.Fatalf("published %v", published)
	}
	for range 2 { // delivered twice, published twice: store sees to once
		if err := r.deliver(t, message); err != nil {
			t.Fatal(err)
		}
	}
	if pages := r.bus.Take("page.html.com.example.www"); len(pages) != 2 || !bytes.Equal(pages[0].Body, pages[1].Body) {
		t.Errorf("%d pages", len(pages))
	}
}

// TestPageCannotBeSent: what no broker would ever take is not tried again, and its URL ends.
func TestPageCannotBeSent(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	message := encode(t, response(), "<title>T</title>")
	r.bus.FailNext(1, fmt.Errorf("%w: headers are too large", mq.ErrInvalid))
	checkUnsent(t, r, message, "its page cannot be sent")
}

// checkUnsent: message is rejected for reason, parked, and ends its URL.
func checkUnsent(t *testing.T, r rig, message []byte, reason string) {
	t.Helper()
	err := r.deliver(t, message)
	var rejection *mq.Rejection
	if !errors.As(err, &rejection) || rejection.Reason != reason {
		t.Fatalf("got %v, want a rejection: %s", err, reason)
	}
	if dead := r.bus.Take("dead.parser"); len(dead) != 1 || !bytes.Equal(dead[0].Body, message) {
		t.Errorf("%d dead letters", len(dead))
	}
	checkFailed(t, r, true, contract.ReasonPoison)
}

// TestUpperCaseID: the digits' case does not make another URL.
func TestUpperCaseID(t *testing.T) {
	t.Parallel()
	in := response()
	in.ID = strings.ToUpper(in.ID)
	if page, _ := start(t, nil).parse(t, in, "x"); page.ID != response().ID {
		t.Errorf("id %s, want %s", page.ID, response().ID)
	}
}

// breaking is a bus whose session is lost at the first publish.
type breaking struct {
	*mqtest.Bus
	once sync.Once
}

func (b *breaking) Publish(ctx context.Context, messages ...mq.Message) error {
	b.once.Do(b.Break)
	return b.Bus.Publish(ctx, messages...)
}

// TestSessionLost: a handler whose session is lost while it publishes gives up its message, and the
// next session's is served.
func TestSessionLost(t *testing.T) {
	t.Parallel()
	r := start(t, func(_ *parser.Config, deps *parser.Deps) {
		deps.Bus = &breaking{Bus: deps.Bus.(*mqtest.Bus)}
	})
	err := r.deliver(t, encode(t, response(), "x"))
	var rejection *mq.Rejection
	if !errors.Is(err, context.Canceled) || errors.As(err, &rejection) {
		t.Errorf("handle: %v", err)
	}
	r.bus.Mend()
	if page, _ := r.parse(t, response(), "x"); page.Text != "x" {
		t.Errorf("page %+v", page)
	}
}

// TestPoison: what is no response is rejected with a reason, and ends its URL if it can.
func TestPoison(t *testing.T) {
	t.Parallel()
	change := func(f func(*contract.Response)) []byte {
		r := response()
		f(&r)
		return encode(t, r, "x")
	}
	good := encode(t, response(), "<p>text")
	for name, tc := range map[string]struct {
		message []byte
		reason  string
		ends    bool
	}{
		"empty":               {nil, "no newline", false},
		"no newline":          {[]byte(`{"id":"x"}`), "no newline", false},
		"not JSON":            {[]byte("<html>\nx"), "invalid character", false},
		"another type":        {[]byte("{\"id\":7,\"crawl\":\"c\",\"visit\":1}\n"), "cannot unmarshal", false},
		"no id":               {change(func(r *contract.Response) { r.ID = "" }), "missing", false},
		"no visit":            {change(func(r *contract.Response) { r.Visit = 0 }), "missing", false},
		"no url":              {change(func(r *contract.Response) { r.URL = "" }), "missing", true},
		"newer version":       {change(func(r *contract.Response) { r.V = 99 }), "newer", false}, // its lease brings it back
		"no crawl's name":     {change(func(r *contract.Response) { r.Crawl = "http://secret" }), "no crawl's name", false},
		"40 KiB of crawl":     {change(func(r *contract.Response) { r.Crawl = strings.Repeat("c", 40<<10) }), "no crawl's name", false},
		"short id":            {change(func(r *contract.Response) { r.ID = "secret" }), "no url id", false},
		"id no hex":           {change(func(r *contract.Response) { r.ID = strings.Repeat("z", 32) }), "no url id", false},
		"unknown kind":        {change(func(r *contract.Response) { r.Kind = "a.b" }), `kind "a.b"`, true},
		"no kind":             {change(func(r *contract.Response) { r.Kind = "" }), `kind ""`, true},
		"bad url":             {change(func(r *contract.Response) { r.URL = "mailto:a@secret.example" }), "url is no http", true},
		"body not zstd":       {append(bytes.Clone(good[:bytes.IndexByte(good, '\n')+1]), "<p>text"...), "decompress", true},
		"body cut off":        {good[:len(good)-3], "decompress", true},
		"body over the limit": {encode(t, response(), strings.Repeat("x", 9<<20)), "it is 9437184 bytes, over WARREN_PARSER_MAX_BODY, 8388608", true},
		"same, no size said":  {streamed(t, 9<<20), "it is 9437184 bytes, over WARREN_PARSER_MAX_BODY, 8388608", true},
		"bomb":                {streamed(t, 128<<20), "decompressed size exceeds", true},
		"facts of two docs":   {append([]byte("{}{}\n"), good...), "after top-level value", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t, nil)
			err := r.deliver(t, tc.message)
			var rejection *mq.Rejection
			if !errors.As(err, &rejection) || !strings.Contains(rejection.Reason, tc.reason) || strings.Contains(rejection.Reason, "secret") {
				t.Fatalf("got %v, want a rejection with %q", err, tc.reason)
			}
			if dead := r.bus.Take("dead.parser"); len(dead) != 1 || !bytes.Equal(dead[0].Body, tc.message) {
				t.Errorf("%d dead letters", len(dead))
			}
			checkFailed(t, r, tc.ends, contract.ReasonPoison)
		})
	}
}

// streamed is a response with a body of size bytes, in a frame that does not tell its size.
func streamed(t *testing.T, size int64) []byte {
	t.Helper()
	message := encode(t, response(), "")
	out := bytes.NewBuffer(message)
	w, err := zstd.NewWriter(out, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		t.Fatal(err)
	}
	chunk := make([]byte, 1<<20)
	for range size >> 20 {
		if _, err := w.Write(chunk); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestEncoders: bodies are read whatever encoder made them, a window larger than the body included.
func TestEncoders(t *testing.T) {
	t.Parallel()
	r := start(t, func(c *parser.Config, _ *parser.Deps) { c.MaxBody = 64 << 10 })
	for _, level := range []zstd.EncoderLevel{zstd.SpeedFastest, zstd.SpeedDefault, zstd.SpeedBetterCompression, zstd.SpeedBestCompression} {
		message := bytes.NewBuffer(encode(t, response(), ""))
		w, err := zstd.NewWriter(message, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(level))
		if err != nil {
			t.Fatal(err)
		}
		for range 64 << 10 / 16 { // no frame without a window
			if _, err := io.WriteString(w, "0123456789 <p>x "); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := r.deliver(t, message.Bytes()); err != nil {
			t.Errorf("%s: %v", level, err)
		}
	}
}

// checkFailed: nothing is published but, if ends, the outcome of the response's URL.
func checkFailed(t *testing.T, r rig, ends bool, reason string) {
	t.Helper()
	done := r.bus.Take(contract.KeyDone)
	if rest := r.bus.Take(""); len(rest) != 0 {
		t.Errorf("published %v", rest)
	}
	if !ends {
		if len(done) != 0 {
			t.Errorf("published %s", done[0].Body)
		}
		return
	}
	if len(done) != 1 {
		t.Fatalf("published %d outcomes", len(done))
	}
	got, err := contract.DecodeDone(done[0].Body)
	if err != nil {
		t.Fatal(err)
	}
	in := response()
	want := contract.Done{V: 1, Outcomes: []contract.Outcome{{
		Crawl: in.Crawl, ID: in.ID, Visit: in.Visit, Status: contract.StatusFailed, Reason: reason, Code: in.Code, Host: in.Host,
	}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTooLarge(t *testing.T) {
	t.Parallel()
	roomy := func(c *parser.Config, _ *parser.Deps) { c.MaxBody = 16 << 20 }
	random := make([]byte, 11<<20)
	_, _ = rand.NewChaCha8([32]byte{}).Read(random) // it does not fail
	t.Run("without its text it fits", func(t *testing.T) {
		t.Parallel()
		r := start(t, roomy)
		in := response()
		in.Header["content-type"] = []string{"text/plain; charset=utf-8"}
		in.Kind = contract.KindText
		page, _ := r.parse(t, in, strings.Repeat("&", 1<<20)+string(random))
		if page.Text != "" || !slices.Contains(page.Flags, "text-dropped") || page.SHA256 == "" {
			t.Errorf("text of %d bytes, flags %q", len(page.Text), page.Flags)
		}
	})
	t.Run("nor without", func(t *testing.T) {
		t.Parallel()
		r := start(t, roomy)
		in := response()
		in.Kind = contract.KindBinary
		message := encode(t, in, string(random))
		in.Header["x-pad"] = []string{strings.Repeat("x", contract.MaxMessage-len(message)-40)}
		message = encode(t, in, string(random))
		r.bus.FailNext(1, mq.ErrUnconfirmed)
		if err := r.deliver(t, message); !errors.Is(err, mq.ErrUnconfirmed) {
			t.Errorf("handle: %v", err)
		}
		r.bus.FailNext(1, mq.ErrInvalid)
		checkUnsent(t, r, message, "its outcome cannot be sent")
		if err := r.deliver(t, message); err != nil {
			t.Fatal(err)
		}
		checkFailed(t, r, true, contract.ReasonTooLarge)
	})
}
