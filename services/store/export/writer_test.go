package export_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/warrenmq/warren/services/store/export"
)

var update = flag.Bool("update", false, "write the golden files anew")

func pages() []export.Page {
	at := time.Date(2026, 3, 1, 12, 0, 0, 123456000, time.UTC)
	return []export.Page{{
		URL: "https://example.com/?a=1&b=2", Status: 200, ContentType: "text/html; charset=utf-8", FetchedAt: at,
		Title: `Tom & "Jerry" <b>`, Description: "línea\nzwei", Language: "en", Text: "one, two;\tthree\r\nfour \u2028 \ufffd",
		Links:  []string{"https://example.com/a", "https://example.org/"},
		SHA256: "559aead08264d5795d3909718cdd05abd49572e84fe55590eef31a88a08fdffd", Body: []byte("A\x00\xff"),
	}, {
		URL: "https://example.com/formula", Status: 404, FetchedAt: at.Truncate(time.Second), Title: "=HYPERLINK(\"http://evil\")",
		Description: "+1", Language: "-", Text: "@SUM(A1)", ContentType: "\t=1",
	}, {
		URL: "https://example.com/formulas", Status: 200, FetchedAt: at, Title: "＝1+1", Text: "\r\n=1", Description: "'kept", Links: []string{},
	}}
}

func write(t *testing.T, format string, options export.Options, pages []export.Page) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := export.NewWriter(format, &out, options)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pages {
		if !options.Body {
			p.Body = nil
		}
		if err := w.Write(p); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		format  string
		options export.Options
		pages   []export.Page
	}{
		"pages.jsonl":      {export.FormatJSONL, export.Options{}, pages()},
		"pages.body.jsonl": {export.FormatJSONL, export.Options{Body: true}, pages()},
		"pages.csv":        {export.FormatCSV, export.Options{}, pages()},
		"pages.body.csv":   {export.FormatCSV, export.Options{Body: true}, pages()},
		"none.csv":         {export.FormatCSV, export.Options{}, nil},
		"none.jsonl":       {export.FormatJSONL, export.Options{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := write(t, test.format, test.options, test.pages)
			path := filepath.Join("testdata", name)
			if *update {
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		})
	}
}

func TestJSONLinesComeBack(t *testing.T) {
	t.Parallel()
	decoder := json.NewDecoder(bytes.NewReader(write(t, export.FormatJSONL, export.Options{Body: true}, pages())))
	want := pages()
	want[1].Links = []string{} // never null
	for i := range want {
		var got export.Page
		if err := decoder.Decode(&got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want[i], got); diff != "" {
			t.Errorf("page %d (-want +got):\n%s", i, diff)
		}
	}
}

// No field of a CSV may begin as a formula does.
func TestCSVHoldsNoFormula(t *testing.T) {
	t.Parallel()
	records, err := csv.NewReader(bytes.NewReader(write(t, export.FormatCSV, export.Options{}, pages()))).ReadAll()
	if err != nil || len(records) != 4 {
		t.Fatalf("%d records: %v", len(records), err)
	}
	for _, record := range records {
		for _, field := range record {
			if field != "" && bytes.ContainsRune([]byte("=+-@\t\r\n＝"), []rune(field)[0]) {
				t.Errorf("field %q", field)
			}
		}
	}
}

type full struct{}

var errFull = errors.New("no space left on device")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestWriteErrors(t *testing.T) {
	t.Parallel()
	for _, format := range []string{export.FormatJSONL, export.FormatCSV} {
		w, err := export.NewWriter(format, full{}, export.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err = w.Write(pages()[0]); err == nil {
			err = w.Flush()
		}
		if !errors.Is(err, errFull) {
			t.Errorf("%s: error %v, want the disk's", format, err)
		}
	}
	if _, err := export.NewWriter("xml", full{}, export.Options{}); err == nil {
		t.Error("format xml is taken")
	}
}
