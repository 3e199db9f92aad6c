package weburl

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// endsInNumber tells whether the standard takes host for an IPv4 address: its
// last label is all digits, or a hexadecimal number.
func endsInNumber(host string) bool {
	host = strings.TrimSuffix(host, ".")
	last := host[strings.LastIndexByte(host, '.')+1:]
	if last == "" {
		return false
	}
	if digits, hex := strings.CutPrefix(last, "0x"); hex {
		return strings.Trim(digits, "0123456789abcdef") == ""
	}
	return strings.Trim(last, "0123456789") == ""
}

// parseIPv4 reads every form a browser takes: 127.1, 0x7f.1, 0177.0.0.1 and
// 2130706433 are all 127.0.0.1. host is lower-case.
func parseIPv4(host string) (string, error) {
	parts := strings.Split(host, ".")
	if len(parts) > 4 {
		return "", fmt.Errorf("ipv4 address %.80q: %w", host, ErrInvalid)
	}
	var address uint64
	for i, part := range parts {
		number, err := parseIPv4Number(part)
		bits := 8
		if i == len(parts)-1 {
			bits = 8 * (5 - len(parts)) // the last part fills what is left
		}
		if err != nil || number >= 1<<bits {
			return "", fmt.Errorf("ipv4 address %.80q: %w", host, ErrInvalid)
		}
		address = address<<bits | number
	}
	return netip.AddrFrom4([4]byte{byte(address >> 24), byte(address >> 16), byte(address >> 8), byte(address)}).String(), nil
}

// parseIPv4Number reads decimal, 0octal or 0xhexadecimal; a bare 0x is 0.
func parseIPv4Number(part string) (uint64, error) {
	digits, base := part, 10
	if hex, ok := strings.CutPrefix(part, "0x"); ok {
		digits, base = "0"+hex, 16
	} else if len(part) > 1 && part[0] == '0' {
		base = 8
	}
	return strconv.ParseUint(digits, base, 64)
}

// parseIPv6 reads "[address]". Zones are refused: they mean nothing to others.
func parseIPv6(name string) (string, error) {
	address, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(name, "["), "]"))
	if err != nil || !address.Is6() || address.Zone() != "" || name[len(name)-1] != ']' {
		return "", fmt.Errorf("ipv6 address %.80q: %w", name, ErrInvalid)
	}
	if address.Is4In6() { // the standard writes it in hexadecimal
		b := address.As16()
		return fmt.Sprintf("[::ffff:%x:%x]", uint(b[12])<<8|uint(b[13]), uint(b[14])<<8|uint(b[15])), nil
	}
	return "[" + address.String() + "]", nil
}
