package eval

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/data/table"
)

// measured is how the metrics of the registry that need no cells are measured, and those that a
// report measures along with its figures; task is that of TSTR.
func measured(task Task) map[string]func(*Study) ([]Value, error) {
	out := map[string]func(*Study) ([]Value, error){
		"ColumnShapes": func(s *Study) ([]Value, error) {
			_, mean, err := ColumnShapes(s.Train, s.Synthetic)
			return []Value{{Value: Number(mean)}}, err
		},
		"ColumnPairTrends": func(s *Study) ([]Value, error) {
			_, mean, err := ColumnPairTrends(s.Train, s.Synthetic)
			return []Value{{Value: Number(mean)}}, err
		},
		"AssociationKept": func(s *Study) ([]Value, error) {
			lost, err := LostAssociations(s.Train, s.Synthetic, s.Holdout)
			return []Value{{Value: Number(lost.Kept)}}, err
		},
		"RelationsKept": related(func(r Relations) float64 { return r.Kept.Estimate }),
		"CoarseError":   related(func(r Relations) float64 { return r.Coarse }),
		"SpearmanError": related(func(r Relations) float64 { return r.Spearman }),
		"CramerError":   related(func(r Relations) float64 { return r.Cramer }),
		"TSTR": func(s *Study) ([]Value, error) {
			p, err := TSTR(s.Synthetic, s.Holdout, task)
			return []Value{{Value: Number(p.AUROC)}}, err
		},
		"RareClassRate": func(s *Study) ([]Value, error) {
			if _, err := compatible(s.Train, s.Synthetic); err != nil {
				return nil, err
			}
			i, err := RareClassRate(s.Synthetic, task.Label, task.Positive, s.Level)
			return []Value{{Value: Number(i.Estimate)}}, err
		},
		"DCRShare": func(s *Study) ([]Value, error) {
			var points [3]*Points
			for i, t := range []*table.Table{s.Train, s.Holdout, s.Synthetic} {
				var err error
				if points[i], err = TablePoints(t, Gower); err != nil {
					return nil, err
				}
			}
			r, err := Closest(points[0], points[1], points[2], s.Seed)
			return []Value{{Value: Number(r.CloserToTrain)}}, err
		},
	}
	for _, m := range Metrics() {
		if m.Measure != nil && m.Needs&Cells == 0 && m.Name != "Validity" {
			out[m.Name] = m.Measure
		}
	}
	return out
}

// related measures a figure of the relations.
func related(of func(Relations) float64) func(s *Study) ([]Value, error) {
	return func(s *Study) ([]Value, error) {
		r, err := KeptRelations(s.Train, s.Synthetic, s.Level, s.Seed)
		return []Value{{Value: Number(of(r))}}, err
	}
}

// copied are the metrics of which a copy does not reach the goal: it is what they warn of.
var copied = []string{"UniqueExactMatches", "PrivacyLoss"}

// study is one of a schema of three sorts of columns that depend on each other.
func study(t *testing.T) *Study {
	s := similaritySchema(t)
	u := rand.New(rand.NewPCG(9, 9))
	rows := func(n int) *table.Table {
		age := 0
		return tableFrom(t, s, n, func(_, c int) int {
			switch c {
			case 0:
				age = u.IntN(10)
				return min(2, age/4+u.IntN(2))
			case 1:
				return age
			}
			return u.IntN(5)
		})
	}
	return &Study{Train: rows(300), Holdout: rows(200), Synthetic: rows(250), Seed: 1, Near: 1000,
		Target: "colour", Level: .95, Note: func(string, ...any) {}}
}

// TestMetricsConform holds every metric to what all have in common: values are within the range,
// a copy reaches a goal that is a number, the order of the rows does not matter, the same seed
// gives the same values, and tables that do not compare are refused.
func TestMetricsConform(t *testing.T) {
	bounds := map[string][2]float64{"0 to 1": {0, 1}, "0 to .25": {0, math.Inf(1)}, // or a ratio
		"up to 1": {math.Inf(-1), 1}, "1 up": {0, math.Inf(1)}, "0 up": {0, math.Inf(1)},
		"-1 to 1": {-1, 1}, "0 to 2": {0, 2}, "any number": {math.Inf(-1), math.Inf(1)}}
	for name, measure := range measured(Task{Label: "colour"}) {
		m, s := MetricOf(name), study(t)
		values, err := measure(s)
		if err != nil || len(values) == 0 {
			t.Errorf("%s: %d values, %v", name, len(values), err)
			continue
		}
		limit, ok := bounds[m.Range]
		for _, v := range values {
			if x := float64(v.Value); !ok || !(limit[0] <= x && x <= limit[1]) {
				t.Errorf("%s of %s is %v, out of the range %s", name, v.Of, x, m.Range)
			}
			if i := v.Interval; i != nil && !(i.Low <= v.Value && v.Value <= i.High) {
				t.Errorf("%s of %s: %v is not within %v", name, v.Of, v.Value, *i)
			}
		}
		if again, err := measure(s); err != nil || !reflect.DeepEqual(again, values) {
			t.Errorf("%s: %v, %v the second time, %v the first", name, again, err, values)
		}

		turned := *s
		order := make([]int, s.Synthetic.Rows())
		for i := range order {
			order[i] = len(order) - 1 - i
		}
		turned.Synthetic = s.Synthetic.Select(order)
		other, err := measure(&turned)
		if err != nil || !slices.EqualFunc(values, other, func(a, b Value) bool {
			return a.Of == b.Of && near(float64(a.Value), float64(b.Value), 1e-9)
		}) {
			t.Errorf("%s: %v, %v with the rows in another order, not %v", name, other, err, values)
		}

		twin := *s
		twin.Synthetic = s.Train
		if goal := m.Goal; (goal == "0" || goal == "1") && !slices.Contains(copied, name) {
			same, err := measure(&twin)
			if err != nil || fmt.Sprintf("%.9f", same[0].Value) != goal+".000000000" {
				t.Errorf("%s of a copy: %v, %v, want %s", name, same, err, goal)
			}
		}

		for what, bad := range map[string]*table.Table{
			"no rows":       s.Synthetic.Select(nil),
			"fewer columns": tableOf(t, schemaOf(t, category("colour", 3)), []int{0}, []int{1}),
			"other bins": tableOf(t, schemaOf(t, category("colour", 3), number("age", 9),
				optional(number("weight", 4))), []int{0, 0, 0}, []int{1, 0, 0}),
		} {
			wrong := *s
			wrong.Synthetic = bad
			if _, err := measure(&wrong); !errors.Is(err, ErrTables) &&
				!(name == "KAnonymity" && err == nil) { // of real tables alone
				t.Errorf("%s, %s: error %v, want %v", name, what, err, ErrTables)
			}
		}
	}
}
