package daemon

import (
	"fmt"
	"io"
	"net"
	"net/http"
)

// healthcheck asks the process that runs on this machine under the same settings. It is the check
// that compose runs, in an image that has no curl.
func (p process) healthcheck(path string) int {
	own := defaultSettings()
	if err := fill(&own); err != nil {
		fmt.Fprintf(p.stderr, "%s: %v\n", p.name, err)
		return StatusSettings
	}
	// Below the 5 s that compose gives a check, so that the reason is seen.
	client := http.Client{Timeout: 2 * checkTimeout, Transport: &http.Transport{Proxy: nil, DisableKeepAlives: true}}
	resp, err := client.Get("http://" + localAddr(own.AdminAddr) + path)
	if err != nil {
		fmt.Fprintf(p.stderr, "%s: %v\n", p.name, err)
		return StatusUnexpected
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err != nil || resp.StatusCode != http.StatusOK {
		fmt.Fprintf(p.stderr, "%s: %s\n%s", p.name, resp.Status, body)
		return StatusUnexpected
	}
	fmt.Fprintf(p.stdout, "%s", body)
	return StatusDone
}

// localAddr is where a process that listens on addr is met from the same machine. The settings are
// checked: addr can be split.
func localAddr(addr string) string {
	host, port, _ := net.SplitHostPort(addr)
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
		if ip != nil && ip.To4() == nil {
			host = "::1"
		}
	}
	return net.JoinHostPort(host, port)
}
