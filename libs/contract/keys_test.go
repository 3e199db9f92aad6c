package contract_test

import (
	"testing"

	"github.com/warrenmq/warren/libs/contract"
)

func TestKeys(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ got, want string }{
		{contract.FetchKey(64, 7), "fetch.64.7"},
		{contract.ResponseKey(contract.KindHTML, "www.example.com"), "response.html.com.example.www"},
		{contract.PageKey(contract.KindBinary, "example.com"), "page.binary.com.example"},
		{contract.ChangeKey(contract.ChangeGone, "example.com"), "change.gone.com.example"},
		{contract.DeadKey(contract.QueueStore), "dead.store"},
	} {
		if test.got != test.want {
			t.Errorf("key %q, want %q", test.got, test.want)
		}
	}
}

func TestParseFetchKey(t *testing.T) {
	t.Parallel()
	if shards, n, err := contract.ParseFetchKey(contract.FetchKey(64, 63)); shards != 64 || n != 63 || err != nil {
		t.Errorf("read %d of %d, %v", n, shards, err)
	}
	for _, key := range []string{"", "fetch", "fetch.64", "fetch.64.64", "fetch.64.-1", "fetch.64.7.8", "fetch.x.7", "fetch.64.x", "page.64.7"} {
		if _, _, err := contract.ParseFetchKey(key); err == nil {
			t.Errorf("%q was read", key)
		}
	}
}

func TestMandatory(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]bool{
		contract.KeySeed: true, contract.KeyDone: true, contract.KeyRetry: true, contract.KeyCrawlStart: true,
		"fetch.64.7": true, "response.html.com.example": true, "page.html.com.example": true, "dead.store": true,
		"change.new.com.example": false, "worker.fetcher.a": false, "control.fetcher": false,
	} {
		if got := contract.Mandatory(key); got != want {
			t.Errorf("Mandatory(%q) = %v, want %v", key, got, want)
		}
	}
}
