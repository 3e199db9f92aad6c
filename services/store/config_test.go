package store_test

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/warrenmq/warren/services/store"
)

func TestValidateNamesTheVariable(t *testing.T) {
	t.Parallel()
	if err := store.DefaultConfig().Validate(); err != nil {
		t.Error(err)
	}
	for want, spoil := range map[string]func(*store.Config){
		"WARREN_STORE_PREFETCH is 0":     func(c *store.Config) { c.Prefetch = 0 },
		"WARREN_STORE_BATCH is 1001":     func(c *store.Config) { c.Batch = 1001 },
		"WARREN_STORE_BATCH_BYTES is 0":  func(c *store.Config) { c.BatchBytes = 0 },
		"WARREN_STORE_BATCH_WAIT is 0s":  func(c *store.Config) { c.BatchWait = 0 },
		"WARREN_STORE_WRITERS is 65":     func(c *store.Config) { c.Writers = 65 },
		"WARREN_STORE_TIMEOUT is -1ns":   func(c *store.Config) { c.Timeout = -1 },
		"WARREN_STORE_GRACE is 0s: want": func(c *store.Config) { c.Grace = 0 },
	} {
		cfg := store.DefaultConfig()
		spoil(&cfg)
		if err := cfg.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
		if _, err := store.New(cfg, store.Deps{}); err == nil {
			t.Errorf("a service is made of settings without %q", want)
		}
	}
}

func TestNewWantsItsDeps(t *testing.T) {
	t.Parallel()
	if _, err := store.New(store.DefaultConfig(), store.Deps{Registry: prometheus.NewRegistry()}); err == nil {
		t.Error("a service is made without a bus")
	}
}
