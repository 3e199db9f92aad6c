package guard

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// rule is one line of the allow-list. Port 0 stands for every port.
type rule struct {
	prefix netip.Prefix
	port   uint16
}

func (r rule) matches(addr netip.AddrPort) bool {
	return r.prefix.Contains(addr.Addr()) && (r.port == 0 || r.port == addr.Port())
}

// parseRule reads "prefix" or "prefix:port". An IPv6 prefix with a port needs brackets, around the
// address or around the whole: "[fd00::]/8:80", "[fd00::/8]:80"; "fd00::80" is one address.
func parseRule(text string) (rule, error) {
	head, port := text, uint16(0)
	bracketed := strings.HasPrefix(text, "[")
	colon := strings.LastIndexByte(text, ':')
	if (bracketed && colon > strings.IndexByte(text, ']')) || (!bracketed && strings.Count(text, ":") == 1) {
		number, err := strconv.ParseUint(text[colon+1:], 10, 16)
		if err != nil || number == 0 {
			return rule{}, badRule(text)
		}
		head, port = text[:colon], uint16(number)
	}
	prefix, ok := parsePrefix(head)
	if !ok {
		return rule{}, badRule(text)
	}
	return rule{prefix: prefix, port: port}, nil
}

func badRule(text string) error {
	return fmt.Errorf("allow %q: want an address or prefix, with or without a port, such as 127.0.0.0/8:8080 or [fd00::]/8:80", text)
}

func parsePrefix(text string) (netip.Prefix, bool) {
	text = strings.NewReplacer("[", "", "]", "").Replace(text)
	if prefix, err := netip.ParsePrefix(text); err == nil {
		return prefix.Masked(), prefix.Addr().Unmap() == prefix.Addr()
	}
	addr, err := netip.ParseAddr(text)
	if err != nil || addr.Zone() != "" {
		return netip.Prefix{}, false
	}
	addr = addr.Unmap()
	return netip.PrefixFrom(addr, addr.BitLen()), true
}
