package webtest_test

import (
	"testing"

	"github.com/warrenmq/warren/libs/webtest"
)

// A web of IP addresses holds together as one of names does, and no link leaves it.
func TestCrawlOfAListeningWeb(t *testing.T) {
	t.Parallel()
	server, err := webtest.Listen(webtest.Options{Seed: 9}, 16)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	}()
	got := crawl(t, server.Web.Seeds(), "", func(string) bool { return true })
	same(t, server.Web.Truth(), got)
	for _, v := range server.Web.Check(server.Web.Log(), nil) {
		t.Errorf("the crawl broke manners: %v", v)
	}
}
