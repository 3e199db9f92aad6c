// Package boundaries_test proves that scripts/boundaries fails when an import breaks the layout.
//
//  1. In: a copy of this repository in a temporary folder.
//  2. As it is, the script accepts it.
//  3. Then one package is added for each rule, with an import that the rule forbids, and for each
//     exception one with an import that is allowed.
//  4. Out: exactly the forbidden ones are reported, and the script fails.
package boundaries_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const prefix = "github.com/warrenmq/warren/"

// imports are packages to add, each with one import. reason is a word of the rule that forbids it, or
// "" for one that is allowed.
var imports = []struct{ pkg, imported, reason string }{
	{"services/parser/internal/breach1", prefix + "services/store", "services never import one another"},
	{"libs/weburl/breach2", prefix + "services/store", "libs know no service"},
	{"libs/mq/breach3", prefix + "services/parser", "libs know no service"},
	{"services/parser/breach4", prefix + "cmd/warren/seed", "wired by mains and tests"},
	{"services/store/internal/breach5", prefix + "libs/daemon", "only mains are processes"},
	{"services/store/breach6", prefix + "libs/sqldb", "only adapters know a database"},
	{"services/parser/breach7", prefix + "libs/mq/rabbit", "its main chooses the driver"},
	{"services/dedup/internal/breach8", "github.com/rabbitmq/amqp091-go", "only libs/mq/rabbit speaks AMQP"},
	{"libs/contract/breach9", "github.com/rabbitmq/amqp091-go", "only libs/mq/rabbit speaks AMQP"},
	{"libs/mq/breach10", "github.com/rabbitmq/amqp091-go", "only libs/mq/rabbit speaks AMQP"},
	{"services/dedup/breach11", "github.com/jackc/pgx/v5", "only postgres adapters"},
	{"cmd/warren/breach12", "github.com/jackc/pgx/v5/pgxpool", "only postgres adapters"},
	{"services/dedup/sqlite/breach13", "github.com/jackc/pgx/v5", "only postgres adapters"},
	{"services/parser/breach14", "testing", "test code stays out"},
	{"services/parser/breach15", prefix + "services/dedup/postgres", "services never import one another"},
	{"libs/weburl/breach16", prefix + "services/dedup/postgres", "a service owns its tables"},

	{"cmd/warren/allowed1", prefix + "services/store/postgres", ""},
	{"cmd/warren/allowed2", prefix + "libs/mq/rabbit", ""},
	{"services/store/postgres/allowed3", "github.com/jackc/pgx/v5", ""},
	{"services/store/postgres/allowed4", prefix + "libs/sqldb", ""},
	{"services/store/allowed5", prefix + "services/store/postgres", ""},
	{"libs/mq/rabbit/allowed6", "github.com/rabbitmq/amqp091-go", ""},
	{"libs/weburl/allowedtest", "testing", ""},
	{"test/allowed8", "github.com/rabbitmq/amqp091-go", ""},
}

func TestForbiddenImportFails(t *testing.T) {
	root := copyOf(t, "../..")
	if out, err := check(t, root); err != nil {
		t.Fatalf("the tree as it is: %v\n%s", err, out)
	}

	var want []string
	for _, i := range imports {
		add(t, filepath.Join(root, i.pkg), i.imported)
		if i.reason != "" {
			want = append(want, i.pkg+" imports "+strings.TrimPrefix(i.imported, prefix))
		}
	}
	out, err := check(t, root)
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("with forbidden imports: %v, want exit status 1", err)
	}
	for _, i := range imports {
		if i.reason != "" && !reported(out, i.pkg, i.reason) {
			t.Errorf("%s imports %s: not reported as %q", i.pkg, i.imported, i.reason)
		}
	}
	for line := range strings.Lines(out) {
		what, _, _ := strings.Cut(line, ":")
		if !slices.Contains(want, what) {
			t.Errorf("reported though it is allowed: %s", line)
		}
	}
}

// reported tells whether one line of out names the package and the reason.
func reported(out, pkg, reason string) bool {
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, pkg+" ") && strings.Contains(line, reason) {
			return true
		}
	}
	return false
}

// check runs the copy's own script and returns what it says.
func check(t *testing.T, root string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(root, "scripts/boundaries"))
	// `go test` sets PWD, by which the go command would look for its module.
	cmd.Env = append(os.Environ(), "PWD="+root)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

// add makes a package in dir that imports one path.
func add(t *testing.T, dir, imported string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	source := "package " + filepath.Base(dir) + "\n\nimport _ \"" + imported + "\"\n"
	if err := os.WriteFile(filepath.Join(dir, "added.go"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
}

// copyOf copies the repository without its history and its binaries.
func copyOf(t *testing.T, from string) string {
	t.Helper()
	to := t.TempDir()
	err := filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch {
		case entry.IsDir() && (name == ".git" || name == "bin"):
			return filepath.SkipDir
		case entry.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o755)
		case !entry.Type().IsRegular():
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), content, info.Mode())
	})
	if err != nil {
		t.Fatal(err)
	}
	return to
}
