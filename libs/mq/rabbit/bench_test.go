package rabbit_test

import (
	"fmt"
	"testing"

	"github.com/warrenmq/warren/libs/mq"
	"github.com/warrenmq/warren/libs/mq/mqtest"
)

func BenchmarkBus(b *testing.B) {
	p := newBroker(b, 1).start(b)
	mqtest.Benchmark(b, p, p)
}

// BenchmarkWindow shows what waiting for each confirm costs: one caller with batches as large as the
// window, and two thousand callers with one message each, as handlers are.
func BenchmarkWindow(b *testing.B) {
	for _, window := range []int{1, 16, 256} {
		vhost := newBroker(b, 1)
		cfg := settings(vhost.url)
		cfg.Window = window
		p := start(b, cfg, 1)
		p.await(b, mq.Connected)
		message := mq.Message{Key: "page.html.com.example", Body: make([]byte, 1024)}
		b.Run(fmt.Sprintf("Batch-%d", window), func(b *testing.B) {
			batch := make([]mq.Message, window)
			for i := range batch {
				batch[i] = message
			}
			for n := 0; n < b.N; n += window {
				if err := p.Publish(b.Context(), batch[:min(window, b.N-n)]...); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("Callers-%d", window), func(b *testing.B) {
			b.SetParallelism(1000)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := p.Publish(b.Context(), message); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}
