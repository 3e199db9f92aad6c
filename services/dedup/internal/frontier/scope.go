package frontier

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/weburl"
)

// Reasons why a link is not admitted. They are counted, the link is not stored.
const (
	skipScope    = "out of scope"
	skipInclude  = "not included"
	skipExclude  = "excluded by pattern"
	skipDepth    = "too deep"
	skipHops     = "too many redirects"
	skipNoFollow = "nofollow"
	skipURL      = "not a web address"
	skipCrawl    = "crawl has ended"
)

// Rule is a scope as stored. Roots are hosts, registrable domains, or host and path prefix, by Kind.
type Rule struct {
	Kind    contract.ScopeKind `json:"kind"`
	Roots   []string           `json:"roots,omitempty"`
	Include []string           `json:"include,omitempty"`
	Exclude []string           `json:"exclude,omitempty"`
	Depth   *int               `json:"depth,omitempty"`
}

// newRule makes a seed's rule: what the seed leaves open is the crawl's, then host.
func newRule(seed contract.Scope, crawl contract.Scope, u weburl.URL) Rule {
	rule := Rule{Kind: seed.Kind, Include: seed.Include, Exclude: seed.Exclude, Depth: seed.Depth}
	if rule.Kind == "" {
		rule.Kind = crawl.Kind
	}
	if rule.Kind == "" {
		rule.Kind = contract.ScopeHost
	}
	if rule.Include == nil {
		rule.Include = crawl.Include
	}
	if rule.Exclude == nil {
		rule.Exclude = crawl.Exclude
	}
	if rule.Depth == nil {
		rule.Depth = crawl.Depth
	}
	if root := rule.root(u); root != "" {
		rule.Roots = []string{root}
	}
	return rule
}

// root is what of u a scope of this kind holds on to; "" for the whole web.
func (r Rule) root(u weburl.URL) string {
	switch r.Kind {
	case contract.ScopeHost:
		return u.Host()
	case contract.ScopeDomain:
		return weburl.Domain(u.Host())
	case contract.ScopePrefix:
		path, _, _ := strings.Cut(u.PathQuery(), "?")
		return u.Host() + path[:strings.LastIndexByte(path, '/')+1]
	}
	return ""
}

// join returns the rule with u's root added (a seed redirected there), and whether that changed it.
func (r Rule) join(u weburl.URL) (Rule, bool) {
	root := r.root(u)
	if root == "" || slices.Contains(r.Roots, root) || len(r.Roots) >= 16 {
		return r, false
	}
	r.Roots = append(slices.Clone(r.Roots), root)
	return r, true
}

// key identifies the rule as asked for, before any redirect joined it.
func (r Rule) key() []byte {
	text, err := json.Marshal(r)
	if err != nil {
		panic(fmt.Sprintf("write rule: %v", err)) // strings and ints only
	}
	sum := sha256.Sum256(text)
	return sum[:16]
}

// compiled is a rule ready to be asked.
type compiled struct {
	Rule
	include, exclude []*regexp.Regexp
}

func compile(r Rule) (*compiled, error) {
	c := &compiled{Rule: r}
	for _, list := range []struct {
		from []string
		to   *[]*regexp.Regexp
	}{{r.Include, &c.include}, {r.Exclude, &c.exclude}} {
		for _, expr := range list.from {
			re, err := regexp.Compile(expr)
			if err != nil {
				return nil, fmt.Errorf("compile scope pattern: %w", err)
			}
			*list.to = append(*list.to, re)
		}
	}
	return c, nil
}

// skip returns why u at this depth does not belong to the crawl, or "".
func (c *compiled) skip(u weburl.URL, depth int32) string {
	switch {
	case !c.covers(u):
		return skipScope
	case c.Depth != nil && int(depth) > *c.Depth:
		return skipDepth
	case len(c.include) > 0 && !matches(c.include, u.String()):
		return skipInclude
	case matches(c.exclude, u.String()):
		return skipExclude
	}
	return ""
}

func (c *compiled) covers(u weburl.URL) bool {
	switch c.Kind {
	case contract.ScopeAny:
		return true
	case contract.ScopePrefix:
		whole := u.Host() + u.PathQuery()
		return slices.ContainsFunc(c.Roots, func(root string) bool { return strings.HasPrefix(whole, root) })
	}
	return slices.Contains(c.Roots, c.root(u))
}

func matches(list []*regexp.Regexp, s string) bool {
	return slices.ContainsFunc(list, func(re *regexp.Regexp) bool { return re.MatchString(s) })
}

// Reasons of URLs that the frontier itself ends.
const (
	reasonLost       = contract.ReasonLost
	reasonHostBudget = contract.ReasonHostBudget
)
