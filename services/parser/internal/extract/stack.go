package extract

import "golang.org/x/net/html/atom"

// effect is what an open element does to what is inside it.
type effect uint8

const (
	hidden        effect = 1 << iota // its text is not main text
	inert                            // nothing in it counts, links neither
	foreign                          // svg, math: another language's names
	htmlInForeign                    // foreignObject: HTML again
	inMain
	inArticle
	sectioning // header and footer in it are its own, not the page's
)

const effects = 7

// container is an element that the stack keeps. Those without effect are kept so that their end tag
// closes what was left open inside: a nav that is never closed ends with the div around it.
type container struct {
	id     uint8 // from 1
	effect effect
}

func containerOf(tag atom.Atom) container {
	switch tag {
	case atom.Div:
		return container{1, 0}
	case atom.Section:
		return container{2, sectioning}
	case atom.Main:
		return container{3, inMain | sectioning}
	case atom.Article:
		return container{4, inArticle | sectioning}
	case atom.Nav:
		return container{5, hidden}
	case atom.Aside:
		return container{6, hidden}
	case atom.Header:
		return container{7, hidden}
	case atom.Footer:
		return container{8, hidden}
	case atom.Template:
		return container{9, hidden | inert}
	case atom.Svg:
		return container{10, hidden | foreign}
	case atom.Math:
		return container{11, hidden | foreign}
	case atom.Foreignobject:
		return container{12, htmlInForeign}
	case atom.Select:
		return container{13, hidden}
	case atom.Datalist:
		return container{14, hidden}
	case atom.Button:
		return container{15, hidden}
	case atom.Noscript:
		return container{16, hidden}
	case atom.Canvas:
		return container{17, hidden}
	case atom.Audio:
		return container{18, hidden}
	case atom.Video:
		return container{19, hidden}
	case atom.Form:
		return container{20, 0}
	case atom.Table:
		return container{21, 0}
	case atom.Td, atom.Th:
		return container{22, 0}
	case atom.Ul, atom.Ol:
		return container{23, 0}
	}
	return container{}
}

const containers = 24

// stack is the open containers. All it does takes constant time, summed over a document: a pop only
// looks for what is known to be there, and removes all it passes.
type stack struct {
	open    []container
	named   [containers]int32 // how many of each are open
	affects [effects]int32    // how many have each effect
	active  effect            // the effects that at least one has
}

func (s *stack) has(e effect) bool { return s.active&e != 0 }

func (s *stack) push(tag atom.Atom) {
	c := containerOf(tag)
	if c.id == 0 {
		return
	}
	if (tag == atom.Header || tag == atom.Footer) && s.has(sectioning) {
		c.effect = 0
	}
	s.open = append(s.open, c)
	s.count(c, 1)
}

func (s *stack) pop(tag atom.Atom) {
	c := containerOf(tag)
	for n := s.named[c.id]; n > 0 && s.named[c.id] == n; {
		s.drop()
	}
}

// leaveForeign closes all up to the outermost svg or math.
func (s *stack) leaveForeign() {
	for s.has(foreign) {
		s.drop()
	}
}

func (s *stack) drop() {
	last := len(s.open) - 1
	s.count(s.open[last], -1)
	s.open = s.open[:last]
}

func (s *stack) count(c container, by int32) {
	s.named[c.id] += by
	for i := range s.affects {
		if bit := effect(1) << i; c.effect&bit != 0 {
			s.affects[i] += by
			if s.active &^= bit; s.affects[i] > 0 {
				s.active |= bit
			}
		}
	}
}

func (s *stack) reset() { *s = stack{open: s.open[:0]} }

func (s *stack) trim() {
	if cap(s.open) > 4096 {
		s.open = nil
	}
}
