package eval

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
)

// TestDoubts: columns in which all rows have the code of a cell that cannot be read are named, and
// dates of which one is after the other in most rows; a column that holds values is not.
func TestDoubts(t *testing.T) {
	s := schemaOf(t, optional(category("empty", 2)), optional(category("full", 2)),
		number("middle", 9), number("few", 2),
		schema.Column{Name: "from", Kind: schema.Date, Max: 9, Bins: 10},
		schema.Column{Name: "to", Kind: schema.Date, Max: 9, Bins: 10})
	rows := tableFrom(t, s, 100, func(i, c int) int {
		return []int{2, i % 3, 4, 1, 3 + i%4, 5}[c] // from is behind to in a quarter of the rows
	})
	d, err := DoubtsOf(rows, rand.New(rand.NewPCG(1, 2)))
	if err != nil || !slices.Equal(d.Unreadable, []string{"empty", "middle"}) ||
		len(d.Reversed) != 1 || math.Abs(d.Reversed[0].Synthetic-.25) > 1e-9 {
		t.Errorf("%+v, %v", d, err)
	}
	if d, err := DoubtsOf(rows.Select(nil), nil); err != nil || d.Reversed != nil {
		t.Errorf("of no rows: %+v, %v", d, err)
	}
}

// TestReversals: of a stay, day 3 of ten to day 5 say, the end comes first in synthetic rows.
func TestReversals(t *testing.T) {
	s := schemaOf(t,
		schema.Column{Name: "admitted", Kind: schema.Date, Max: 9, Missing: []string{""}},
		schema.Column{Name: "discharged", Kind: schema.Timestamp, Max: 10 * 24 * 3600e6},
		schema.Column{Name: "beds", Kind: schema.Integer, Max: 9})
	// how many rows begin and end on such days, at noon
	of := func(rows ...[3]int) *Values {
		return stattest.Must(NewValues(s, s.Names(), func(yield func([]string) bool) {
			for _, r := range rows {
				begin := fmt.Sprintf("1970-01-%02d", r[0])
				if r[0] == 0 {
					begin = ""
				}
				for range r[2] {
					yield([]string{begin, fmt.Sprintf("1970-01-%02dT12:00:00Z", r[1]), "7"})
				}
			}
		}))
	}
	ordered := of([3]int{3, 5, 500}, [3]int{4, 4, 500})
	for _, tt := range []struct {
		name            string
		real, synthetic *Values
		want            string // the column that is before the other in a quarter of the rows
	}{
		{"in order", ordered, of([3]int{2, 8, 750}, [3]int{3, 3, 250}), ""},
		{"broken", ordered, of([3]int{2, 8, 750}, [3]int{5, 3, 250}), "discharged"},
		{"the other way round", of([3]int{5, 3, 999}, [3]int{1, 1, 1}),
			of([3]int{5, 3, 750}, [3]int{2, 8, 250}), "admitted"},
		{"missing", ordered, of([3]int{2, 8, 750}, [3]int{0, 3, 250}), ""},
		{"by chance", ordered, of([3]int{2, 8, 99}, [3]int{5, 3, 1}), ""},
		{"no order in real rows", of([3]int{3, 5, 900}, [3]int{5, 3, 100}),
			of([3]int{2, 8, 750}, [3]int{5, 3, 250}), ""},
		{"without real rows", nil, of([3]int{2, 8, 750}, [3]int{5, 3, 250}), "discharged"},
	} {
		got := Reversals(tt.real, tt.synthetic, .01)
		if len(got) == 0 && tt.want == "" {
			continue
		}
		if len(got) != 1 || got[0].Second != tt.want || got[0].Alike ||
			math.Abs(got[0].Synthetic-.25) > 1e-9 {
			t.Errorf("%s: %+v, want %q", tt.name, got, tt.want)
		}
	}
}
