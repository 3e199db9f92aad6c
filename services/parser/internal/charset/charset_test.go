package charset_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/warrenmq/warren/services/parser/internal/charset"
)

func TestHTML(t *testing.T) {
	t.Parallel()
	pad := "<!--" + strings.Repeat("x", 1100) + "-->"
	for name, tc := range map[string]struct{ contentType, body, want string }{
		"nothing said, ASCII":         {"text/html", "<p>x", "windows-1252"},
		"nothing said, UTF-8":         {"text/html", "<p>é", "utf-8"},
		"nothing said, latin-1":       {"text/html", "<p>\xe9", "windows-1252"},
		"empty":                       {"", "", "windows-1252"},
		"BOM before all":              {"text/html; charset=iso-8859-2", "\xef\xbb\xbf<meta charset=koi8-r>", "utf-8"},
		"BOM, big endian":             {"", "\xfe\xff\x00<", "utf-16be"},
		"BOM, little endian":          {"", "\xff\xfe<\x00", "utf-16le"},
		"HTTP before meta":            {"text/html; charset=ISO-8859-2", "<meta charset=koi8-r>", "iso-8859-2"},
		"HTTP, quoted":                {`text/html;x=y; Charset = "latin1"; z`, "", "windows-1252"},
		"HTTP, UTF-16 without BOM":    {"text/html; charset=utf-16", "<\x00", "utf-16le"},
		"HTTP, user defined":          {"text/html; charset=x-user-defined", "\x80", "x-user-defined"},
		"HTTP, unknown":               {"text/html; charset=bogus", "<meta charset=koi8-r>", "koi8-r"},
		"HTTP, not UTF-8":             {"text/html; charset=\xff", "<p>x", "windows-1252"},
		"HTTP, UTF-7":                 {"text/html; charset=utf-7", "+ADw-", "windows-1252"},
		"HTTP, no parameters":         {"text/charset=koi8-r", "", "windows-1252"},
		"meta":                        {"text/html", `<meta charset="Shift_JIS">`, "shift_jis"},
		"meta, UTF-7":                 {"", `<meta charset="utf-7">`, "windows-1252"},
		"meta, UTF-16":                {"", `<meta charset="utf-16be">`, "utf-8"},
		"meta, user defined":          {"", `<meta charset=x-user-defined>`, "windows-1252"},
		"meta, replacement":           {"", `<meta charset=iso-2022-kr>`, "replacement"},
		"meta, pragma":                {"", `<meta http-equiv=content-type content="text/html; charset=gb2312">`, "gbk"},
		"meta, content only":          {"", `<meta content="text/html; charset=gb2312">`, "windows-1252"},
		"meta, content then charset":  {"", `<meta content="text/html; charset=gb2312" charset=koi8-r>`, "koi8-r"},
		"meta, charset twice":         {"", `<meta charset=koi8-r charset=gb2312>`, "koi8-r"},
		"meta in a comment":           {"", `<!-- <meta charset=koi8-r> -->`, "windows-1252"},
		"meta behind a short comment": {"", `<!--><meta charset=koi8-r>`, "koi8-r"},
		"meta in an attribute":        {"", `<p title="<meta charset=koi8-r>">`, "windows-1252"},
		"meta never ends":             {"", `<meta charset=koi8-r`, "windows-1252"},
		"meta far down":               {"", pad + `<meta charset=koi8-r>`, "koi8-r"},
		"meta far down, latin-1":      {"", pad + `<meta charset=koi8-r>` + "\xe9", "koi8-r"},
		"meta far down, but UTF-8":    {"", pad + `<meta charset=koi8-r>é`, "utf-8"},
		"xml declaration":             {"", `<?xml version="1.0" encoding='koi8-r'?><html>`, "koi8-r"},
		"xml declaration, meta too":   {"", `<?xml version="1.0" encoding="koi8-r"?><meta charset=gb2312>`, "gbk"},
		"xml declaration, no quotes":  {"", `<?xml version="1.0" encoding=koi8-r?><html>`, "windows-1252"},
		"xml declaration, UTF-16":     {"", "<\x00?\x00x\x00m\x00", "utf-16le"},
		"xml declaration, UTF-16 be":  {"", "\x00<\x00?\x00x\x00m", "utf-16be"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := charset.HTML([]byte(tc.body), tc.contentType).Name; got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ contentType, body, want string }{
		"ASCII":          {"text/plain", "x", "utf-8"},
		"UTF-8":          {"text/plain", "é", "utf-8"},
		"latin-1":        {"text/plain", "\xe9", "windows-1252"},
		"HTTP":           {"text/plain; charset=koi8-r", "é", "koi8-r"},
		"BOM":            {"text/plain; charset=koi8-r", "\xff\xfex\x00", "utf-16le"},
		"a meta is text": {"text/plain", "<meta charset=koi8-r>\xe9", "windows-1252"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := charset.Text([]byte(tc.body), tc.contentType).Name; got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func TestDecode(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		label, body, want string
		exact             bool
	}{
		"utf-8":                 {"utf-8", "é", "é", true},
		"utf-8, BOM":            {"utf-8", "\xef\xbb\xbfé", "é", true},
		"utf-8, broken":         {"utf-8", "a\xffb\xe2\x82c", "a\uFFFDb\uFFFDc", false},
		"utf-8, surrogate":      {"utf-8", "\xed\xa0\x80", "\uFFFD\uFFFD\uFFFD", false},
		"windows-1252":          {"latin1", "\x80 \xe9", "€ é", true},
		"iso-8859-2":            {"iso-8859-2", "\xb1", "ą", true},
		"koi8-r":                {"koi8-r", "\xf2", "Р", true},
		"shift_jis":             {"sjis", "\x83\x65\x83\x58", "テス", true},
		"shift_jis, broken":     {"sjis", "\x83\x65\x83", "テ\uFFFD", false},
		"euc-jp":                {"euc-jp", "\xa5\xc6", "テ", true},
		"iso-2022-jp":           {"iso-2022-jp", "\x1b$B%F\x1b(B", "テ", true},
		"gbk":                   {"gb2312", "\xd6\xd0", "中", true},
		"gb18030, four bytes":   {"gb18030", "\x95\x32\x82\x36", "\U00020000", true},
		"big5":                  {"big5", "\xa4\xa4", "中", true},
		"euc-kr":                {"euc-kr", "\xc7\xd1", "한", true},
		"utf-16le, BOM":         {"utf-16le", "\xff\xfee\x00\x3d\xd8\x00\xde", "e😀", true},
		"utf-16be, odd":         {"utf-16be", "\x00e\x00", "e\uFFFD", false},
		"utf-16le, surrogate":   {"utf-16le", "\x3d\xd8e\x00", "\uFFFDe", false},
		"replacement":           {"iso-2022-kr", "<a href=x>", "\uFFFD", false},
		"user defined":          {"x-user-defined", "a\x80", "a\uf780", true},
		"NUL is the text's own": {"utf-8", "a\x00b", "a\x00b", true},
		"empty":                 {"koi8-r", "", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, ok := charset.Lookup(tc.label)
			if !ok {
				t.Fatalf("no encoding %s", tc.label)
			}
			buf := []byte("left over from another page")
			got, exact := e.Decode(&buf, []byte(tc.body))
			if string(got) != tc.want || exact != tc.exact {
				t.Errorf("got %q, exact %v, want %q, %v", got, exact, tc.want, tc.exact)
			}
		})
	}
}

func TestEncodeQuery(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ label, ref, want string }{
		"utf-8 stays":       {"utf-8", "/é?é", "/é?é"},
		"utf-16 stays":      {"utf-16le", "/é?é", "/é?é"},
		"query only":        {"windows-1252", "/é?a=é&b=1#é", "/é?a=%E9&b=1#%E9"},
		"no query":          {"windows-1252", "/é", "/é"},
		"query in fragment": {"windows-1252", "/#é?é", "/#é?é"},
		"ASCII query":       {"windows-1252", "/é?a b", "/é?a b"},
		"not in it":         {"windows-1252", "?aテé", "?a%26%2312486%3B%E9"},
		"shift_jis":         {"shift_jis", "?テス", "?%83e%83X"},
		"iso-2022-jp":       {"iso-2022-jp", "?テx", "?%1B%24B%25F%1B%28Bx"},
		"gbk":               {"gbk", "?中", "?%D6%D0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, _ := charset.Lookup(tc.label)
			if got := e.EncodeQuery(tc.ref); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	for _, label := range []string{"", "utf-8", "utf-16", "shift_jis", "iso-2022-jp", "gb18030", "big5", "euc-kr", "euc-jp", "iso-2022-kr", "x-user-defined"} {
		f.Add([]byte("<meta charset=koi8-r>\x83\x65\x1b$B%F\xff"), "text/html; charset="+label, "?é テ")
	}
	f.Add([]byte(`<meta http-equiv="content-type" content="charset='x"><!--><?xml encoding="x"`), "", "?")
	f.Fuzz(func(t *testing.T, body []byte, contentType, ref string) {
		for _, e := range []charset.Encoding{charset.HTML(body, contentType), charset.Text(body, contentType)} {
			if same, ok := charset.Lookup(e.Name); !ok || same.Name != e.Name || e.Name != strings.ToLower(e.Name) {
				t.Fatalf("encoding %q is not one", e.Name)
			}
			var buf []byte
			text, exact := e.Decode(&buf, body)
			if !utf8.Valid(text) || len(text) > 3*len(body) {
				t.Fatalf("%d bytes of %s gave %d, %.100q", len(body), e.Name, len(text), text)
			}
			if exact && !utf8.Valid(body) && e.Name == charset.UTF8 {
				t.Fatal("broken UTF-8 is not exact")
			}
			if ref = strings.ToValidUTF8(ref, ""); !utf8.ValidString(e.EncodeQuery(ref)) {
				t.Fatalf("query %q of %q", e.EncodeQuery(ref), ref)
			}
		}
	})
}
