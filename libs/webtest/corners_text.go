package webtest

// Corners whose point is the charset or the markup.

// layLatin: Western text in windows-1252 under its usual names. ISO-8859-1 is a label of it (WHATWG
// Encoding, section 4.2), and the euro sign and curly quotes, which ISO-8859-1 has not, show it.
func (s *site) layLatin() {
	s.inCharset("/latin/header.html", "fr", charset{code: windows1252, header: "ISO-8859-1"})
	s.inCharset("/latin/meta.html", "fr", charset{code: windows1252, meta: "windows-1252"})
	s.inCharset("/latin/equiv.html", "de", charset{code: windows1252, equiv: "iso-8859-1"})
}

// layJapanese: Shift_JIS by header and by meta, and EUC-JP.
func (s *site) layJapanese() {
	s.inCharset("/japan/header.html", "ja", charset{code: shiftJIS, header: "Shift_JIS"})
	s.inCharset("/japan/meta.html", "ja", charset{code: shiftJIS, meta: "shift_jis"})
	s.inCharset("/japan/euc.html", "ja", charset{code: eucJP, equiv: "EUC-JP"})
}

// layUnicode: declarations that contradict each other: a byte order mark wins over the header, the
// header over meta.
func (s *site) layUnicode() {
	s.inCharset("/unicode/bom.html", "fr", charset{code: utf8BOM, header: "ISO-8859-1", meta: "iso-8859-1"})
	s.inCharset("/unicode/header.html", "de", charset{code: utf8, header: "UTF-8", meta: "iso-8859-1"})
	s.inCharset("/unicode/meta.html", "ja", charset{code: utf8, meta: "utf-8"})
	s.inCharset("/unicode/utf16.html", "ja", charset{code: utf16LE, header: "utf-8"})
}

// inCharset adds a page in another encoding, and links to it from the root.
func (s *site) inCharset(path, lang string, c charset) {
	p := s.html(path, s.root())
	p.charset = c
	p.contentType = "text/html"
	if c.header != "" {
		p.contentType += "; charset=" + c.header
	}
	p.speak(lang)
	s.entry(path)
}

// layMarkup: markup as people write it, and text that only looks like a link.
func (s *site) layMarkup() {
	targets := []string{"unquoted.html", "single.html", "spaces.html", "newline.html", "entity.html?a=1&b=2", "last.html"}
	p := s.html("/markup/index.html")
	p.lang, p.title, p.description = "en", "Tag & soup été", `It's "here"`
	p.body = func() []byte { return []byte(tagSoup) }
	p.links = func() []link {
		links := []link{s.to("/markup/index.html")} // by href="" and href="#top"
		for _, name := range targets {
			links = append(links, s.to("/markup/"+name))
		}
		return links
	}
	for _, name := range targets {
		s.html("/markup/"+name, s.root())
	}
	for _, name := range []string{"commented", "scripted", "styled", "typed"} {
		s.hidden("/markup/"+name+".html", "it only stands in a comment, a script, a style or a text field")
	}
	for _, name := range []string{"style.css", "code.js", "picture.png"} {
		s.hidden("/markup/"+name, "a page is made of it, but it is no page")
	}
	s.entry("/markup/index.html")
}

const tagSoup = `<HTML LANG=en><HEAD><TITLE>Tag &amp; soup &eacute;t&eacute;</TITLE>
<META NAME=description CONTENT='It&#39;s "here"'>
<link rel=stylesheet href=/markup/style.css><script src=/markup/code.js></script>
<style>p:before { content: '<a href="/markup/styled.html">' }</style>
<BODY onload="javascript:void(0)">
<!-- <a href="/markup/commented.html">no</a> -->
<script>document.write('<a href="/markup/scripted.html">no</a>')</script>
<form><textarea><a href="/markup/typed.html">no</a></textarea></form>
<img src="/markup/picture.png" alt="no">
<P>unquoted <A HREF=/markup/unquoted.html>x</A>
<p>single <a title='>' href='/markup/single.html'>x</a>
<p>spaces <a href="  single.html
  ">x</a> <a href="	/markup/spaces.html ">x</a>
<p>newline <a href="/markup/new
line.html">x</a>
<p>entity <a href="/markup/entity.html?a=1&amp;b=2">x</a>
<p>nowhere <a href="mailto:nobody@example.com">m</a> <a href="javascript:void(0)">j</a>
<a href="tel:+123">t</a> <a href="data:text/html,x">d</a> <a href="http://">e</a> <a name=top>n</a> <a>x</a>
<p>itself <a href="">x</a> <a href="#top">x</a>
<table><tr><p>unclosed <b><i><a href=/markup/last.html>x
`
