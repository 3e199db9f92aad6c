package weburl

import "strings"

// MaxLength is the longest canonical URL, in bytes. Longer ones are refused
// with ErrTooLong, never cut: a cut URL is another resource.
const MaxLength = 4096

// URL is one http or https URL in canonical form. It is immutable, small, and
// comparable: two URLs are the same to the crawl exactly if they are ==.
// The zero value is no URL.
type URL struct {
	text string // the canonical form
	path uint16 // where the path starts in text
}

// IsZero tells whether u is the zero value, which is no URL.
func (u URL) IsZero() bool { return u.text == "" }

// String is the canonical form: no fragment, no userinfo. "" for the zero URL.
func (u URL) String() string { return u.text }

// Scheme is "http" or "https"; "" for the zero URL.
func (u URL) Scheme() string {
	scheme, _, _ := strings.Cut(u.text, ":")
	return scheme
}

// Host is what politeness is counted by: the lower-case ASCII host, plus
// ":port" if that is not the scheme's default. IPv6 is in brackets.
func (u URL) Host() string {
	if u.IsZero() {
		return ""
	}
	return u.text[len(u.Scheme())+len("://") : u.path]
}

// Hostname is Host without the port and, as in net/url, without the brackets
// of an IPv6 address, so that it can be given to a resolver or to netip.
func (u URL) Hostname() string {
	name, _ := splitPort(u.Host())
	return strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
}

// Origin is scheme://host[:port], what one robots.txt speaks for (RFC 9309 2.3).
func (u URL) Origin() string { return u.text[:u.path] }

// PathQuery is the request target: the path, never empty, and the query with
// its "?" if there is one. "" for the zero URL.
func (u URL) PathQuery() string { return u.text[u.path:] }

// splitPort parts "host:port" into "host" and ":port"; the port may be missing.
func splitPort(host string) (name, port string) {
	i := strings.LastIndexByte(host, ':')
	if i < 0 || strings.IndexByte(host[i:], ']') >= 0 {
		return host, ""
	}
	return host[:i], host[i:]
}
