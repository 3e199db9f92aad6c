package weburl

import (
	"errors"
	"fmt"
	"strings"
)

// Errors of Parse and Resolve, to be asked for with errors.Is.
var (
	// ErrNotWeb: a URL of another scheme, mailto: or javascript: say.
	ErrNotWeb = errors.New("not an http or https url")
	// ErrTooLong: the canonical form would be over MaxLength.
	ErrTooLong = errors.New("url too long")
	// ErrInvalid: the URL standard refuses it, or it is relative to nothing.
	ErrInvalid = errors.New("invalid url")
)

// Parse reads an absolute http or https URL as a browser does and returns its
// canonical form. What it merges is listed in the package comment.
// It fails with ErrNotWeb, ErrTooLong or ErrInvalid, wrapped.
func Parse(raw string) (URL, error) { return URL{}.Resolve(raw) }

// Resolve reads a reference found in a document whose base URL is base (the
// URL standard's parser with a base). Against the zero URL only an absolute
// URL is accepted. It fails as Parse does.
func (base URL) Resolve(ref string) (URL, error) {
	u, err := base.resolve(clean(ref))
	if err != nil {
		return URL{}, fmt.Errorf("parse url %s: %w", quote(ref), err)
	}
	return u, nil
}

// resolve takes ref apart: which scheme, and from where its authority, its
// path and its query come.
func (base URL) resolve(ref string) (URL, error) {
	scheme, rest := cutScheme(ref)
	switch {
	case scheme == "" && base.IsZero():
		return URL{}, fmt.Errorf("relative without a base: %w", ErrInvalid)
	case scheme != "" && scheme != "http" && scheme != "https":
		return URL{}, ErrNotWeb
	case len(rest) > 4*MaxLength:
		// The canonical form may be shorter than the text, at most three times
		// (%41 for A) but for dot segments. More is not worth a look.
		return URL{}, ErrTooLong
	case scheme != "" && scheme != base.Scheme(): // "http:foo" is a host, unless the base is http too
		return build(scheme, trimSlashes(rest))
	}
	switch {
	case slashes(rest) >= 2:
		return build(base.Scheme(), trimSlashes(rest))
	case slashes(rest) == 1:
		return base.with("", rest[1:])
	case rest == "":
		return base, nil
	case rest[0] == '?':
		path, _, _ := strings.Cut(base.PathQuery(), "?")
		return finish(appendQuery([]byte(base.Origin()+path), rest[1:]), int(base.path))
	}
	path, _, _ := strings.Cut(base.PathQuery(), "?")
	return base.with(path[:strings.LastIndexByte(path, '/')], rest)
}

// build makes a URL of a scheme and what follows the slashes.
func build(scheme, rest string) (URL, error) {
	authority, rest := rest, ""
	if end := strings.IndexAny(authority, `/\?`); end >= 0 {
		authority, rest = authority[:end], authority[end:]
	}
	var space [256]byte // most URLs fit: one allocation, the result
	buf := append(append(space[:0], scheme...), "://"...)
	buf, err := appendAuthority(buf, scheme, authority)
	if err != nil {
		return URL{}, err
	}
	if slashes(rest) > 0 {
		rest = rest[1:]
	}
	return appendPathQuery(buf, len(buf), rest)
}

// with keeps u's origin; dir is a canonical directory without its last slash.
func (u URL) with(dir, rest string) (URL, error) {
	var space [256]byte
	buf := append(append(space[:0], u.Origin()...), dir...)
	return appendPathQuery(buf, int(u.path), rest)
}

func appendPathQuery(buf []byte, start int, rest string) (URL, error) {
	path, query, hasQuery := strings.Cut(rest, "?")
	buf = appendPath(buf, start, path)
	if hasQuery {
		buf = appendQuery(buf, query)
	}
	return finish(buf, start)
}

func finish(buf []byte, path int) (URL, error) {
	if len(buf) > MaxLength {
		return URL{}, ErrTooLong
	}
	return URL{text: string(buf), path: uint16(path)}, nil
}

// clean drops what the standard drops before it looks: control characters and
// spaces around, tabs and line ends within. The fragment goes too; no state of
// the standard's parser reads past a "#" otherwise.
func clean(ref string) string {
	for ref != "" && ref[0] <= ' ' {
		ref = ref[1:]
	}
	for ref != "" && ref[len(ref)-1] <= ' ' {
		ref = ref[:len(ref)-1]
	}
	ref, _, _ = strings.Cut(ref, "#")
	if strings.ContainsAny(ref, "\t\n\r") {
		ref = strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(ref)
	}
	return ref
}

// cutScheme parts "HTTP:rest" into "http" and "rest". No scheme: "" and ref.
func cutScheme(ref string) (scheme, rest string) {
	for i := range len(ref) {
		c := ref[i]
		switch {
		case isAlpha(c):
		case i > 0 && (isDigit(c) || c == '+' || c == '-' || c == '.'):
		case i > 0 && c == ':':
			return strings.ToLower(ref[:i]), ref[i+1:]
		default:
			return "", ref
		}
	}
	return "", ref
}

// slashes counts leading slashes, of either kind as browsers do.
func slashes(s string) int { return len(s) - len(trimSlashes(s)) }

func trimSlashes(s string) string { return strings.TrimLeft(s, `/\`) }

// quote shows a URL in an error: short, escaped, and never with the password.
func quote(raw string) string {
	if at := strings.LastIndexByte(raw, '@'); at >= 0 {
		raw = "…" + raw[at:]
	}
	if len(raw) > 100 {
		raw = raw[:100] + "…"
	}
	return fmt.Sprintf("%q", raw)
}
