package schema

import (
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

// TestPast: what a step says of the past is the same where it is counted and where it is drawn, and
// a row that is drawn for a step has that step, in 2,000 random histories.
func TestPast(t *testing.T) {
	l, u := stattest.Must(LoadLinked("testdata/clinic.yaml")), rand.New(rand.NewPCG(7, 8))
	for _, v := range stattest.Must(Views(l)) {
		if !v.Steps {
			continue
		}
		parent := make([]uint16, v.Above)
		parent[0] = 1
		sizes := v.Fine().Sizes()
		order := len(v.child.value)
		for range 2000 {
			rows := 2 + u.IntN(v.child.table.Order.Rows-1)
			history := make([][]uint16, rows)
			for i := range history {
				for c, n := range sizes {
					if c == v.child.by {
						n = order
					}
					history[i] = append(history[i], uint16(u.IntN(n)))
				}
			}
			slices.SortFunc(history, func(a, b []uint16) int {
				return int(a[v.child.by]) - int(b[v.child.by])
			})
			counting, drawing := v.Past(), v.Past()
			for i, row := range history {
				if i == 0 {
					counting.Start(parent, rows, row)
					drawing.Start(parent, rows, row)
					continue
				}
				given := slices.Clone(drawing.Given())
				step := slices.Clone(counting.Step(row))
				if !slices.Equal(given, step[:v.Given]) {
					t.Fatalf("%s: %v is given, %v was counted", v.Name, given, step)
				}
				drawn := make([]uint16, len(row))
				next := slices.Clone(step[v.Given:])
				if drawing.Plain(next); !drawing.NextTo(drawn, next, u) {
					t.Fatalf("%s: no row for %v", v.Name, step)
				}
				// the gap counts where the bin of the order is wider
				again := slices.Clone(drawing.Step(drawn))
				again[v.Given+1+v.child.by] = step[v.Given+1+v.child.by]
				if !slices.Equal(again, step) {
					t.Fatalf("%s: a row of step %v has step %v", v.Name, step, again)
				}
				if drawn[v.child.by] < history[i-1][v.child.by] {
					t.Fatalf("%s: %v after %v", v.Name, drawn, history[i-1])
				}
				counting.Add(row)
				drawing.Add(row)
			}
			first := make([]uint16, len(sizes))
			drawn := slices.Clone(history[0])
			drawn[v.child.by] = v.child.coarse[drawn[v.child.by]]
			if !drawing.FirstTo(first, drawn, u) ||
				v.child.coarse[first[v.child.by]] != drawn[v.child.by] {
				t.Fatalf("%s: the first row %v for %v", v.Name, first, drawn)
			}
		}
		// nothing is before the past, nor missing; a gap that leaves the bounds is no row, and a bin
		// that is over may be none
		p := v.Past()
		late := make([]uint16, len(sizes))
		late[v.child.by] = uint16(order - 1)
		p.Start(make([]uint16, v.Above), 2, late)
		row, step := make([]uint16, len(sizes)), make([]uint16, 1+len(sizes))
		if p.NextTo(row, step, u) && row[v.child.by] != late[v.child.by] {
			t.Errorf("%s: %v after %v", v.Name, row, late)
		}
		step[1+v.child.by] = uint16(v.child.table.Schema.Sizes()[v.child.by] - 1)
		if !p.NextTo(row, step, u) || int(row[v.child.by]) >= order {
			t.Errorf("%s: %v is drawn for a missing order", v.Name, row)
		}
		if step[0] = uint16(len(v.child.gaps) - 1); p.NextTo(row, step, u) {
			t.Errorf("%s: %v is drawn behind the last day", v.Name, row)
		}
	}
}

// TestViewsAreNamed: columns of a view that would have one name get two.
func TestViewsAreNamed(t *testing.T) {
	text := string(stattest.Must(os.ReadFile("testdata/clinic.yaml")))
	text = strings.Replace(text, "name: sex", "name: visits.rows", 1)
	if _, err := Views(stattest.Must(ParseLinked([]byte(text)))); err != nil { // which validates them
		t.Error(err)
	}
	stattest.Wraps(t, stattest.Err(Views(One(&Schema{}))), ErrInvalid, "one table")
}

// TestFiner: each fine bin is in the bin that it is said to be in, and values of days are told
// apart as long as there are not too many.
func TestFiner(t *testing.T) {
	for _, c := range []struct {
		name   string
		column Column
		most   int
		sizes  int // of the fine codes; 0: any
	}{
		{"days", Column{Kind: Date, Min: 0, Max: 1000, Bins: 7}, 40_000, 1001},
		{"one value", Column{Kind: Integer, Min: 3, Max: 3}, 10, 1},
		{"edges", Column{Kind: Integer, Edges: []float64{0, 1, 10, 11, 500}}, 100, 0},
		{"missing", Column{Kind: Date, Min: 0, Max: 9, Missing: []string{""}}, 100, 11},
		{"real", Column{Kind: Real, Min: -1, Max: 1, Bins: 3}, 100, 99},
		{"decimals", Column{Kind: Real, Min: 0, Max: 1, Bins: 2, Decimals: 1}, 100, 0},
		{"log", Column{Kind: Real, Min: 1, Max: 1e6, Bins: 9, Spacing: Log}, 100, 0},
		{"times", Column{Kind: Timestamp, Min: 0, Max: 3e15,
			Format: "2006-01-02 15:04"}, 40_000, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.column.Name = "x"
			codec := stattest.Must(NewCodec(c.column))
			fine, coarse, err := codec.finer(c.most)
			check(t, err)
			if len(coarse) != fine.Size() || fine.Size() < codec.Size() ||
				c.sizes > 0 && fine.Size() != c.sizes {
				t.Fatalf("%d fine codes, %d of them placed", fine.Size(), len(coarse))
			}
			for code, of := range coarse {
				if codec.Values() < codec.Size() && code == len(coarse)-1 {
					if int(of) != codec.Size()-1 {
						t.Errorf("missing is in %s", codec.Label(of))
					}
					continue
				}
				lo, hi := fine.Bin(uint16(code))
				from, to := codec.Bin(of)
				if lo < from || hi > to {
					t.Errorf("[%v, %v] is not in [%v, %v]", lo, hi, from, to)
				}
			}
		})
	}
}
