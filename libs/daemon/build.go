package daemon

import (
	"runtime"
	"runtime/debug"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// version is set by the linker (-X github.com/warrenmq/warren/libs/daemon.version=v0.1.0): an image
// is built without the repository's history, which would tell it. Never written by code.
var version string

// Build says which build of a service this is.
type Build struct {
	Service  string `json:"service"`
	Version  string `json:"version"`            // "v0.1.0", "(devel)"
	Revision string `json:"revision,omitempty"` // commit, "-dirty" behind it if files were changed
	Go       string `json:"go"`
}

// Version is this build, under the service's name.
func Version(service string) Build {
	build := Build{Service: service, Version: version, Go: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return build
	}
	if build.Version == "" {
		build.Version = info.Main.Version
	}
	dirty := ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			build.Revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "-dirty"
		}
	}
	if build.Revision != "" {
		build.Revision += dirty
	}
	return build
}

func (b Build) String() string {
	s := b.Service + " " + b.Version
	if b.Revision != "" {
		s += " " + b.Revision
	}
	return s + " " + b.Go
}

// registerProcess registers what every process shows beside its service's own metrics.
func registerProcess(registry prometheus.Registerer, service string) {
	build := Version(service)
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "warren_build_info",
		Help: "Which build this process is; always 1.",
		ConstLabels: prometheus.Labels{
			"service": service, "version": build.Version, "revision": build.Revision, "goversion": build.Go,
		},
	})
	info.Set(1)
	registry.MustRegister(info,
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
}
