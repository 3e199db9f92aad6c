package webtest_test

import (
	"fmt"
	"io"
	"net/http"

	"github.com/warrenmq/warren/libs/webtest"
)

// A web on loopback, the facts to compare a crawl with, and a look at the log.
func ExampleListen() {
	server, err := webtest.Listen(webtest.Options{Seed: 1}, 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = server.Close() }()
	web := server.Web
	seed := web.Seeds()[0]

	client := &http.Client{Transport: new(http.Transport)}
	defer client.CloseIdleConnections()
	res, err := client.Get(seed)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, _ = io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()

	fmt.Println(res.StatusCode == web.Truth().Stored[seed].Status)
	for _, v := range web.Check(web.Log(), web.CrawlDelay) {
		fmt.Println(v.Kind, v.Path)
	}
	// Output:
	// true
	// no robots /
}
