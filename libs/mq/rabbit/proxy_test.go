package rabbit_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"slices"
	"sync"
	"testing"
)

// proxy stands between a bus and its broker and understands AMQP frames: it cuts, stalls, speaks in
// the broker's place, and kills channels.
type proxy struct {
	t        testing.TB
	listener net.Listener
	target   string
	vhost    *url.URL
	done     chan struct{}
	work     sync.WaitGroup

	mu       sync.Mutex
	pipes    map[*pipe]bool
	accepted int
	refusing bool
	gates    [2]chan struct{} // nil or open; one for each direction
}

// direction of a frame.
type direction int

const (
	toBroker direction = iota
	toClient
)

// pipe is one connection through the proxy.
type pipe struct {
	p       *proxy
	ends    [2]net.Conn // by direction: where its frames are written
	writing [2]sync.Mutex
	role    string // "consume" or "publish", once known

	mu       sync.Mutex
	channels map[string][]uint16 // opened by "consume" and "confirm", in order
	gates    [2]chan struct{}    // as the proxy's, for this connection only
	drop     [2]map[string]bool  // method frames to swallow once: channel, class, method
}

func newProxy(t testing.TB, broker string) *proxy {
	t.Helper()
	u, err := url.Parse(broker)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{t: t, listener: listener, target: u.Host, vhost: u, done: make(chan struct{}), pipes: map[*pipe]bool{}}
	p.work.Go(p.accept)
	t.Cleanup(p.close)
	return p
}

// url is the broker's, by way of the proxy.
func (p *proxy) url() string {
	u := *p.vhost
	u.Host = p.listener.Addr().String()
	return u.String()
}

func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		broker, err := net.Dial("tcp", p.target)
		p.mu.Lock()
		refusing := p.refusing
		p.mu.Unlock()
		if err == nil && refusing {
			broker.Close()
		}
		if err != nil || refusing {
			client.Close()
			continue
		}
		x := &pipe{p: p, ends: [2]net.Conn{broker, client}, channels: map[string][]uint16{}, drop: [2]map[string]bool{{}, {}}}
		p.mu.Lock()
		p.pipes[x] = true
		p.accepted++
		p.mu.Unlock()
		for d := range x.ends {
			p.work.Go(func() { x.copy(direction(d)) })
		}
	}
}

// copy passes frames on in one direction until an end is closed.
func (x *pipe) copy(d direction) {
	defer x.close()
	from := x.ends[1-d]
	if d == toBroker {
		header := make([]byte, 8) // "AMQP" and the version
		if _, err := io.ReadFull(from, header); err != nil || x.write(d, header) != nil {
			return
		}
	}
	for {
		frame, err := readFrame(from)
		if err != nil {
			return
		}
		if !x.p.pass(d) || !x.pass(d) {
			return
		}
		x.learn(d, frame)
		if !x.swallow(d, frame) && x.write(d, frame) != nil {
			return
		}
	}
}

func readFrame(r io.Reader) ([]byte, error) {
	header := make([]byte, 7) // type, channel, size
	if _, err := io.ReadFull(r, header); err != nil {
		return nil, err
	}
	frame := append(header, make([]byte, binary.BigEndian.Uint32(header[3:])+1)...)
	_, err := io.ReadFull(r, frame[7:])
	return frame, err
}

// learn reads the connection's name from its start-ok, and what channels are for.
func (x *pipe) learn(d direction, frame []byte) {
	if d != toBroker || frame[0] != 1 {
		return
	}
	channel := binary.BigEndian.Uint16(frame[1:])
	switch binary.BigEndian.Uint32(frame[7:]) {
	case 60<<16 | 20:
		x.note("consume", channel)
	case 85<<16 | 10:
		x.note("confirm", channel)
	case 10<<16 | 11:
		x.p.mu.Lock()
		defer x.p.mu.Unlock()
		x.role = "consume"
		if bytes.Contains(frame, []byte(" publish")) {
			x.role = "publish"
		}
	}
}

func (x *pipe) note(what string, channel uint16) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.channels[what] = append(x.channels[what], channel)
}

// opened returns the channels of that use so far.
func (x *pipe) opened(what string) []uint16 {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.Clone(x.channels[what])
}

// method is channel, class and method of a method frame, else "".
func method(frame []byte) string {
	if frame[0] != 1 {
		return ""
	}
	return string(frame[1:3]) + string(frame[7:11])
}

func (x *pipe) swallow(d direction, frame []byte) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	m := method(frame)
	swallow := x.drop[d][m]
	delete(x.drop[d], m)
	return swallow
}

func (x *pipe) write(d direction, b []byte) error {
	x.writing[d].Lock()
	defer x.writing[d].Unlock()
	_, err := x.ends[d].Write(b)
	return err
}

func (x *pipe) close() {
	x.p.mu.Lock()
	delete(x.p.pipes, x)
	x.p.mu.Unlock()
	for _, end := range x.ends {
		end.Close()
	}
}

// pass waits while the direction is stalled.
func (p *proxy) pass(d direction) bool {
	p.mu.Lock()
	gate := p.gates[d]
	p.mu.Unlock()
	if gate == nil {
		return true
	}
	select {
	case <-gate:
		return true
	case <-p.done:
		return false
	}
}

// stall stops passing frames; nobody is told.
func (p *proxy) stall(directions ...direction) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, d := range directions {
		p.gates[d] = make(chan struct{})
	}
}

// stallOnly stalls these connections for good, and no others.
func (p *proxy) stallOnly(pipes []*pipe, directions ...direction) {
	for _, x := range pipes {
		x.mu.Lock()
		for _, d := range directions {
			x.gates[d] = p.done
		}
		x.mu.Unlock()
	}
}

// pass waits for the end of the proxy if the connection is stalled.
func (x *pipe) pass(d direction) bool {
	x.mu.Lock()
	gate := x.gates[d]
	x.mu.Unlock()
	if gate != nil {
		<-gate
	}
	return gate == nil
}

// refuse drops every new connection at once.
func (p *proxy) refuse(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refusing = on
}

func (p *proxy) resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for d, gate := range p.gates {
		if gate != nil {
			close(gate)
		}
		p.gates[d] = nil
	}
}

// cut resets every connection.
func (p *proxy) cut() {
	for _, x := range p.open("") {
		for _, end := range x.ends {
			_ = end.(*net.TCPConn).SetLinger(0)
			end.Close()
		}
	}
}

// open returns the connections of a role, or all.
func (p *proxy) open(role string) []*pipe {
	p.mu.Lock()
	defer p.mu.Unlock()
	var found []*pipe
	for x := range p.pipes {
		if role == "" || x.role == role {
			found = append(found, x)
		}
	}
	return found
}

func (p *proxy) dials() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.accepted
}

func (p *proxy) close() {
	p.listener.Close()
	select {
	case <-p.done:
		return
	default:
	}
	close(p.done)
	p.cut()
	p.work.Wait()
}

// methodFrame builds a method frame.
func methodFrame(channel uint16, class, id uint16, args ...byte) []byte {
	frame := []byte{1}
	frame = binary.BigEndian.AppendUint16(frame, channel)
	frame = binary.BigEndian.AppendUint32(frame, uint32(4+len(args)))
	frame = binary.BigEndian.AppendUint16(frame, class)
	frame = binary.BigEndian.AppendUint16(frame, id)
	return append(append(frame, args...), 0xCE)
}

func shortstr(s string) []byte { return append([]byte{byte(len(s))}, s...) }

// block and unblock say what a broker in alarm says.
func (x *pipe) block(reason string) error {
	return x.write(toClient, methodFrame(0, 10, 60, shortstr(reason)...))
}

func (x *pipe) unblock() error { return x.write(toClient, methodFrame(0, 10, 61)) }

// killChannel closes a channel towards both sides, each of which believes that the other did it.
func (x *pipe) killChannel(channel uint16, reason string) error {
	closeArgs := func(code uint16, text string) []byte {
		args := append(binary.BigEndian.AppendUint16(nil, code), shortstr(text)...)
		return append(args, 0, 0, 0, 0)
	}
	x.mu.Lock()
	ok := method(methodFrame(channel, 20, 41))
	x.drop[toBroker][ok] = true
	x.drop[toClient][ok] = true
	x.mu.Unlock()
	if err := x.write(toBroker, methodFrame(channel, 20, 40, closeArgs(200, "killed")...)); err != nil {
		return err
	}
	return x.write(toClient, methodFrame(channel, 20, 40, closeArgs(406, reason)...))
}

// forward joins conn with a new connection to address.
func forward(conn net.Conn, address string) {
	defer conn.Close()
	other, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer other.Close()
	go func() {
		_, _ = io.Copy(other, conn)
		other.Close()
		conn.Close()
	}()
	_, _ = io.Copy(conn, other)
}
