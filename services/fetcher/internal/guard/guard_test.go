package guard_test

import (
	"errors"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"testing"

	"github.com/warrenmq/warren/services/fetcher/internal/guard"
)

func TestRefusedByDefault(t *testing.T) {
	t.Parallel()
	refused := strings.Fields(`
		0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.100.100.200 100.127.255.255
		127.0.0.1 127.1.2.3 168.63.129.16 169.254.169.254 172.16.0.1 172.31.255.255
		192.0.0.1 192.0.0.192 192.0.2.1 192.88.99.1 192.168.1.1 198.18.0.1 198.19.255.255
		198.51.100.7 203.0.113.9 224.0.0.1 239.1.1.1 240.0.0.1 255.255.255.255
		:: ::1 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254
		::ffff:0:127.0.0.1 64:ff9b::7f00:1 64:ff9b::808:808 64:ff9b:1::1 100::1 2001::1 2001:2::1
		2001:10::1 2001:db8::1 2002:7f00:1::1 2002:808:808::1 3fff::1 4000::1 5f00::1 fc00::1
		fd00:ec2::254 fe80::1 fe80::1%lo ::1%lo fec0::1 ff02::1`)
	for _, address := range refused {
		t.Run(address, func(t *testing.T) {
			t.Parallel()
			err := new(guard.Guard).Check(netip.AddrPortFrom(netip.MustParseAddr(address), 80))
			var why *guard.Refused
			if !errors.As(err, &why) || why.Why == "" {
				t.Errorf("Check(%s) = %v, want a refusal", address, err)
			}
		})
	}
	if err := new(guard.Guard).Check(netip.AddrPort{}); err == nil {
		t.Error("the zero address passed")
	}
}

func TestPublicPasses(t *testing.T) {
	t.Parallel()
	for _, address := range strings.Fields(`
		1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 93.184.216.34 100.63.255.255 100.128.0.0 126.255.255.255
		128.0.0.1 168.63.129.15 168.63.129.17 169.253.255.255 172.15.255.255 172.32.0.0 192.0.1.1
		192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 223.255.255.255 ::ffff:8.8.8.8
		2001:200::1 2001:4860:4860::8888 2606:4700::1111 2a00:1450::1 3ffe::1`) {
		if err := new(guard.Guard).Check(netip.AddrPortFrom(netip.MustParseAddr(address), 443)); err != nil {
			t.Errorf("Check(%s) = %v", address, err)
		}
	}
}

func TestBadPorts(t *testing.T) {
	t.Parallel()
	public := netip.MustParseAddr("93.184.216.34")
	for _, port := range []uint16{0, 22, 25, 6000, 6667, 10080} {
		if err := new(guard.Guard).Check(netip.AddrPortFrom(public, port)); err == nil {
			t.Errorf("port %d passed", port)
		}
	}
	for _, port := range []uint16{80, 443, 8080, 8443, 65535} {
		if err := new(guard.Guard).Check(netip.AddrPortFrom(public, port)); err != nil {
			t.Errorf("port %d: %v", port, err)
		}
	}
}

func TestAllow(t *testing.T) {
	t.Parallel()
	g, err := guard.New([]string{"127.0.0.0/8:8080", "[fd00::]/8:80", "[fd12::/16]:81", "10.1.2.3", "::1", "[fe80::1]:99", "93.184.216.34:25"})
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]bool{
		"127.0.0.1:8080":          true,
		"127.9.9.9:8080":          true,
		"[::ffff:127.0.0.1]:8080": true,
		"127.0.0.1:5672":          false,
		"127.0.0.1:80":            false,
		"[fd00::7]:80":            true,
		"[fd00::7]:81":            false,
		"[fd12::7]:81":            true,
		"10.1.2.3:5432":           true,
		"10.1.2.4:5432":           false,
		"[::1]:80":                true,
		"[fe80::1%eth0]:99":       true,
		"[fe80::1%eth0]:98":       false,
		"93.184.216.34:25":        true,
		"93.184.216.35:25":        false,
	} {
		if err := g.Check(netip.MustParseAddrPort(address)); (err == nil) != want {
			t.Errorf("Check(%s) = %v, want passed = %v", address, err, want)
		}
	}
}

func TestAllowRefusesNonsense(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "localhost", "localhost:80", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:99999",
		"127.0.0.0/33", "fd00::/8:80", "fe80::1%lo", "1.2.3.4:http", ":80"} {
		if _, err := guard.New([]string{text}); err == nil || !strings.Contains(err.Error(), "want an address") {
			t.Errorf("New(%q) = %v", text, err)
		}
	}
}

// The guard must see the address that is dialled, not the name that was asked for.
func TestControlStopsTheDialler(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	dial := func(g *guard.Guard) error {
		dialer := net.Dialer{Control: g.Control}
		conn, err := dialer.DialContext(t.Context(), "tcp", listener.Addr().String())
		if err == nil {
			conn.Close()
		}
		return err
	}
	var refused *guard.Refused
	if err := dial(new(guard.Guard)); !errors.As(err, &refused) {
		t.Errorf("dial = %v, want a refusal", err)
	}
	open, err := guard.New([]string{"127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	if err := dial(open); err != nil {
		t.Errorf("dial of an allowed address: %v", err)
	}
	if err := open.Control("udp4", "127.0.0.1:53", nil); err == nil {
		t.Error("udp passed")
	}
}

func FuzzAllow(f *testing.F) {
	f.Add("127.0.0.0/8:8080", "127.0.0.1:5672")
	f.Add("[fd00::]/8:80", "[::1]:80")
	f.Add("[fe80::1]:99", "[fe80::1%eth0]:98")
	f.Fuzz(func(t *testing.T, text, address string) {
		g, err := guard.New([]string{text})
		if err != nil {
			return
		}
		addr, err := netip.ParseAddrPort(address)
		if err != nil || g.Check(addr) != nil || new(guard.Guard).Check(addr) == nil {
			return
		}
		// It passed because of the rule, so a port in the rule must be the port of the address.
		_, port, err := net.SplitHostPort(strings.NewReplacer("]/", "/", "[", "", "]", "").Replace(text))
		if err == nil && port != strconv.Itoa(int(addr.Port())) {
			t.Errorf("%q let %s through", text, addr)
		}
	})
}
