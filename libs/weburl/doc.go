// Package weburl is the crawl's one idea of a URL: what is the same URL, which
// host it counts for, and by which 16 bytes it is known.
//
// In comes text from a page, a header, a sitemap or a person. Then
//
//  1. it is parsed as the URL standard says (https://url.spec.whatwg.org), with
//     a base or without, as a browser would; anything but http and https is
//     refused;
//  2. fragment, userinfo, default port and one trailing dot of the host are
//     dropped;
//  3. percent-encoding is normalised as in RFC 3986 6.2.2: upper-case hex
//     digits, and unreserved characters (letters, digits, - . _ ~) decoded;
//
// and out goes a URL: printable ASCII, at most MaxLength bytes, and the same
// again if parsed again. Steps 2 and 3 are the only ones beyond the standard.
//
// Merged, because the standards say it is one resource:
//
//	HTTP://User:pw@Example.COM:80#top     http://example.com/
//	http://example.com./                  http://example.com/
//	http://bücher.example/                http://xn--bcher-kva.example/
//	http://0x7f.1/                        http://127.0.0.1/
//	/a/./b/../%63  and  \a\c              /a/c
//	/%7efoo/%c3%a9  and  /~foo/é          /~foo/%C3%A9
//
// Never merged, because a server may tell them apart: http and https; www or
// not; ports; the case of path and query; a trailing slash, a double slash,
// index.html; an empty query ("/?" and "/"); the order of a query and its
// session or tracking parameters; a reserved character and its encoding
// ("/a%2Fb" and "/a/b", "%25" and "%"); different bytes that are not UTF-8.
// Rules to merge more belong to a crawl's scope, not here.
package weburl
