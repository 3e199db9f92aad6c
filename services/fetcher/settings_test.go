package fetcher_test

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/warrenmq/warren/libs/mq/mqtest"
	"github.com/warrenmq/warren/services/fetcher"
)

func TestValidate(t *testing.T) {
	t.Parallel()
	if err := fetcher.DefaultConfig().Validate(); err != nil {
		t.Errorf("the defaults: %v", err)
	}
	for want, change := range map[string]func(*fetcher.Config){
		`WARREN_FETCHER_USER_AGENT=""`:       func(c *fetcher.Config) { c.UserAgent = "" },
		`WARREN_FETCHER_USER_AGENT="a\nb"`:   func(c *fetcher.Config) { c.UserAgent = "a\nb" },
		`WARREN_FETCHER_USER_AGENT="/1"`:     func(c *fetcher.Config) { c.UserAgent = "/1" },
		`WARREN_FETCHER_ALLOW: allow "all"`:  func(c *fetcher.Config) { c.Allow = []string{"all"} },
		"WARREN_FETCHER_DELAY=-1s":           func(c *fetcher.Config) { c.Delay = -time.Second },
		"WARREN_FETCHER_HOLD=0s":             func(c *fetcher.Config) { c.Hold = 0 },
		"WARREN_FETCHER_ROBOTS_PATIENCE=0":   func(c *fetcher.Config) { c.RobotsPatience = 0 },
		"WARREN_FETCHER_PREFETCH=2001":       func(c *fetcher.Config) { c.Prefetch = 2001 },
		"WARREN_FETCHER_MAX_BODY=1073741824": func(c *fetcher.Config) { c.MaxBody = 1 << 30 },
	} {
		cfg := fetcher.DefaultConfig()
		change(&cfg)
		if err := cfg.Validate(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("Validate = %v, want %s…", err, want)
		}
	}
	if _, err := fetcher.New(fetcher.DefaultConfig(), fetcher.Deps{Bus: mqtest.NewBus()}); err == nil {
		t.Error("New took no shards")
	}
	if _, err := fetcher.New(fetcher.Config{}, fetcher.Deps{Bus: mqtest.NewBus(), Shards: 1}); err == nil {
		t.Error("New took an empty Config")
	}
}

// Every number and duration must be checked: a zero would be a crawler that never waits, or never ends.
func TestEveryFieldIsChecked(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	words := regexp.MustCompile(`([a-z])([A-Z])`)
	fields := reflect.TypeFor[fetcher.Config]()
	for i := range fields.NumField() {
		field := fields.Field(i)
		if field.Tag.Get("desc") == "" {
			t.Errorf("%s has no desc", field.Name)
		}
		if name := strings.ToUpper(words.ReplaceAllString(field.Name, "${1}_$2")); !strings.Contains(string(readme), "`WARREN_FETCHER_"+name+"`") {
			t.Errorf("README.md does not explain WARREN_FETCHER_%s", name)
		}
		if field.Name == "Allow" || field.Name == "Delay" { // nothing is a value of these
			continue
		}
		cfg := fetcher.DefaultConfig()
		reflect.ValueOf(&cfg).Elem().Field(i).SetZero()
		if cfg.Validate() == nil {
			t.Errorf("%s: zero is taken", field.Name)
		}
	}
}

func TestPriority(t *testing.T) {
	t.Parallel()
	ids := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	owner := func(n int, ids []string) string {
		best := ""
		for _, id := range ids {
			if p := fetcher.Priority(id, n); p < 1 {
				t.Fatalf("Priority(%s, %d) = %d", id, n, p)
			} else if best == "" || p > fetcher.Priority(best, n) {
				best = id
			}
		}
		return best
	}
	owned := map[string]int{}
	for n := range 64 {
		was := owner(n, ids)
		owned[was]++
		if is := owner(n, ids[1:]); was != "a" && is != was {
			t.Errorf("shard %d went from %s to %s when a left", n, was, is)
		}
	}
	for _, id := range ids {
		if owned[id] < 2 || owned[id] > 20 {
			t.Errorf("%s owns %d of 64 shards", id, owned[id])
		}
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	w := site(t, nil)
	registry := prometheus.NewPedanticRegistry()
	bus := mqtest.NewBus()
	b := setupWith(t, fetcher.Deps{Bus: bus, Registry: registry}, bus)
	b.must(fetch(t, w.URL+"/x"))
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, family := range families {
		seen[family.GetName()] = true
		if !strings.HasPrefix(family.GetName(), "warren_fetcher_") || family.GetHelp() == "" {
			t.Errorf("metric %s: %q", family.GetName(), family.GetHelp())
		}
		for _, metric := range family.GetMetric() {
			for _, label := range metric.GetLabel() {
				if strings.Contains(label.GetValue(), "127.0.0.1") {
					t.Errorf("%s has a host as label", family.GetName())
				}
			}
		}
	}
	for _, name := range []string{"messages_total", "requests_total", "request_seconds", "wait_seconds", "hosts", "running", "robots_origins"} {
		if !seen["warren_fetcher_"+name] {
			t.Errorf("no metric %s", name)
		}
	}
}
