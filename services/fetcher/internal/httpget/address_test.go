package httpget_test

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/warrenmq/warren/services/fetcher/internal/httpget"
)

func TestAddresses(t *testing.T) {
	t.Parallel()
	page := reply(t, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
	port := strings.TrimPrefix(page.Host(), "127.0.0.1")
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	resolver := nameserver(t, map[string][]string{
		"good.test":    {"127.0.0.1"},
		"inside.test":  {"10.0.0.1"},
		"mixed.test":   {"169.254.169.254", "127.0.0.1"},
		"mapped.test":  {"::ffff:10.0.0.1"},
		"nowhere.test": {},
	})
	client := newClient(t, options{allow: []string{"127.0.0.1"}, resolver: resolver})
	for url, want := range map[string]string{
		"http://good.test" + port + "/":          "",
		"http://mixed.test" + port + "/":         "", // the allowed address only
		"http://inside.test/":                    httpget.ReasonRefused,
		"http://mapped.test/":                    httpget.ReasonRefused,
		"http://169.254.169.254/latest/":         httpget.ReasonRefused,
		"http://[::1]" + port + "/":              httpget.ReasonRefused,
		"http://127.0.0.2" + port + "/":          httpget.ReasonRefused,
		"http://0x7f000002/":                     httpget.ReasonRefused,
		"http://missing.test/":                   httpget.ReasonNoHost,
		"http://nowhere.test/":                   httpget.ReasonNoHost,
		"http://fail.test/":                      httpget.ReasonDNS,
		"http://" + closed.Addr().String() + "/": httpget.ReasonConnRefused,
	} {
		t.Run(url, func(t *testing.T) {
			t.Parallel()
			if _, err := get(t, client, parse(t, url)); reason(err) != want {
				t.Errorf("reason %q (%v), want %q", reason(err), err, want)
			}
		})
	}
}

// Whatever a redirect or a second look-up says: the guard sees each connection.
func TestPortIsPartOfTheAllowList(t *testing.T) {
	t.Parallel()
	touched := make(chan struct{}, 1)
	u := raw(t, func(net.Conn, wire) { touched <- struct{}{} })
	client := newClient(t, options{allow: []string{"127.0.0.0/8:1"}})
	_, err := get(t, client, u)
	if reason(err) != httpget.ReasonRefused || !strings.Contains(err.Error(), "loopback") {
		t.Errorf("error = %v", err)
	}
	select {
	case <-touched:
		t.Error("the server was touched")
	default:
	}
	if want := fmt.Sprintf("connect to %s", u.Host()); !strings.Contains(err.Error(), want) {
		t.Errorf("error %q does not say %q", err, want)
	}
}
