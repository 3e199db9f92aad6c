package httpget_test

import (
	"bufio"
	"context"
	"crypto/x509"
	"errors"
	"net"
	"net/textproto"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/net/dns/dnsmessage"

	"github.com/warrenmq/warren/libs/weburl"
	"github.com/warrenmq/warren/services/fetcher/internal/guard"
	"github.com/warrenmq/warren/services/fetcher/internal/httpget"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func limits() httpget.Limits {
	return httpget.Limits{
		Connect: 5 * time.Second, Header: 5 * time.Second, Idle: 5 * time.Second, Total: 20 * time.Second,
		MinRate: 1, MaxHeader: 64 << 10, MaxBody: 1 << 20, IdleConns: 10, PerHost: 1,
	}
}

type options struct {
	limits   httpget.Limits
	allow    []string
	resolver *net.Resolver
	roots    *x509.CertPool
}

func newClient(t *testing.T, o options) *httpget.Client {
	t.Helper()
	if o.limits == (httpget.Limits{}) {
		o.limits = limits()
	}
	if o.allow == nil {
		o.allow = []string{"127.0.0.0/8"}
	}
	g, err := guard.New(o.allow)
	if err != nil {
		t.Fatal(err)
	}
	client := httpget.New("Warren/test", o.limits, httpget.Dialling{Control: g.Control, Resolver: o.resolver, RootCAs: o.roots})
	t.Cleanup(client.Close)
	return client
}

// wire is a request as it stood on the wire; net/http's own parser refuses some of them.
type wire struct {
	Target string
	Header textproto.MIMEHeader
}

func readWire(conn net.Conn) (wire, error) {
	r := textproto.NewReader(bufio.NewReader(conn))
	line, err := r.ReadLine()
	if err != nil {
		return wire{}, err
	}
	header, err := r.ReadMIMEHeader()
	target, _, _ := strings.Cut(strings.TrimPrefix(line, "GET "), " HTTP/1.1")
	return wire{target, header}, err
}

// raw serves bytes instead of HTTP: for each connection the request's header is read, then answer
// writes what it likes. The connection is closed when answer returns.
func raw(t *testing.T, answer func(conn net.Conn, request wire)) weburl.URL {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer conn.Close()
				if request, err := readWire(conn); err == nil {
					answer(conn, request)
				}
			})
		}
	})
	t.Cleanup(func() { listener.Close(); wg.Wait() })
	return parse(t, "http://"+listener.Addr().String()+"/")
}

// reply serves one text to every request.
func reply(t *testing.T, text string) weburl.URL {
	t.Helper()
	return raw(t, func(conn net.Conn, _ wire) { _, _ = conn.Write([]byte(text)) })
}

// until waits for the other side to close the connection.
func until(conn net.Conn) {
	var one [1]byte
	for {
		if _, err := conn.Read(one[:]); err != nil {
			return
		}
	}
}

func parse(t *testing.T, text string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func get(t *testing.T, client *httpget.Client, u weburl.URL) (*httpget.Response, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	return client.Get(ctx, httpget.Request{URL: u})
}

func reason(err error) string {
	var e *httpget.Error
	if errors.As(err, &e) {
		return e.Reason
	}
	if err != nil {
		return "not an Error: " + err.Error()
	}
	return ""
}

// nameserver answers every query for a name of the table; others are NXDOMAIN, "fail." is SERVFAIL.
func nameserver(t *testing.T, table map[string][]string) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		buf := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			if answer, err := answerDNS(buf[:n], table); err == nil {
				_, _ = conn.WriteTo(answer, from)
			}
		}
	})
	t.Cleanup(func() { conn.Close(); wg.Wait() })
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

func answerDNS(query []byte, table map[string][]string) ([]byte, error) {
	var m dnsmessage.Message
	if err := m.Unpack(query); err != nil {
		return nil, err
	}
	question := m.Questions[0]
	name := strings.TrimSuffix(question.Name.String(), ".")
	m = dnsmessage.Message{Header: dnsmessage.Header{ID: m.ID, Response: true, RecursionAvailable: true}, Questions: m.Questions}
	addresses, known := table[name]
	switch {
	case name == "fail.test":
		m.RCode = dnsmessage.RCodeServerFailure
	case !known:
		m.RCode = dnsmessage.RCodeNameError
	}
	for _, address := range addresses {
		ip := net.ParseIP(address)
		header := dnsmessage.ResourceHeader{Name: question.Name, Class: dnsmessage.ClassINET}
		if v4 := ip.To4(); v4 != nil && question.Type == dnsmessage.TypeA {
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AResource{A: [4]byte(v4)}})
		} else if v4 == nil && question.Type == dnsmessage.TypeAAAA {
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AAAAResource{AAAA: [16]byte(ip)}})
		}
	}
	return m.Pack()
}

// rawLine serves 204 and tells each request's target as it stood on the wire.
func rawLine(t *testing.T, seen chan<- string) weburl.URL {
	t.Helper()
	return raw(t, func(conn net.Conn, request wire) {
		seen <- request.Target
		_, _ = conn.Write([]byte("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"))
	})
}
