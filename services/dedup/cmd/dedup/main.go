// Command dedup runs the frontier's service. See the folder's README for its settings.
package main

import (
	"context"
	"os"

	"github.com/warrenmq/warren/libs/daemon"
	"github.com/warrenmq/warren/libs/mq/rabbit"
	"github.com/warrenmq/warren/libs/sqldb"
	"github.com/warrenmq/warren/services/dedup"
	"github.com/warrenmq/warren/services/dedup/postgres"
)

func main() { os.Exit(daemon.Main("dedup", run)) }

func run(ctx context.Context, d *daemon.Daemon) error {
	settings := struct {
		Shards   int
		AMQP     rabbit.Config
		Database sqldb.Config
		Dedup    dedup.Config
	}{64, rabbit.DefaultConfig(), sqldb.DefaultConfig(), dedup.DefaultConfig()}
	settings.Database.ApplicationName = "warren-" + d.Name
	if err := d.Load(&settings); err != nil {
		return err
	}
	pool, err := sqldb.Open(ctx, settings.Database, d.Log)
	if err != nil {
		return err
	}
	defer pool.Close()
	if err := sqldb.Migrate(ctx, settings.Database, postgres.Migrations(), postgres.MigrationTable); err != nil {
		return err
	}
	store, err := postgres.Open(ctx, pool)
	if err != nil {
		return err
	}
	defer store.Close()
	bus, err := rabbit.New(settings.AMQP, rabbit.Deps{Name: d.Name, Shards: settings.Shards, Log: d.Log, Registry: d.Registry})
	if err != nil {
		return err
	}
	service, err := dedup.New(settings.Dedup, dedup.Deps{Bus: bus, Store: store, Shards: settings.Shards, Log: d.Log, Registry: d.Registry})
	if err != nil {
		return err
	}
	d.Ready("broker", bus.Ready)
	d.Ready("database", store.Ping)
	d.Handle("/api/", service.API())
	return d.Run(ctx, service.Run, bus.Run)
}
