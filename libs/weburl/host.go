package weburl

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// toASCII is UTS 46 with the flags of the URL standard's "domain to ASCII".
var toASCII = idna.New(
	idna.MapForLookup(),
	idna.Transitional(false),
	idna.StrictDomainName(false),
	idna.CheckHyphens(false),
	idna.CheckJoiners(true),
	idna.BidiRule(),
	idna.VerifyDNSLength(false),
)

// appendAuthority appends host[:port] of "user:password@host:port". The
// userinfo is dropped: a crawler has no business with a password in a link.
func appendAuthority(buf []byte, scheme, authority string) ([]byte, error) {
	authority = authority[strings.LastIndexByte(authority, '@')+1:]
	name, port := splitPort(authority)
	host, err := parseHost(name)
	if err != nil {
		return nil, err
	}
	buf = append(buf, host...)
	number, err := parsePort(port)
	if err != nil {
		return nil, err
	}
	if number >= 0 && number != defaultPort(scheme) {
		buf = strconv.AppendInt(append(buf, ':'), int64(number), 10)
	}
	return buf, nil
}

func defaultPort(scheme string) int {
	if scheme == "https" {
		return 443
	}
	return 80
}

// parsePort reads ":8080"; -1 if there is none. Leading zeros are allowed.
func parsePort(port string) (int, error) {
	if len(port) < 2 {
		return -1, nil
	}
	number := 0
	for _, c := range []byte(port[1:]) {
		if !isDigit(c) {
			return 0, fmt.Errorf("port %.10q: %w", port, ErrInvalid)
		}
		if number = number*10 + int(c-'0'); number > 65535 {
			return 0, fmt.Errorf("port %.10q: %w", port, ErrInvalid)
		}
	}
	return number, nil
}

// parseHost is the standard's host parser for special schemes, plus one rule:
// a single trailing dot goes, as it names the same host in DNS and in TLS.
func parseHost(name string) (string, error) {
	if strings.HasPrefix(name, "[") {
		return parseIPv6(name)
	}
	host, err := domain(name)
	if err != nil {
		return "", fmt.Errorf("host %.80q: %w: %w", name, ErrInvalid, err)
	}
	if n := len(host); n > 1 && host[n-1] == '.' && host[n-2] != '.' {
		host = host[:n-1]
	}
	if i := strings.IndexFunc(host, forbidden); i >= 0 || host == "" {
		return "", fmt.Errorf("host %.80q: %w", name, ErrInvalid)
	}
	if endsInNumber(host) {
		return parseIPv4(host)
	}
	return host, nil
}

// domain decodes, maps and checks a name. An ASCII name without punycode is
// only made lower-case: the standard skips IDNA's checks there.
func domain(name string) (string, error) {
	if strings.Contains(name, "%") {
		name = percentDecode(name)
	}
	lower := strings.ToLower(name)
	if isASCII(name) && !strings.HasPrefix(lower, "xn--") && !strings.Contains(lower, ".xn--") {
		return lower, nil
	}
	if !utf8.ValidString(name) {
		return "", errors.New("not utf-8")
	}
	// Unicode 15.1 maps the capital sharp s to ß, no longer to ss, which is
	// another host; x/net/idna still has the tables of 15.0.
	ascii, err := toASCII.ToASCII(strings.ReplaceAll(name, "ẞ", "ß"))
	if err != nil {
		return "", err
	}
	// A label of thousands of characters encodes to punycode that does not
	// decode. A name must read as itself the second time.
	if again, err := toASCII.ToASCII(ascii); err != nil || again != ascii {
		return "", errors.New("not a stable name")
	}
	return ascii, nil
}

// forbidden: the standard's forbidden domain code points.
func forbidden(c rune) bool {
	return c <= ' ' || c >= 0x7f || strings.ContainsRune(`#/:<>?@[\]^|%`, c)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func percentDecode(s string) string {
	buf := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]) {
			buf = append(buf, unhex(s[i+1])<<4|unhex(s[i+2]))
			i += 2
		} else {
			buf = append(buf, s[i])
		}
	}
	return string(buf)
}
