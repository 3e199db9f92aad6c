package httpget_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"github.com/warrenmq/warren/services/fetcher/internal/httpget"
)

func TestBrokenAnswers(t *testing.T) {
	t.Parallel()
	ok := "HTTP/1.1 200 OK\r\n"
	for name, c := range map[string]struct {
		answer    string
		reason    string // of the error; "" for a response
		body      string
		truncated string
	}{
		"http 0.9":              {"<html>hello", httpget.ReasonProtocol, "", ""},
		"no bytes":              {"", httpget.ReasonClosed, "", ""},
		"switching protocols":   {"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", httpget.ReasonProtocol, "", ""},
		"status 000":            {"HTTP/1.1 000 ?\r\nContent-Length: 0\r\n\r\n", httpget.ReasonProtocol, "", ""},
		"status 999":            {"HTTP/1.1 999 ?\r\nContent-Length: 2\r\n\r\nhi", "", "hi", ""},
		"two lengths":           {ok + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", httpget.ReasonProtocol, "", ""},
		"negative length":       {ok + "Content-Length: -1\r\n\r\nab", httpget.ReasonProtocol, "", ""},
		"NUL in header":         {ok + "X: a\x00b\r\n\r\n", httpget.ReasonProtocol, "", ""},
		"length too great":      {ok + "Content-Length: 100\r\n\r\nhello", "", "hello", httpget.CutEOF},
		"length too small":      {ok + "Content-Length: 5\r\n\r\nhello and more", "", "hello", ""},
		"nothing of it":         {ok + "Content-Length: 100\r\n\r\n", httpget.ReasonTruncated, "", ""},
		"bad chunk":             {ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n", "", "hello", httpget.CutEOF},
		"endless chunk":         {ok + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n", httpget.ReasonTruncated, "", ""},
		"404 cut short":         {"HTTP/1.1 404 No\r\nContent-Length: 9\r\n\r\n", "", "", httpget.CutEOF},
		"text that says gzip":   {ok + "Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello", "", "hello", ""},
		"empty that says gzip":  {ok + "Content-Encoding: gzip\r\nContent-Length: 0\r\n\r\n", "", "", ""},
		"garbage that says br":  {ok + "Content-Encoding: br\r\nContent-Length: 5\r\n\r\n\xff\xff\xff\xff\xff", httpget.ReasonEncoding, "", ""},
		"unknown coding":        {ok + "Content-Encoding: rot13\r\nContent-Length: 5\r\n\r\nuryyb", "", "uryyb", ""},
		"three codings":         {ok + "Content-Encoding: gzip, gzip\r\nContent-Encoding: br\r\nContent-Length: 2\r\n\r\nhi", httpget.ReasonLayers, "", ""},
		"redirect without body": {"HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 100\r\n\r\n", "", "", ""},
		"300 with no location":  {"HTTP/1.1 300 Many\r\nContent-Length: 2\r\n\r\nhi", "", "hi", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resp, err := get(t, newClient(t, options{}), reply(t, c.answer))
			if reason(err) != c.reason {
				t.Fatalf("reason %q (%v), want %q", reason(err), err, c.reason)
			}
			if err == nil && (string(resp.Body) != c.body || resp.Truncated != c.truncated) {
				t.Errorf("body %q truncated %q, want %q %q", resp.Body, resp.Truncated, c.body, c.truncated)
			}
		})
	}
}

func encode(t *testing.T, coding string, body []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	var w io.WriteCloser
	switch coding {
	case "gzip":
		w = gzip.NewWriter(&out)
	case "br":
		w = brotli.NewWriter(&out)
	case "zstd":
		w, _ = zstd.NewWriter(&out, zstd.WithEncoderConcurrency(1))
	case "deflate":
		w = zlib.NewWriter(&out)
	case "bare deflate":
		w, _ = flate.NewWriter(&out, -1)
	}
	if _, err := w.Write(body); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func encoded(t *testing.T, header string, body []byte) string {
	t.Helper()
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\nContent-Length: %d\r\n\r\n%s", header, len(body), body)
}

func TestCodings(t *testing.T) {
	t.Parallel()
	page := []byte(strings.Repeat("hello, web. ", 1000))
	bomb := make([]byte, 50<<20)
	for _, coding := range []string{"gzip", "br", "zstd", "deflate", "bare deflate"} {
		t.Run(coding, func(t *testing.T) {
			t.Parallel()
			header := strings.TrimPrefix(coding, "bare ")
			client := newClient(t, options{})
			whole := encode(t, coding, page)
			resp, err := get(t, client, reply(t, encoded(t, header, whole)))
			if err != nil || !bytes.Equal(resp.Body, page) || resp.Truncated != "" || resp.Received != int64(len(whole)) {
				t.Fatalf("whole: %d bytes, truncated %q, received %d: %v", len(resp.Body), resp.Truncated, resp.Received, err)
			}
			resp, err = get(t, client, reply(t, encoded(t, header, encode(t, coding, bomb))))
			if err != nil || len(resp.Body) != 1<<20 || resp.Truncated != httpget.CutSize {
				t.Fatalf("bomb: %+v, %v", resp, err)
			}
			twice := encode(t, "gzip", encode(t, coding, page))
			resp, err = get(t, client, reply(t, encoded(t, header+", x-gzip", twice)))
			if err != nil || !bytes.Equal(resp.Body, page) {
				t.Fatalf("two layers: %v", err)
			}
		})
	}
}

func TestCutCompression(t *testing.T) {
	t.Parallel()
	random := make([]byte, 64<<10) // hard to compress, so that a prefix of it can be decoded
	for i := range random {
		random[i] = byte(i * i >> 3)
	}
	whole := encode(t, "gzip", random)
	resp, err := get(t, newClient(t, options{}), reply(t, encoded(t, "gzip", whole[:len(whole)-20])))
	if err != nil || resp.Truncated != httpget.CutEOF || len(resp.Body) == 0 || !bytes.HasPrefix(random, resp.Body) {
		t.Errorf("cut: %+v, %v", resp, err)
	}
	broken := bytes.Clone(whole)
	broken[len(broken)-6] ^= 0xff // the checksum
	resp, err = get(t, newClient(t, options{}), reply(t, encoded(t, "gzip", broken)))
	if err != nil || resp.Truncated != httpget.CutEncoding || !bytes.Equal(resp.Body, random) {
		t.Errorf("broken: truncated %q, %v", resp.Truncated, err)
	}
}

// RFC 9659: no more than 8 MiB of window in HTTP. A frame may ask for 2 GiB in one byte.
func TestZstdWindow(t *testing.T) {
	t.Parallel()
	frame := func(window string) string { // one raw block: hi
		return encoded(t, "zstd", []byte("\x28\xb5\x2f\xfd\x00"+window+"\x11\x00\x00hi"))
	}
	if resp, err := get(t, newClient(t, options{}), reply(t, frame("\x68"))); err != nil || string(resp.Body) != "hi" {
		t.Errorf("8 MiB: %+v, %v", resp, err)
	}
	for name, window := range map[string]string{"16 MiB": "\x70", "2 GiB": "\xa8"} {
		if resp, err := get(t, newClient(t, options{}), reply(t, frame(window))); reason(err) != httpget.ReasonEncoding {
			t.Errorf("%s: %+v, %v", name, resp, err)
		}
	}
}

// Empty gzip members decode to nothing for ever; the bytes off the wire are counted too.
func TestEndlessNothing(t *testing.T) {
	t.Parallel()
	empty := bytes.Repeat(encode(t, "gzip", nil), 1000)
	u := raw(t, func(conn net.Conn, _ wire) {
		_, _ = conn.Write([]byte("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"))
		for {
			if _, err := conn.Write(empty); err != nil {
				return
			}
		}
	})
	resp, err := get(t, newClient(t, options{}), u)
	if err != nil || resp.Truncated != httpget.CutSize || resp.Received > 2<<20 {
		t.Errorf("%+v, %v", resp, err)
	}
}

func TestEndlessBodyIsCut(t *testing.T) {
	t.Parallel()
	u := raw(t, func(conn net.Conn, _ wire) {
		_, _ = conn.Write([]byte("HTTP/1.1 200 OK\r\n\r\n"))
		line := bytes.Repeat([]byte("x"), 32<<10)
		for {
			if _, err := conn.Write(line); err != nil {
				return
			}
		}
	})
	resp, err := get(t, newClient(t, options{}), u)
	if err != nil || len(resp.Body) != 1<<20 || resp.Truncated != httpget.CutSize {
		t.Errorf("%+v, %v", resp, err)
	}
}

// A redirect's body is not decoded: it may be a bomb, and nobody reads it.
func TestRedirectBomb(t *testing.T) {
	t.Parallel()
	bomb := encode(t, "gzip", make([]byte, 50<<20))
	answer := strings.Replace(encoded(t, "gzip", bomb), "200 OK", "301 Moved\r\nLocation: /x", 1)
	resp, err := get(t, newClient(t, options{}), reply(t, answer))
	if err != nil || resp.Code != 301 || len(resp.Body) != 0 || resp.Received > 16<<10 {
		t.Errorf("%+v, %v", resp, err)
	}
}

func TestHeaderLimits(t *testing.T) {
	t.Parallel()
	for name, header := range map[string]string{
		"one big":    "X: " + strings.Repeat("x", 100<<10) + "\r\n\r\n",
		"many small": strings.Repeat("X: y\r\n", 50_000) + "\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := reply(t, "HTTP/1.1 200 OK\r\n"+header)
			if _, err := get(t, newClient(t, options{}), u); reason(err) != httpget.ReasonBigHeader {
				t.Errorf("error = %v", err)
			}
		})
	}
	hints := raw(t, func(conn net.Conn, _ wire) {
		for {
			if _, err := conn.Write([]byte("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")); err != nil {
				return
			}
		}
	})
	if _, err := get(t, newClient(t, options{}), hints); reason(err) != httpget.ReasonBigHeader && reason(err) != httpget.ReasonProtocol {
		t.Errorf("endless hints: %v", err)
	}
}

func TestDeadlines(t *testing.T) {
	t.Parallel()
	short := 150 * time.Millisecond
	drip := func(conn net.Conn, every time.Duration) {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for range tick.C {
			if _, err := conn.Write([]byte("x")); err != nil {
				return
			}
		}
	}
	for name, c := range map[string]struct {
		change func(*httpget.Limits)
		head   string
		then   func(net.Conn)
		reason string
	}{
		"silent":       {func(l *httpget.Limits) { l.Header = short }, "", until, httpget.ReasonHeader},
		"slow header":  {func(l *httpget.Limits) { l.Header = short }, "HTTP/1.1 200 OK\r\nX: ", func(c net.Conn) { drip(c, 10*time.Millisecond) }, httpget.ReasonHeader},
		"stalled body": {func(l *httpget.Limits) { l.Idle = short }, "HTTP/1.1 200 OK\r\n\r\nhello", until, httpget.ReasonIdle},
		"dripping body": {func(l *httpget.Limits) { l.Idle, l.MinRate = short, 1<<20 }, "HTTP/1.1 200 OK\r\n\r\n",
			func(c net.Conn) { drip(c, 10*time.Millisecond) }, httpget.ReasonSlow},
		"long body": {func(l *httpget.Limits) { l.Total = short }, "HTTP/1.1 200 OK\r\n\r\n",
			func(c net.Conn) { drip(c, 10*time.Millisecond) }, httpget.ReasonTotal},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := limits()
			c.change(&l)
			u := raw(t, func(conn net.Conn, _ wire) {
				_, _ = conn.Write([]byte(c.head))
				c.then(conn)
			})
			if resp, err := get(t, newClient(t, options{limits: l}), u); reason(err) != c.reason {
				t.Errorf("%+v, %v, want %q", resp, err, c.reason)
			}
		})
	}
}

func TestReset(t *testing.T) {
	t.Parallel()
	u := raw(t, func(conn net.Conn, _ wire) { _ = conn.(*net.TCPConn).SetLinger(0) })
	if _, err := get(t, newClient(t, options{}), u); reason(err) != httpget.ReasonReset {
		t.Errorf("error = %v", err)
	}
}
