package rabbit

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/warrenmq/warren/libs/mq"
)

// call is one call of Publish: what it waits for.
type call struct {
	ctx     context.Context
	results chan result // room for every message: whoever answers never waits
}

type result struct {
	index int
	err   error
}

// parcel is one message on its way.
type parcel struct {
	outgoing
	call  *call
	index int
}

func (p *parcel) done(err error) {
	if err != nil {
		err = fmt.Errorf("key %q: %w", p.key, err)
	}
	p.call.results <- result{p.index, err}
}

// Publish sends messages, all of one call on the same channel and so in order, and waits for their
// confirms. When it returns early because ctx ended, a message may still be on its way: its body
// must not be written to again.
func (b *Bus) Publish(ctx context.Context, messages ...mq.Message) error {
	parcels := make([]*parcel, 0, len(messages))
	var failed failures
	for i, m := range messages {
		if err := m.Check(); err != nil {
			failed.add(i, fmt.Errorf("key %.80q: %w", m.Key, err))
			continue
		}
		parcels = append(parcels, &parcel{outgoing: b.outgoing(m), index: i})
	}
	b.send(ctx, parcels, &failed)
	return failed.error()
}

// send hands the parcels to a lane and gathers the answers.
func (b *Bus) send(ctx context.Context, parcels []*parcel, failed *failures) {
	c := &call{ctx: ctx, results: make(chan result, len(parcels))}
	turn := b.turn.Add(1)
	waiting := make(map[int]bool, len(parcels))
	for i, p := range parcels {
		p.call = c
		p.MessageId = b.id + "-" + strconv.FormatUint(b.serial.Add(1), 36)
		if err := b.hand(ctx, p, turn); err != nil {
			for _, p := range parcels[i:] {
				failed.add(p.index, fmt.Errorf("key %q: %w", p.key, err))
			}
			break
		}
		waiting[p.index] = true
	}
	for len(waiting) > 0 {
		select {
		case r := <-c.results:
			delete(waiting, r.index)
			failed.add(r.index, r.err)
		case <-ctx.Done():
			for index := range waiting {
				failed.add(index, fmt.Errorf("%w: %w", mq.ErrUnconfirmed, ctx.Err()))
			}
			return
		}
	}
}

// hand gives p to a lane of the session, waiting for a session and for room in the lane's window.
func (b *Bus) hand(ctx context.Context, p *parcel, turn uint64) error {
	for {
		s, err := b.current(ctx)
		if err != nil {
			return err
		}
		l := s.lanes[turn%uint64(len(s.lanes))]
		select {
		case l.queue <- p:
			return nil
		case <-s.ctx.Done():
		case <-ctx.Done():
			if why := s.gate.why(); why != nil {
				return fmt.Errorf("%w: %w", ctx.Err(), why)
			}
			return ctx.Err()
		}
	}
}

// failures builds a *mq.PublishError.
type failures struct{ mq.PublishError }

func (f *failures) add(index int, err error) {
	if err == nil {
		return
	}
	f.Failed = append(f.Failed, index)
	if f.Err == nil {
		f.Err = err
	}
}

func (f *failures) error() error {
	if f.Err == nil {
		return nil
	}
	slices.Sort(f.Failed)
	return &f.PublishError
}
