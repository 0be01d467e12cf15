package attack

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

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
		r := Rates{Out: high, In: low}
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
