package store_test

import (
	"bytes"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"

	"github.com/warrenmq/warren/libs/sqldb"
)

// proxy stands between a store and PostgreSQL and cuts one connection around its next COMMIT.
type proxy struct {
	listener net.Listener
	server   string
	mu       sync.Mutex
	next     string // what to do at the next COMMIT
	did      int    // how often it was done
	open     []net.Conn
	all      sync.WaitGroup
}

// What a proxy can do at a COMMIT.
const (
	cutBefore = "cut before" // the server never sees it
	cutAfter  = "cut after"  // the server does it; its answer is lost
	swallow   = "swallow"    // the server does it; nothing is heard of the server any more
)

// startProxy returns a proxy and what makes a database's settings go through it.
func startProxy(t *testing.T) (*proxy, func(*sqldb.Config)) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: listener}
	t.Cleanup(func() {
		listener.Close()
		p.mu.Lock()
		for _, conn := range p.open {
			conn.Close()
		}
		p.mu.Unlock()
		p.all.Wait()
	})
	return p, func(cfg *sqldb.Config) {
		target, err := url.Parse(cfg.URL)
		if err != nil {
			t.Fatal(err)
		}
		p.server, target.Host = target.Host, listener.Addr().String()
		query := target.Query()
		query.Set("sslmode", "disable") // the proxy reads along
		target.RawQuery = query.Encode()
		cfg.URL = target.String()
		p.all.Go(p.accept)
	}
}

// at says what to do at the next COMMIT.
func (p *proxy) at(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next = what
}

func (p *proxy) times() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.did
}

func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.server)
		if err != nil {
			client.Close()
			continue
		}
		p.mu.Lock()
		p.open = append(p.open, client, server)
		p.mu.Unlock()
		link := &link{proxy: p, client: client, server: server}
		p.all.Go(link.up)
		p.all.Go(link.down)
	}
}

// link is one connection and what is to become of it.
type link struct {
	proxy          *proxy
	client, server net.Conn
	mu             sync.Mutex
	fate           string
}

// commit is what the driver sends: a simple query.
var commit = []byte("commit\x00")

func (l *link) up() {
	defer l.server.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := l.client.Read(buffer)
		if err != nil {
			return
		}
		if bytes.Contains(buffer[:n], commit) && l.decide() == cutBefore {
			l.client.Close()
			return
		}
		if _, err := l.server.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// decide takes the fate that was set for the next COMMIT.
func (l *link) decide() string {
	l.proxy.mu.Lock()
	defer l.proxy.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fate, l.proxy.next = l.proxy.next, ""
	if l.fate != "" {
		l.proxy.did++
	}
	return l.fate
}

func (l *link) down() {
	defer l.client.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := l.server.Read(buffer)
		if err != nil {
			return
		}
		l.mu.Lock()
		fate := l.fate
		l.mu.Unlock()
		switch fate {
		case cutAfter: // this is the answer to COMMIT: it has happened
			return
		case swallow:
			_, _ = io.Copy(io.Discard, l.server)
			return
		}
		if _, err := l.client.Write(buffer[:n]); err != nil {
			return
		}
	}
}
