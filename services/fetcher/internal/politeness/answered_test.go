package politeness_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/warrenmq/warren/services/fetcher/internal/politeness"
)

// A request that was held up on its way begins late for the server. What an answer takes longer than
// the quickest counts as the way there, so that the next request does not come too soon behind it.
func TestLateAnswerPushesTheNextStart(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		hosts := politeness.New(config(), time.Now)
		var last time.Time
		for i, c := range []struct{ took, gap time.Duration }{
			{100 * ms, 0},         // first of all
			{100 * ms, 1100 * ms}, // too little is known: from the answer
			{100 * ms, 1100 * ms}, // likewise
			{100 * ms, 1100 * ms}, // likewise; from now on the quickest is known
			{100 * ms, 1000 * ms}, // an answer as quick as ever costs nothing
			{400 * ms, 1000 * ms}, // this one came 300 ms later than the quickest
			{100 * ms, 1300 * ms}, // so its successor waits
			{50 * ms, 1000 * ms},  // quicker than ever
			{100 * ms, 1000 * ms}, // 50 ms more than that
			{100 * ms, 1050 * ms}, // so this waits
		} {
			slot := take(t, hosts, ask(func(a *politeness.Ask) { a.Hold = time.Minute }))
			if gap := time.Since(last); i > 0 && (gap < c.gap-10*ms || gap > c.gap+10*ms) {
				t.Errorf("start %d: %s after the one before, want %s", i, gap, c.gap)
			}
			last = time.Now()
			pass(c.took)
			slot.Answered()
			slot.Answered()
			slot.Done(politeness.Result{Latency: c.took})
		}
	})
}
