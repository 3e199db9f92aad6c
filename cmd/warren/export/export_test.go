package export_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urfave/cli/v3"
	"go.uber.org/goleak"

	"github.com/warrenmq/warren/cmd/warren/export"
	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/daemon"
	"github.com/warrenmq/warren/libs/sqldb"
	"github.com/warrenmq/warren/libs/sqldb/sqldbtest"
	"github.com/warrenmq/warren/services/store"
	"github.com/warrenmq/warren/services/store/postgres"
	"github.com/warrenmq/warren/services/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func warrenExport(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	root := &cli.Command{
		Name: "warren", Writer: &out, ErrWriter: &errs,
		Commands:       []*cli.Command{export.Command(slog.New(slog.DiscardHandler))},
		ExitErrHandler: func(context.Context, *cli.Command, error) {},
	}
	err := root.Run(t.Context(), append([]string{"warren", "export"}, args...))
	if err != nil {
		fmt.Fprintln(&errs, err)
	}
	return daemon.Status(err), out.String(), errs.String()
}

// database is one that store has filled with these rows; the command's settings name it.
func database(t *testing.T, rows ...store.Row) {
	t.Helper()
	cfg := sqldb.DefaultConfig()
	cfg.URL = sqldbtest.Database(t)
	t.Setenv("WARREN_DATABASE_URL", cfg.URL)
	filled, err := postgres.Open(t.Context(), cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer filled.Close()
	for _, row := range rows {
		if _, err := filled.Store(t.Context(), []store.Row{row}); err != nil {
			t.Fatal(err)
		}
	}
}

func title(s string) func(*contract.Page) { return func(p *contract.Page) { p.Title = s } }

func pages(t *testing.T) {
	database(t,
		storetest.Row(t, "https://a.example/", 1, "old"),
		storetest.Row(t, "https://a.example/", 2, "new", title("=Formel \"&\" <b>")),
		storetest.Row(t, "https://a.example/", 3, "", storetest.Code(304)),
		storetest.Row(t, "https://b.example/x?a&b", 1, "text", storetest.Crawl("docs")),
	)
}

func TestJSONLines(t *testing.T) {
	pages(t)
	status, stdout, stderr := warrenExport(t, "--crawl", "test", "--body")
	if status != 0 || stderr != "" {
		t.Fatalf("exit status %d, stderr %s", status, stderr)
	}
	var page struct {
		URL, Title, Text, SHA256 string
		Status                   int
		Body                     []byte
		Links                    []string
	}
	if err := json.Unmarshal([]byte(stdout), &page); err != nil { // one line, or this fails
		t.Fatalf("%v: %s", err, stdout)
	}
	if page.URL != "https://a.example/" || page.Status != 200 || string(page.Body) != "new" || page.Text != "new" ||
		page.Title != "=Formel \"&\" <b>" || len(page.Links) != 1 || len(page.SHA256) != 64 {
		t.Errorf("the page is %+v", page)
	}
}

func TestEveryCrawlWithoutBodies(t *testing.T) {
	pages(t)
	status, stdout, _ := warrenExport(t)
	if status != 0 || strings.Count(stdout, "\n") != 2 || strings.Contains(stdout, `"body"`) {
		t.Errorf("exit status %d: %s", status, stdout)
	}
}

func TestCSVToAFile(t *testing.T) {
	pages(t)
	file := filepath.Join(t.TempDir(), "pages.csv")
	if err := os.WriteFile(file, []byte("what stood there"), 0o600); err != nil {
		t.Fatal(err)
	}
	status, stdout, stderr := warrenExport(t, "--format", "csv", "--out", file)
	if status != 0 || stdout != "" || stderr != "" {
		t.Fatalf("exit status %d: %s%s", status, stdout, stderr)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(bytes.NewReader(content)).ReadAll()
	if err != nil || len(records) != 3 || records[0][0] != "url" {
		t.Fatalf("%v: %s", err, content)
	}
	for _, record := range records {
		if strings.HasPrefix(record[4], "=") {
			t.Errorf("a spreadsheet would run the title %q", record[4])
		}
	}
}

func TestNothingToExport(t *testing.T) {
	pages(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "pages.jsonl")
	status, stdout, stderr := warrenExport(t, "--crawl", "nosuch", "--out", file)
	if status != 6 || stdout != "" || !strings.Contains(stderr, "no page is stored of a crawl nosuch") {
		t.Errorf("exit status %d: %s%s", status, stdout, stderr)
	}
	if left, err := fs.Glob(os.DirFS(dir), "*"); err != nil || len(left) != 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

func TestADatabaseWithoutStore(t *testing.T) {
	t.Setenv("WARREN_DATABASE_URL", sqldbtest.Database(t))
	status, _, stderr := warrenExport(t)
	if status != 6 || !strings.Contains(stderr, "no store has run on it") {
		t.Errorf("exit status %d: %s", status, stderr)
	}
}

func TestAFileThatCannotBeMade(t *testing.T) {
	pages(t)
	status, _, stderr := warrenExport(t, "--out", filepath.Join(t.TempDir(), "nowhere", "pages.jsonl"))
	if status != 1 || !strings.Contains(stderr, "make the file") {
		t.Errorf("exit status %d: %s", status, stderr)
	}
}
