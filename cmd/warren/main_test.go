package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"text/template"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"warren": main})
}

// Each file of testdata/script is one test: a file and its comments say what. $WARREN_DEDUP_URL is a
// server that answers from the script's folder dedup, and 'exits STATUS warren …' checks a status.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			server := httptest.NewServer(&dedup{dir: filepath.Join(env.WorkDir, "dedup")})
			env.Defer(server.Close)
			env.Setenv("WARREN_DEDUP_URL", server.URL)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
	})
}

// exits runs a command and checks its exit status: testscript itself knows success and failure only.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS COMMAND [ARGUMENT…]")
	}
	// The shell appends the status, whatever it is, to what the script can look at.
	err := ts.Exec("sh", append([]string{"-c", `"$@"; echo $? >.status`, "sh"}, args[1:]...)...)
	ts.Check(err)
	if got := ts.ReadFile(".status"); got != args[0]+"\n" {
		ts.Fatalf("exit status is %swant %s", got, args[0])
	}
}

// dedup answers as the read API does, from files: the n-th question gets the n-th file, each further
// one the last. No file is 404. A file is a template with {{in "90s"}}, a time from now.
type dedup struct {
	dir   string
	mu    sync.Mutex
	asked map[string]int
}

func (d *dedup) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := map[string]string{"/api/v1/status": "status", "/api/v1/url": "url"}[r.URL.Path]
	if crawl := r.FormValue("crawl"); crawl != "" {
		name += "-" + crawl
	}
	body, err := d.answer(name)
	w.Header().Set("Content-Type", "application/json")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprintf(w, `{"error":"there is no %s %s"}`, name, r.FormValue("url"))
	case err != nil:
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprintf(w, `{"error":%q}`, err)
	default:
		_, _ = w.Write(body)
	}
}

func (d *dedup) answer(name string) ([]byte, error) {
	files, err := filepath.Glob(filepath.Join(d.dir, name+".*json"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fs.ErrNotExist
	}
	slices.Sort(files)
	d.mu.Lock()
	if d.asked == nil {
		d.asked = map[string]int{}
	}
	file := files[min(d.asked[name], len(files)-1)]
	d.asked[name]++
	d.mu.Unlock()
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if string(text) == "503\n" {
		return nil, errors.New("read crawls: the database is away")
	}
	in := func(d string) (string, error) {
		after, err := time.ParseDuration(d)
		return time.Now().Add(after).Format(time.RFC3339Nano), err
	}
	answer, err := template.New(name).Funcs(template.FuncMap{"in": in}).Parse(string(text))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = answer.Execute(&out, nil)
	return out.Bytes(), err
}
