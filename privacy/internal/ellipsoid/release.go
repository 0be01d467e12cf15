// Package ellipsoid is the Gaussian mechanism for sums over private rows of which each unit's part
// lies in an ellipsoid. Only packages below privacy/ can import it: what a sum computes of the rows
// and how large its ellipsoid is, its caller must prove.
package ellipsoid

import (
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/data/engine"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/access"
)

// Sum is a sum over a batch of rows and the noise it needs.
type Sum struct {
	Scales []float64 // standard deviations of the noise
	Grid   float64
	// over the selected rows (nil: all), n of them, in steps of the grid
	Of func(columns []table.Codes, rows []int, n int) []int64
	// of all n rows, where these are elsewhere: what is asked, and the sum by the answer; or nil
	Ask  func() engine.Question
	From func(answer []int64, n int) []int64
}

// certificate is one of package bounds.
type certificate interface {
	Coordinates() int
	Grid() float64
	ScalesTo(dst []float64, z float64)
}

// NewSum has the scales and grid of a certificate, for noise of multiplier z.
func NewSum(cert certificate, z float64) Sum {
	out := Sum{Scales: make([]float64, cert.Coordinates()), Grid: cert.Grid()}
	cert.ScalesTo(out.Scales, z)
	return out
}

// Release draws a batch, each unit with probability rate, and releases sums over it, in steps of
// their grids. All together they must be one vector that between neighbours moves by at most 1/z in
// the norm of the scales: the event is then [Event], which is charged first.
func Release(s *privacy.Session, rate, z float64, sums ...Sum) ([][]int64, error) {
	fail := func(err error) ([][]int64, error) {
		return nil, fmt.Errorf("a gradient sum: %w", err)
	}
	if !(rate > 0 && rate <= 1) || !access.Positive(z) {
		return fail(fmt.Errorf("rate %v must be in (0, 1], noise multiplier %v positive and finite",
			rate, z))
	}
	var all vectorNoise
	m := access.Call{}
	m.What, m.Of, m.Cost = "gradient sum", access.Ask("gradient sum").Floats(rate),
		access.Once(Event(rate, z))
	// what a number means depends on the weights, and scales follow from these
	for _, sum := range sums {
		of, err := sum.noise()
		if err != nil {
			return fail(err)
		}
		all = append(all, of...)
		m.Of.Floats(sum.Grid).Floats(sum.Scales...)
	}
	m.Length, m.Noise = len(all), all
	m.Exact = func(in access.Rows) (out []int64, err error) {
		of := Exact(in, rate)
		for _, sum := range sums {
			xs, err := of(sum)
			if err != nil {
				return nil, err
			}
			out = append(out, xs...)
		}
		return out, nil
	}
	answer, err := access.Numbers(s, m)
	if err != nil {
		return nil, err
	}
	out := make([][]int64, len(sums))
	for i, sum := range sums {
		n := len(sum.Scales)
		out[i], answer = answer[:n:n], answer[n:]
	}
	return out, nil
}

// Exact draws a batch, and sums over it, without noise.
func Exact(in access.Rows, rate float64) func(Sum) ([]int64, error) {
	if in.Joint != nil {
		return elsewhere(in, rate)
	}
	t := in.Table()
	rows, n := sample(t, in.Source, rate)
	return func(s Sum) ([]int64, error) { return s.Of(t.Columns(), rows, n), nil }
}

// elsewhere has sums over all rows made where these are, of which no sample is drawn.
func elsewhere(in access.Rows, rate float64) func(Sum) ([]int64, error) {
	return func(s Sum) ([]int64, error) {
		if rate != 1 || s.Ask == nil {
			return nil, privacy.ErrElsewhere
		}
		n := []int64{0}
		in.Joint.CountTo(n, nil, nil)
		answer, err := in.Joint.Sum(s.Ask())
		if err != nil {
			return nil, err
		}
		return s.From(answer, int(n[0])), nil
	}
}

// sample draws a Poisson sample of privacy units and returns its rows, nil for all of them, and how
// many they are.
func sample(t *table.Table, src *noise.Source, rate float64) (rows []int, n int) {
	if rate == 1 {
		return nil, t.Rows()
	}
	// The exact rational of a float64 rate in (0, 1) may have a denominator beyond 64 bits: it is
	// rounded down to a multiple of 2⁻⁶³, which includes units a little less often than the event
	// says. A smaller rate costs less.
	limit := uint64(math.Ldexp(rate, 63))
	include := func() bool { return src.Uint64()>>1 < limit }
	rows = []int{}
	units := t.Units()
	drawn := map[uint32]bool{}
	for i := range t.Rows() {
		take := false
		if units == nil {
			take = include()
		} else if was, ok := drawn[units[i]]; ok {
			take = was
		} else {
			take = include()
			drawn[units[i]] = take
		}
		if take {
			rows = append(rows, i)
		}
	}
	return rows, len(rows)
}

// Event is the event of a sum of sensitivity 1 over a Poisson sample, with noise of standard
// deviation z: all units at rate 1.
func Event(rate, z float64) accountant.Event {
	if rate == 1 {
		return accountant.Gaussian{NoiseMultiplier: z}
	}
	return accountant.SubsampledGaussian{Rate: rate, NoiseMultiplier: z}
}

// vectorNoise is the noise of each coordinate: round(N(0, scales[k]²)/grid), in units of grid. That
// is [noise.RoundedGaussian] with σ = scales[k]/grid, exactly, because the grid is a power of two.
//
// What it promises: for an integer vector query q, in units of grid, the release of q + noise is
// μ-GDP with
//
//	μ = max over neighbours of √Σ_k (grid·(q_k − q'_k)/scales[k])².
//
// What the caller must count: q is integer, so a real-valued sum S has been rounded, and rounding
// moves the sums of neighbours apart. With D = √Σ_k 1/scales[k]²:
//   - q = round(S/grid) of one real sum: each side moves by at most grid/2 in each coordinate, so
//     μ ≤ max ‖(S − S')/scales‖₂ + grid·D;
//   - q a sum of integers, each row's contribution g rounded to the grid before an exact integer
//     sum, neighbours differing by one row added or removed: μ ≤ max ‖g/scales‖₂ + ½·grid·D; by
//     one row replaced: + grid·D.
//
// A floating-point S differs from the real sum as well; a bound of that error, divided by the
// scales, is to be added too. What is released should be formed from the integers only, as grid·(q
// + noise).
type vectorNoise []noise.RoundedGaussian

// noise refuses a grid that is no power of two, and a scale that is not of 2⁻¹⁰ to 2⁴⁸ steps of it;
// so also zero, a coordinate without noise.
func (e Sum) noise() (vectorNoise, error) {
	if f, _ := math.Frexp(e.Grid); f != .5 { // also 0, negative, NaN and Inf
		return nil, fmt.Errorf("grid %v is not a power of two", e.Grid)
	}
	out := make(vectorNoise, len(e.Scales))
	for k, sigma := range e.Scales {
		d, err := noise.NewRoundedGaussian(sigma / e.Grid)
		if err != nil {
			return nil, fmt.Errorf("coordinate %d, scale %v on grid %v: %w", k, sigma, e.Grid, err)
		}
		out[k] = *d
	}
	return out, nil
}

// AddTo adds a draw to a sum. It panics unless dst has one element a coordinate.
func (n vectorNoise) AddTo(dst []int64, src *noise.Source) {
	if len(dst) != len(n) {
		panic(fmt.Sprintf("privacy: noise of %d coordinates added to %d", len(n), len(dst)))
	}
	noise.AddEachTo(dst, n, src)
}
