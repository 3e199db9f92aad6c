package mq

import "github.com/warrenmq/warren/libs/contract"

// Queue is a durable queue, its arguments and its bindings to the exchange. Arguments hold identity
// only (type, single active consumer, dead-lettering); what may be tuned is a policy in
// deploy/rabbitmq/definitions.json, so that no upgrade needs a queue deleted.
type Queue struct {
	Name     string
	Bindings []string
	Args     map[string]any // string, bool, int32
}

// Topology is the exchange and every queue that lasts, for a number of fetch shards. Every service
// declares all of it, idempotently, at each session: a publisher needs the queues behind it.
func Topology(shards int) []Queue {
	verbs := work(contract.QueueCrawl, contract.BindCrawl)
	verbs.Args["x-single-active-consumer"] = true // pause and resume must not overtake one another
	queues := []Queue{
		work(contract.QueueDedup, contract.BindDedup),
		verbs,
		work(contract.QueueParser, contract.BindParser),
		work(contract.QueueStore, contract.BindStore),
		{
			Name:     contract.QueueDead,
			Bindings: []string{contract.BindDead},
			Args:     map[string]any{"x-queue-type": "quorum", "x-overflow": "reject-publish"},
		},
	}
	for n := range shards {
		key := contract.FetchKey(shards, n)
		queue := work(key, key)
		queue.Args["x-single-active-consumer"] = true
		queues = append(queues, queue)
	}
	return queues
}

// work is a queue that services consume: at-least-once dead-lettering needs reject-publish, without
// it the broker silently dead-letters at most once.
func work(name, binding string) Queue {
	return Queue{
		Name:     name,
		Bindings: []string{binding},
		Args: map[string]any{
			"x-queue-type":              "quorum",
			"x-overflow":                "reject-publish",
			"x-dead-letter-exchange":    contract.Exchange,
			"x-dead-letter-routing-key": contract.DeadKey(name),
			"x-dead-letter-strategy":    "at-least-once",
		},
	}
}
