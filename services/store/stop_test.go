package store_test

import (
	"context"
	"testing"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq"
	"github.com/warrenmq/warren/libs/mq/mqtest"
	"github.com/warrenmq/warren/services/store/storetest"
)

// stopping is a bus that has a page in hand when it is told to stop, and waits for its handler, as a
// driver does.
type stopping struct {
	*mqtest.Bus
	message mq.Message
	answer  chan error
}

func (s *stopping) Consume(ctx context.Context, _ mq.Subscription, handle mq.Handler) error {
	<-ctx.Done()
	s.answer <- handle(context.Background(), mq.Delivery{Message: s.message, Queue: contract.QueueStore})
	return nil
}

func TestAStopFinishesWhatIsInHand(t *testing.T) {
	t.Parallel()
	db, pool := database(t)
	bus := &stopping{Bus: mqtest.NewBus(), message: storetest.Message(t, home, 1, "A"), answer: make(chan error, 1)}
	_, stop := start(t, bus, db, quick)
	stop()
	if err := <-bus.answer; err != nil {
		t.Errorf("the page in hand at the stop is answered with %v", err)
	}
	if n := count(t, pool, "select count(*) from page"); n != 1 || len(outcomes(t, bus.Bus)) != 1 {
		t.Errorf("%d rows, want 1 and its outcome", n)
	}
}
