package synth

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/accountant/pld"

	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/synth/synthtest"
)

func TestNetworkIsChecked(t *testing.T) {
	s := synthtest.Schema(4)
	for text, families := range map[string][]string{
		`no column "kolumn 1"`: {"kolumn 1"},
		"named twice":          {"column 1*column 1"},
		"first in two":         {"column 1*column 0", "column 1*column 2"},
		"its own ancestor":     {"column 1*column 2", "column 2*column 3", "column 3*column 1"},
		`no column ""`:         {"column 1*"},
		`did you mean "column`: {"colum 1"},
	} {
		f := checked(&Bayes{Families: families})
		_, err := NewPlan(f, schema.One(s), privacy.NeighboursOf(s, 0), accountant.Budget{Epsilon: 1})
		if !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), text) {
			t.Errorf("%v: %v, want %q", families, err, text)
		}
	}
	wide := synthtest.Schema(20)
	all := make([]string, len(wide.Columns))
	for i, c := range wide.Columns {
		all[len(all)-1-i] = c.Name
	}
	f := checked(&Bayes{Families: []string{strings.Join(all, "*")}})
	_, err := NewPlan(f, schema.One(wide), privacy.NeighboursOf(wide, 0),
		accountant.Budget{Epsilon: 1})
	stattest.Wraps(t, err, ErrConfig, "twenty parents")
}

// TestEveryFamilyIsCharged states the price by hand: without δ, d families with noise of scale b
// cost d/b, and 2d/b where rows are replaced.
func TestEveryFamilyIsCharged(t *testing.T) {
	f := checked(&Bayes{Families: []string{"column 2*column 0*column 1"}})
	s := synthtest.Schema(3)
	for adjacency, want := range map[accountant.Adjacency]float64{accountant.AddRemove: 3,
		accountant.ReplaceOne: 6} {
		made := stattest.Must(NewPlan(f, schema.One(s), privacy.NeighboursOf(s, adjacency),
			accountant.Budget{Epsilon: 1}))
		p := made.Plan.(*bayesPlan)
		if math.Abs(p.scale-want) > 1e-6*want {
			t.Errorf("%v: noise of scale %v, want %v", adjacency, p.scale, want)
		}
		cost, err := pld.Epsilon(made.Reserve, 0, adjacency)
		if err != nil || cost.Epsilon > 1 || cost.Epsilon < 1-1e-6 {
			t.Errorf("%v: costs %v, %v", adjacency, cost.Epsilon, err)
		}
	}
}

// TestPosteriorMeans compares a fit with next to no noise with the formula, by hand: a column with
// two parents of which the tables are counted, and a cell that no row is in.
func TestPosteriorMeans(t *testing.T) {
	s := synthtest.Schema(3)
	tab := synthtest.Table(t, s, 600)
	f, err := Checked(&Bayes{Families: []string{"column 2*column 0*column 1", "column 0*column 1"},
		Prior: 5})
	stattest.Check(t, err)
	m := Fit(t, f, tab, accountant.Budget{Epsilon: 2000, Delta: 1e-9})
	joint, sizes := tab.Counts(0, 1, 2), s.Sizes()
	// P(a) by a Dirichlet(5, 5, 5) of column 1, P(b | a) of column 0, P(c | b, a) of column 2
	at := func(b, a, c int) (n float64) {
		for i, x := range joint {
			if (b < 0 || i/12 == b) && (a < 0 || i/4%3 == a) && (c < 0 || i%4 == c) {
				n += float64(x)
			}
		}
		return n
	}
	model := m.Params().(*release.Marginal).Model
	got := make([]float64, len(joint))
	stattest.Check(t, model.MarginalTo(got, []int{0, 1, 2}))
	for i, x := range got {
		b, a, c := i/12, i/4%3, i%4
		want := (at(-1, a, -1) + 5) / (600 + 3*5) * (at(b, a, -1) + 5) / (at(-1, a, -1) + 2*5) *
			(at(b, a, c) + 5) / (at(b, a, -1) + float64(sizes[2])*5)
		if math.Abs(x/model.Total()-want) > 1e-9 {
			t.Errorf("cell %d: %v, want %v", i, x/model.Total(), want)
		}
	}
	if math.Abs(model.Total()-600) > 1e-6 {
		t.Errorf("%v rows", model.Total())
	}
}
