package weburl_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/warrenmq/warren/libs/weburl"
)

func parse(t *testing.T, raw string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// Ids are in databases and shards in queue names: these values are for ever.
// They are printf '%s' TEXT | sha256sum | head -c 16.
func TestPinned(t *testing.T) {
	t.Parallel()
	const want = "a379a6f6eeafb9a52a1b402420ef4657"
	u := parse(t, "http://EXAMPLE.com")
	if got := u.ID().String(); got != want {
		t.Errorf("id = %s, want %s", got, want)
	}
	if got := weburl.Shard("example.com", 64); got != 0x25 { // 0x…a5 mod 64
		t.Errorf("shard = %d", got)
	}
	if host, hash := u.ID().Ints(); host != -0x5c8659091150465b || hash != 0x2a1b402420ef4657 {
		t.Errorf("ints = %#x, %#x", host, hash)
	}
}

func TestID(t *testing.T) {
	t.Parallel()
	host := func(id weburl.ID) int64 { half, _ := id.Ints(); return half }
	a, b, c := parse(t, "http://h/a").ID(), parse(t, "https://h/a").ID(), parse(t, "http://h:81/a").ID()
	if a == b || host(a) != host(b) || [8]byte(a[:8]) != weburl.HostID("h") {
		t.Error("http and https are two URLs of one host")
	}
	if host(a) == host(c) {
		t.Error("another port is another host")
	}
	for i := range 1000 {
		id := parse(t, fmt.Sprintf("http://h%d/%d", i%7, i)).ID()
		back, err := weburl.ParseID(id.String())
		if err != nil || back != id || weburl.IDFromInts(id.Ints()) != id {
			t.Fatalf("%s: back as %s, %s, %v", id, back, weburl.IDFromInts(id.Ints()), err)
		}
	}
	for _, text := range []string{"", "00", strings.Repeat("g", 32), strings.Repeat("0", 34)} {
		if _, err := weburl.ParseID(text); !errors.Is(err, weburl.ErrInvalid) {
			t.Errorf("ParseID(%q): %v", text, err)
		}
	}
}

func TestShardSpreads(t *testing.T) {
	t.Parallel()
	const shards, hosts = 64, 64_000
	var count [shards]int
	for i := range hosts {
		count[weburl.Shard(fmt.Sprintf("host%d.example", i), shards)]++
	}
	for n, c := range count { // mean 1000, standard deviation 31
		if c < 800 || c > 1200 {
			t.Errorf("shard %d has %d hosts of %d", n, c, hosts)
		}
	}
	if weburl.Shard("h", 0) != 0 || weburl.Shard("h", -1) != 0 || weburl.Shard("h", 1) != 0 {
		t.Error("fewer than two shards are shard 0")
	}
}
