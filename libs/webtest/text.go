package webtest

import (
	"hash/fnv"
	"strconv"
	"strings"
)

// dice is a small random source (splitmix64). It is written out here, so that the web stays the same
// whatever the Go release does with math/rand.
type dice uint64

// dice returns a source that depends on the seed, the host's place in the list and the label. The
// host's name is left out: tests choose a new port each time and still get the same layout.
func (s *site) dice(label string) *dice {
	h := fnv.New64a()
	h.Write([]byte(strconv.FormatUint(s.web.opts.Seed, 10) + "/" + strconv.Itoa(s.index) + "/" + label))
	d := dice(h.Sum64())
	return &d
}

// roll returns a number of 0 … n-1.
func (d *dice) roll(n int) int {
	*d += 0x9e3779b97f4a7c15
	z := uint64(*d)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return int((z ^ z>>31) % uint64(n))
}

// language is a small vocabulary. Each has letters beyond ASCII, so that a wrong charset shows.
type language struct {
	space string // between words
	stop  string // at the end of a sentence
	words []string
}

// vocabulary returns the words of a language by the code that <html lang> has.
func vocabulary(code string) language {
	switch code {
	case "fr":
		return language{" ", ".", strings.Fields(`le la un été forêt rivière château garçon déjà très où façon
			être naît cœur prix 5€ “page” et ou donc puis lentement jamais lettre hiver pain`)}
	case "de":
		return language{" ", ".", strings.Fields(`der die das alte stille Fluss Straße Gärten Übung Mühle größer
			trägt findet und oder dann langsam nie Brief Märchen Winter Brot Schöße`)}
	case "ja":
		// 表, ソ and 能 end in the byte of a backslash in Shift_JIS: a decoder that goes byte by byte fails.
		return language{"", "。", strings.Fields(`表 ソース 能力 東京 大阪 古い 静かな 川 港 庭 船 光 手紙 冬 パン そして
			また ゆっくり 決して 見る 運ぶ 日本語 文字 ページ`)}
	default:
		return language{" ", ".", strings.Fields(`the small quiet old river harbour garden naïve café ship light
			carries finds keeps between under over and or then slowly never letter winter bread`)}
	}
}

// words returns n words of the language in a row.
func (d *dice) words(l language, n int) string {
	picked := make([]string, n)
	for i := range picked {
		picked[i] = l.words[d.roll(len(l.words))]
	}
	return strings.Join(picked, l.space)
}

// paragraph returns a few sentences.
func (d *dice) paragraph(l language) string {
	var b strings.Builder
	for range 2 + d.roll(4) {
		b.WriteString(d.words(l, 5+d.roll(12)))
		b.WriteString(l.stop + " ")
	}
	return strings.TrimSpace(b.String())
}

// speak gives the page its language, title and description.
func (p *page) speak(code string) {
	d, l := p.site.dice("title "+p.label), vocabulary(code)
	p.lang = code
	p.title = d.words(l, 2+d.roll(3)) + " & " + p.label
	p.description = d.words(l, 8)
}
