package extract

import "strings"

const spaces = "\t\n\f\r "

// RefreshURL reads the URL of a meta refresh or a Refresh header field: "5; url=/next" (HTML
// standard, "shared declarative refresh steps"). "" if it names none: the page reloads itself.
func RefreshURL(content string) string {
	s := strings.TrimLeft(content, spaces)
	after := strings.TrimLeft(s, "0123456789")
	if after == s && !strings.HasPrefix(s, ".") {
		return ""
	}
	s = strings.TrimLeft(after, "0123456789.")
	if s == "" || !strings.ContainsRune(";,"+spaces, rune(s[0])) {
		return ""
	}
	s = strings.TrimLeft(s, spaces)
	if s != "" && (s[0] == ';' || s[0] == ',') {
		s = strings.TrimLeft(s[1:], spaces)
	}
	if len(s) >= 3 && strings.EqualFold(s[:3], "url") {
		if value := strings.TrimLeft(s[3:], spaces); strings.HasPrefix(value, "=") {
			s = strings.TrimLeft(value[1:], spaces)
		}
	}
	if s != "" && (s[0] == '"' || s[0] == '\'') {
		s, _, _ = strings.Cut(s[1:], s[:1])
	}
	return strings.Trim(s, spaces)
}
