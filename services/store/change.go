package store

import "github.com/warrenmq/warren/libs/contract"

// Before is the latest earlier visit of a URL, in the same crawl, that Decides. Code 0 is none.
type Before struct {
	Code   int
	SHA256 string
}

// Decides tells whether an HTTP status says that a page is there (2xx) or gone (404, 410). Any other
// (a redirect, 304, 503) leaves open what a reader of changes believes.
func Decides(code int) bool { return There(code) || Gone(code) }

// There tells whether the status says that the page is there.
func There(code int) bool { return code >= 200 && code <= 299 }

// Gone tells whether the status says that there is no such page.
func Gone(code int) bool { return code == 404 || code == 410 }

// Judge tells what became of a page, and the hash it had. Who follows the changes always knows which
// pages are there and with what hash: a page that comes back is new again, and gone is said once.
func Judge(before Before, code int, sha256 string) (what contract.Change, oldSHA256 string) {
	switch {
	case There(code) && !There(before.Code):
		return contract.ChangeNew, ""
	case There(code) && before.SHA256 != sha256:
		return contract.ChangeUpdated, before.SHA256
	case Gone(code) && There(before.Code):
		return contract.ChangeGone, before.SHA256
	}
	return contract.ChangeNone, ""
}
