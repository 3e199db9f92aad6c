package store_test

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
)

// gather returns the metrics by name and label values; of a histogram the number of observations.
func gather(t *testing.T, registry *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, family := range families {
		if !strings.HasPrefix(family.GetName(), "warren_store_") || family.GetHelp() == "" {
			t.Errorf("metric %s: help %q", family.GetName(), family.GetHelp())
		}
		for _, m := range family.GetMetric() {
			name := family.GetName()
			for _, label := range m.GetLabel() {
				name += " " + label.GetValue()
			}
			if h := m.GetHistogram(); h != nil {
				values[name] = float64(h.GetSampleCount())
			} else {
				values[name] = m.GetCounter().GetValue()
			}
		}
	}
	return values
}

// name is the quoted name of a pool's database.
func name(t *testing.T, pool *pgxpool.Pool) string {
	t.Helper()
	var name string
	if err := pool.QueryRow(context.Background(), "select current_database()").Scan(&name); err != nil {
		t.Fatal(err)
	}
	return pgx.Identifier{name}.Sanitize()
}
