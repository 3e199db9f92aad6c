package weburl

import (
	"net/netip"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// maxKey leaves room in AMQP's 255 bytes for the rest of a routing key.
const maxKey = 200

// ReverseHost turns a host, as URL.Host gives it, into the tail of a routing
// key: "www.example.com:8080" becomes "com.example.www:8080", so that a
// binding "page.html.com.example.#" is everything below example.com.
//
// An IP address has no hierarchy in its dots and stays as it is. The result is
// at most 200 bytes: a longer one loses its last labels, the least significant
// (and then the port). So two hosts may share a key; it routes, it is no identity.
func ReverseHost(host string) string {
	name, port := splitPort(host)
	if !isIP(name) {
		labels := strings.Split(name, ".")
		for i, j := 0, len(labels)-1; i < j; i, j = i+1, j-1 {
			labels[i], labels[j] = labels[j], labels[i]
		}
		name = strings.Join(labels, ".")
	}
	if key := name + port; len(key) <= maxKey {
		return key
	}
	if len(name) <= maxKey {
		return name
	}
	if cut := strings.LastIndexByte(name[:maxKey+1], '.'); cut > 0 {
		return name[:cut]
	}
	return name[:maxKey]
}

// Domain is the registrable domain of a host, as URL.Host gives it: the public
// suffix and one label more, "example.co.uk" for "www.example.co.uk:8080".
// Private suffixes count too, so "a.github.io" and "b.github.io" are two
// domains. An IP address, a single label and a public suffix itself are
// returned whole, without the port; IPv6 keeps its brackets.
func Domain(host string) string {
	name, _ := splitPort(host)
	if isIP(name) {
		return name
	}
	domain, err := publicsuffix.EffectiveTLDPlusOne(name)
	if err != nil {
		return name
	}
	return domain
}

func isIP(name string) bool {
	if strings.HasPrefix(name, "[") {
		return true
	}
	_, err := netip.ParseAddr(name)
	return err == nil
}
