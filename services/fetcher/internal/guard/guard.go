// Package guard decides which addresses a crawler may connect to. URLs come from strangers: without
// a guard a link, a redirect or a DNS answer makes the crawler ask the inside of its own network.
//
//  1. The decision is taken in net.Dialer's Control, on the address that is about to be connected
//     to. So it holds for every hop, for each address of a name, and for a name whose answer changed
//     between two look-ups.
//  2. An address is judged in its plain form: IPv4 in IPv6 is unwrapped, a zone is dropped.
//  3. What the allow-list names passes. Else the address must be of the public internet and the port
//     one that browsers do not refuse.
package guard

import (
	"fmt"
	"net/netip"
	"syscall"
)

// Refused is the error of a connection that the guard did not let happen.
type Refused struct {
	Addr netip.AddrPort
	Why  string // "a private network", "a port of another protocol", …
}

func (r *Refused) Error() string {
	return fmt.Sprintf("connect to %s: address refused: it is %s", r.Addr, r.Why)
}

// Guard judges addresses. The zero value lets the public internet through and nothing else.
type Guard struct{ allow []rule }

// New returns a guard that also lets through what allow names: "prefix:port" or "prefix" for every
// port, where prefix is a CIDR or one address: "127.0.0.0/8:8080", "[fd00::]/8:80", "10.1.2.3".
func New(allow []string) (*Guard, error) {
	g := &Guard{}
	for _, text := range allow {
		r, err := parseRule(text)
		if err != nil {
			return nil, err
		}
		g.allow = append(g.allow, r)
	}
	return g, nil
}

// Check returns nil if addr may be connected to, or a *Refused.
func (g *Guard) Check(addr netip.AddrPort) error {
	addr = netip.AddrPortFrom(addr.Addr().Unmap().WithZone(""), addr.Port())
	for _, r := range g.allow {
		if r.matches(addr) {
			return nil
		}
	}
	if why := special(addr.Addr()); why != "" {
		return &Refused{Addr: addr, Why: why}
	}
	if badPort(addr.Port()) {
		return &Refused{Addr: addr, Why: "a port of another protocol"}
	}
	return nil
}

// Control is for net.Dialer.Control. address is always a literal there.
func (g *Guard) Control(network, address string, _ syscall.RawConn) error {
	if network != "tcp4" && network != "tcp6" {
		return fmt.Errorf("connect to %s: network %s is not TCP", address, network)
	}
	addr, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("connect to %s: %w", address, err)
	}
	return g.Check(addr)
}
