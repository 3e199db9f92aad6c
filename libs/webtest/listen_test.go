package webtest

import (
	"net"
	"net/http"
	"strings"
	"testing"
)

// Both ways to name hosts without DNS, as the one in use depends on the system.
func TestListenModes(t *testing.T) {
	t.Parallel()
	for name, listen := range map[string]func(Options, int) (*Server, error){"addresses": listenAddresses, "ports": listenPorts} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := &http.Client{Transport: new(http.Transport)}
			defer client.CloseIdleConnections()
			server, err := listen(Options{Seed: 1}, 5)
			if err != nil {
				t.Fatal(err)
			}
			hosts := server.Web.Hosts()
			if len(hosts) != 5 {
				t.Errorf("hosts %v, want 5", hosts)
			}
			for _, host := range hosts {
				res, err := client.Get("http://" + host + "/gone-" + name)
				if err != nil {
					t.Fatal(err)
				}
				_ = res.Body.Close()
				if res.StatusCode != 404 {
					t.Errorf("%s: status %d, want 404 of the web itself", host, res.StatusCode)
				}
				_, port, err := net.SplitHostPort(host)
				if err != nil {
					t.Fatal(err)
				}
				allowed := false
				for _, prefix := range server.Allow {
					allowed = allowed || strings.HasSuffix(prefix, ":"+port)
				}
				if !allowed {
					t.Errorf("%s is not in the list of what to allow, %v", host, server.Allow)
				}
			}
			if err := server.Close(); err != nil {
				t.Error(err)
			}
			if res, err := client.Get("http://" + hosts[0] + "/"); err == nil {
				_ = res.Body.Close()
				t.Error("it still answers after Close")
			}
		})
	}
}

func TestListenRefusesBadCounts(t *testing.T) {
	t.Parallel()
	for _, n := range []int{-1, 0, maxAddresses + 1} {
		if server, err := Listen(Options{}, n); err == nil {
			_ = server.Close()
			t.Errorf("listening for %d hosts works", n)
		}
	}
}

// conns is a listener that hands out connections from given addresses, then ends.
type conns struct {
	net.Listener
	from   []string
	closed []string
}

type conn struct {
	net.Conn
	from string
	of   *conns
}

func (c *conns) Accept() (net.Conn, error) {
	if len(c.from) == 0 {
		return nil, net.ErrClosed
	}
	from := c.from[0]
	c.from = c.from[1:]
	return conn{from: from, of: c}, nil
}

func (c conn) RemoteAddr() net.Addr { return addr(c.from) }

func (c conn) Close() error { c.of.closed = append(c.of.closed, c.from); return nil }

type addr string

func (a addr) Network() string { return "tcp" }
func (a addr) String() string  { return string(a) }

func TestOtherMachinesAreRefused(t *testing.T) {
	t.Parallel()
	inner := &conns{from: []string{"192.0.2.1:5", "127.3.2.1:6", "[2001:db8::1]:7", "[::1]:8", "@unix"}}
	var got []string
	for ln := (loopbackOnly{inner}); ; {
		c, err := ln.Accept()
		if err != nil {
			break
		}
		got = append(got, c.RemoteAddr().String())
	}
	if want := "127.3.2.1:6 [::1]:8"; strings.Join(got, " ") != want {
		t.Errorf("accepted %v, want %s", got, want)
	}
	if want := "192.0.2.1:5 [2001:db8::1]:7 @unix"; strings.Join(inner.closed, " ") != want {
		t.Errorf("closed %v, want %s", inner.closed, want)
	}
}
