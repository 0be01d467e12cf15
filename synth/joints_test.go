package synth

import (
	"fmt"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"

	"github.com/decoy-dp/decoy/synth/synthtest"
)

func TestJoints(t *testing.T) {
	got := jointsOf(3, [][]int{{2, 0}, {0, 2}, {1}, {0, 1, 2}, {0, 1}})
	if want := "[[0] [1] [2] [0 1] [0 2] [0 1 2]]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}

// TestJointCells: what methods ask for beforehand, and what they are refused.
func TestJointCells(t *testing.T) {
	s := synthtest.Schema(4)
	pairs := [][]int{{0}, {1}, {2}, {3}, {0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}
	plan := func(f Fitter, s *schema.Schema) Forecast {
		t.Helper()
		p := stattest.Must(NewPlan(f, schema.One(s), privacy.NeighboursOf(s, 0),
			accountant.Budget{Epsilon: 1, Delta: 1e-9}))
		return p.Forecast(0)
	}
	a := checked(&AIM{})
	set := plan(checked(&AIM{Sets: []string{"column 2*column 0*column 1"}}), s)
	for name, c := range map[string]struct {
		plan Forecast
		want [][]int
	}{
		"mst":            {plan(checked(&MST{}), s), pairs},
		"aim":            {plan(a, s), pairs},
		"mwem":           {plan(checked(&MWEM{}), s), pairs},
		"sets of aim":    {set, append(pairs[:4:4], []int{0, 1, 2})},
		"mwem of counts": {plan(checked(&MWEM{Workload: someWorkload}), s), nil},
	} {
		cells, err := JointCells(c.plan, s)
		if c.want == nil {
			stattest.Wraps(t, err, ErrConfig, "%s", name)
			continue
		}
		want := 0
		for _, set := range c.want {
			n := 1
			for _, col := range set {
				n *= s.Sizes()[col]
			}
			want += n
		}
		if err != nil || !slices.EqualFunc(c.plan.Joints, c.want, slices.Equal) || cells != want {
			t.Errorf("%s: %v of %d cells, want %v of %d; %v", name, c.plan.Joints, cells, c.want, want, err)
		}
	}
	wide, many := &schema.Schema{}, make([]string, 2000)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	for i := range 12 {
		wide.Columns = append(wide.Columns, schema.Column{Name: fmt.Sprint(i),
			Kind: schema.Categorical, Categories: many})
	}
	stattest.Wraps(t, stattest.Err(JointCells(plan(a, wide), wide)), ErrConfig,
		"66 pairs of 2000 × 2000 codes")
}
