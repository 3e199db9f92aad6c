package contract_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/warrenmq/warren/libs/contract"
)

// addGolden seeds a corpus with the golden files of that name.
func addGolden(f *testing.F, pattern string, more ...string) {
	files, err := filepath.Glob("testdata/" + pattern + ".golden")
	if err != nil || len(files) == 0 {
		f.Fatalf("no golden files of %s: %v", pattern, err)
	}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	for _, body := range more {
		f.Add([]byte(body))
	}
}

// What is read as seeds keeps the rules that dedup relies on, and is the same seeds when sent on.
func FuzzDecodeSeeds(f *testing.F) {
	addGolden(f, "seed*", "https://a.example/\n#c\n\nhttps://b.example/", `["a",{"url":"b","depth":0}]`, "\ufeff[]", "[null]", `{"url":"a"}{`)
	f.Fuzz(func(t *testing.T, body []byte) {
		seeds, err := contract.DecodeSeeds(body)
		if err != nil {
			return
		}
		if len(seeds) == 0 {
			t.Fatal("no seed and no error")
		}
		for _, s := range seeds {
			if s.URL == "" || contract.CheckCrawlName(s.Crawl) != nil || s.Scope.Check() != nil {
				t.Fatalf("%q reads as the seed %+v", body, s)
			}
		}
		again, err := contract.Encode(seeds)
		if err != nil {
			t.Fatal(err)
		}
		back, err := contract.DecodeSeeds(again)
		if diff := cmp.Diff(seeds, back, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Fatalf("sent on they differ: %v\n%s", err, diff)
		}
	})
}

func FuzzDecodeDone(f *testing.F) {
	addGolden(f, "url.done*", `{"outcomes":[]}`, `{"v":99}`)
	f.Fuzz(func(t *testing.T, body []byte) {
		done, err := contract.DecodeDone(body)
		if err != nil {
			return
		}
		for _, o := range done.Outcomes {
			if o.ID == "" || o.Crawl == "" || o.Visit < 1 {
				t.Fatalf("%q reads as %+v", body, o)
			}
		}
		once := mustEncode(t, done)
		back, err := contract.DecodeDone(once)
		if err != nil || !bytes.Equal(mustEncode(t, back), once) {
			t.Fatalf("sent on it differs: %v\n%s\n%s", err, once, mustEncode(t, back))
		}
	})
}

func FuzzDecodeResponse(f *testing.F) {
	addGolden(f, "response*", "\n", "{}\n\n")
	f.Fuzz(func(t *testing.T, message []byte) { checkEnvelope(t, message, contract.DecodeResponse) })
}

func FuzzDecodePage(f *testing.F) {
	addGolden(f, "page*", "\n", "{}\n\n")
	f.Fuzz(func(t *testing.T, message []byte) { checkEnvelope(t, message, contract.DecodePage) })
}

// checkEnvelope: the body is what stands behind the first newline, and facts that were read are the
// same facts when sent on.
func checkEnvelope[T any](t *testing.T, message []byte, decode func([]byte) (T, []byte, error)) {
	facts, body, err := decode(message)
	if err != nil {
		return
	}
	if _, want, _ := bytes.Cut(message, []byte{'\n'}); !bytes.Equal(want, body) {
		t.Fatalf("body is %q, want %q", body, want)
	}
	once, err := contract.EncodeEnvelope(facts, body)
	if err != nil {
		t.Fatal(err)
	}
	back, body, err := decode(once)
	if err != nil {
		t.Fatalf("sent on it is not read: %v\n%s", err, once)
	}
	if again, err := contract.EncodeEnvelope(back, body); err != nil || !bytes.Equal(once, again) {
		t.Fatalf("sent on it differs: %v\n%s\n%s", err, once, again)
	}
}

func mustEncode(t *testing.T, v any) []byte {
	t.Helper()
	body, err := contract.Encode(v)
	if err != nil {
		t.Fatal(err)
	}
	return body
}
