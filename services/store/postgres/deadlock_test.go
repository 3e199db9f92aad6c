package postgres_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/warrenmq/warren/services/store"
	"github.com/warrenmq/warren/services/store/storetest"
)

// Two stores get pages with the same new bodies, in the opposite order of each other. A third has one of
// the bodies, so that both have taken some locks and wait when it lets go. If locks were taken in the
// order of the pages, each would now have what the other waits for.
func TestStoresDoNotDeadlock(t *testing.T) {
	t.Parallel()
	const bodies = 10
	db, pool := open(t)
	middle := storetest.Row(t, "https://example.com/", 1, fmt.Sprint("body ", bodies/2))
	sum, err := hex.DecodeString(middle.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	third, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := third.Exec(t.Context(), "insert into body values ($1, 1, '')", sum); err != nil {
		t.Fatal(err)
	}
	var both sync.WaitGroup
	for w := range 2 {
		rows := make([]store.Row, bodies)
		for i := range rows {
			rows[i] = storetest.Row(t, fmt.Sprintf("https://w%d.example/%d", w, i), 1, "")
		}
		slices.SortFunc(rows, store.Row.Compare)
		for i := range rows {
			body := i
			if w == 1 {
				body = bodies - 1 - i
			}
			rows[i] = storetest.Row(t, rows[i].URL, 1, fmt.Sprint("body ", body))
		}
		both.Go(func() {
			if _, err := db.Store(t.Context(), rows); err != nil {
				t.Error(err)
			}
		})
	}
	waiting := `select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
	poll := time.NewTicker(5 * time.Millisecond)
	defer poll.Stop()
	for n, end := 0, time.Now().Add(time.Minute); n < 2; <-poll.C {
		if err := pool.QueryRow(t.Context(), waiting).Scan(&n); err != nil || time.Now().After(end) {
			t.Fatalf("%d stores wait for the lock: %v", n, err)
		}
	}
	if err := third.Rollback(context.Background()); err != nil {
		t.Fatal(err)
	}
	both.Wait()
}
