package store

import (
	"fmt"
	"time"
)

// Config is store's settings. Environment names are WARREN_STORE_ and the field's name.
type Config struct {
	Prefetch   int           `desc:"most pages held unacked; also the most that can be in batches at a time"`
	Batch      int           `desc:"most pages of one transaction"`
	BatchBytes int           `split_words:"true" desc:"a batch is closed when its messages reach this size, in bytes"`
	BatchWait  time.Duration `split_words:"true" desc:"longest wait for a batch to fill, from its first page on"`
	Writers    int           `desc:"most transactions at a time"`
	Timeout    time.Duration `desc:"longest time of one transaction, as this process sees it; then it is tried again"`
	Grace      time.Duration `desc:"longest wait at a stop for the pages in hand"`
}

// DefaultConfig holds at most 32 pages of 12 MiB in memory.
func DefaultConfig() Config {
	return Config{
		Prefetch:   32,
		Batch:      16, // half of Prefetch: one batch fills while another is written
		BatchBytes: 32 << 20,
		BatchWait:  20 * time.Millisecond,
		Writers:    2,
		Timeout:    time.Minute,
		Grace:      30 * time.Second,
	}
}

// Validate names the variable and the value that cannot be.
func (c Config) Validate() error {
	if c.Prefetch < 1 || c.Prefetch > 65535 {
		return fmt.Errorf("WARREN_STORE_PREFETCH is %d: want 1 to 65535", c.Prefetch)
	}
	if c.Batch < 1 || c.Batch > 1000 {
		return fmt.Errorf("WARREN_STORE_BATCH is %d: want 1 to 1000", c.Batch)
	}
	if c.BatchBytes < 1 {
		return fmt.Errorf("WARREN_STORE_BATCH_BYTES is %d: want at least 1", c.BatchBytes)
	}
	if c.Writers < 1 || c.Writers > 64 {
		return fmt.Errorf("WARREN_STORE_WRITERS is %d: want 1 to 64", c.Writers)
	}
	for name, d := range map[string]time.Duration{
		"BATCH_WAIT": c.BatchWait, "TIMEOUT": c.Timeout, "GRACE": c.Grace,
	} {
		if d <= 0 {
			return fmt.Errorf("WARREN_STORE_%s is %s: want more than 0", name, d)
		}
	}
	return nil
}
