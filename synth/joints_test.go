package synth_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/synth/aim"
	"github.com/decoy-dp/decoy/synth/mst"
	"github.com/decoy-dp/decoy/synth/mwem"
	"github.com/decoy-dp/decoy/synth/synthtest"
)

func TestJoints(t *testing.T) {
	got := synth.Joints(3, [][]int{{2, 0}, {0, 2}, {1}, {0, 1, 2}, {0, 1}})
	if want := "[[0] [1] [2] [0 1] [0 2] [0 1 2]]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}

// TestJointCells: what methods ask for beforehand, and what they are refused.
func TestJointCells(t *testing.T) {
	s := synthtest.Schema(4)
	pairs := [][]int{{0}, {1}, {2}, {3}, {0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}
	plan := func(f synth.Fitter, err error, s *schema.Schema) synth.Forecast {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		p, err := synth.NewPlan(f, s, privacy.NeighboursOf(s, 0),
			accountant.Budget{Epsilon: 1, Delta: 1e-9})
		if err != nil {
			t.Fatal(err)
		}
		return p.Forecast(0)
	}
	aimOf := func(c aim.Config) (synth.Fitter, error) { return aim.New(c) }
	mwemOf := func(c mwem.Config) (synth.Fitter, error) { return mwem.New(c) }
	mstOf := func() (synth.Fitter, error) { return mst.New(mst.Config{}) }
	m, errM := mstOf()
	a, errA := aimOf(aim.Config{})
	w, errW := mwemOf(mwem.Config{})
	sets, errS := aimOf(aim.Config{Sets: []string{"column 2*column 0*column 1"}})
	dense, errD := mwemOf(mwem.Config{Algorithm: "dense"})
	for name, c := range map[string]struct {
		plan synth.Forecast
		want [][]int
	}{
		"mst":             {plan(m, errM, s), pairs},
		"aim":             {plan(a, errA, s), pairs},
		"mwem":            {plan(w, errW, s), pairs},
		"sets of aim":     {plan(sets, errS, s), append(pairs[:4:4], []int{0, 1, 2})},
		"mwem with dense": {plan(dense, errD, s), nil},
	} {
		cells, err := synth.JointCells(c.plan, s)
		if c.want == nil {
			if !errors.Is(err, synth.ErrConfig) {
				t.Errorf("%s: %v", name, err)
			}
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
	if _, err := synth.JointCells(plan(a, errA, wide), wide); !errors.Is(err, synth.ErrConfig) {
		t.Errorf("66 pairs of 2000 × 2000 codes: %v", err)
	}
}
