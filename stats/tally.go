package stats

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/decoy-dp/decoy/model/marginal"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy/mech/randomized"
)

// Tally is how often answers named what. It is public.
type Tally struct {
	Answers int
	form    *Form
	counts  map[string]*count // of each question
}

// count is that of one question.
type count struct {
	cols  []int
	asked int
	named []int // of each cell, how often; nil while nobody was asked
}

// NewTally is that of no answer.
func (f *Form) NewTally() *Tally {
	t := &Tally{form: f, counts: map[string]*count{}}
	for _, list := range f.lists {
		for _, cols := range list {
			t.counts[spaced(cols)] = &count{cols: cols}
		}
	}
	return t
}

// Add counts an answer to the tally's form.
func (t *Tally) Add(a Answer) error { return t.record(a.Cols, a.Named) }

func (t *Tally) record(cols, named []int) error {
	c := t.counts[spaced(cols)]
	if c == nil {
		return errors.New("the form has no question about these columns")
	}
	k := t.form.cells(cols)
	switch {
	case len(named) > 0 && named[len(named)-1] >= k:
		return errors.New("a cell that the question does not have")
	case randomized.Direct(k, t.form.epsilon) && len(named) != 1:
		return errors.New("this question is answered with one cell")
	}
	if c.named == nil {
		c.named = make([]int, k)
	}
	for _, cell := range named {
		c.named[cell]++
	}
	c.asked++
	t.Answers++
	return nil
}

// measurements are unbiased estimates, for each question that somebody was asked, of how many of
// all respondents are in each of its cells, with their standard deviation.
//
// Symbols: n respondents, of which m drew a question of k cells; c_v of these named cell v; p and q
// as in [randomized.Rates]; f_v the share of v. E c_v = m·λ_v with λ_v = q + f_v(p − q), so that
// n(c_v/m − q)/(p − q) is unbiased. The m are a random sample: its variance is
// n²λ_v(1 − λ_v)/(m(p − q)²), for f_v = 0 the n²q(1 − q)/(m(p − q)²) of Wang et al. 2017. A
// measurement has the mean of that over v, with c_v/m in place of λ_v, and at least that for 0.
func (t *Tally) measurements() []marginal.Measurement {
	var out []marginal.Measurement
	for _, list := range t.form.lists {
		for _, cols := range list {
			if c := t.counts[spaced(cols)]; c.asked > 0 {
				out = append(out, t.measurement(c))
			}
		}
	}
	return out
}

func (t *Tally) measurement(c *count) marginal.Measurement {
	n, m, k := float64(t.Answers), float64(c.asked), float64(len(c.named))
	p, q := randomized.Rates(len(c.named), t.form.epsilon)
	out := marginal.Measurement{Cols: c.cols, Counts: make([]float64, len(c.named))}
	mean := 0.0
	for v, x := range c.named {
		lambda := float64(x) / m
		out.Counts[v] = n * (lambda - q) / (p - q)
		mean += lambda * (1 - lambda) / k
	}
	out.Sigma = n * math.Sqrt(max(mean, q*(1-q))/m) / (p - q)
	return out
}

// Fit fits a model to the measurements. It is post-processing of the answers, and needs no ledger.
func (t *Tally) Fit(
	ctx context.Context, tool string, progress func(float64),
) (*release.Model, error) {
	return release.Collect(ctx, release.Collected{Schema: t.form.schema, Claim: t.form.Claim(),
		Answers: t.Answers, Measured: t.measurements(), Tool: tool, Progress: progress,
		Created: time.Now().UTC().Truncate(24 * time.Hour)})
}
