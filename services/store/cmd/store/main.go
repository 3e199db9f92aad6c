// Command store keeps pages in PostgreSQL: the service of package store as a process.
package main

import (
	"context"
	"os"

	"github.com/warrenmq/warren/libs/daemon"
	"github.com/warrenmq/warren/libs/mq/rabbit"
	"github.com/warrenmq/warren/libs/sqldb"
	"github.com/warrenmq/warren/services/store"
	"github.com/warrenmq/warren/services/store/postgres"
)

func main() { os.Exit(daemon.Main("store", run)) }

func run(ctx context.Context, d *daemon.Daemon) error {
	settings := struct {
		Shards   int
		AMQP     rabbit.Config
		Database sqldb.Config
		Store    store.Config
	}{64, rabbit.DefaultConfig(), sqldb.DefaultConfig(), store.DefaultConfig()}
	settings.Database.ApplicationName = "warren-" + d.Name
	if err := d.Load(&settings); err != nil {
		return err
	}
	bus, err := rabbit.New(settings.AMQP, rabbit.Deps{Name: d.Name, Shards: settings.Shards, Log: d.Log, Registry: d.Registry})
	if err != nil {
		return err
	}
	database, err := postgres.Open(ctx, settings.Database, d.Log)
	if err != nil {
		return err
	}
	defer database.Close()
	service, err := store.New(settings.Store, store.Deps{Bus: bus, Database: database, Log: d.Log, Registry: d.Registry})
	if err != nil {
		return err
	}
	d.Ready("broker", bus.Ready)
	d.Ready("database", database.Ready)
	return d.Run(ctx, service.Run, bus.Run)
}
