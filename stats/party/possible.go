package party

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/model/marginal"
)

const (
	// mostRows is more than the tables of all parties have together.
	mostRows = 1 << 32
	// falseAlarm bounds the probability that a run of honest parties is stopped: the noise of a sum
	// of d numbers is subgaussian of variance d·σ², so that it exceeds z·σ·√d on either side with a
	// probability of at most 2·exp(−z²/2), for each of the numbers that are looked at.
	falseAlarm = 1e-9
	maxTests   = 1 << 40 // in a run: its numbers are fewer, and z falls by little with fewer tests
)

// possible is what the sums of the first column say of the number of rows: their noisy total, and
// its standard deviation.
type possible struct {
	columns   []schema.Column
	total, sd float64
}

// beyond is z, about 9.9.
var beyond = math.Sqrt(2 * math.Log(2*maxTests/falseAlarm))

// checkMarginals refuses sums that no tables of rows have: every row is in one cell of each
// marginal, so that no cell is below 0, all totals are the same, and none is above mostRows. It
// sees public sums only.
func (p *possible) checkMarginals(ms []marginal.Measurement) error {
	for _, m := range ms {
		total, sd := floats.Sum(m.Counts), m.Sigma*math.Sqrt(float64(len(m.Counts)))
		if p.sd == 0 {
			p.total, p.sd = min(max(total, -beyond*sd), mostRows), sd
		}
		if slices.Min(m.Counts) < -beyond*m.Sigma ||
			math.Abs(total-p.total) > beyond*math.Hypot(sd, p.sd) {
			return impossible("%q has %.3g rows in all, from %.3g in a value, where there are about %.3g",
				p.columns[m.Cols[len(m.Cols)-1]].Name, total, slices.Min(m.Counts), p.total)
		}
	}
	return nil
}

// checkSigned refuses a signed sum, with noise of sigma, that is larger than the number of rows.
func (p *possible) checkSigned(sums [][]int64, sigma float64) error {
	most := max(0, p.total) + beyond*math.Hypot(sigma, p.sd)
	for _, signed := range sums {
		for _, x := range signed {
			if math.Abs(float64(x)) > most {
				return impossible("a sum of rows under signs is %.3g, of about %.3g rows", float64(x),
					p.total)
			}
		}
	}
	return nil
}

// impossible says what is wrong with the sums, as far as it can be known.
func impossible(format string, args ...any) error {
	return fmt.Errorf("party: the sums are not those of any tables: "+format+", beyond what noise "+
		"explains. A party has sent made-up numbers, or its program or machine is at fault; masks hide "+
		"which. All parties see these sums and stop here: ask each what it ran, on which table, and "+
		"begin again without whoever cannot say. What is spent stays spent: %w",
		append(args, errEnded)...)
}
