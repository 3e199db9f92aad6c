package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/mq"
	"github.com/warrenmq/warren/libs/weburl"
)

func storedVisit(i int, links []contract.Link) *visit {
	var id weburl.ID
	id[0], id[15] = byte(i>>8), byte(i)
	page := contract.Page{Response: contract.Response{Crawl: "test", ID: id.String(), Visit: 1, Code: 200}}
	page.Links = links
	return &visit{row: Row{Page: page, URLID: id}, stored: Stored{Page: page, Change: contract.ChangeNone}}
}

// packed decodes what outcomes makes and checks that each visit is told exactly once, by the message
// that it fails with.
func packed(t *testing.T, visits []*visit) []contract.Done {
	t.Helper()
	var all []contract.Done
	told := map[string]int{}
	for _, n := range outcomes(visits) {
		done, err := contract.DecodeDone(n.message.Body)
		if err != nil || n.message.Key != contract.KeyDone || len(done.Outcomes) != len(n.visits) {
			t.Fatalf("message %s of %d outcomes about %d visits: %v", n.message.Key, len(done.Outcomes), len(n.visits), err)
		}
		for i, o := range done.Outcomes {
			if told[o.ID]++; o.ID != n.visits[i].row.ID {
				t.Errorf("outcome of %s stands for %s", o.ID, n.visits[i].row.ID)
			}
		}
		all = append(all, done)
	}
	for _, v := range visits {
		want := 1
		if v.err != nil {
			want = 0
		}
		if told[v.row.ID] != want {
			t.Errorf("%s is told %d times, want %d", v.row.ID, told[v.row.ID], want)
		}
	}
	return all
}

func TestOutcomesArePackedByCount(t *testing.T) {
	t.Parallel()
	var visits []*visit
	for i := range 250 {
		visits = append(visits, storedVisit(i, nil))
	}
	visits[17].err = fmt.Errorf("not stored")
	if all := packed(t, visits); len(all) != 3 || len(all[0].Outcomes) != 100 || len(all[2].Outcomes) != 49 {
		t.Errorf("%d messages, want 3 of 100, 100 and 49 outcomes", len(all))
	}
}

func manyLinks(n int, text string) []contract.Link {
	links := make([]contract.Link, n)
	for i := range links {
		links[i] = contract.Link{URL: fmt.Sprintf("https://example.com/%0100d", i), Text: text}
	}
	return links
}

func TestOutcomesArePackedBySize(t *testing.T) {
	t.Parallel()
	var visits []*visit
	for i := range 12 {
		visits = append(visits, storedVisit(i, manyLinks(2000, ""))) // 0.3 MB each
	}
	visits = append(visits, storedVisit(13, manyLinks(10_000, "x"))) // 1.6 MB
	all := packed(t, visits)
	if len(all) != 5 || len(all[0].Outcomes) != 3 || len(all[4].Outcomes) != 1 {
		t.Errorf("%d messages, want four of 3 outcomes and the large one alone", len(all))
	}
}

// What fits no message still ends its URL.
func TestAnOutcomeIsMadeToFit(t *testing.T) {
	t.Parallel()
	wordy := packed(t, []*visit{storedVisit(1, manyLinks(10_000, strings.Repeat("\x01", 220)))})[0].Outcomes[0]
	if wordy.Status != contract.StatusDone || len(wordy.Links) != 10_000 || wordy.Links[0].Text != "" || wordy.Links[9].URL == "" {
		t.Errorf("links' texts that are too large: %s with %d links, want done with all of them bare", wordy.Status, len(wordy.Links))
	}
	long := manyLinks(10_000, "")
	for i := range long {
		long[i].URL += strings.Repeat("\x01", 220)
	}
	huge := packed(t, []*visit{storedVisit(1, long)})[0].Outcomes[0]
	if huge.Status != contract.StatusFailed || huge.Reason != contract.ReasonTooLarge || !huge.Stored || huge.Links != nil {
		t.Errorf("links that are too large: %s %q with %d links, want failed", huge.Status, huge.Reason, len(huge.Links))
	}
}

// A page whose handler has gone is somebody else's.
func TestGatherLeavesOutWhoHasGone(t *testing.T) {
	t.Parallel()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	row := func(i int) Row { return storedVisit(i, nil).row }
	batch := []*arrival{
		{row: row(2), ctx: t.Context()}, {row: row(1), ctx: gone}, {row: row(2), ctx: gone},
		{row: row(0), ctx: t.Context()}, {row: row(2), ctx: t.Context()},
	}
	visits := gather(batch)
	if len(visits) != 2 || visits[0].row.ID != row(0).ID || len(visits[1].arrivals) != 2 {
		t.Errorf("%d visits, want page 0, and page 2 with two that wait", len(visits))
	}
}

// A message that can never be sent ends its own visit; those that only failed with it are tried again.
func TestBlameRejectsWhatCanNeverBeSent(t *testing.T) {
	t.Parallel()
	invalid := &mq.PublishError{Failed: []int{0, 1, 2}, Err: mq.ErrInvalid}
	good, bad := mq.Message{Key: contract.KeyDone}, mq.Message{Key: strings.Repeat("k", 256)}
	rejected := func(v *visit) bool { _, ok := errors.AsType[*mq.Rejection](v.err); return ok }
	for name, test := range map[string]struct {
		messages [3]mq.Message // about visits 0 and 1; 0; 1
		err      *mq.PublishError
		want     [2]bool // rejected
	}{
		"one of many, last":     {[3]mq.Message{good, bad, good}, invalid, [2]bool{true, false}},
		"one of many, first":    {[3]mq.Message{bad, good, good}, invalid, [2]bool{true, true}},
		"hidden by another":     {[3]mq.Message{good, good, bad}, &mq.PublishError{Failed: []int{0, 2}, Err: mq.ErrUnconfirmed}, [2]bool{false, true}},
		"it alone":              {[3]mq.Message{good, good, good}, &mq.PublishError{Failed: []int{2}, Err: mq.ErrInvalid}, [2]bool{false, true}},
		"none, only not heard":  {[3]mq.Message{good, good, good}, &mq.PublishError{Failed: []int{1}, Err: mq.ErrUnconfirmed}, [2]bool{false, false}},
		"nobody knows which is": {[3]mq.Message{good, good, good}, invalid, [2]bool{false, false}},
	} {
		a, b := storedVisit(1, nil), storedVisit(2, nil)
		notices := []notice{{test.messages[0], []*visit{a, b}}, {test.messages[1], []*visit{a}}, {test.messages[2], []*visit{b}}}
		(&Service{}).blame(notices, fmt.Errorf("report pages: %w", test.err))
		if got := [2]bool{rejected(a), rejected(b)}; got != test.want {
			t.Errorf("%s: rejected %v, want %v (%v, %v)", name, got, test.want, a.err, b.err)
		}
		for i, v := range []*visit{a, b} {
			failed := failedWith(test.err.Failed, notices, v)
			if (v.err != nil) != failed {
				t.Errorf("%s: visit %d ends with %v, failed %v", name, i, v.err, failed)
			}
		}
	}
}

// failedWith tells whether one of the failed notices is about v.
func failedWith(failed []int, notices []notice, v *visit) bool {
	return slices.ContainsFunc(failed, func(n int) bool { return slices.Contains(notices[n].visits, v) })
}
