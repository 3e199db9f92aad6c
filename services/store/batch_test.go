package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq"
	"github.com/warrenmq/warren/libs/mq/mqtest"
	"github.com/warrenmq/warren/services/store"
	"github.com/warrenmq/warren/services/store/storetest"
)

// fake is a database that remembers how many pages each transaction had. It panics at a page titled
// panic, refuses one titled refuse, and waits for hold, if there is one, after it has said so.
type fake struct {
	mu      sync.Mutex
	batches []int
	entered chan struct{}
	hold    chan struct{}
}

func (f *fake) Store(ctx context.Context, rows []store.Row) ([]store.Stored, error) {
	f.mu.Lock()
	f.batches = append(f.batches, len(rows))
	f.mu.Unlock()
	if f.hold != nil {
		f.entered <- struct{}{}
		select {
		case <-f.hold:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	var stored []store.Stored
	for i, row := range rows {
		if i > 0 && rows[i-1].Compare(row) >= 0 {
			return nil, errors.New("rows are not sorted")
		}
		if i > 0 && rows[i-1].CompareURL(row) == 0 {
			return nil, errors.New("two rows of one URL")
		}
		switch row.Title {
		case "panic":
			panic("index out of range")
		case "refuse":
			return nil, &store.RefusedError{Reason: "no such page", Err: errors.New("refused")}
		}
		stored = append(stored, store.Stored{Page: row.Page, Change: contract.ChangeNew})
	}
	return stored, nil
}

func titled(t *testing.T, i int, title string) mq.Message {
	return storetest.Message(t, fmt.Sprint(home, i), 1, fmt.Sprint("body ", i), func(p *contract.Page) { p.Title = title })
}

func TestABatchEndsByCountBytesOrTime(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(*store.Config){
		"count": together(3),
		"bytes": func(c *store.Config) { together(100)(c); c.BatchBytes = 3 * len(titled(t, 1, "").Body) },
		"time":  func(c *store.Config) { together(100)(c); c.BatchWait = time.Millisecond },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, bus := &fake{}, mqtest.NewBus()
			run(t, bus, db, edit)
			must(t, bus, titled(t, 1, ""), titled(t, 2, ""), titled(t, 3, ""))
			if name != "time" && (len(db.batches) != 1 || db.batches[0] != 3) {
				t.Errorf("transactions of %v pages, want one of 3", db.batches)
			}
		})
	}
}

func TestWritersWorkAtTheSameTime(t *testing.T) {
	t.Parallel()
	db, bus := &fake{entered: make(chan struct{}), hold: make(chan struct{})}, mqtest.NewBus()
	run(t, bus, db, func(c *store.Config) { c.Batch, c.Writers = 1, 2 })
	go func() {
		<-db.entered
		<-db.entered // the second transaction begins although the first has not ended
		close(db.hold)
	}()
	must(t, bus, titled(t, 1, ""), titled(t, 2, ""))
}

func TestAHandlerWhoseSessionIsLostReturnsAtOnce(t *testing.T) {
	t.Parallel()
	db, bus := &fake{entered: make(chan struct{}), hold: make(chan struct{})}, mqtest.NewBus()
	run(t, bus, db, quick)
	go func() {
		<-db.entered
		bus.Break() // while the transaction is open
	}()
	if err := deliver(t, bus, titled(t, 1, ""))[0]; !errors.Is(err, context.Canceled) {
		t.Errorf("answered with %v, want the end of the session", err)
	}
	close(db.hold)
}

func TestATransactionThatHangsIsTriedAgain(t *testing.T) {
	t.Parallel()
	db, bus := &fake{entered: make(chan struct{}, 9), hold: make(chan struct{})}, mqtest.NewBus()
	run(t, bus, db, func(c *store.Config) { quick(c); c.Timeout = 10 * time.Millisecond })
	if err := deliver(t, bus, titled(t, 1, ""))[0]; !errors.Is(err, context.DeadlineExceeded) || rejected(err) {
		t.Errorf("answered with %v, want the deadline", err)
	}
	close(db.hold)
	must(t, bus, titled(t, 1, ""))
}

// One bad page among many: each neighbour is stored, the bad one is dead and its URL ends.
func TestBadPagesAreFoundByHalving(t *testing.T) {
	t.Parallel()
	for _, title := range []string{"panic", "refuse"} {
		for _, bad := range []int{0, 7, 15} {
			t.Run(fmt.Sprint(title, " ", bad), func(t *testing.T) {
				t.Parallel()
				db, bus := &fake{}, mqtest.NewBus()
				run(t, bus, db, together(16))
				var batch []mq.Message
				for i := range 16 {
					batch = append(batch, titled(t, i, ""))
				}
				batch[bad] = titled(t, bad, title)
				for i, err := range deliver(t, bus, batch...) {
					if (i == bad) != rejected(err) || (i != bad && err != nil) {
						t.Errorf("page %d is answered with %v", i, err)
					}
				}
				if n := len(db.batches); n > 9 { // 1 + 2 for each of log2(16) halvings
					t.Errorf("%d transactions, want at most 9: %v", n, db.batches)
				}
				ended(t, bus, 15)
			})
		}
	}
}

// ended wants one dead letter and the outcomes of done pages and of one that failed.
func ended(t *testing.T, bus *mqtest.Bus, done int) {
	t.Helper()
	dead := bus.Take("dead.store")
	if len(dead) != 1 || dead[0].Headers[mq.HeaderReason] == "" || strings.Contains(dead[0].Headers[mq.HeaderReason], "example") {
		t.Errorf("dead letters %+v, want one with a reason that holds no URL", dead)
	}
	counts := map[contract.Status]int{}
	for _, o := range outcomes(t, bus) {
		counts[o.Status]++
		if o.Status == contract.StatusFailed && (o.Reason != contract.ReasonPoison || o.Stored || o.Host.Name == "") {
			t.Errorf("outcome of the bad page: %+v", o)
		}
	}
	if counts[contract.StatusDone] != done || counts[contract.StatusFailed] != 1 || len(counts) != 2 {
		t.Errorf("outcomes %v, want %d done and 1 failed", counts, done)
	}
}
