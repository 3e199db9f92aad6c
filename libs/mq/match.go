package mq

import "strings"

// Match tells whether a topic exchange routes key to a queue bound with pattern: words are parted by
// dots, * stands for exactly one word and # for none or more.
func Match(pattern, key string) bool {
	return match(strings.Split(pattern, "."), strings.Split(key, "."))
}

// match remembers only the last # it met, as file globbing does with *: the work is at most
// pattern × key, never exponential, however many # a stranger's binding has.
func match(pattern, key []string) bool {
	p, k, hash, mark := 0, 0, -1, 0
	for k < len(key) {
		switch {
		case p < len(pattern) && pattern[p] == "#":
			hash, mark = p, k
			p++
		case p < len(pattern) && (pattern[p] == "*" || pattern[p] == key[k]):
			p++
			k++
		case hash >= 0:
			mark++
			p, k = hash+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == "#" {
		p++
	}
	return p == len(pattern)
}
