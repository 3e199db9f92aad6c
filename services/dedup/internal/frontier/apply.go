package frontier

import (
	"context"
	"fmt"
	"slices"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/weburl"
)

// Seed is a seed whose URL is canonical.
type Seed struct {
	contract.Seed
	At weburl.URL
}

// Batch is what Apply takes in one transaction.
type Batch struct {
	Start    *contract.CrawlSpec // crawl.start: this crawl is made or changed first
	Seeds    []Seed
	Outcomes []contract.Outcome
	Retries  []contract.Retry
}

// Applied tells what came of a batch. Refused holds, for a seed's index, why it was not taken.
type Applied struct {
	Admitted int
	Closed   int
	Stale    int // outcomes and retries that changed nothing: done before, or overtaken
	Refused  map[int]string
}

// Apply takes a batch in one transaction. It may be repeated with the same batch at any time.
func (f *Frontier) Apply(ctx context.Context, b Batch) (Applied, error) {
	var done Applied
	var known []Key
	err := f.write(ctx, func(tx Tx) error {
		a := &apply{work: f.newWork(tx), batch: b, fresh: map[Key]*URL{}, names: map[string]*Crawl{},
			seeds: map[Key]struct{}{}, grown: map[int64]struct{}{}}
		a.Refused = map[int]string{}
		if err := a.run(ctx); err != nil {
			return err
		}
		done, known = a.Applied, a.known
		return nil
	})
	if err != nil {
		return Applied{}, err
	}
	f.seen.add(known)
	f.rate.add(f.now(), done.Closed)
	return done, nil
}

// apply is one batch on its way through a transaction.
type apply struct {
	*work
	Applied
	batch    Batch
	names    map[string]*Crawl
	scopes   map[int64]*ScopeRow
	outcomes []*closing
	fresh    map[Key]*URL // to be inserted unless they exist
	seeds    map[Key]struct{}
	grown    map[int64]struct{} // scopes that a redirect of this batch may extend
	hostName map[int64]string
	known    []Key // committed ids, for the cache
}

// closing is an outcome with its place and what its page leads to.
type closing struct {
	contract.Outcome
	key     Key
	links   []*URL
	skipped map[string]int64
	planned bool      // its links were looked at: its visit was open before the locks
	extend  *ScopeRow // the scope grown by a seed's redirect
}

func (a *apply) run(ctx context.Context) error {
	steps := []func(context.Context) error{
		a.readCrawls, a.readParents, a.reopenLost, a.readScopes, a.planSeeds, a.planLinks, a.dropKnown, a.lockAll,
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	for i := range a.batch.Retries {
		a.retry(&a.batch.Retries[i])
	}
	for _, c := range a.outcomes {
		if err := a.close(ctx, c); err != nil {
			return err
		}
	}
	if err := a.insert(ctx); err != nil {
		return err
	}
	return a.save(ctx)
}

// readCrawls reads the crawls by name. Those that seeds go to are locked, made where they are not
// there, and opened again where they had finished.
func (a *apply) readCrawls(ctx context.Context) error {
	seeded := map[string]bool{}
	for _, s := range a.batch.Seeds {
		seeded[s.Crawl] = true
	}
	if a.batch.Start != nil {
		seeded[a.batch.Start.Name] = true
	}
	if err := a.readNamed(ctx, seeded, true); err != nil {
		return err
	}
	for _, name := range sortedKeys(seeded) {
		if err := a.open(ctx, name); err != nil {
			return err
		}
	}
	others := map[string]bool{}
	for _, o := range a.batch.Outcomes {
		others[o.Crawl] = !seeded[o.Crawl]
	}
	for _, r := range a.batch.Retries {
		others[r.Crawl] = !seeded[r.Crawl]
	}
	return a.readNamed(ctx, others, false)
}

func (a *apply) readNamed(ctx context.Context, wanted map[string]bool, lock bool) error {
	names := slices.DeleteFunc(sortedKeys(wanted), func(n string) bool { return !wanted[n] })
	if len(names) == 0 {
		return nil
	}
	crawls, err := a.tx.Crawls(ctx, names, lock)
	for _, c := range crawls {
		a.names[c.Name], a.crawls[c.ID] = c, c
	}
	return err
}

// open makes the crawl ready to take seeds. crawl.start opens any crawl, a seed alone not one that
// was cancelled or has expired.
func (a *apply) open(ctx context.Context, name string) error {
	c := a.names[name]
	start := a.batch.Start != nil && a.batch.Start.Name == name
	if c == nil {
		c = &Crawl{Name: name, Spec: contract.CrawlSpec{Name: name}, CreatedAt: a.now, State: CrawlRunning}
	} else if !start && c.State != CrawlFinished {
		return nil
	}
	if start {
		if err := a.respecify(ctx, c); err != nil {
			return err
		}
	}
	c.State, c.FinishedAt = CrawlRunning, zeroTime
	c.Wake++
	if c.Spec.NotBefore != nil && c.Spec.NotBefore.After(a.now) {
		c.State = CrawlScheduled
	}
	if err := a.tx.SaveCrawl(ctx, c); err != nil {
		return err
	}
	a.names[name], a.crawls[c.ID] = c, c
	return nil
}

// respecify takes over a new specification. A page budget that is introduced while the crawl runs
// counts what is stored already; what is out then is counted as it is stored.
func (a *apply) respecify(ctx context.Context, c *Crawl) error {
	had := c.Spec.Pages > 0
	c.Spec = *a.batch.Start
	c.Spec.Seeds = nil
	if c.ID == 0 || had || c.Spec.Pages == 0 {
		return nil
	}
	stored, err := a.tx.Tallies(ctx, c.ID)
	if missing := stored[TallyKey{c.ID, tallyPages}] - c.Taken; missing > 0 {
		a.budgets[BudgetKey{Crawl: c.ID}] += missing
		c.Taken += missing
	}
	return err
}

// reopenLost locks the crawls whose URLs were given up as lost and come home after all, and opens them
// again if they have ended: the end is decided under that lock.
func (a *apply) reopenLost(ctx context.Context) error {
	lost := map[string]bool{}
	for _, c := range a.outcomes {
		if u := a.urls[c.key]; u != nil && u.lost() {
			lost[c.Crawl] = true
		}
	}
	if len(lost) == 0 {
		return nil
	}
	if err := a.readNamed(ctx, lost, true); err != nil {
		return err
	}
	for _, name := range sortedKeys(lost) {
		if err := a.open(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// closable tells whether the outcome may close the row: its visit is open, or was given up as lost.
func (c *closing) closable(u *URL) bool {
	return u != nil && u.Visit == int32(c.Visit) && (u.State.Open() || u.lost())
}

func (u *URL) lost() bool { return u.State == Failed && u.Reason == reasonLost }

// readParents finds the rows that outcomes and retries are about, without a lock: what is needed of
// them before the locks (scope, depth, rank) never changes while they are open.
func (a *apply) readParents(ctx context.Context) error {
	var keys []Key
	for _, o := range a.batch.Outcomes {
		key, err := a.key(o.Crawl, o.ID)
		if err != nil {
			return err
		}
		a.outcomes = append(a.outcomes, &closing{Outcome: o, key: key, skipped: map[string]int64{}})
		keys = append(keys, key)
	}
	for _, r := range a.batch.Retries {
		key, err := a.key(r.Crawl, r.ID)
		if err != nil {
			return err
		}
		keys = append(keys, key)
	}
	return a.load(ctx, keys)
}

// key is zero for a crawl that is not there: its rows will not be found either.
func (a *apply) key(crawl, id string) (Key, error) {
	parsed, err := weburl.ParseID(id)
	if err != nil {
		return Key{}, fmt.Errorf("read url id: %w", err)
	}
	c := a.names[crawl]
	if c == nil {
		return Key{}, nil
	}
	host, hash := parsed.Ints()
	return Key{c.ID, host, hash}, nil
}

// lockAll locks every host whose rows will change and reads the rows again, now for good.
func (a *apply) lockAll(ctx context.Context) error {
	var keys []Key
	var hosts []Host
	for k := range a.urls {
		keys = append(keys, k)
		hosts = append(hosts, Host{ID: k.Host})
	}
	for k := range a.fresh {
		keys = append(keys, k)
		hosts = append(hosts, Host{ID: k.Host, Name: a.hostName[k.Host]})
	}
	if err := a.lockHosts(ctx, hosts); err != nil {
		return err
	}
	return a.load(ctx, keys)
}

// insert writes the new rows. A row that another replica wrote meanwhile stays as it is, but that an
// open one becomes the seed it has been asked for.
func (a *apply) insert(ctx context.Context) error {
	var rows []*URL
	for _, u := range a.fresh {
		if there := a.urls[u.Key]; there != nil {
			if _, seed := a.seeds[u.Key]; seed {
				a.adopt(there, u)
			}
		} else if u.Visit > 0 { // planned and meant: its page was closed just now
			rows = append(rows, u)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	slices.SortFunc(rows, func(x, y *URL) int { return x.Key.compare(y.Key) })
	inserted, err := a.tx.InsertURLs(ctx, rows)
	if err != nil {
		return err
	}
	for _, k := range inserted {
		u := a.fresh[k]
		a.book(u, +1)
		host := a.hosts[k.Host]
		if !host.HasReady {
			host.HasReady = true
			a.turn(host)
		}
	}
	a.Admitted = len(inserted)
	for _, u := range rows {
		a.known = append(a.known, u.Key)
	}
	return nil
}
