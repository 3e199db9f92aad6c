package httpget

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/warrenmq/warren/libs/contract"
)

// Bounds of the header that goes into a message.
const (
	maxFields = 100
	maxValue  = 4 << 10
	maxTotal  = 32 << 10
)

// BoundHeader returns the header for a message: lower-case names, at most 100 values of 4 KiB and
// 32 KiB in all, all valid UTF-8 without control characters. Fields that later stages read go first;
// of the rest, those that come first in the alphabet.
func BoundHeader(header http.Header) map[string][]string {
	names := make([]string, 0, len(header))
	for name := range header {
		if validName(name) {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		if wa, wb := wanted(a), wanted(b); wa != wb {
			if wa {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	out := make(map[string][]string, min(len(names), maxFields))
	fields, total := 0, 0
	for _, name := range names {
		for _, value := range header[name] {
			value = contract.Clip(value, maxValue)
			if size := len(name) + len(value); fields < maxFields && total+size <= maxTotal {
				lower := strings.ToLower(name)
				out[lower] = append(out[lower], value)
				fields, total = fields+1, total+size
			}
		}
	}
	return out
}

// wanted tells whether a later stage reads the field.
func wanted(name string) bool {
	switch name {
	case "Content-Type", "Content-Language", "Content-Encoding", "Content-Disposition", "Etag",
		"Last-Modified", "Date", "Expires", "Cache-Control", "Location", "Link", "Refresh",
		"Retry-After", "X-Robots-Tag":
		return true
	}
	return false
}

func validName(name string) bool {
	if name == "" || len(name) > 100 {
		return false
	}
	for i := range len(name) {
		if c := name[i]; c <= ' ' || c >= 0x7f || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return true
}

// RetryAfter reads the field of that name, in both its forms (RFC 9110 10.2.3): seconds, or a date.
// The result is within 0 and most, whatever the server says. now is compared with the date.
func RetryAfter(header http.Header, now time.Time, most time.Duration) (time.Duration, bool) {
	value := strings.TrimSpace(header.Get("Retry-After"))
	if value == "" {
		return 0, false
	}
	if strings.Trim(value, "0123456789") == "" {
		seconds, err := strconv.ParseInt(value, 10, 64)
		if err != nil || seconds > int64(most/time.Second) {
			return most, true
		}
		return time.Duration(seconds) * time.Second, true
	}
	date, err := http.ParseTime(value)
	if err != nil {
		return 0, false
	}
	return min(max(date.Sub(now), 0), most), true
}
