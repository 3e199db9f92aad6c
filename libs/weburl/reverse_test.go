package weburl_test

import (
	"strings"
	"testing"

	"github.com/warrenmq/warren/libs/weburl"
)

func TestReverseHost(t *testing.T) {
	t.Parallel()
	label := strings.Repeat("x", 63)
	for host, want := range map[string]string{
		"www.example.com": "com.example.www",
		"a.b:8080":        "b.a:8080",
		"localhost":       "localhost",
		"localhost:81":    "localhost:81",
		"1.2.3.4":         "1.2.3.4",
		"1.2.3.4:8080":    "1.2.3.4:8080",
		"[::1]":           "[::1]",
		"[::1]:8080":      "[::1]:8080",
		"":                "",
		// Cut at a label, from the least significant end; the port goes first.
		strings.Repeat(label+".", 3) + "com":            "com." + label + "." + label + "." + label,
		strings.Repeat(label+".", 3) + "info:8080":      "info." + label + "." + label + "." + label,
		strings.Repeat(label+".", 4) + "com:8080":       "com." + label + "." + label + "." + label,
		"wwww." + strings.Repeat(label+".", 3) + "info": "info." + label + "." + label + "." + label,
		strings.Repeat("y", 300):                        strings.Repeat("y", 200),
		strings.Repeat("y", 300) + ".com":               "com",
	} {
		if got := weburl.ReverseHost(host); got != want {
			t.Errorf("ReverseHost(%q) = %q, want %q", host, got, want)
		}
	}
}

func TestDomain(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"example.com":                  "example.com",
		"a.b.example.com:8080":         "example.com",
		"www.example.co.uk":            "example.co.uk",
		"co.uk":                        "co.uk", // a suffix itself
		"alice.github.io":              "alice.github.io",
		"x.alice.github.io":            "alice.github.io",
		"www.xn--bcher-kva.example":    "xn--bcher-kva.example",
		"localhost:8080":               "localhost",
		"10.0.0.1:8080":                "10.0.0.1",
		"[2001:db8::1]:8080":           "[2001:db8::1]",
		"[2001:db8::1]":                "[2001:db8::1]",
		"a..b":                         "a..b",
		".":                            ".",
		"printer.local.unknown-suffix": "local.unknown-suffix",
	} {
		if got := weburl.Domain(host); got != want {
			t.Errorf("Domain(%q) = %q, want %q", host, got, want)
		}
	}
}
