package contract_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/warrenmq/warren/libs/contract"
)

func seed(url string) contract.Seed { return contract.Seed{URL: url, Crawl: "default"} }

func TestDecodeSeeds(t *testing.T) {
	t.Parallel()
	a, b := seed("https://a.example/"), seed("https://b.example/")
	full := contract.Seed{URL: "https://a.example/", Crawl: "docs", Priority: -100, Scope: scope()}
	tests := []struct {
		name, body string
		want       []contract.Seed
	}{
		{"one bare URL", "https://a.example/", []contract.Seed{a}},
		{"lines of all kinds", "\r\n# a comment\r\n  https://a.example/ \r\n\r\nhttps://b.example/\n", []contract.Seed{a, b}},
		{"byte order mark", "\ufeffhttps://a.example/\n", []contract.Seed{a}},
		{"byte order mark before JSON", "\ufeff{\"url\":\"https://a.example/\"}", []contract.Seed{a}},
		{"whether it is a URL is not decided here", "no url at all", []contract.Seed{seed("no url at all")}},
		{"object", `{"url":"https://a.example/"}`, []contract.Seed{a}},
		{"object with every field", ` {"url":"https://a.example/","crawl":"docs","priority":-100,"scope":"prefix",
			"include":["/docs/"],"exclude":["\\.pdf$","[?&]sort="],"depth":3}`, []contract.Seed{full}},
		{"array of strings", `["https://a.example/","https://b.example/"]`, []contract.Seed{a, b}},
		{"array of both", ` [ "https://a.example/" , {"url":"https://b.example/"} ] `, []contract.Seed{a, b}},
		{"depth 0 is a limit", `{"url":"https://a.example/","depth":0}`, []contract.Seed{{
			URL: a.URL, Crawl: a.Crawl, Scope: contract.Scope{Depth: ptr(0)},
		}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := contract.DecodeSeeds([]byte(test.body))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// Each message must tell its writer what to change.
func TestDecodeSeedsErrors(t *testing.T) {
	t.Parallel()
	checkErrors(t, contract.DecodeSeeds, []errorCase{
		{"empty", "", "the body is empty"},
		{"comments only", "# nothing\n\n# here", "there is no url in the body"},
		{"empty array", "[]", "there is no url in the body"},
		{"not UTF-8", "https://a.example/\xff", "not UTF-8"},
		{"unknown field", `{"url":"https://a.example/","dept":3}`, `unknown field "dept"`},
		{"unknown field in an array", `["https://a.example/",{"uri":"https://b.example/"}]`, `item 2: json: unknown field "uri"`},
		{"a version, which seeds have not", `{"url":"https://a.example/","v":99}`, `unknown field "v"`},
		{"wrong type", `{"url":7}`, "cannot unmarshal number"},
		{"wrong type of a field", `{"url":"https://a.example/","depth":"3"}`, "depth"},
		{"array of numbers", `[1]`, "item 1"},
		{"no url", `{"crawl":"docs"}`, "seed 1: url is missing"},
		{"null", `["https://a.example/",null]`, "seed 2: url is missing"},
		{"trailing data", `{"url":"https://a.example/"} {"url":"https://b.example/"}`, "more behind the JSON value"},
		{"two objects by lines", "{\"url\":\"https://a.example/\"}\n{\"url\":\"https://b.example/\"}", "more behind the JSON value"},
		{"broken JSON", `{"url":"https://a.example/"`, "unexpected EOF"},
		{"crawl name", `{"url":"https://a.example/","crawl":"my crawl"}`, `crawl name "my crawl": want`},
		{"crawl name too long", `{"url":"https://a.example/","crawl":"` + strings.Repeat("x", 64) + `"}`, "want 1 to 63"},
		{"priority", `{"url":"https://a.example/","priority":101}`, "priority 101: want -100 to 100"},
		{"scope", `{"url":"https://a.example/","scope":"site"}`, `scope "site": want host, domain, prefix or any`},
		{"depth", `{"url":"https://a.example/","depth":-1}`, "depth -1: it is negative"},
		{"include", `{"url":"https://a.example/","include":["("]}`, `include "(": error parsing regexp`},
		{"exclude", `{"url":"https://a.example/","exclude":["ok","[a"]}`, `exclude "[a": error parsing regexp`},
	})
}

func TestDecodeCrawlSpec(t *testing.T) {
	t.Parallel()
	got, err := contract.DecodeCrawlSpec([]byte("\ufeff" + `{"name":"docs","seeds":["https://a.example/",{"url":"https://b.example/","depth":0}],
		"pages":10,"delay":0,"recrawl":86400.5,"not_before":"2026-11-21T09:30:15.25+01:00","scope":"domain"}`))
	if err != nil {
		t.Fatal(err)
	}
	want := contract.CrawlSpec{
		Name: "docs", Pages: 10, Delay: ptr(contract.Duration(0)), NotBefore: &moment,
		Recrawl: contract.Duration(24*time.Hour + 500*time.Millisecond),
		Scope:   contract.Scope{Kind: contract.ScopeDomain},
		Seeds: []contract.Seed{
			{URL: "https://a.example/", Crawl: "docs"},
			{URL: "https://b.example/", Crawl: "docs", Scope: contract.Scope{Depth: ptr(0)}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	bare, err := contract.DecodeCrawlSpec([]byte(`{"name":"docs"}`))
	if diff := cmp.Diff(contract.CrawlSpec{Name: "docs"}, bare); err != nil || diff != "" {
		t.Errorf("a crawl without seeds: %v\n%s", err, diff)
	}
}

func TestDecodeCrawlSpecErrors(t *testing.T) {
	t.Parallel()
	checkErrors(t, contract.DecodeCrawlSpec, []errorCase{
		{"empty", "", "the body is empty"},
		{"bare name", "docs", "invalid character"},
		{"not UTF-8", "{\"name\":\"docs\",\"seeds\":[\"https://a.example/\xff\"]}", "not UTF-8"},
		{"no name", `{"seeds":["https://a.example/"]}`, `crawl name "": want`},
		{"unknown field", `{"name":"docs","page":10}`, `unknown field "page"`},
		{"unknown field of a seed", `{"name":"docs","seeds":[{"url":"https://a.example/","crawls":"x"}]}`, `item 1: json: unknown field "crawls"`},
		{"pages", `{"name":"docs","pages":-1}`, "pages -1"},
		{"pages per host", `{"name":"docs","pages_per_host":-1}`, "pages_per_host -1"},
		{"priority", `{"name":"docs","priority":-101}`, "priority -101: want -100 to 100"},
		{"delay without a unit", `{"name":"docs","delay":"5"}`, `read duration "5": want for example "1.5s"`},
		{"delay negative", `{"name":"docs","delay":"-5s"}`, "it is negative"},
		{"delay negative number", `{"name":"docs","delay":-5}`, "it is negative"},
		{"delay of ages", `{"name":"docs","delay":1e300}`, "it is too long"},
		{"delay of the wrong type", `{"name":"docs","delay":true}`, "read duration true"},
		{"recrawl null", `{"name":"docs","recrawl":null}`, "read duration null"},
		{"expires", `{"name":"docs","expires":"tomorrow"}`, "tomorrow"},
		{"seed of another crawl", `{"name":"docs","seeds":[{"url":"https://a.example/","crawl":"news"}]}`, `seed 1: its crawl is "news", not "docs"`},
		{"seed without url", `{"name":"docs","seeds":["https://a.example/",{}]}`, "seed 2: url is missing"},
		{"scope", `{"name":"docs","scope":"site"}`, `scope "site"`},
		{"trailing data", `{"name":"docs"}}`, "more behind the JSON value"},
	})
}

func TestDecodeCrawlVerb(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]contract.CrawlVerb{
		"docs":            {Name: "docs"},
		" docs\n":         {Name: "docs"},
		"\ufeffdocs":      {Name: "docs"},
		`{"name":"docs"}`: {Name: "docs"},
		`{"name":"docs","reason":"robots","host":"a.example"}`: {Name: "docs", Reason: "robots", Host: "a.example"},
	} {
		if got, err := contract.DecodeCrawlVerb([]byte(body)); err != nil || got != want {
			t.Errorf("%q reads as %+v, %v; want %+v", body, got, err, want)
		}
	}
	checkErrors(t, contract.DecodeCrawlVerb, []errorCase{
		{"empty", "", "the body is empty"},
		{"no name", "{}", `crawl name ""`},
		{"two names", "docs news", `crawl name "docs news"`},
		{"unknown field", `{"name":"docs","hosts":"a"}`, `unknown field "hosts"`},
		{"control characters", "do\x1b[31mcs", `crawl name "do [31mcs"`},
		{"trailing data", `{"name":"docs"} x`, "more behind"},
	})
}

func TestDurationWritesWhatItReads(t *testing.T) {
	t.Parallel()
	body, err := contract.Encode(contract.Duration(90 * time.Second))
	var back contract.Duration
	if err == nil {
		err = back.UnmarshalJSON(body)
	}
	if err != nil || string(body) != `"1m30s"` || back != contract.Duration(90*time.Second) {
		t.Errorf("90 s writes as %s and reads as %v: %v", body, back, err)
	}
}

type errorCase struct{ name, body, want string }

func checkErrors[T any](t *testing.T, decode func([]byte) (T, error), cases []errorCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got, err := decode([]byte(c.body)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%q reads as %+v\nerror %v\nwant   %s", c.body, got, err, c.want)
			}
		})
	}
}
