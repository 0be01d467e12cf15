// Package gradient releases sums of a critic's gradients over private rows, with noise that a
// certificate of package bounds says is enough.
package gradient

import (
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/internal/access"
	"github.com/decoy-dp/decoy/table"
)

// ellipsoidSum is a sum over a batch of rows and the noise it needs.
type ellipsoidSum struct {
	scales []float64 // standard deviations of the noise
	grid   float64
	// over the selected rows (nil: all), n of them, in steps of the grid
	of func(columns []table.Codes, rows []int, n int) []int64
}

// release charges the event, draws a batch and releases the gradient's sum over it and, with a
// penalty, the penalty's. Together the two are one vector and one Gaussian mechanism of the
// multiplier.
func release(
	s *privacy.Session, event accountant.Event, rate float64, gradient ellipsoidSum, p PenaltyPlan,
	multiplier float64, critic networked,
) (released []int64, out Penalized, err error) {
	fail := func(err error) ([]int64, Penalized, error) {
		return nil, Penalized{}, fmt.Errorf("privacy: a gradient sum: %w", err)
	}
	noised, err := gradient.noised()
	if err != nil {
		return fail(err)
	}
	sums := []noisedSum{noised}
	if p.Share != 0 {
		var penalty ellipsoidSum
		if penalty, out.Certificate, err = penaltySum(s.Neighbours(), p, multiplier, critic); err != nil {
			return fail(err)
		}
		if noised, err = penalty.noised(); err != nil {
			return fail(err)
		}
		sums = append(sums, noised)
	}
	question, length := access.Ask("gradient sum").Floats(rate), 0
	// what a number means depends on the weights, and scales follow from these
	for _, sum := range sums {
		question.Floats(sum.grid).Floats(sum.scales...)
		length += len(sum.scales)
	}
	c := access.Call{What: "gradient sum", Of: question, Cost: access.Once(event)}
	answer, err := access.RunInts(s, c, length, func(in access.Rows) ([]int64, error) {
		t := in.Table()
		rows, n := sample(t, in.Source, rate)
		columns := make([]table.Codes, len(t.Schema().Columns))
		for i := range columns {
			columns[i] = t.Column(i).Clone() // the critic is foreign code
		}
		var answer []int64
		for _, sum := range sums {
			noisy := sum.of(columns, rows, n)
			sum.addTo(noisy, in.Source)
			answer = append(answer, noisy...)
		}
		return answer, nil
	})
	if err != nil {
		return nil, Penalized{}, err
	}
	n := len(gradient.scales)
	if len(sums) > 1 {
		out.Released = answer[n:]
	}
	return answer[:n:n], out, nil
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

// unitRows is the most rows of a unit.
func unitRows(s *privacy.Session) int { return max(1, s.Neighbours().MaxRowsPerUnit) }

// sampledEvent is the event of a sum of sensitivity 1 over a Poisson sample, with noise of standard
// deviation z: all units at rate 1.
func sampledEvent(rate, z float64) accountant.Event {
	if rate == 1 {
		return accountant.Gaussian{NoiseMultiplier: z}
	}
	return accountant.SubsampledGaussian{Rate: rate, NoiseMultiplier: z}
}

// checkSampling checks what plans of sums have in common.
func checkSampling(rate, z float64, penalty PenaltyPlan) error {
	if !(rate > 0 && rate <= 1) || !access.Positive(z) {
		return fmt.Errorf("rate %v must be in (0, 1], noise multiplier %v positive and finite", rate, z)
	}
	return penalty.check()
}
