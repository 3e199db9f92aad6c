package weburl_test

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	whatwg "github.com/nlnwa/whatwg-url/url"
)

// oracle is a second, independent way to the canonical form: another project's
// parser of the same standard, then the rest by regular expressions. It is
// loose in one thing, see decode. ok is false if the URL is refused.
func oracle(base, ref string) (canonical string, ok bool) {
	u, err := whatwg.ParseRef(base, ref)
	if err != nil || u.Scheme() != "http" && u.Scheme() != "https" || u.Hostname() == "" {
		return "", false
	}
	host, port := u.Hostname(), strings.TrimPrefix(u.Host(), u.Hostname())
	if trimmed := strings.TrimSuffix(host, "."); trimmed != "" && !strings.HasSuffix(trimmed, ".") {
		host = trimmed
	}
	// "^" joined the standard's path percent-encode set after v0.6.2.
	canonical = u.Protocol() + "//" + host + port + strings.ReplaceAll(u.Pathname(), "^", "%5E")
	if _, query, has := strings.Cut(u.Href(true), "?"); has {
		canonical += "?" + query
	}
	return canonical, true
}

// decode undoes the encoding of unreserved characters and makes the others
// upper-case, in one pass. With a stray "%" about, the canonical form decodes
// less, so both sides of a comparison go through it.
func decode(s string) string {
	return percentEncoding.ReplaceAllStringFunc(s, func(triplet string) string {
		value, _ := strconv.ParseUint(triplet[1:], 16, 8)
		if c := string(rune(value)); unreserved.MatchString(c) {
			return c
		}
		return strings.ToUpper(triplet)
	})
}

var (
	percentEncoding = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)
	unreserved      = regexp.MustCompile(`^[A-Za-z0-9._~-]$`)
	strayPercent    = regexp.MustCompile(`%(?:$|[^0-9A-Fa-f]|.$|.[^0-9A-Fa-f])`)
)

// oracleErrs tells where v0.6.2 of the oracle is known to be wrong:
//   - bytes that are not UTF-8 all become U+FFFD, which merges resources;
//   - IPv4 numbers may have a sign: http://0x-1/ is read as 255.255.255.255;
//   - a label that starts with a number over 63 bits and goes on with a letter
//     is taken for an IPv4 number and refused;
//   - any number of brackets around an IPv6 address, of either kind, is taken off;
//   - IDNA: names outside ASCII are left to tables that both sides share
//     (x/net/idna), but with other flags and before the mapping of ẞ to ß.
func oracleErrs(text string) bool {
	plain := decode(text)
	return !utf8.ValidString(text) || signedNumber.MatchString(plain) || hugeNumber.MatchString(plain) ||
		strings.Count(text, "[") > 1 || strings.Count(text, "]") > 1 ||
		nameOfNote.MatchString(text)
}

var (
	signedNumber = regexp.MustCompile(`(?i)(^|[^a-z])(0x)?([-+]|%2B)`)
	hugeNumber   = regexp.MustCompile(`[0-9A-Fa-f]{16}`)
	nameOfNote   = regexp.MustCompile(`(?i)[^\x00-\x7f]|%[89a-f]|xn--`)
)
