package rabbit_test

import (
	"testing"

	"github.com/warrenmq/warren/libs/mq/mqtest"
)

func TestSuite(t *testing.T) {
	mqtest.Run(t, mqtest.Driver{
		Open: func(t *testing.T, shards int) mqtest.Broker { return newBroker(t, shards) },
	})
}
