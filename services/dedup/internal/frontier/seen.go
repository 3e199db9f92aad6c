package frontier

import "sync"

// seen remembers keys that are known to be committed, so that a link met again costs no query. Two
// generations bound its memory: when the young one is full the old one is forgotten. Forgetting is
// harmless, remembering what was rolled back would lose URLs: so only add after a commit.
type seen struct {
	mu         sync.Mutex
	limit      int
	young, old map[Key]struct{}
}

func newSeen(limit int) *seen {
	return &seen{limit: max(limit/2, 1), young: map[Key]struct{}{}}
}

func (s *seen) has(k Key) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.young[k]; ok {
		return true
	}
	_, ok := s.old[k]
	return ok
}

func (s *seen) add(keys []Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range keys {
		if len(s.young) >= s.limit {
			s.old, s.young = s.young, make(map[Key]struct{}, s.limit)
		}
		s.young[k] = struct{}{}
	}
}
