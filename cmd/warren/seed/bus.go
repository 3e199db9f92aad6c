package seed

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/warrenmq/warren/libs/daemon"
	"github.com/warrenmq/warren/libs/mq"
	"github.com/warrenmq/warren/libs/mq/rabbit"
)

// attempts is how often all brokers are tried. A service tries for ever; a person waits.
const attempts = 3

// bus is a connection to the broker for as long as the command runs.
type bus struct {
	mq.Publisher
	stop    context.CancelFunc
	running sync.WaitGroup
}

func connect(ctx context.Context, log *slog.Logger) (*bus, error) {
	settings := struct{ AMQP rabbit.Config }{rabbit.DefaultConfig()}
	settings.AMQP.Attempts = attempts
	if err := daemon.Load(log, &settings); err != nil {
		return nil, err
	}
	host, _ := os.Hostname()
	driver, err := rabbit.New(settings.AMQP, rabbit.Deps{
		Name: "warren seed " + host,
		// No shards: how many there are is the services' affair, and a shard's queue that nobody
		// consumes must not come to be by a command's settings.
		Shards:   0,
		Log:      log,
		Registry: prometheus.NewRegistry(),
	})
	if err != nil {
		return nil, fmt.Errorf("prepare the broker's client: %w", err)
	}
	ctx, stop := context.WithCancel(ctx)
	b := &bus{Publisher: driver, stop: stop}
	b.running.Go(func() { _ = driver.Run(ctx) }) // its error comes out of Publish
	return b, nil
}

func (b *bus) close() {
	b.stop()
	b.running.Wait()
}
