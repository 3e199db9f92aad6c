package extract

import (
	"slices"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/weburl"
)

// linkOverhead is about what a link costs in a message beside its URL and text, in bytes.
const linkOverhead = 32

// links gathers a page's links: each URL once, in order, within the limits. A URL met again keeps its
// place; it is nofollow only if it is so everywhere.
type links struct {
	list  []contract.Link
	index map[weburl.URL]int
	limit Limits
	bytes int
	cut   bool
}

func (l *links) reset(limit Limits) {
	if l.index == nil {
		l.index = make(map[weburl.URL]int)
	}
	clear(l.index)
	*l = links{list: l.list[:0], index: l.index, limit: limit}
}

// add returns the link's index, or -1 when it did not fit.
func (l *links) add(u weburl.URL, tag string, noFollow bool) int {
	if i, known := l.index[u]; known {
		l.list[i].NoFollow = l.list[i].NoFollow && noFollow
		return i
	}
	cost := wireSize(u.String()) + linkOverhead
	if len(l.list) >= l.limit.Links || l.bytes+cost > l.limit.LinkBytes {
		l.cut = true
		return -1
	}
	l.bytes += cost
	l.index[u] = len(l.list)
	l.list = append(l.list, contract.Link{URL: u.String(), Tag: tag, NoFollow: noFollow})
	return len(l.list) - 1
}

// describe gives a link its text, unless it has one.
func (l *links) describe(i int, text []byte) {
	link := &l.list[i]
	if link.Text != "" || len(text) == 0 {
		return
	}
	cost := wireSize(string(text))
	if l.bytes+cost > l.limit.LinkBytes {
		l.cut = true
		return
	}
	l.bytes += cost
	link.Text = string(text)
}

// take returns the links in a slice of their own.
func (l *links) take() []contract.Link {
	if len(l.list) == 0 {
		return nil
	}
	return slices.Clone(l.list)
}

func (l *links) trim() {
	clear(l.list) // the strings in it
	if len(l.index) > 1024 {
		l.index, l.list = nil, nil // a large map is slow to clear, each time
	}
}

// wireSize is the length of s in JSON, where &, < and > take six bytes and a quote two.
func wireSize(s string) int {
	n := len(s)
	for i := range len(s) {
		switch s[i] {
		case '&', '<', '>':
			n += 5
		case '"', '\\':
			n++
		}
	}
	return n
}
