// Command fetcher runs the fetcher service. See services/fetcher/README.md for its settings.
package main

import (
	"context"
	"os"

	"github.com/warrenmq/warren/libs/daemon"
	"github.com/warrenmq/warren/libs/mq/rabbit"
	"github.com/warrenmq/warren/services/fetcher"
)

func main() { os.Exit(daemon.Main("fetcher", run)) }

func run(ctx context.Context, d *daemon.Daemon) error {
	settings := struct {
		Shards  int `desc:"fetch queues, as the frontier counts them"`
		AMQP    rabbit.Config
		Fetcher fetcher.Config
	}{64, rabbit.DefaultConfig(), fetcher.DefaultConfig()}
	if err := d.Load(&settings); err != nil {
		return err
	}
	bus, err := rabbit.New(settings.AMQP, rabbit.Deps{Name: d.Name, Shards: settings.Shards, Log: d.Log, Registry: d.Registry})
	if err != nil {
		return err
	}
	service, err := fetcher.New(settings.Fetcher, fetcher.Deps{Bus: bus, Shards: settings.Shards, Log: d.Log, Registry: d.Registry})
	if err != nil {
		return err
	}
	d.Ready("broker", bus.Ready)
	return d.Run(ctx, service.Run, bus.Run)
}
