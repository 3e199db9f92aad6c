// Command parser runs Warren's parser. It takes its settings from the environment: see the README
// beside the package.
package main

import (
	"context"
	"os"

	"github.com/warrenmq/warren/libs/daemon"
	"github.com/warrenmq/warren/libs/mq/rabbit"
	"github.com/warrenmq/warren/services/parser"
)

func main() { os.Exit(daemon.Main("parser", run)) }

func run(ctx context.Context, d *daemon.Daemon) error {
	settings := struct {
		Shards int `desc:"fetch shards of the frontier, the same in every service"`
		AMQP   rabbit.Config
		Parser parser.Config
	}{64, rabbit.DefaultConfig(), parser.DefaultConfig()}
	if err := d.Load(&settings); err != nil {
		return err
	}
	bus, err := rabbit.New(settings.AMQP, rabbit.Deps{Name: d.Name, Shards: settings.Shards, Log: d.Log, Registry: d.Registry})
	if err != nil {
		return err
	}
	service, err := parser.New(settings.Parser, parser.Deps{Bus: bus, Log: d.Log, Registry: d.Registry})
	if err != nil {
		return err
	}
	d.Ready("broker", bus.Ready)
	return d.Run(ctx, service.Run, bus.Run)
}
