package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq"
	"github.com/warrenmq/warren/libs/mq/mqtest"
	"github.com/warrenmq/warren/services/store/storetest"
)

const home = "https://www.example.com/"

func TestPageIsStoredAndReported(t *testing.T) {
	t.Parallel()
	db, pool := database(t)
	bus := mqtest.NewBus()
	run(t, bus, db, quick)
	must(t, bus, storetest.Message(t, home, 1, "A"))

	page := storetest.Page(t, home, 1, "A")
	want := []contract.Outcome{{
		Crawl: "test", ID: page.ID, Visit: 1, Status: contract.StatusDone, Code: 200, Stored: true,
		ETag: `"A"`, LastModified: "Sun, 01 Mar 2026 00:00:00 GMT", Links: page.Links, Host: page.Host,
	}}
	if diff := cmp.Diff(want, outcomes(t, bus)); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
	changes := bus.Take("change.")
	if len(changes) != 1 || changes[0].Key != "change.new.com.example.www" {
		t.Fatalf("changes %+v, want one of www.example.com", changes)
	}
	var event contract.ChangeEvent
	if err := json.Unmarshal(changes[0].Body, &event); err != nil {
		t.Fatal(err)
	}
	wantEvent := contract.ChangeEvent{
		V: contract.Version, Crawl: "test", ID: page.ID, URL: home, Visit: 1, What: contract.ChangeNew, Code: 200,
		FetchedAt: page.FetchedAt, SHA256: page.SHA256,
	}
	if diff := cmp.Diff(wantEvent, event); diff != "" {
		t.Errorf("change (-want +got):\n%s", diff)
	}

	// The query of the README.
	var status int
	var title, hash string
	err := pool.QueryRow(t.Context(), "select status, title, sha256 from pages where crawl = 'test' and url = $1", home).
		Scan(&status, &title, &hash)
	if err != nil || status != 200 || title != "Title of A" || hash != page.SHA256 {
		t.Errorf("pages shows %d %q %s (%v)", status, title, hash, err)
	}
}

func TestRedirectAndNotModified(t *testing.T) {
	t.Parallel()
	db, pool := database(t)
	bus := mqtest.NewBus()
	run(t, bus, db, quick)
	moved := func(p *contract.Page) { p.Code, p.Location, p.Links = 302, home+"there", nil }
	must(t, bus, storetest.Message(t, home, 1, "", moved))
	if got := outcomes(t, bus); len(got) != 1 || !got[0].Redirect || got[0].Code != 302 {
		t.Errorf("outcome of a redirect: %+v", got)
	}
	must(t, bus, storetest.Message(t, home+"there", 1, "A"))
	must(t, bus, storetest.Message(t, home+"there", 2, "", func(p *contract.Page) { moved(p); p.Code = 304 }))
	if got := outcomes(t, bus); len(got) != 2 || got[1].Redirect || got[1].Code != 304 || !got[1].Stored {
		t.Errorf("outcomes of 200 and 304: %+v", got)
	}
	if n := count(t, pool, "select count(*) from pages where status = 200 and visit = 1 and title = 'Title of A'"); n != 1 {
		t.Errorf("after 304 the view shows the page %d times, want once", n)
	}
	if keys := len(bus.Take("change.")); keys != 1 {
		t.Errorf("%d changes, want the one of the first visit", keys)
	}
}

// A page that lost its end must be fetched whole at the next visit: its validators would bring a 304.
func TestValidatorsOfACutPage(t *testing.T) {
	t.Parallel()
	db, _ := database(t)
	bus := mqtest.NewBus()
	run(t, bus, db, quick)
	for cut, keeps := range map[string]bool{"": true, "size": true, "eof": false, "encoding": false} {
		message := storetest.Message(t, home+cut, 1, "A", func(p *contract.Page) { p.Truncated = cut })
		must(t, bus, message)
		first := outcomes(t, bus)
		must(t, bus, message)
		if diff := cmp.Diff(first, outcomes(t, bus)); diff != "" {
			t.Errorf("cut by %q: the redelivered page's outcome differs:\n%s", cut, diff)
		}
		if len(first) != 1 || first[0].Status != contract.StatusDone || len(first[0].Links) != 1 {
			t.Fatalf("cut by %q: outcomes %+v, want one with its link", cut, first)
		}
		if o := first[0]; (o.ETag != "") != keeps || (o.LastModified != "") != keeps {
			t.Errorf("cut by %q: etag %q, last modified %q, want them: %v", cut, o.ETag, o.LastModified, keeps)
		}
	}
}

// watch is a bus that looks at the database when it is asked to publish.
type watch struct {
	*mqtest.Bus
	pool      *pgxpool.Pool
	committed atomic.Int64 // pages that others could see at the first publish
	published atomic.Bool
	hold      chan struct{}
}

func (w *watch) Publish(ctx context.Context, messages ...mq.Message) error {
	var n int64
	if err := w.pool.QueryRow(ctx, "select count(*) from page").Scan(&n); err != nil {
		return err
	}
	w.committed.Store(n)
	<-w.hold
	err := w.Bus.Publish(ctx, messages...)
	w.published.Store(err == nil)
	return err
}

func TestCommitThenPublishThenAck(t *testing.T) {
	t.Parallel()
	db, pool := database(t)
	bus := &watch{Bus: mqtest.NewBus(), pool: pool, hold: make(chan struct{})}
	run(t, bus, db, together(2))
	acked := make(chan []error, 1)
	go func() {
		acked <- deliver(t, bus.Bus, storetest.Message(t, home, 1, "A"), storetest.Message(t, home+"b", 1, "B"))
	}()
	select {
	case errs := <-acked:
		t.Fatalf("acked before the messages were confirmed: %v", errs)
	case bus.hold <- struct{}{}: // the publish is under way: no ack may be there yet
	}
	if errs := <-acked; errors.Join(errs...) != nil || !bus.published.Load() {
		t.Errorf("acked with %v, published %v", errs, bus.published.Load())
	}
	if n := bus.committed.Load(); n != 2 {
		t.Errorf("%d pages were committed when the first message was published, want 2", n)
	}
}

func TestPublishFailsAfterTheCommit(t *testing.T) {
	t.Parallel()
	db, pool := database(t)
	bus := mqtest.NewBus()
	run(t, bus, db, together(3))
	var batch []mq.Message
	for i := range 3 {
		batch = append(batch, storetest.Message(t, fmt.Sprint(home, i), 1, "A"))
	}
	bus.FailNext(1, nil)
	for _, err := range deliver(t, bus, batch...) {
		if !errors.Is(err, mq.ErrUnconfirmed) || rejected(err) {
			t.Errorf("a page whose report failed is answered with %v", err)
		}
	}
	if n := len(bus.Published()); n != 0 {
		t.Fatalf("%d messages published, want 0", n)
	}
	must(t, bus, batch...) // as the driver does
	if n := count(t, pool, "select count(*) from page"); n != 3 {
		t.Errorf("%d rows, want 3", n)
	}
	if got := outcomes(t, bus); len(got) != 3 || len(bus.Take("change.new.com.example.www")) != 3 {
		t.Errorf("outcomes %+v, want 3 and as many changes", got)
	}
}

// partly fails to publish change messages, once.
type partly struct {
	*mqtest.Bus
	failed atomic.Bool
}

func (p *partly) Publish(ctx context.Context, messages ...mq.Message) error {
	if p.failed.Swap(true) {
		return p.Bus.Publish(ctx, messages...)
	}
	i := slices.IndexFunc(messages, func(m mq.Message) bool { return m.Key == "change.new.com.example.b" })
	if err := p.Bus.Publish(ctx, slices.Delete(slices.Clone(messages), i, i+1)...); err != nil {
		return err
	}
	return &mq.PublishError{Failed: []int{i}, Err: mq.ErrUnconfirmed}
}

func TestOnlyThePageWhoseMessageFailedComesAgain(t *testing.T) {
	t.Parallel()
	db, _ := database(t)
	bus := &partly{Bus: mqtest.NewBus()}
	run(t, bus, db, together(2))
	errs := deliver(t, bus.Bus,
		storetest.Message(t, "https://a.example.com/", 1, "A"), storetest.Message(t, "https://b.example.com/", 1, "B"))
	if errs[0] != nil || !errors.Is(errs[1], mq.ErrUnconfirmed) {
		t.Errorf("answers %v, want success of a and a failure of b", errs)
	}
}

func TestDuplicates(t *testing.T) {
	t.Parallel()
	db, pool := database(t)
	one, two := mqtest.NewBus(), mqtest.NewBus()
	run(t, one, db, together(6))
	run(t, two, db, together(6))
	var batch []mq.Message // each page three times
	for i := range 6 {
		batch = append(batch, storetest.Message(t, fmt.Sprint(home, i%2), 1, fmt.Sprint("body ", i%2)))
	}
	done := make(chan []error, 1)
	go func() { done <- deliver(t, two, batch...) }()
	must(t, one, batch...)
	if err := errors.Join(<-done...); err != nil {
		t.Error(err)
	}
	must(t, one, batch...)
	if pages, bodies := count(t, pool, "select count(*) from page"), count(t, pool, "select count(*) from body"); pages != 2 || bodies != 2 {
		t.Errorf("%d pages and %d bodies, want 2 and 2", pages, bodies)
	}
	// Said once in each transaction, the same each time: the frontier takes what it has not had.
	first := outcomes(t, two)
	if len(first) != 2 {
		t.Fatalf("outcomes %+v, want 2", first)
	}
	for i, o := range outcomes(t, one) {
		if diff := cmp.Diff(first[i/2], o); diff != "" {
			t.Errorf("outcome %d differs:\n%s", i, diff)
		}
	}
	if a, b := one.Take("change."), two.Take("change."); len(a) != 4 || len(b) != 2 {
		t.Errorf("%d and %d changes, want 4 and 2", len(a), len(b))
	}
}

func TestTwoVisitsInOneBatch(t *testing.T) {
	t.Parallel()
	db, _ := database(t)
	bus := mqtest.NewBus()
	run(t, bus, db, together(2))
	must(t, bus, storetest.Message(t, home, 2, "B"), storetest.Message(t, home, 1, "A"))
	if a, b := bus.Take("change.new."), bus.Take("change.updated."); len(a) != 1 || len(b) != 1 {
		t.Errorf("%d new and %d updated, want the first visit new and the second updated", len(a), len(b))
	}
}

func TestATapOfChanges(t *testing.T) {
	t.Parallel()
	db, _ := database(t)
	bus := mqtest.NewBus()
	run(t, bus, db, quick)
	const other = "http://192.0.2.7:8080/"
	must(t, bus, storetest.Message(t, home, 1, "A"))
	must(t, bus, storetest.Message(t, home, 2, "B"))
	must(t, bus, storetest.Message(t, home, 3, "", storetest.Code(410)))
	must(t, bus, storetest.Message(t, other, 1, "A"))
	var keys, tapped []string
	for _, m := range bus.Take("change.") {
		keys = append(keys, m.Key)
		if mq.Match("change.*.com.example.#", m.Key) {
			tapped = append(tapped, m.Key)
		}
	}
	want := []string{"change.new.com.example.www", "change.updated.com.example.www", "change.gone.com.example.www"}
	if diff := cmp.Diff(append(slices.Clone(want), "change.new.192.0.2.7:8080"), keys); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, tapped); diff != "" {
		t.Errorf("keys tapped (-want +got):\n%s", diff)
	}
}
