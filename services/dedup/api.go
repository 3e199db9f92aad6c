package dedup

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/warrenmq/warren/libs/contract"
	"github.com/warrenmq/warren/libs/weburl"
	"github.com/warrenmq/warren/services/dedup/internal/frontier"
)

// statusHosts is how many waiting hosts the status shows.
const statusHosts = 50

type statusAnswer struct {
	Crawls      []frontier.CrawlStatus `json:"crawls"`
	Hosts       []hostAnswer           `json:"hosts"`
	Shards      int                    `json:"shards"`
	Outstanding int64                  `json:"outstanding"`
}

type hostAnswer struct {
	Name        string     `json:"name"`
	NextAt      *time.Time `json:"next_at"`
	DelayMS     int64      `json:"delay_ms"`
	Outstanding int32      `json:"outstanding"`
	Reason      string     `json:"reason"`
}

type urlAnswer struct {
	URL        string     `json:"url"`
	Crawl      string     `json:"crawl"`
	State      string     `json:"state"`
	Reason     string     `json:"reason"`
	DueAt      *time.Time `json:"due_at"`
	LeaseUntil *time.Time `json:"lease_until"`
	Visit      int32      `json:"visit"`
	Release    int64      `json:"release"`
	Attempts   int16      `json:"attempts"`
	Depth      int32      `json:"depth"`
	Code       int16      `json:"code"`
	Host       hostAnswer `json:"host"`
	Why        string     `json:"why"`
}

// API is the read API, mounted on the admin server:
//
//	GET /api/v1/status[?crawl=NAME]      crawls, counts by state and reason, hosts that wait and why
//	GET /api/v1/url?crawl=NAME&url=URL   one URL's state and why it is not fetched yet
func (s *Service) API() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/status", s.getStatus)
	mux.HandleFunc("GET /api/v1/url", s.getURL)
	return mux
}

func (s *Service) getStatus(w http.ResponseWriter, r *http.Request) {
	name := r.FormValue("crawl")
	if name != "" && contract.CheckCrawlName(name) != nil {
		s.answerError(w, http.StatusNotFound, "there is no crawl "+contract.Clip(name, 80))
		return
	}
	crawls, tally, err := s.deps.Store.AllCrawls(r.Context(), name)
	if err != nil {
		s.answerError(w, http.StatusServiceUnavailable, err.Error())
		return
	}
	if name != "" && len(crawls) == 0 {
		s.answerError(w, http.StatusNotFound, "there is no crawl "+contract.Clip(name, 80))
		return
	}
	hosts, err := s.deps.Store.WaitingHosts(r.Context(), s.deps.Now(), statusHosts)
	if err != nil {
		s.answerError(w, http.StatusServiceUnavailable, err.Error())
		return
	}
	out := statusAnswer{Shards: s.deps.Shards, Crawls: []frontier.CrawlStatus{}, Hosts: []hostAnswer{}}
	for key, n := range tally {
		if key.Key == frontier.Released.String() {
			out.Outstanding += n
		}
	}
	for _, c := range crawls {
		out.Crawls = append(out.Crawls, frontier.NewCrawlStatus(c, tally))
	}
	for _, h := range hosts {
		out.Hosts = append(out.Hosts, answerHost(h))
	}
	s.answer(w, http.StatusOK, out)
}

func answerHost(h *frontier.Host) hostAnswer {
	return hostAnswer{Name: h.Name, NextAt: stamp(h.NextAt), DelayMS: h.DelayMS, Outstanding: h.Outstanding, Reason: h.Reason}
}

func stamp(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func (s *Service) getURL(w http.ResponseWriter, r *http.Request) {
	crawl := r.FormValue("crawl")
	if crawl == "" {
		crawl = contract.DefaultCrawl
	}
	at, err := weburl.Parse(r.FormValue("url"))
	if err != nil {
		s.answerError(w, http.StatusBadRequest, contract.Clip(err.Error(), 300))
		return
	}
	if err := contract.CheckCrawlName(crawl); err != nil {
		s.answerError(w, http.StatusNotFound, err.Error())
		return
	}
	host, hash := at.ID().Ints()
	u, h, c, err := s.deps.Store.Find(r.Context(), crawl, host, hash)
	switch {
	case err != nil:
		s.answerError(w, http.StatusServiceUnavailable, err.Error())
	case u == nil:
		s.answerError(w, http.StatusNotFound, "the crawl "+contract.Clip(crawl, 80)+" has not admitted "+at.String())
	default:
		s.answer(w, http.StatusOK, urlAnswer{
			URL: u.URL, Crawl: c.Name, State: u.State.String(), Reason: u.Reason,
			DueAt: stamp(u.DueAt), LeaseUntil: stamp(u.LeaseUntil), Visit: u.Visit, Release: u.Release,
			Attempts: u.Attempts, Depth: u.Depth, Code: u.Code, Host: answerHost(h),
			Why: frontier.Explain(u, h, c, s.deps.Now()),
		})
	}
}

func (s *Service) answer(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	if err := json.NewEncoder(w).Encode(v); err != nil {
		s.deps.Log.Debug("client went away", "error", err)
	}
}

func (s *Service) answerError(w http.ResponseWriter, code int, text string) {
	s.answer(w, code, map[string]string{"error": text})
}
