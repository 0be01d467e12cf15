// Package ellipsoid is the Gaussian mechanism for sums over private rows of which each unit's part
// lies in an ellipsoid. Only packages below privacy/ can import it: what a sum computes of the rows
// and how large its ellipsoid is, its caller must prove.
package ellipsoid

import (
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/internal/engine"
	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/internal/access"
	"github.com/decoy-dp/decoy/table"
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

// Release draws a batch, each unit with probability rate, and releases sums over it, in steps of
// their grids. All together they must be one vector that between neighbours moves by at most 1/z in
// the norm of the scales: the event is then [Event], which is charged first.
func Release(s *privacy.Session, rate, z float64, sums ...Sum) ([][]int64, error) {
	fail := func(err error) ([][]int64, error) {
		return nil, fmt.Errorf("privacy: a gradient sum: %w", err)
	}
	if !(rate > 0 && rate <= 1) || !access.Positive(z) {
		return fail(fmt.Errorf("rate %v must be in (0, 1], noise multiplier %v positive and finite",
			rate, z))
	}
	question, length := access.Ask("gradient sum").Floats(rate), 0
	// what a number means depends on the weights, and scales follow from these
	noised := make([]noisedSum, len(sums))
	for i, sum := range sums {
		var err error
		if noised[i], err = sum.noised(); err != nil {
			return fail(err)
		}
		question.Floats(sum.Grid).Floats(sum.Scales...)
		length += len(sum.Scales)
	}
	c := access.Call{What: "gradient sum", Of: question, Cost: access.Once(Event(rate, z))}
	answer, err := access.ReleaseInts(s, c, length, func(in access.Rows) ([]int64, error) {
		of := Exact(in, rate)
		var answer []int64
		for _, sum := range noised {
			noisy, err := of(sum.Sum)
			if err != nil {
				return nil, err
			}
			sum.addTo(noisy, in.Source)
			answer = append(answer, noisy...)
		}
		return answer, nil
	})
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
	columns := make([]table.Codes, len(t.Schema().Columns))
	for i := range columns {
		columns[i] = t.Column(i).Clone() // the critic is foreign code
	}
	return func(s Sum) ([]int64, error) { return s.Of(columns, rows, n), nil }
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
