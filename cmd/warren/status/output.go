package status

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/warrenmq/warren/cmd/warren/term"
)

// output writes answers for people, or as they came.
type output struct {
	w      io.Writer
	json   bool
	colors bool
	now    time.Time
}

func (o output) raw(body []byte) error {
	_, err := o.w.Write(append(bytes.TrimRight(body, "\n"), '\n'))
	return err
}

func (o output) status(a answer[Status], err error) error {
	if err != nil {
		return err
	}
	if o.json {
		return o.raw(a.Raw)
	}
	if len(a.Value.Crawls) == 0 {
		_, err := fmt.Fprintln(o.w, "there is no crawl yet; to start one: warren seed https://example.com/")
		return err
	}
	for _, table := range []*term.Table{o.crawls(a.Value.Crawls), o.reasons(a.Value.Crawls), o.hosts(a.Value.Hosts)} {
		if table == nil {
			continue
		}
		if _, err := table.WriteTo(o.w); err != nil {
			return err
		}
		fmt.Fprintln(o.w)
	}
	_, err = fmt.Fprintf(o.w, "%d URLs are out at the fetchers' %d shards\n", a.Value.Outstanding, a.Value.Shards)
	return err
}

// states are the columns, in the order of a URL's life. "released" is a word of the inside.
func states() []string { return []string{"waiting", "ready", "released", "done", "failed", "excluded"} }

func (o output) crawls(crawls []Crawl) *term.Table {
	table := &term.Table{Colors: o.colors}
	head := []term.Cell{text("CRAWL"), text("STATE"), text("AGE"), right("PAGES"), right("BUDGET")}
	for _, state := range states() {
		head = append(head, right(strings.ToUpper(state)))
	}
	table.Add(head...)
	for _, c := range crawls {
		row := []term.Cell{shown(c.Name), {Text: term.Text(c.State, 20), Color: colorOf(c)}, text(o.age(c)),
			right(strconv.FormatInt(c.Pages, 10)), right(budget(c))}
		for _, state := range states() {
			cell := right(strconv.FormatInt(c.URLs[state], 10))
			if state == "failed" && c.URLs[state] > 0 {
				cell.Color = term.Bad
			}
			row = append(row, cell)
		}
		table.Add(row...)
	}
	return table
}

func colorOf(c Crawl) term.Color {
	switch {
	case c.State == "finished":
		return term.Good
	case c.ended():
		return term.Bad
	}
	return term.Plain
}

// age is how long the crawl has run, or did until it was finished.
func (o output) age(c Crawl) string {
	end := o.now
	if c.FinishedAt != nil {
		end = *c.FinishedAt
	}
	return short(end.Sub(c.CreatedAt))
}

// budget is how many pages of the budget are taken, "-" for a crawl without one.
func budget(c Crawl) string {
	if c.PagesBudget == 0 {
		return "-"
	}
	return fmt.Sprintf("%d/%d", c.PagesTaken, c.PagesBudget)
}

// reasons tells why URLs were not stored, the most frequent first. It is nil if all were.
func (o output) reasons(crawls []Crawl) *term.Table {
	table := &term.Table{Colors: o.colors}
	table.Add(text("CRAWL"), text("WHAT"), right("URLS"), text("WHY"))
	empty := true
	for _, c := range crawls {
		for _, kind := range []struct {
			name   string
			counts map[string]int64
		}{{"failed", c.Failed}, {"excluded", c.Excluded}, {"skipped", c.Skipped}} {
			for _, reason := range byCount(kind.counts) {
				empty = false
				table.Add(shown(c.Name), text(kind.name), right(strconv.FormatInt(kind.counts[reason], 10)), shown(reason))
			}
		}
	}
	if empty {
		return nil
	}
	return table
}

func byCount(counts map[string]int64) []string {
	var reasons []string
	for reason, n := range counts {
		if n != 0 {
			reasons = append(reasons, reason)
		}
	}
	slices.SortFunc(reasons, func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	return reasons
}

// hosts is nil if none waits.
func (o output) hosts(hosts []Host) *term.Table {
	if len(hosts) == 0 {
		return nil
	}
	table := &term.Table{Colors: o.colors}
	table.Add(text("HOST"), right("NEXT IN"), right("DELAY"), right("OUT"), text("WHY IT WAITS"))
	for _, h := range hosts {
		table.Add(shown(h.Name), right(o.until(h.NextAt)), right(delay(h)), right(strconv.FormatInt(h.Outstanding, 10)),
			text(cmp.Or(term.Text(h.Reason, 80), "its delay")))
	}
	return table
}

func delay(h Host) string { return short(time.Duration(h.DelayMS) * time.Millisecond) }

// until is the time from now, "-" for none and "now" for one that has passed.
func (o output) until(t *time.Time) string {
	switch {
	case t == nil || t.IsZero():
		return "-"
	case !t.After(o.now):
		return "now"
	}
	return short(t.Sub(o.now))
}

func (o output) url(a answer[URL], err error) error {
	if err != nil {
		return err
	}
	if o.json {
		return o.raw(a.Raw)
	}
	u := a.Value
	fmt.Fprintf(o.w, "%s\n%s\n\n", term.Text(u.URL, 4096), term.Text(u.Why, 500))
	table := &term.Table{}
	for _, line := range [][2]string{
		{"crawl", term.Text(u.Crawl, 80)},
		{"state", term.Text(u.State, 20)},
		{"reason", term.Text(u.Reason, 200)},
		{"HTTP status", strconv.FormatInt(u.Code, 10)},
		{"depth", strconv.FormatInt(u.Depth, 10)},
		{"attempts", strconv.FormatInt(u.Attempts, 10)},
		{"visit", strconv.FormatInt(u.Visit, 10)},
		{"release", strconv.FormatInt(u.Release, 10)},
		{"due in", o.until(u.DueAt)},
		{"lease ends in", o.until(u.LeaseUntil)},
		{"host", term.Text(u.Host.Name, 255)},
		{"host's next slot in", o.until(u.Host.NextAt)},
		{"host's delay", delay(u.Host)},
		{"host's URLs out", strconv.FormatInt(u.Host.Outstanding, 10)},
		{"host waits for", term.Text(u.Host.Reason, 200)},
	} {
		table.Add(text(line[0]), text(cmp.Or(line[1], "-")))
	}
	_, err = table.WriteTo(o.w)
	return err
}

func text(s string) term.Cell  { return term.Cell{Text: s} }
func shown(s string) term.Cell { return term.Cell{Text: term.Text(s, 80)} }
func right(s string) term.Cell { return term.Cell{Text: s, Right: true} }

// short is a duration with the precision a person wants.
func short(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d < time.Hour:
		return d.Round(time.Second).String()
	case d < 48*time.Hour:
		return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}
