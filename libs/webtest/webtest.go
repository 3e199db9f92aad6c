// Package webtest is a deterministic little web: the ground truth of Warren's end-to-end tests.
//
//  1. In: Options. The same seed and the same hosts give the same web, byte for byte.
//  2. New lays out a site for each host: a root, plain pages, a robots.txt, and a few corners of the
//     real web (redirects, errors, charsets, duplicates, traps). No body is kept; each is written
//     again when it is asked for.
//  3. Web is an http.Handler for all hosts at once. It routes by the Host header and logs each request.
//  4. Out: Truth, what a correct crawl from Seeds stores, fails and excludes, taken from the layout and
//     never from the markup; Log, what the crawler did; and Check, which manners the log breaks.
//
// No link leaves the web, so a crawl of it touches nothing else.
package webtest

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// DefaultHosts is how many hosts a web has when Options names none.
const DefaultHosts = 200

// DefaultPages is about how many plain pages a host has when Options does not say.
const DefaultPages = 6

// Options is all that a web depends on. The zero value is a web of DefaultHosts hosts.
type Options struct {
	// Seed chooses texts, page counts and cross links. Same seed and hosts, same web.
	Seed uint64
	// Hosts are the host names as they appear in the Host header, with the port if it is not 80.
	// They must differ from each other. Default: HostNames(DefaultHosts). A web of any size has all
	// corners; all kinds of robots.txt need 8 hosts.
	Hosts []string
	// PagesPerHost is about how many plain pages a host has, beside its root and its corners. Each
	// host has between half and one and a half times as many. Default: DefaultPages.
	PagesPerHost int
	// Delay is written as Crawl-delay into the robots.txt of some hosts (one in four; CrawlDelay
	// tells which), in seconds with decimals. 0: none is written.
	Delay time.Duration
	// Latency, if set, says how long a request waits before it is answered. It must be safe for
	// concurrent use. path has the query.
	Latency func(host, path string) time.Duration
}

// Web is the whole web. It is safe for concurrent use.
type Web struct {
	opts    Options
	sites   []*site
	byHost  map[string]*site
	log     accessLog
	zippers sync.Pool // of *gzip.Writer
}

// HostNames returns h000.web.test, h001.web.test, … n names of one registrable domain.
func HostNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("h%03d.web.test", i)
	}
	return names
}

// New lays out the web, at about 0.1 ms and 15 KB a host.
func New(opts Options) *Web {
	if len(opts.Hosts) == 0 {
		opts.Hosts = HostNames(DefaultHosts)
	}
	if opts.PagesPerHost <= 0 {
		opts.PagesPerHost = DefaultPages
	}
	w := &Web{opts: opts, byHost: make(map[string]*site, len(opts.Hosts))}
	for i, host := range opts.Hosts {
		s := newSite(w, i, canonicalHost(host))
		w.sites = append(w.sites, s)
		w.byHost[s.host] = s
	}
	w.dealCorners() // which lead to other hosts, so all must be there
	return w
}

// Seeds returns the URLs to start from. All hosts are found from them by links, if the crawl's scope
// lets it leave the first host: "domain" for HostNames, "any" for IP addresses.
func (w *Web) Seeds() []string { return []string{w.sites[0].url("/")} }

// Hosts returns the hosts' names, in lower case and without a default port.
func (w *Web) Hosts() []string {
	hosts := make([]string, len(w.sites))
	for i, s := range w.sites {
		hosts[i] = s.host
	}
	return hosts
}

// CrawlDelay returns what the host's robots.txt asks for; 0 if nothing, or if there is no such host.
func (w *Web) CrawlDelay(host string) time.Duration {
	if s := w.byHost[canonicalHost(host)]; s != nil {
		return s.robots.delay
	}
	return 0
}

// canonicalHost is the name a host is kept under: lower case, no default port.
func canonicalHost(host string) string {
	return strings.TrimSuffix(strings.ToLower(host), ":80")
}

var _ http.Handler = (*Web)(nil)
