package frontier

import (
	"context"
	"time"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/weburl"
)

// State is a URL's state. The numbers are stored.
type State int16

// The states: waiting(due) → ready → released(lease) → done | failed | excluded, or back to waiting.
const (
	Waiting State = iota
	Ready
	Released
	Done
	Failed
	Excluded
)

func (s State) String() string {
	return [...]string{"waiting", "ready", "released", "done", "failed", "excluded"}[s]
}

// Open tells whether the URL's visit has not ended yet.
func (s State) Open() bool { return s <= Released }

// Crawl states. Cancelled, expired and finished are ends; a later seed reopens a finished crawl.
const (
	CrawlScheduled = "scheduled"
	CrawlRunning   = "running"
	CrawlPaused    = "paused"
	CrawlCancelled = "cancelled"
	CrawlExpired   = "expired"
	CrawlFinished  = "finished"
)

// Key is a URL's place: the crawl and the two halves of its [weburl.ID].
type Key struct {
	Crawl int32
	Host  int64
	Hash  int64
}

// ID is the URL's id on the wire.
func (k Key) ID() weburl.ID { return weburl.IDFromInts(k.Host, k.Hash) }

func (k Key) compare(o Key) int {
	switch {
	case k.Host != o.Host:
		return sign(k.Host < o.Host)
	case k.Hash != o.Hash:
		return sign(k.Hash < o.Hash)
	case k.Crawl != o.Crawl:
		return sign(k.Crawl < o.Crawl)
	}
	return 0
}

func sign(less bool) int {
	if less {
		return -1
	}
	return 1
}

// Crawl is a crawl's row.
type Crawl struct {
	ID         int32
	Name       string
	Spec       contract.CrawlSpec // without its seeds
	State      string
	Wake       int64 // rises with each reason to look at all its hosts again
	Woken      int64 // how far the sweeper is with that
	CreatedAt  time.Time
	FinishedAt time.Time
	Taken      int64 // pages of the budget that are taken
	Slept      int64 // rises when hosts are put to sleep over the spent budget
	Roused     int64 // how far the sweeper is with waking them
}

// spent tells whether the crawl's page budget is used up.
func (c *Crawl) spent() bool { return c.Spec.Pages > 0 && c.Taken >= c.Spec.Pages }

// ScopeRow is a scope's row; Rule is shared and never written in place.
type ScopeRow struct {
	ID      int64
	Crawl   int32
	Key     []byte
	Version int32
	Rule    Rule
}

// Host is a host's row.
type Host struct {
	ID          int64
	Name        string
	Visited     bool
	HasReady    bool
	Outstanding int32
	DelayMS     int64
	PaceMS      int64
	Turn        int32
	TurnAt      time.Time
	NextAt      time.Time
	BadSince    time.Time
	Reason      string
}

// Held says of which budgets a URL holds a page: from its release until its visit is closed, and after
// that if a page was stored.
type Held int16

// The budgets.
const (
	HeldCrawl Held = 1 << iota
	HeldHost
)

// URL is a URL's row.
type URL struct {
	Key
	URL          string
	State        State
	Rank         int32
	Depth        int32
	Hops         int16
	Scope        int64
	Visit        int32
	Release      int64
	Attempts     int16
	Expiries     int16
	Held         Held
	Code         int16
	DueAt        time.Time
	LeaseUntil   time.Time
	TriedAt      time.Time
	ClosedAt     time.Time
	Reason       string
	ETag         string
	LastModified string
}

// Tally is a change of a crawl's counters: key → delta.
type Tally map[TallyKey]int64

// TallyKey names a counter: a state ("ready"), a state with its reason ("failed/dns"), what was never
// admitted ("skipped/out of scope"), or "pages" stored.
type TallyKey struct {
	Crawl int32
	Key   string
}

// Store runs transactions on the frontier's tables.
type Store interface {
	// Write runs f in one transaction and commits it when f returns nil. An error of the commit
	// means "unknown": the caller repeats f, which decides by the rows' state.
	Write(ctx context.Context, f func(Tx) error) error
}

// Tx is one transaction. Locks are taken in one order everywhere: crawls by id, scopes by id, hosts
// by id, budgets, tallies. A URL needs no lock of its own: who changes its state holds its host.
type Tx interface {
	CrawlTx
	HostTx
	URLTx
	CountTx
}

// CrawlTx reads and writes crawls and scopes.
type CrawlTx interface {
	// Crawls reads crawls by name, or all when names is nil; lock holds their rows to the end.
	Crawls(ctx context.Context, names []string, lock bool) ([]*Crawl, error)
	// CrawlsByID reads crawls, ended ones too.
	CrawlsByID(ctx context.Context, ids []int32) ([]*Crawl, error)
	// Woken notes that every host was looked at for the c.Wake and c.Slept that were read before.
	Woken(ctx context.Context, c *Crawl) error
	// Shards reads the number of shards the frontier was made with; it cannot change until the end.
	Shards(ctx context.Context) (int, error)
	// SaveCrawl inserts the crawl (ID 0; a name that exists meanwhile is ErrAgain) or updates it.
	SaveCrawl(ctx context.Context, c *Crawl) error
	// Scopes reads scopes by id; lock holds their rows to the end.
	Scopes(ctx context.Context, ids []int64, lock bool) ([]*ScopeRow, error)
	// SaveScopes inserts scopes of ID 0, unless their key exists, and sets ID, Version and Rule from what
	// stands there; updates the rule and version of others.
	SaveScopes(ctx context.Context, scopes []*ScopeRow) error
}

// HostTx locks and writes hosts.
type HostTx interface {
	// LockHosts inserts hosts that are not there and locks all, by id.
	LockHosts(ctx context.Context, hosts []Host) (map[int64]*Host, error)
	// DueHosts locks up to limit hosts with ready URLs whose turn has come, the longest waiting first,
	// passing over those that others hold.
	DueHosts(ctx context.Context, now time.Time, limit int) ([]*Host, error)
	// BadHosts locks up to limit hosts that are bad since before the time, passing over those held.
	BadHosts(ctx context.Context, since time.Time, limit int) ([]*Host, error)
	// SaveHosts writes hosts that this transaction has locked.
	SaveHosts(ctx context.Context, hosts []*Host) error
}

// Sweep names what a sweep looks for.
type Sweep int

// The sweeps.
const (
	SweepDue   Sweep = iota // waiting, due before the time
	SweepLease              // released, lease ended before the time
	SweepTried              // open, first released before the time
)

// URLTx reads and writes URLs.
type URLTx interface {
	// URLs reads the URLs that exist among the keys.
	URLs(ctx context.Context, keys []Key) (map[Key]*URL, error)
	// InsertURLs inserts those that are not there and tells which they were.
	InsertURLs(ctx context.Context, urls []*URL) ([]Key, error)
	// SaveURLs writes URLs whose hosts this transaction has locked.
	SaveURLs(ctx context.Context, urls []*URL) error
	// ReadyURLs reads the best ready URLs of each host, at most want of each of the crawls, best first.
	ReadyURLs(ctx context.Context, hosts []int64, want []int32, crawls []int32) ([]*URL, error)
	// HostURLs reads up to limit URLs of a host in a state, of one crawl or, with 0, of all; with a
	// reason only those that have it. Those that hold a page of a budget come first. Waiting leaves out
	// pages that wait for their next visit.
	HostURLs(ctx context.Context, host int64, crawl int32, state State, reason string, limit int) ([]*URL, error)
	// Swept reads up to limit keys that a sweep should look at.
	Swept(ctx context.Context, what Sweep, before time.Time, limit int) ([]Key, error)
	// CrawlHosts reads up to limit hosts, above after, of a crawl's URLs in a state, by id. reason "" is any.
	CrawlHosts(ctx context.Context, crawl int32, state State, reason string, after int64, limit int) ([]int64, error)
}

// CountTx reads and writes what is counted.
type CountTx interface {
	// Budgets locks and reads what is taken of the given budgets (host 0: the crawl's own).
	Budgets(ctx context.Context, keys []BudgetKey) (map[BudgetKey]int64, error)
	// AddBudgets changes budgets, and raises Slept of those crawls.
	AddBudgets(ctx context.Context, deltas map[BudgetKey]int64, slept []int32) error
	// AddTally adds to the replica's counters.
	AddTally(ctx context.Context, tally Tally) error
	// Tallies sums the counters of a crawl, or with 0 of all, in one snapshot.
	Tallies(ctx context.Context, crawl int32) (Tally, error)
	// CountOutstanding locks up to limit hosts above after with URLs outstanding, and counts their
	// released rows.
	CountOutstanding(ctx context.Context, after int64, limit int) ([]*Host, map[int64]int32, error)
}

// BudgetKey names a page budget.
type BudgetKey struct {
	Crawl int32
	Host  int64
}
