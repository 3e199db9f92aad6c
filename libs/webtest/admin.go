package webtest

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
)

// Admin returns the handler to steer the web from outside, for a port of its own:
//
//	GET /_log       the access log, one Hit a line as JSON
//	GET /_expected  the Truth as JSON; ?scope=host for ScopeHost
//	GET /_seeds     the seeds, one a line
//	GET /_reset     Reset, then 204
func (w *Web) Admin() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /_log", func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "application/x-ndjson")
		_ = w.WriteLog(rw) // the only error is that the client went away
	})
	mux.HandleFunc("GET /_expected", func(rw http.ResponseWriter, r *http.Request) {
		scope, err := ParseScope(r.FormValue("scope"))
		if err != nil {
			http.Error(rw, err.Error(), http.StatusBadRequest)
			return
		}
		rw.Header().Set("Content-Type", "application/json")
		enc := json.NewEncoder(rw)
		enc.SetIndent("", "  ")
		_ = enc.Encode(w.Expected(scope)) // as above
	})
	mux.HandleFunc("GET /_seeds", func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(rw, strings.Join(w.Seeds(), "\n")+"\n") // as above
	})
	mux.HandleFunc("/_reset", func(rw http.ResponseWriter, _ *http.Request) {
		w.Reset()
		rw.WriteHeader(http.StatusNoContent)
	})
	return mux
}
