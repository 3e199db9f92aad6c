package fetcher

import (
	"net/http"
	"strings"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/services/fetcher/internal/httpget"
)

// kind is what a body is, by its Content-Type and by its first bytes. The bytes have the last word
// where they are those of a known binary format, and the first where the server says nothing.
func kind(resp *httpget.Response) contract.Kind {
	if len(resp.Body) == 0 {
		return contract.KindEmpty
	}
	if resp.Encoded {
		return contract.KindBinary
	}
	media, parameters, _ := strings.Cut(strings.ToLower(resp.Header.Get("Content-Type")), ";")
	media = strings.TrimSpace(media)
	sniffed, _, _ := strings.Cut(http.DetectContentType(resp.Body), ";")
	declared := kindOf(media)
	switch {
	case media == "" || !strings.Contains(media, "/") || media == "application/octet-stream" || media == "unknown/unknown":
		return kindOf(sniffed)
	case declared == contract.KindBinary || kindOf(sniffed) != contract.KindBinary:
		return declared
	case sniffed != "application/octet-stream":
		return contract.KindBinary // an image that says it is a page
	case declared == contract.KindText && !strings.Contains(parameters, "utf-16") && !strings.Contains(parameters, "utf-32"):
		return contract.KindBinary // NULs in text of one-byte units; HTML and XML find out by themselves
	}
	return declared
}

func kindOf(media string) contract.Kind {
	switch {
	case media == "text/html", media == "application/xhtml+xml":
		return contract.KindHTML
	case media == "text/xml", media == "application/xml", strings.HasSuffix(media, "+xml"):
		return contract.KindXML
	case strings.HasPrefix(media, "text/"), strings.HasSuffix(media, "+json"):
		return contract.KindText
	}
	switch media {
	case "application/json", "application/javascript", "application/x-javascript", "application/ecmascript", "application/yaml", "application/x-ndjson":
		return contract.KindText
	}
	return contract.KindBinary
}
