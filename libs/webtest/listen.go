package webtest

import (
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"sync"
	"time"
)

// Server serves a web on loopback addresses, for tests and demonstrations in one process.
type Server struct {
	Web *Web
	// Allow lists what a crawler with a guarded dialler must allow, as "prefix:port".
	Allow []string

	http      *http.Server
	listeners []net.Listener
	serving   sync.WaitGroup
}

// Listen serves a web of n hosts, whose names are IP addresses and ports, so that no DNS is needed. It
// sets opts.Hosts. Each host is an address of its own, 127.0.1.1:PORT, 127.0.1.2:PORT, …, all of one
// listener. Where the system has only 127.0.0.1 (macOS), each host is a port of its own instead.
func Listen(opts Options, n int) (*Server, error) {
	if n < 1 || n > maxAddresses {
		return nil, fmt.Errorf("listen for %d hosts: want 1 to %d", n, maxAddresses)
	}
	probe, err := net.Listen("tcp4", "127.0.1.1:0")
	if err != nil {
		return listenPorts(opts, n)
	}
	_ = probe.Close()
	return listenAddresses(opts, n)
}

// maxAddresses is how many hosts fit 127.0.1.1 … 127.0.255.250.
const maxAddresses = 255 * 250

// listenAddresses gives each host an address. A listener on 0.0.0.0 receives all of 127.0.0.0/8 on
// Linux; requests from other machines are refused.
func listenAddresses(opts Options, n int) (*Server, error) {
	ln, err := net.Listen("tcp4", "0.0.0.0:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the web: %w", err)
	}
	port := strconv.Itoa(ln.Addr().(*net.TCPAddr).Port)
	opts.Hosts = make([]string, n)
	for i := range opts.Hosts {
		opts.Hosts[i] = fmt.Sprintf("127.0.%d.%d:%s", 1+i/250, 1+i%250, port)
	}
	return serve(opts, []net.Listener{loopbackOnly{ln}}, []string{"127.0.0.0/8:" + port}), nil
}

// listenPorts gives each host a port of 127.0.0.1.
func listenPorts(opts Options, n int) (*Server, error) {
	opts.Hosts = nil
	var listeners []net.Listener
	var allow []string
	for range n {
		ln, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			for _, open := range listeners {
				_ = open.Close()
			}
			return nil, fmt.Errorf("listen for host %d of the web: %w", len(listeners)+1, err)
		}
		listeners = append(listeners, ln)
		opts.Hosts = append(opts.Hosts, ln.Addr().String())
		allow = append(allow, "127.0.0.1/32:"+strconv.Itoa(ln.Addr().(*net.TCPAddr).Port))
	}
	return serve(opts, listeners, allow), nil
}

func serve(opts Options, listeners []net.Listener, allow []string) *Server {
	s := &Server{Web: New(opts), Allow: allow, listeners: listeners}
	s.http = &http.Server{
		Handler:           s.Web,
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          log.New(os.Stderr, "webtest: ", log.LstdFlags),
	}
	for _, ln := range listeners {
		s.serving.Go(func() {
			if err := s.http.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
				s.http.ErrorLog.Printf("serve %s: %v", ln.Addr(), err)
			}
		})
	}
	return s
}

// Close stops the server and cuts what still runs.
func (s *Server) Close() error {
	err := s.http.Close()
	s.serving.Wait()
	if err != nil {
		return fmt.Errorf("close the web: %w", err)
	}
	return nil
}

// loopbackOnly is a listener that hangs up on other machines.
type loopbackOnly struct{ net.Listener }

func (l loopbackOnly) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if isLoopback(conn.RemoteAddr()) {
			return conn, nil
		}
		_ = conn.Close()
	}
}

func isLoopback(addr net.Addr) bool {
	ap, err := netip.ParseAddrPort(addr.String())
	return err == nil && ap.Addr().Unmap().IsLoopback()
}
