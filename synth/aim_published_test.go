package synth

import (
	"context"
	"math"
	"testing"

	"github.com/decoy-dp/decoy/model/marginal"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/synth/synthtest"
)

// published is AIM as in the paper, to compare with: 16d rounds, a tenth of each for the choice,
// noise halved when a round changed less than its noise, zCDP, the last round spends the rest.
func published(t *testing.T, tab *table.Table, b accountant.Budget) *marginal.Model {
	ctx, sizes := context.Background(), tab.Schema().Sizes()
	filter := accountant.GDPFilter{Mu: stattest.Must(accountant.MuFor(b))}
	s := stattest.Must(privacy.Open(ctx, privacy.FromTable(tab), privacy.Options{Budget: b,
		Plan: accountant.Composition{{Event: filter, Count: 1}}}))
	d := len(sizes)
	left := stattest.Must(accountant.RhoFor(b))
	step := left / float64(16*d)
	sigma := 1 / math.Sqrt(2*.9*step)
	ms := columnsMeasured(stattest.Must(s.MeasureAll(columnQueries(d), sigma)), sigma)
	left -= .9 * step * float64(d)
	sets := stattest.Must((&AIM{Workload: "pairs"}).columnSets(tab.Schema()))
	fit := func() *marginal.Model {
		return stattest.Must(marginal.Fit(ctx, sizes, ms, marginal.Options{}))
	}
	for model := fit(); ; {
		if last := left < 2*step; last {
			step = left
		}
		sigma, epsilon := 1/math.Sqrt(2*.9*step), math.Sqrt(8*.1*step)
		var candidates []privacy.Candidate
		for _, c := range closure(sets, -1) {
			n := 1
			for _, col := range c.cols {
				n *= sizes[col]
			}
			x := privacy.Candidate{Query: privacy.Marginal{Cols: c.cols}, Weight: c.weight,
				Estimate: make([]float64, n), Penalty: l1 * sigma * float64(n)}
			stattest.Check(t, model.MarginalTo(x.Estimate, c.cols))
			candidates = append(candidates, x)
		}
		best := candidates[stattest.Must(s.Select(candidates, epsilon))]
		ms = append(ms, stattest.Must(measureOne(s, best.Query.(privacy.Marginal), sigma)))
		model = fit()
		if left -= step; left < 1e-9 {
			return model
		}
		now, change := make([]float64, len(best.Estimate)), 0.
		stattest.Check(t, model.MarginalTo(now, ms[len(ms)-1].Cols))
		for i, x := range now {
			change += math.Abs(x - best.Estimate[i])
		}
		if change <= best.Penalty {
			step *= 4
		}
	}
}

// TestNoWorseThanPublished: the mean error of pairs of six fits is at most 1.4 times that of the
// paper's form. On this table, whose columns hang together in a chain of few codes, it was .90 to
// 1.15 times it in eleven runs, 1.04 on average: the bound is more than five spreads away.
func TestNoWorseThanPublished(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector")
	}
	s := synthtest.Schema(6)
	tab := synthtest.Table(t, s, 2000)
	wrong := func(model *marginal.Model) (sum float64) {
		sizes := model.Sizes()
		for i := range sizes {
			for j := range i {
				got := make([]float64, sizes[i]*sizes[j])
				stattest.Check(t, model.MarginalTo(got, []int{j, i}))
				for k, n := range tab.Counts(j, i) {
					sum += math.Abs(got[k] - float64(n))
				}
			}
		}
		return sum
	}
	ours, theirs := 0., 0.
	for range 6 {
		m := Fit(t, checked(&AIM{}), tab, aimOne).Params().(*release.Marginal)
		ours += wrong(m.Model)
		theirs += wrong(published(t, tab, aimOne))
	}
	t.Logf("errors %.0f and, of the paper's form, %.0f", ours, theirs)
	if ours > 1.4*theirs {
		t.Errorf("errors %.0f, of the paper's form %.0f", ours, theirs)
	}
}
