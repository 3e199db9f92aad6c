// Package topology_test holds deploy/rabbitmq/definitions.json to the code: a seed that is sent before
// any service has started must find the very queue that the services will declare.
package topology_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq"
)

type definitions struct {
	Exchanges []struct {
		Name, Type string
		Durable    bool
	}
	Queues []struct {
		Name      string
		Durable   bool
		Arguments map[string]any
	}
	Bindings []struct {
		Source, Destination string
		RoutingKey          string `json:"routing_key"`
	}
}

func TestDefinitionsMatchTheCode(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../deploy/rabbitmq/definitions.json")
	if err != nil {
		t.Fatal(err)
	}
	var file definitions
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Exchanges) != 1 || file.Exchanges[0].Name != contract.Exchange || file.Exchanges[0].Type != "topic" || !file.Exchanges[0].Durable {
		t.Errorf("exchanges are %+v", file.Exchanges)
	}
	got := map[string]string{}
	for _, q := range file.Queues {
		var bindings []string
		for _, b := range file.Bindings {
			if b.Destination == q.Name && b.Source == contract.Exchange {
				bindings = append(bindings, b.RoutingKey)
			}
		}
		got[q.Name] = describe(q.Durable, q.Arguments, bindings)
	}
	want := map[string]string{}
	for _, q := range mq.Topology(64) {
		want[q.Name] = describe(true, q.Args, q.Bindings)
	}
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("queue %s:\n file %s\n code %s", name, got[name], want[name])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d queues in the file, %d in the code", len(got), len(want))
	}
}

func describe(durable bool, args map[string]any, bindings []string) string {
	slices.Sort(bindings)
	return fmt.Sprint(durable, args, bindings) // fmt prints maps sorted by key
}
