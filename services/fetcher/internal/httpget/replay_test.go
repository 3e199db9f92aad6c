package httpget_test

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/net/http2"

	"github.com/warrenmq/warren/services/fetcher/internal/httpget"
)

// A server that answers the first request of each connection and closes it on reading the second:
// net/http would send that one again on a connection of its own, outside the host's pace.
func TestNoRequestTwice(t *testing.T) {
	t.Parallel()
	for _, secure := range []bool{false, true} {
		name := map[bool]string{false: "http", true: "https"}[secure]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			scheme, roots := "http://", x509.NewCertPool()
			if secure {
				known := httptest.NewTLSServer(http.NotFoundHandler()) // for its certificate
				defer known.Close()
				roots.AddCert(known.Certificate())
				listener, scheme = tls.NewListener(listener, &tls.Config{Certificates: known.TLS.Certificates}), "https://"
			}
			var requests atomic.Int32
			var wg sync.WaitGroup
			serve := func(conn net.Conn) {
				defer conn.Close()
				in := bufio.NewReader(conn)
				for n := range 2 {
					if _, err := http.ReadRequest(in); err != nil {
						return
					}
					requests.Add(1)
					if n == 0 {
						_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
					}
				}
			}
			wg.Go(func() {
				for {
					conn, err := listener.Accept()
					if err != nil {
						return
					}
					wg.Go(func() { serve(conn) })
				}
			})
			client := newClient(t, options{roots: roots})
			u := parse(t, scheme+listener.Addr().String()+"/")
			var sent atomic.Int32
			for n := range 20 { // an even number: every other one is the second of its connection
				_, err := client.Get(t.Context(), httpget.Request{URL: u, Sent: func() { sent.Add(1) }})
				if want := []string{"", httpget.ReasonClosed}[n%2]; reason(err) != want {
					t.Errorf("request %d: %v, want %q", n, err, want)
				}
			}
			client.Close()
			listener.Close()
			wg.Wait()
			if requests.Load() != 20 || sent.Load() != 20 {
				t.Errorf("20 calls, %d requests at the server, Sent called %d times", requests.Load(), sent.Load())
			}
		})
	}
}

// An HTTP/2 server that refuses streams is not asked again either.
func TestRefusedStreamIsNotSentAgain(t *testing.T) {
	t.Parallel()
	known := httptest.NewTLSServer(http.NotFoundHandler())
	defer known.Close()
	roots := x509.NewCertPool()
	roots.AddCert(known.Certificate())
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: known.TLS.Certificates, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	var requests atomic.Int32
	var wg sync.WaitGroup
	end := make(chan struct{}) // the client may hold a connection for a ping after its last stream
	serve := func(conn net.Conn) {
		defer conn.Close()
		if _, err := io.ReadFull(conn, make([]byte, len(http2.ClientPreface))); err != nil {
			return
		}
		framer := http2.NewFramer(conn, conn)
		if err := framer.WriteSettings(); err != nil {
			return
		}
		for {
			frame, err := framer.ReadFrame()
			if err != nil {
				return
			}
			switch frame := frame.(type) {
			case *http2.HeadersFrame:
				requests.Add(1)
				_ = framer.WriteRSTStream(frame.StreamID, http2.ErrCodeRefusedStream)
			case *http2.SettingsFrame:
				if !frame.IsAck() {
					_ = framer.WriteSettingsAck()
				}
			case *http2.PingFrame: // without an answer the client holds the connection open for long
				_ = framer.WritePing(true, frame.Data)
			}
		}
	}
	wg.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { serve(conn) })
			wg.Go(func() { <-end; conn.Close() })
		}
	})
	client := newClient(t, options{roots: roots})
	for range 5 {
		if _, err := get(t, client, parse(t, "https://"+listener.Addr().String()+"/")); reason(err) != httpget.ReasonClosed {
			t.Errorf("error = %v", err)
		}
	}
	client.Close()
	listener.Close()
	close(end)
	wg.Wait()
	if n := requests.Load(); n != 5 {
		t.Errorf("5 calls, %d requests at the server", n)
	}
}
