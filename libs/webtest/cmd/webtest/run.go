package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/warrenmq/warren/libs/webtest"
)

type settings struct {
	addr, admin string
	hosts       int
	seed        uint64
	delay       time.Duration
}

func parse(args []string, stderr io.Writer) (settings, error) {
	var s settings
	flags := flag.NewFlagSet("webtest", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&s.addr, "addr", ":80", "address of the web; a port other than 80 becomes part of the hosts' names")
	flags.StringVar(&s.admin, "admin", ":8081", "address of the admin handler: /_log /_expected /_seeds /_reset")
	flags.IntVar(&s.hosts, "hosts", webtest.DefaultHosts, "number of hosts: h000.web.test and so on")
	flags.Uint64Var(&s.seed, "seed", 1, "the same seed gives the same web")
	flags.DurationVar(&s.delay, "delay", 0, "Crawl-delay in the robots.txt of one host in four; 0 for none")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	if flags.NArg() > 0 {
		return s, fmt.Errorf("read arguments: %q is not a flag", flags.Arg(0))
	}
	if s.hosts < 1 {
		return s, fmt.Errorf("read -hosts %d: want at least 1", s.hosts)
	}
	return s, nil
}

// run serves until ctx ends.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	s, err := parse(args, stderr)
	if err != nil {
		return err
	}
	webListener, err := net.Listen("tcp", s.addr)
	if err != nil {
		return fmt.Errorf("listen for the web: %w", err)
	}
	defer func() { _ = webListener.Close() }()
	adminListener, err := net.Listen("tcp", s.admin)
	if err != nil {
		return fmt.Errorf("listen for the admin handler: %w", err)
	}
	defer func() { _ = adminListener.Close() }()

	hosts := webtest.HostNames(s.hosts)
	if port := webListener.Addr().(*net.TCPAddr).Port; port != 80 {
		for i := range hosts {
			hosts[i] += fmt.Sprintf(":%d", port)
		}
	}
	web := webtest.New(webtest.Options{Seed: s.seed, Hosts: hosts, Delay: s.delay})
	if _, err := fmt.Fprintf(stdout, "webtest: ready, %d hosts on %s, admin on %s, start from %s\n",
		s.hosts, webListener.Addr(), adminListener.Addr(), strings.Join(web.Seeds(), " ")); err != nil {
		return fmt.Errorf("say that it is ready: %w", err)
	}
	return serve(ctx, log.New(stderr, "webtest: ", log.LstdFlags), map[net.Listener]http.Handler{
		webListener: web, adminListener: web.Admin(),
	})
}

// serve runs a server for each handler until ctx ends or one of them fails; then it ends them all.
func serve(ctx context.Context, logger *log.Logger, handlers map[net.Listener]http.Handler) error {
	ended := make(chan error, len(handlers))
	var servers []*http.Server
	for ln, handler := range handlers {
		server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, ErrorLog: logger}
		servers = append(servers, server)
		go func() { ended <- server.Serve(ln) }()
	}
	var first error
	select {
	case <-ctx.Done():
	case first = <-ended:
	}
	for _, server := range servers {
		_ = server.Close() // what still runs is a test's own business
	}
	left := len(handlers)
	if first != nil {
		left--
	}
	for range left {
		if err := <-ended; first == nil && !errors.Is(err, http.ErrServerClosed) {
			first = err
		}
	}
	if first != nil {
		return fmt.Errorf("serve: %w", first)
	}
	return nil
}
