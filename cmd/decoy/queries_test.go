package main

import (
	"bytes"
	"context"
	"math"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/datasets"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/model/workload"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/synth"
)

// asked is an embedded table and a workload of it.
func asked(t *testing.T) (*table.Table, *workload.Workload) {
	t.Helper()
	d := stattest.Must(datasets.Get("icu-mortality"))
	tab := stattest.Must(d.Table())
	w := stattest.Must(workload.Parse([]byte(`decoy_workload: 1
queries:
  - marginals: all columns
  - marginals: all pairs
  - prefix: gcs
  - where: sofa >= 4 and sofa < 10
`), tab.Schema()))
	return tab, w
}

// refit fits a method and reads the model back from its file, as queries answer does.
func refit(t *testing.T, method string, tab *table.Table, epsilon float64) *release.Model {
	t.Helper()
	f := stattest.Must(synth.New(method, nil))
	m, _, err := synth.Run(context.Background(), privacy.FromTable(tab), f,
		synth.RunOptions{Options: privacy.Options{Budget: accountant.Budget{Epsilon: epsilon,
			Delta: 1e-9}, Tool: "test"}})
	check(t, err)
	var file bytes.Buffer
	check(t, m.Write(&file))
	m = stattest.Must(release.Read(bytes.NewReader(file.Bytes()), int64(file.Len())))
	return m
}

// coverage counts numbers that lie within a multiple of their standard error of the truth.
type coverage struct{ numbers, covered, halved, square float64 }

func (c *coverage) add(got []release.Answered, want workload.Answers) {
	for i, x := range slices.Concat(want...) {
		if got[i].StandardError == nil {
			continue
		}
		z := math.Abs(got[i].Answer-x) / *got[i].StandardError
		c.numbers++
		c.square += z * z
		if z <= 2 {
			c.covered++
		}
		if z <= 1 {
			c.halved++
		}
	}
}

// TestIntervalsCover: an answer ± 2 standard errors holds the table's own number in about 95 % of
// all numbers, and ± 1 in about 68. Three fits of each method at ε = 1 and 10 saw shares of .935 to
// .976 and .66 to .84, and root mean squares of .79 to 1.10 standard errors. Null: for each method
// a fit's figures are normal, with means in these ranges and deviations of .015, .015 and .05
// (answers of one fit depend on each other; a share moved by some .01). Means of two fits are
// beyond a bound with probability 1e-7, 1e-8, 1e-9 and 4e-8: 5e-7 for all three methods. Standard
// errors twice as large as they should be have a root mean square of .5 and .95 within one, half as
// large 2 and .68.
func TestIntervalsCover(t *testing.T) {
	if !*long {
		t.Skip("-long: six fits, and a thousand answers of each")
	}
	tab, w := asked(t)
	truth := stattest.Must(w.OnTable(tab))
	for _, method := range []string{"aim", "mst", "mwem"} {
		var c coverage
		for range 2 {
			m := refit(t, method, tab, 10)
			got := stattest.Must(m.Answers(w))
			c.add(got, truth)
		}
		covered, halved, ratio := c.covered/c.numbers, c.halved/c.numbers, math.Sqrt(c.square/c.numbers)
		t.Logf("%s: %.4f of %v numbers covered, at half the standard error %.4f; root mean square %.2f "+
			"standard errors", method, covered, c.numbers, halved, ratio)
		if c.numbers < 500 || covered < .88 || halved > .9 || ratio > 1.4 || ratio < .6 {
			t.Errorf("%s: %+v", method, c)
		}
	}
}

// TestIntervalsOfHiddenCells: intervals of 95 % hold the table's own number though the noise at
// ε = 1 is larger than most cells. H0: they hold each of the 104 numbers of 8 fits with probability
// .95. Fewer than 86 do so with probability 1e-6 (binomial).
func TestIntervalsOfHiddenCells(t *testing.T) {
	if !*long {
		t.Skip("-long: sixteen fits")
	}
	tab, _ := asked(t)
	w := stattest.Must(workload.Parse([]byte("decoy_workload: 1\nqueries:\n  - marginal: [gcs]\n"),
		tab.Schema()))
	truth := stattest.Must(w.OnTable(tab))
	for _, method := range []string{"aim", "mst"} {
		held := 0
		for range 8 {
			got := stattest.Must(refit(t, method, tab, 1).Intervals(w))
			for k, x := range truth[0] {
				if in := got[k].Interval; in[0] <= x && x <= in[1] {
					held++
				}
			}
		}
		if all := 8 * len(truth[0]); all != 104 || held < 86 {
			t.Errorf("%s: %d of %d intervals hold the table's number", method, held, all)
		} else {
			t.Logf("%s: %d of %d", method, held, all)
		}
	}
}

// TestSamplingErrors: sampled answers scatter around those of the model as their standard errors
// say, empty cells included. A graphical model is sampled with less scatter than independent rows
// have, so intervals are wide.
func TestSamplingErrors(t *testing.T) {
	tab, w := asked(t)
	m := refit(t, "mst", tab, 1)
	p := m.Params().(*release.Marginal)
	exact := stattest.Must(w.OnModel(p.Model, p.Grouping))
	got := stattest.Must(m.SampledAnswers(context.Background(), w, 2000, 7, func(float64) {}))
	var c coverage
	c.add(got, exact)
	if share := c.covered / c.numbers; share < .95 || c.square/c.numbers < .05 {
		t.Errorf("%+v", c)
	}
	for _, a := range got {
		if a.StandardError == nil || !(*a.StandardError > 0) || a.Covers != "sampling" {
			t.Fatalf("%q, %s: standard error %v", a.Query, a.Cell, a.StandardError)
		}
	}
}
