package frontier

import (
	"context"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/weburl"
)

// PutBack makes ready again what Release marked and could not be published. A release that something
// else has overtaken meanwhile stays as it is.
func (f *Frontier) PutBack(ctx context.Context, list []contract.Fetch) error {
	return f.write(ctx, func(tx Tx) error {
		w := f.newWork(tx)
		names := map[string]bool{}
		for _, m := range list {
			names[m.Crawl] = true
		}
		crawls, err := tx.Crawls(ctx, sortedKeys(names), false)
		if err != nil {
			return err
		}
		byName := map[string]*Crawl{}
		for _, c := range crawls {
			byName[c.Name], w.crawls[c.ID] = c, c
		}
		releases := map[Key]int64{}
		keys := make([]Key, 0, len(list))
		for _, m := range list {
			id, err := weburl.ParseID(m.ID)
			if err != nil || byName[m.Crawl] == nil {
				continue
			}
			host, hash := id.Ints()
			key := Key{byName[m.Crawl].ID, host, hash}
			keys, releases[key] = append(keys, key), m.Release
		}
		if err := w.lock(ctx, keys); err != nil {
			return err
		}
		for _, u := range w.urls {
			if u.State == Released && u.Release == releases[u.Key] {
				w.change(u, func() {
					u.State, u.LeaseUntil = Ready, zeroTime
					if u.Attempts == 0 && u.Expiries == 0 {
						u.TriedAt = zeroTime // it has not been tried at all
					}
					u.keepRank()
				})
			}
		}
		return w.save(ctx)
	})
}
