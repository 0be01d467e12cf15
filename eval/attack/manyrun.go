package attack

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/privacy/accountant"
)

// ManyRun audits a mechanism on a pair of neighbouring tables.
//
// A quarter of the runs is a pilot, on Out and on Strong: it learns a linear score and picks two
// events, one for ε and one for μ. The others run on Out and on In and count how often each event
// happens. Of each event both rates are bounded by Clopper and Pearson at a tail of (1 −
// confidence)/4, so that all four bounds hold together, and everything in the result follows from
// them.
//
// Errors: options out of range, those of the mechanism, ctx's.
func ManyRun(ctx context.Context, m Mechanism, p *Pair, o Options) (Result, error) {
	r := Result{Mechanism: m.Name, Tables: p.Name}
	if err := o.fill(400); err != nil {
		return r, err
	}
	r.Runs, r.Pilot, r.Confidence = o.Runs, max(o.Runs/4, 8), o.Confidence
	pilot, err := o.run(ctx, m, 0, r.Pilot, p.Out, p.Strong)
	if err != nil {
		return r, err
	}
	d := learn(pilot[0], pilot[1], p.Strength)
	n := o.Runs - r.Pilot
	tail := (1 - o.Confidence) / 4
	at := d.thresholds(n, tail, m.Claim.Budget.Delta)
	runs, err := o.run(ctx, m, 2*r.Pilot, n, p.Out, p.In)
	if err != nil {
		return r, err
	}
	out, in := d.scores(runs[0]), d.scores(runs[1])
	for _, t := range at {
		above := func(s float64) bool { return s > t }
		e := event{Threshold: t, Out: floats.Count(above, out), In: floats.Count(above, in)}
		_, e.Rates.Out = clopperPearson(e.Out, n, tail)
		e.Rates.In, _ = clopperPearson(e.In, n, tail)
		r.Events = append(r.Events, e)
	}
	r.Ceiling = ceiling(n, tail, m.Claim.Budget.Delta)
	return r.conclude(m.Claim, out, in)
}

// conclude derives everything from the counted events.
func (r Result) conclude(c Claim, out, in []float64) (Result, error) {
	for _, e := range r.Events {
		r.Epsilon = max(r.Epsilon, e.Rates.Epsilon(c.Budget.Delta))
		r.Mu = max(r.Mu, e.Rates.Mu())
		if b := c.broken(e.Rates); b != nil &&
			(r.Broken == nil || b.Shown-b.Claimed > r.Broken.Shown-r.Broken.Claimed) {
			r.Broken = b
		}
	}
	r.Refuted = r.Broken != nil
	if c.Budget.Delta > 0 {
		r.Gaussian = accountant.GDPEpsilon(r.Mu, c.Budget.Delta)
	}
	return r, r.score(out, in, r.Confidence, c.Budget)
}

// run runs the mechanism on each table, several at a time, and returns the features of each. The
// tables take turns, so that what changes with time changes for all.
func (o Options) run(
	ctx context.Context, m Mechanism, before, runs int, tables ...*table.Table,
) ([][][]float64, error) {
	n := len(tables)
	out := make([][][]float64, n)
	for k := range out {
		out[k] = make([][]float64, runs)
	}
	return out, o.each(ctx, n*runs, before, 2*o.Runs, func(ctx context.Context, i int) (err error) {
		out[i%n][i/n], err = m.Run(ctx, tables[i%n])
		return err
	})
}

// direction is a linear score of features, learnt from the pilot runs.
type direction struct {
	weights []float64
	shift   float64   // expected difference of the scores of neighbours
	out     []float64 // scores of the pilot runs on Out
	strong  []float64 // and on Strong
}

// learn is Fisher's linear discriminant between runs on Out and on Strong, weights ∝ (S +
// ridge)⁻¹·(mean Strong − mean Out), in which S is the covariance of the runs on Out. strength is
// how many units the tables differ by.
func learn(out, strong [][]float64, strength int) direction {
	n, p := len(out), len(out[0])
	standard, sd, diff := mat.NewDense(n, p, nil), make([]float64, p), make([]float64, p)
	for k := range p {
		x := feature(out, k)
		mean, deviation := stat.MeanStdDev(x, nil)
		sd[k], diff[k] = deviation, stat.Mean(feature(strong, k), nil)-mean
		// A feature that does not vary at all is worth a great deal if it differs, and nothing else.
		if floor := 1e-9 * (math.Abs(mean) + math.Abs(diff[k])); sd[k] <= floor {
			sd[k] = max(floor, math.SmallestNonzeroFloat64*1e30)
		}
		diff[k] /= sd[k]
		floats.AddConst(-mean, x)
		floats.Scale(1/sd[k], x)
		standard.SetCol(k, x)
	}
	// Few runs estimate a covariance badly: shrink the correlations as much as there are too few.
	shrink := min(.5, .02+float64(p)/float64(2*n))
	var s mat.SymDense
	stat.CovarianceMatrix(&s, standard, nil)
	s.ScaleSym(1-shrink, &s)
	for k := range p {
		s.SetSym(k, k, s.At(k, k)+shrink)
	}
	d := direction{weights: make([]float64, p)}
	var chol mat.Cholesky
	w := mat.NewVecDense(p, nil)
	if !chol.Factorize(&s) || chol.SolveVecTo(w, mat.NewVecDense(p, diff)) != nil {
		w = mat.NewVecDense(p, diff)
	}
	for k := range p {
		d.weights[k] = w.AtVec(k) / sd[k]
		d.shift += w.AtVec(k) * diff[k] / float64(strength)
	}
	d.out, d.strong = d.scores(out), d.scores(strong)
	return d
}

// feature is one feature of all runs.
func feature(runs [][]float64, k int) (out []float64) {
	for _, x := range runs {
		out = append(out, x[k])
	}
	return out
}

// scores are the linear scores of runs; a feature that is not a number counts as 0.
func (d direction) scores(runs [][]float64) (out []float64) {
	for _, x := range runs {
		sum := 0.0
		for k, w := range d.weights {
			if v := w * x[k]; !math.IsNaN(v) && !math.IsInf(v, 0) {
				sum += v
			}
		}
		out = append(out, sum)
	}
	return out
}

// few is the largest number of values of a score that is treated as discrete, as that of a
// selection is.
const few = 16

// thresholds picks two events "score > t" from the pilot: the one that promises the largest ε at δ
// and the one that promises the largest μ from runs runs on each table, each rate being bounded at
// tail. The promise is read off a smoothed histogram of the pilot's scores on Out and of the same
// moved by shift. A bad promise costs power; the bounds come from other runs.
func (d direction) thresholds(runs int, tail, delta float64) [2]float64 {
	n := float64(len(d.out))
	mean, sd := stat.MeanStdDev(d.out, nil)
	width := .5 * sd // of the smoothing; wide, because what matters is the tail
	candidates := d.steps()
	if candidates != nil {
		width = 0
	} else {
		candidates = floats.Span(make([]float64, 61), slices.Min(d.out)-sd,
			slices.Max(d.out)+d.shift+sd)
	}
	above := func(t float64) float64 {
		p := 0.0
		for _, s := range d.out {
			if width > 0 {
				p += distuv.UnitNormal.Survival((t-s)/width) / n
			} else if s > t {
				p += 1 / n
			}
		}
		return p
	}
	best, at := [2]float64{}, [2]float64{mean + d.shift/2, mean + d.shift/2}
	for _, t := range candidates {
		_, high := clopperPearson(int(math.Round(above(t)*float64(runs))), runs, tail)
		low, _ := clopperPearson(int(math.Round(above(t-d.shift)*float64(runs))), runs, tail)
		r := rates{Out: high, In: low}
		for k, promise := range [2]float64{r.Epsilon(delta), r.Mu()} {
			if promise > best[k] {
				best[k], at[k] = promise, t
			}
		}
	}
	return at
}

// steps are the thresholds between the values of a score that has only a few, nil for others.
func (d direction) steps() (out []float64) {
	values := slices.Concat(d.out, d.strong)
	slices.Sort(values)
	values = slices.Compact(values)
	if len(values) > few {
		return nil
	}
	for i := range len(values) - 1 {
		out = append(out, values[i]/2+values[i+1]/2)
	}
	return out
}
