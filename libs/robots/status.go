package robots

import (
	"fmt"
	"time"
)

// MaxAge is how long a fetched robots.txt may be used (RFC 9309 2.4).
const MaxAge = 24 * time.Hour

// Verdict is what became of fetching a robots.txt (RFC 9309 2.3.1).
type Verdict string

// The verdicts. Only Unreachable is to be tried again before MaxAge.
const (
	Parsed      Verdict = "parsed"      // there is a file; its rules hold
	Unavailable Verdict = "unavailable" // there is none; all is allowed
	Unreachable Verdict = "unreachable" // nobody knows; nothing is allowed until it is known
)

// FromStatus judges the answer to a request for /robots.txt: the last status
// after redirects, and the body. A code of 0 stands for no answer: a failure of
// DNS, TLS or the network, a timeout, an address that may not be dialled.
//
//	2xx             Parsed
//	3xx             Unavailable: the caller follows at least five redirects
//	                (2.3.1.2), so more, or one that leads nowhere, ends here;
//	                a 304 is the caller's, who keeps the file it has
//	4xx but 429     Unavailable (2.3.1.3): 401 and 403 too
//	5xx, 429, else  Unreachable (2.3.1.4); 429 asks for less, not for all
func FromStatus(code int, body []byte) (f *File, verdict Verdict) {
	switch {
	case code >= 200 && code < 300:
		return Parse(body), Parsed
	case code >= 300 && code < 500 && code != 429:
		return AllowAll(), Unavailable
	case code == 0:
		return DisallowAll("robots.txt unreachable: no answer"), Unreachable
	}
	return DisallowAll(fmt.Sprintf("robots.txt unreachable: status %d", code)), Unreachable
}
