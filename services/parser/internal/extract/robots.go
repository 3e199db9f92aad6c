package extract

import "strings"

// Directives are what a page says to robots. Where several stand, the strictest counts.
type Directives struct {
	NoIndex  bool
	NoFollow bool
}

// add takes a list as "noindex, nofollow"; "none" is both. Others are for search engines.
func (d *Directives) add(list string) {
	for rule := range strings.FieldsFuncSeq(list, func(r rune) bool { return strings.ContainsRune(",;"+spaces, r) }) {
		switch strings.ToLower(rule) {
		case "none":
			*d = Directives{true, true}
		case "noindex":
			d.NoIndex = true
		case "nofollow":
			d.NoFollow = true
		}
	}
}

// AddHeader takes the values of X-Robots-Tag. A rule behind "name:" is for that agent only, and so
// are those that follow it in the same value: "otherbot: noindex, nofollow".
func (d *Directives) AddHeader(values []string, agent string) {
	for _, value := range values {
		mine := true
		for part := range strings.SplitSeq(value, ",") {
			if name, rule, named := strings.Cut(part, ":"); named && !takesValue(name) {
				mine = strings.EqualFold(strings.TrimSpace(name), agent)
				part = rule
			}
			if mine {
				d.add(part)
			}
		}
	}
}

// takesValue tells the rules that have a colon of their own.
func takesValue(rule string) bool {
	rule = strings.ToLower(strings.TrimSpace(rule))
	return rule == "unavailable_after" || strings.HasPrefix(rule, "max-") ||
		strings.ContainsAny(rule, spaces) // a date's time: "25 Jun 2010 15:00:00"
}
