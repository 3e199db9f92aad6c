package frontier

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/warrenmq/warren/libs/weburl"
)

var zeroTime time.Time

// Ranks: 100,000 steps of depth below each priority from 200 (first) to -200.
const rankStep = 100_000

// rankKept is taken off the rank of a URL that holds a page of the budget and waits to be released again,
// so that it goes first.
const rankKept = 1 << 30

func seedRank(priority int) int32 { return int32(200-min(max(priority, -200), 200)) * rankStep }

// keepRank puts a URL that holds a page of a budget before all others: what is taken must be used or
// given back, or the crawl would wait for it behind URLs that may not be released.
func (u *URL) keepRank() {
	if u.Held != 0 && u.Rank >= 0 {
		u.Rank -= rankKept
	}
}

func (u *URL) restRank() { u.Rank = rested(u.Rank) }

// rested is the rank without what keepRank took off.
func rested(rank int32) int32 {
	if rank < 0 {
		return rank + rankKept
	}
	return rank
}

func childRank(parent *URL, steps int32) int32 {
	rank := rested(parent.Rank)
	if rank%rankStep+steps < rankStep {
		rank += steps
	}
	return rank
}

func sortedKeys[K ~string, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// readScopes reads the scopes of the parents.
func (a *apply) readScopes(ctx context.Context) error {
	a.scopes, a.hostName = map[int64]*ScopeRow{}, map[int64]string{}
	ids := map[int64]struct{}{}
	for _, u := range a.urls {
		ids[u.Scope] = struct{}{}
	}
	if len(ids) == 0 {
		return nil
	}
	rows, err := a.tx.Scopes(ctx, slices.Sorted(maps.Keys(ids)), a.mayExtend())
	for _, row := range rows {
		a.scopes[row.ID] = row
	}
	return err
}

// mayExtend tells whether a seed of this batch redirected: then scopes are locked, since they may grow.
func (a *apply) mayExtend() bool {
	for _, c := range a.outcomes {
		if u := a.urls[c.key]; c.Redirect && u != nil && u.Depth == 0 {
			return true
		}
	}
	return false
}

// planSeeds makes a row for each seed, with a scope of its own.
func (a *apply) planSeeds(ctx context.Context) error {
	byKey := map[string]*ScopeRow{}
	rows := make([]*ScopeRow, len(a.batch.Seeds))
	for i, s := range a.batch.Seeds {
		c := a.names[s.Crawl]
		if c.State == CrawlCancelled || c.State == CrawlExpired {
			a.Refused[i] = "crawl " + c.Name + " is " + c.State + ": crawl.start opens it again"
			continue
		}
		rule := newRule(s.Scope, c.Spec.Scope, s.At)
		row := &ScopeRow{Crawl: c.ID, Key: rule.key(), Rule: rule}
		id := string(row.Key) + c.Name
		if byKey[id] == nil {
			byKey[id] = row
		}
		rows[i] = byKey[id]
	}
	if len(byKey) > 0 {
		unique := slices.SortedFunc(maps.Values(byKey), func(x, y *ScopeRow) int {
			return slices.Compare(x.Key, y.Key)
		})
		if err := a.tx.SaveScopes(ctx, unique); err != nil {
			return err
		}
	}
	for i, s := range a.batch.Seeds {
		if rows[i] == nil {
			continue
		}
		u := a.row(rows[i].Crawl, s.At)
		u.Rank, u.Scope = seedRank(s.Priority+a.names[s.Crawl].Spec.Priority), rows[i].ID
		u.Visit = 1
		a.seeds[u.Key] = struct{}{}
		a.propose(u, s.At)
	}
	return nil
}

// planLinks makes a row for each link that belongs to its crawl. A row of visit 0 is only a plan: it
// is inserted if its page's outcome turns out to close the visit.
func (a *apply) planLinks(context.Context) error {
	for _, c := range a.outcomes {
		parent := a.urls[c.key]
		if !c.closable(parent) {
			continue
		}
		c.planned = true
		if err := a.planOutcome(c, parent); err != nil {
			return err
		}
	}
	return nil
}

func (a *apply) planOutcome(c *closing, parent *URL) error {
	crawl := a.crawls[parent.Crawl]
	scope := a.scopes[parent.Scope]
	for _, link := range c.Links {
		at, err := weburl.Parse(link.URL)
		if err != nil {
			c.skipped[skipURL]++
			continue
		}
		hop := link.Tag == "redirect"
		if hop && parent.Depth == 0 {
			if rule, grown := scope.Rule.join(at); grown {
				row := *scope
				row.Rule, row.Version = rule, scope.Version+1
				c.extend, scope = &row, &row
				a.scopes[row.ID], a.grown[row.ID] = scope, struct{}{}
			}
		}
		rule, err := a.rule(scope)
		if err != nil {
			return err
		}
		u := a.row(parent.Crawl, at)
		u.Scope, u.Depth, u.Hops = parent.Scope, parent.Depth+1, 0
		if hop {
			u.Depth, u.Hops = parent.Depth, parent.Hops+1
		}
		u.Rank = childRank(parent, u.Depth-parent.Depth)
		switch reason := rule.skip(at, u.Depth); {
		case crawl.State == CrawlCancelled || crawl.State == CrawlExpired:
			c.skipped[skipCrawl]++
		case link.NoFollow:
			c.skipped[skipNoFollow]++
		case u.Hops > a.f.cfg.MaxHops:
			c.skipped[skipHops]++
		case reason != "":
			c.skipped[reason]++
		case a.f.seen.has(u.Key):
		default:
			a.propose(u, at)
			c.links = append(c.links, u)
		}
	}
	return nil
}

// rule compiles a scope. One that this transaction extends must not reach the cache: it may roll back.
func (a *apply) rule(row *ScopeRow) (*compiled, error) {
	if _, grown := a.grown[row.ID]; grown {
		return compile(row.Rule)
	}
	return a.f.rule(row)
}

// row is a new row, ready, with everything that follows from crawl and URL.
func (a *apply) row(crawl int32, at weburl.URL) *URL {
	host, hash := at.ID().Ints()
	return &URL{Key: Key{crawl, host, hash}, URL: at.String(), State: Ready}
}

// propose notes u for insertion; of two proposals of one URL the shallower one stands.
func (a *apply) propose(u *URL, at weburl.URL) {
	a.hostName[u.Host] = at.Host()
	old := a.fresh[u.Key]
	if old == nil {
		a.fresh[u.Key] = u
		return
	}
	meant := max(old.Visit, u.Visit)
	if u.Depth < old.Depth {
		*old, *u = *u, *old
	}
	old.Visit = meant
}

// dropKnown forgets proposals that stand in the table already, so that their hosts need no lock. A
// seed's stay: its row may have to be made a seed.
func (a *apply) dropKnown(ctx context.Context) error {
	keys := make([]Key, 0, len(a.fresh))
	for k := range a.fresh {
		keys = append(keys, k)
	}
	if len(keys) == 0 {
		return nil
	}
	slices.SortFunc(keys, Key.compare)
	there, err := a.tx.URLs(ctx, keys)
	if err != nil {
		return err
	}
	for k := range there {
		if a.fresh[k].Visit == 0 {
			delete(a.fresh, k)
		}
		a.known = append(a.known, k)
	}
	return nil
}

// adopt turns an open row that a link made into the seed it has been asked for: its scope and its
// place in the order. A closed row stays as it is.
func (a *apply) adopt(u, seed *URL) {
	if !u.State.Open() || u.Rank <= seed.Rank && u.Depth == 0 && u.Scope == seed.Scope {
		return
	}
	a.change(u, func() { u.Scope, u.Depth, u.Rank = seed.Scope, 0, min(u.Rank, seed.Rank) })
}

// bookSkipped books what a page led to and was never admitted.
func (a *apply) bookSkipped(c *closing, crawl int32) {
	for reason, n := range c.skipped {
		a.tally[TallyKey{crawl, tallySkip + reason}] += n
	}
}
