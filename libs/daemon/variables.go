package daemon

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/kelseyhightower/envconfig"
)

// One env file serves all services, so a variable of another service's is no mistake here. These
// are the sections, and the single variables, that some part of Warren reads.
var (
	sections = []string{"AMQP", "CONSOLE", "DATABASE", "DEDUP", "FETCHER", "PARSER", "STORE", "TEST"}
	singles  = []string{"WARREN_SHARDS", "WARREN_DEDUP_URL"}
)

// variables are the names that envconfig reads for settings, in the order of the fields.
func variables(settings any) []string {
	var names strings.Builder
	if err := envconfig.Usagef(prefix, settings, &names, "{{range .}}{{usage_key .}}\n{{end}}"); err != nil {
		return nil // not a pointer to a struct: Process says so
	}
	return strings.Fields(names.String())
}

type unknownVariable struct{ name, nearest string }

// unknown finds variables of the environment that begin with WARREN_ and mean nothing to anybody.
func unknown(known []string) []unknownVariable {
	var found []unknownVariable
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, prefix+"_") || slices.Contains(known, name) || elsewhere(name, known) {
			continue
		}
		found = append(found, unknownVariable{name, nearest(name, known)})
	}
	return found
}

// elsewhere tells whether another service may read name: its section is one of Warren's and none of
// this process's. In a section of this process's own, an unknown name is an error of typing.
func elsewhere(name string, known []string) bool {
	if slices.Contains(singles, name) {
		return true
	}
	section, _, _ := strings.Cut(strings.TrimPrefix(name, prefix+"_"), "_")
	own := slices.ContainsFunc(known, func(k string) bool {
		return strings.HasPrefix(k, prefix+"_"+section+"_")
	})
	return !own && slices.Contains(sections, section)
}

// nearest is the known name with the fewest letters to change, "" if none is near.
func nearest(name string, known []string) string {
	best, least := "", len(name)/3+1
	for _, k := range append(slices.Clone(singles), known...) {
		if d := distance(name, k); d < least {
			best, least = k, d
		}
	}
	return best
}

// distance is Levenshtein's: letters to change, insert or drop.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}

// variableName is the last part of a field's variable: that of a struct of this one field.
func variableName(field reflect.StructField) string {
	one := reflect.New(reflect.StructOf([]reflect.StructField{{
		Name: field.Name, Tag: field.Tag, Type: reflect.TypeFor[string](),
	}}))
	return strings.TrimPrefix(variables(one.Interface())[0], prefix+"_")
}

// named puts the variable's name before a Validate's error. Such an error begins with its field's
// name in words ("max conns 0: want at least 1") or has the variable's name already.
func named(section string, part reflect.Type, err error) error {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var errs []error
		for _, e := range joined.Unwrap() {
			errs = append(errs, named(section, part, e))
		}
		return errors.Join(errs...)
	}
	if strings.Contains(err.Error(), prefix+"_") {
		return err
	}
	text, best := letters(err.Error()), ""
	for _, name := range variables(reflect.New(part).Interface()) {
		name = strings.TrimPrefix(name, prefix+"_")
		if strings.HasPrefix(text, letters(name)) && len(name) > len(best) {
			best = name
		}
	}
	if best == "" {
		best = "…"
	}
	return fmt.Errorf("%s_%s: %w", section, best, err)
}

// letters is text without spaces and punctuation, in lower case.
func letters(text string) string {
	return strings.ToLower(strings.NewReplacer(" ", "", "_", "", "-", "").Replace(text))
}
