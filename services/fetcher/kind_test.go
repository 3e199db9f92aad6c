package fetcher_test

import (
	"net/http"
	"testing"

	"github.com/warrenmq/warren/libs/contract"
)

func TestKind(t *testing.T) {
	t.Parallel()
	const page, feed, png, pdf = "<!doctype html><p>x", `<?xml version="1.0"?><rss/>`, "\x89PNG\r\n\x1a\n....", "%PDF-1.7 ...."
	type row struct {
		media, body string
		want        contract.Kind
	}
	rows := map[string]row{
		"/html":         {"Text/HTML; charset=x", page, contract.KindHTML},
		"/xhtml":        {"application/xhtml+xml", page, contract.KindHTML},
		"/xml":          {"application/xml", feed, contract.KindXML},
		"/rss":          {"application/rss+xml", feed, contract.KindXML},
		"/text":         {"text/plain", "hello", contract.KindText},
		"/json":         {"application/json", "{}", contract.KindText},
		"/css":          {"text/css", "a{}", contract.KindText},
		"/png":          {"image/png", png, contract.KindBinary},
		"/lie-png":      {"text/html", png, contract.KindBinary},
		"/lie-pdf":      {"text/plain", pdf, contract.KindBinary},
		"/lie-image":    {"image/png", page, contract.KindBinary},
		"/none-html":    {"", page, contract.KindHTML},
		"/none-xml":     {"", feed, contract.KindXML},
		"/none-png":     {"", png, contract.KindBinary},
		"/none-text":    {"", "hello", contract.KindText},
		"/octet-html":   {"application/octet-stream", page, contract.KindHTML},
		"/nonsense":     {"banana", page, contract.KindHTML},
		"/text-nul":     {"text/plain", "a\x00b\x01", contract.KindBinary},
		"/text-utf16":   {"text/plain; charset=UTF-16LE", "a\x00b\x00\x01\x00", contract.KindText},
		"/html-utf16":   {"text/html", "<\x00p\x00>\x00", contract.KindHTML},
		"/empty":        {"text/html", "", contract.KindEmpty},
		"/bad-charset":  {"text/html; charset=\xff", page, contract.KindHTML},
		"/invented":     {"application/x-thing", "hello", contract.KindBinary},
		"/encoded":      {"text/html", page, contract.KindBinary},
		"/unknown-type": {"unknown/unknown", page, contract.KindHTML},
	}
	pages := map[string]http.HandlerFunc{}
	for path, r := range rows {
		pages[path] = func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = []string{r.media} // net/http would sniff for us
			if path == "/encoded" {
				w.Header().Set("Content-Encoding", "rot13")
			}
			_, _ = w.Write([]byte(r.body))
		}
	}
	w := site(t, pages)
	b := setup(t)
	for path, r := range rows {
		b.must(fetch(t, w.URL+path))
		if got, body := b.response(); got.Kind != r.want || body != r.body {
			t.Errorf("%s: kind %s, want %s; body %q", path, got.Kind, r.want, body)
		}
	}
}
