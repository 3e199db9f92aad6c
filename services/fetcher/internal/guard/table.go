package guard

import "net/netip"

// special says what an address is if it is not of the public internet, else "". addr is unmapped and
// has no zone. Sources: the IANA special-purpose registries for IPv4 and IPv6 (RFC 6890 and what
// followed), and metadata addresses of clouds, of which one lies in a public range.
func special(addr netip.Addr) string {
	if !addr.IsValid() {
		return "no address"
	}
	table := ipv4
	if addr.Is6() {
		table = ipv6
	}
	for _, entry := range table() {
		if entry.prefix.Contains(addr) {
			return entry.is
		}
	}
	// Global unicast is 2000::/3 and nothing else: what is not given out yet is refused, and with
	// it ::/96, NAT64 (64:ff9b::/96, 64:ff9b:1::/48), site-local and every other way to write an
	// IPv4 address in an IPv6 one.
	if addr.Is6() && !netip.MustParsePrefix("2000::/3").Contains(addr) {
		return "outside of the public IPv6 range"
	}
	return ""
}

type entry struct {
	prefix netip.Prefix
	is     string
}

func ipv4() []entry {
	return []entry{
		{prefix4(0, 0, 0, 0, 8), "this network"},
		{prefix4(10, 0, 0, 0, 8), "a private network"},
		{prefix4(100, 64, 0, 0, 10), "shared by a provider's customers"}, // 100.100.100.200: Alibaba's metadata
		{prefix4(127, 0, 0, 0, 8), "loopback"},
		{prefix4(168, 63, 129, 16, 32), "a cloud's metadata"}, // Azure
		{prefix4(169, 254, 0, 0, 16), "link-local"},           // 169.254.169.254: most clouds' metadata
		{prefix4(172, 16, 0, 0, 12), "a private network"},
		{prefix4(192, 0, 0, 0, 24), "for protocols"}, // 192.0.0.192: Oracle's metadata
		{prefix4(192, 0, 2, 0, 24), "for documentation"},
		{prefix4(192, 88, 99, 0, 24), "a 6to4 relay"},
		{prefix4(192, 168, 0, 0, 16), "a private network"},
		{prefix4(198, 18, 0, 0, 15), "for benchmarks"},
		{prefix4(198, 51, 100, 0, 24), "for documentation"},
		{prefix4(203, 0, 113, 0, 24), "for documentation"},
		{prefix4(224, 0, 0, 0, 4), "multicast"},
		{prefix4(240, 0, 0, 0, 4), "reserved"}, // 255.255.255.255 with it
	}
}

func ipv6() []entry {
	return []entry{
		{netip.MustParsePrefix("::1/128"), "loopback"},
		{netip.MustParsePrefix("fc00::/7"), "a private network"}, // fd00:ec2::254: Amazon's metadata
		{netip.MustParsePrefix("fe80::/10"), "link-local"},
		{netip.MustParsePrefix("ff00::/8"), "multicast"},
		{netip.MustParsePrefix("2001::/23"), "for protocols"}, // Teredo, ORCHID, benchmarks
		{netip.MustParsePrefix("2001:db8::/32"), "for documentation"},
		{netip.MustParsePrefix("2002::/16"), "6to4"},
		{netip.MustParsePrefix("3fff::/20"), "for documentation"},
	}
}

func prefix4(a, b, c, d byte, bits int) netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{a, b, c, d}), bits)
}

// badPort: the ports that the Fetch standard (section 2.9, "port blocking") keeps from http, because
// another protocol listens there that may take a request for its own commands.
func badPort(port uint16) bool {
	switch port {
	case 0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95,
		101, 102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179,
		389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601,
		636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566,
		6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080:
		return true
	}
	return false
}
