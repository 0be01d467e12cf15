package workload

import (
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
)

// TestConditionsOnDifferences: what a column after another counts is said, and what the schema
// allows no row of is known.
func TestConditionsOnDifferences(t *testing.T) {
	s, err := schema.Parse([]byte(`decoy: 1
columns:
  - {name: admitted, kind: date, min: 2020-01-01, max: 2020-12-31, bins: 12}
  - {name: discharged, kind: integer, after: admitted, min: 0, max: 90, bins: 12}
`))
	check(t, err)
	_, err = Conditions(s, "discharged > 2024-01-01")
	if err == nil || !strings.Contains(err.Error(), `(days after "admitted")`) {
		t.Errorf("a date for a difference: %v", err)
	}
	for text, want := range map[string]bool{"discharged > 2023": true, "discharged > 90": true,
		"discharged > 30": false, "discharged >= 0": false,
		"discharged > 91 or discharged < 5": false, "not discharged >= 0": true} {
		items, err := Conditions(s, text)
		if err != nil || items[0].Impossible() != want {
			t.Errorf("%s: %v, want impossible = %v", text, err, want)
		}
	}
}
