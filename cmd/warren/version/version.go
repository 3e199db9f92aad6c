// Package version is "warren version": which build this is.
package version

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/urfave/cli/v3"

	"github.com/warrenmq/warren/libs/daemon"
)

// Command is the verb.
func Command() *cli.Command {
	return &cli.Command{
		Name:            "version",
		Usage:           "which build this is",
		UsageText:       "warren version [--json]",
		HideHelpCommand: true,
		Flags:           []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "print it as JSON"}},
		Action: func(_ context.Context, cmd *cli.Command) error {
			build := daemon.Version("warren")
			if cmd.Bool("json") {
				return json.NewEncoder(cmd.Root().Writer).Encode(build)
			}
			_, err := fmt.Fprintln(cmd.Root().Writer, build)
			return err
		},
	}
}
