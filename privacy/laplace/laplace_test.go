package laplace

import (
	"fmt"
	"math"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/internal/gatetest"
	"github.com/decoy-dp/decoy/privacy/internal/mechtest"
	"github.com/decoy-dp/decoy/privacy/query"
	"github.com/decoy-dp/decoy/table"
)

// where holds for rows with code 0 in the first column.
var where = query.Where{Expr: table.Condition{Column: 0, Allow: []bool{true, false}}}

func charge(epsilon float64, n int) accountant.Charge {
	return accountant.Charge{Event: accountant.Laplace{Epsilon: epsilon}, Count: n}
}

// TestLaplaceNoise. Null: released − true count is discrete Laplace of the named scale, in each of
// several cells; 20 000 draws, false-alarm rate 1e-6. The same draws must reject a scale 30 % too
// small or too large.
func TestLaplaceNoise(t *testing.T) {
	const n, scale = 20000, 4.0
	tab := gatetest.Table(t, gatetest.Schema("", 0), gatetest.SomeRows(600), nil)
	s := mechtest.On(t, tab, 0, charge(1/scale, n))
	for _, q := range []struct {
		query privacy.Query
		truth []int64
	}{{where, []int64{300}}, {privacy.Marginal{Cols: []int{1}}, []int64{200, 200, 200}}} {
		draws := make([]int64, n/2)
		for k := range draws {
			xs, err := Measure(s, q.query, scale)
			if err != nil {
				t.Fatal(err)
			}
			at := k % len(xs)
			draws[k] = xs[at] - q.truth[at]
		}
		for factor, want := range map[float64]bool{.7: false, 1: true, 1.3: false} {
			law := func(x int64) float64 { return gatetest.Laplace(x, factor*scale) }
			if got := gatetest.Follows(draws, 14, law); got != want {
				t.Errorf("%T: %v times the scale is accepted: %v", q.query, factor, got)
			}
		}
	}
}

// TestLaplaceEvents states the sensitivities by hand.
func TestLaplaceEvents(t *testing.T) {
	for _, nb := range mechtest.Relations {
		k := float64(nb.MaxRowsPerUnit)
		cells := k
		if nb.Adjacency == accountant.ReplaceOne {
			cells = 2 * k
		}
		for _, tt := range []struct {
			q    privacy.Query
			want float64
		}{{query.Where{}, k / 10}, {query.Total{}, k / 10}, {privacy.Marginal{}, cells / 10}} {
			got := Event(nb, tt.q, 10).(accountant.Laplace).Epsilon
			if got < tt.want || got > tt.want*(1+1e-15) {
				t.Errorf("%v: %T costs %v, want %v", nb, tt.q, got, tt.want)
			}
		}
	}
}

// TestLaplaceIsChargedBeforeReading: what is not in the plan, or makes no sense, reads nothing and
// costs nothing.
func TestLaplaceIsChargedBeforeReading(t *testing.T) {
	tab := gatetest.Table(t, gatetest.Schema("", 0), gatetest.SomeRows(60), nil)
	s := mechtest.On(t, tab, 0, charge(.5, 1))
	reads := 0
	q := mechtest.Reading{Query: where, Reads: &reads}
	for name, call := range map[string]func() ([]int64, error){
		"scale 0":     func() ([]int64, error) { return Measure(s, q, 0) },
		"scale NaN":   func() ([]int64, error) { return Measure(s, q, math.NaN()) },
		"no query":    func() ([]int64, error) { return Measure(s, nil, 2) },
		"column":      func() ([]int64, error) { return Measure(s, privacy.Marginal{Cols: []int{9}}, 2) },
		"other scale": func() ([]int64, error) { return Measure(s, q, 1.9) },
	} {
		if _, err := call(); err == nil || reads > 0 {
			t.Errorf("%s: error %v, %d reads", name, err, reads)
		}
	}
	mechtest.PaidOnce(t, s, &reads, func() error { _, err := Measure(s, q, 2); return err })
}

// TestSmallTables: on every table of up to four rows, and every neighbour, the counts of every kind
// of query move by at most the sensitivity in the event, and somewhere by that.
func TestSmallTables(t *testing.T) {
	var rows []mechtest.SmallRow
	for _, q := range []privacy.Query{
		where, query.Total{}, privacy.Marginal{Cols: []int{1, 0}},
		query.ContributionHistogram{UpTo: []int{1, 2}},
	} {
		event := func(nb privacy.Neighbours) accountant.Event { return Event(nb, q, noise.MinScale) }
		_, ofUnits := q.(query.ContributionHistogram)
		_, ofAll := q.(query.Total)
		rows = append(rows, mechtest.SmallRow{Mechanism: "Measure", With: fmt.Sprintf("%T", q),
			Of: func(s *mechtest.Small) gatetest.Value {
				if ofUnits && s.Table.Units() == nil {
					return nil
				}
				o := mechtest.On(s.T, s.Table, s.NB.Adjacency, accountant.Charge{Event: event(s.NB), Count: 1})
				return gatetest.One[int64](s)(Measure(o, q, noise.MinScale))
			},
			Claim: gatetest.LaplaceClaim(noise.MinScale, event), Norm: gatetest.L1,
			Most: func(nb privacy.Neighbours) float64 {
				switch {
				case nb.Adjacency == accountant.AddRemove:
				case ofAll: // replacing a unit of one row by one of two is all there is
					return 1 - 1/float64(nb.MaxRowsPerUnit)
				case ofUnits && nb.MaxRowsPerUnit == 1: // units of one size become units of that size
					return 0
				}
				return 1
			}})
	}
	mechtest.RunSmall(t, rows, "Measure")
}
