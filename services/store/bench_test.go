package store_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq"
	"github.com/warrenmq/warren/libs/mq/mqtest"
	"github.com/warrenmq/warren/services/store"
	"github.com/warrenmq/warren/services/store/storetest"
)

// BenchmarkStore keeps pages of 20 KB with 50 links, as many unacked at a time as the prefetch allows.
// One operation is one page, from its delivery to its ack; the broker's own time is not in it.
func BenchmarkStore(b *testing.B) {
	for _, c := range []struct{ batch, writers int }{{1, 2}, {8, 2}, {8, 4}, {16, 1}, {16, 2}, {32, 1}, {32, 2}} {
		b.Run(fmt.Sprintf("batch=%d/writers=%d", c.batch, c.writers), func(b *testing.B) {
			db, _ := database(b)
			bus := mqtest.NewBus()
			run(b, bus, db, func(cfg *store.Config) { cfg.Batch, cfg.Writers = c.batch, c.writers })
			pages := make([]mq.Message, b.N)
			for i := range pages {
				pages[i] = benchPage(b, i)
			}
			messages := make(chan mq.Message)
			var all sync.WaitGroup
			b.ResetTimer()
			for range store.DefaultConfig().Prefetch {
				all.Go(func() {
					for m := range messages {
						if err := bus.Deliver(context.Background(), contract.QueueStore, m); err != nil {
							b.Error(err)
						}
						bus.Take("")
					}
				})
			}
			for _, m := range pages {
				messages <- m
			}
			close(messages)
			all.Wait()
		})
	}
}

func benchPage(b *testing.B, i int) mq.Message {
	body := strings.Repeat(fmt.Sprintf("page %d has words. ", i), 1000)
	return storetest.Message(b, fmt.Sprintf("https://h%d.example/%d", i%97, i), 1, body, func(p *contract.Page) {
		for n := range 50 {
			p.Links = append(p.Links, contract.Link{URL: fmt.Sprint(p.URL, "/", n), Tag: "a", Text: "a link"})
		}
	})
}
