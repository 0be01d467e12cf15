package synth

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/model/marginal"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
)

// bytesPerCell is what a fit holds for each cell of its junction tree: potentials, marginals and
// estimates. heldShare is how much of it is held at the end, where trees are about half as large as
// they may be: measured on six tables of 7,600 to 48,842 rows at ε = 1 and 10 (cmd/decoy,
// TestForecasts).
const (
	bytesPerCell = 40
	heldShare    = 0.5
)

// plan is a fit that has been paid for.
type aimPlan struct {
	cfg    AIM
	schema *schema.Schema
	nb     privacy.Neighbours
	sets   []columnSet
	mu2    float64                // that is left of the filter
	known  []marginal.Measurement // of columns, from before
	full   float64                // what a row counts
	first  [][]int                // of a view of steps: pairs that are measured first
}

// Reserve refuses a target that the schema has not.
func (f *AIM) Reserve(t Terms, b accountant.Budget, before float64) (
	accountant.Composition, accountant.Pricer, error,
) {
	return reserveFor(f.Target, t, b, before)
}

// Unseen refuses the settings that speak of a schema, and a target that is no column.
func (f *AIM) Unseen(columns []string) (target string, err error) {
	switch {
	case len(f.Sets) > 0:
		return "", fmt.Errorf("aim: sets need a schema: %w", ErrConfig)
	case f.Target != "" && !slices.Contains(columns, f.Target):
		return f.Target, fmt.Errorf("aim: target (--target): there is no column %q: %w", f.Target,
			ErrConfig)
	}
	return f.Target, nil
}

// Plan is paid for by what is left of the filter.
func (f *AIM) Plan(t Terms) (_ Plan, err error) {
	p := &aimPlan{cfg: *f, schema: t.Schema, nb: t.Neighbours, mu2: t.Left.Mu2, known: t.Known,
		full: 1}
	if t.Schema.Index(f.Target) < 0 {
		p.cfg.Target, p.cfg.TargetShare = "", 0
	}
	if p.sets, err = f.columnSets(t.Schema); err != nil {
		return nil, err
	}
	if t.View != nil {
		p.toDraw(t.View)
	}
	return p, nil
}

// viewable refuses the settings that speak of one table.
func (f *AIM) viewable() error {
	if len(f.Sets) > 0 || f.Target != "" {
		return fmt.Errorf("aim: target and sets are of one table, not of linked ones: %w", ErrConfig)
	}
	return nil
}

// sigma is the noise in rows of a marginal that takes mu2 from the filter.
func (p *aimPlan) sigma(mu2 float64) float64 {
	unit, _ := p.nb.MeasureEvent(privacy.Marginal{}, 1).(accountant.Gaussian)
	return 1 / (unit.NoiseMultiplier * math.Sqrt(mu2)) * (1 + 1e-12)
}

// cells is the most cells that the junction tree may have at the end.
func (p *aimPlan) cells() float64 { return float64(p.cfg.MemoryMB) * 1e6 / bytesPerCell }

// columnShares divides what is spent on columns, in μ², so that the sum of L1 errors is least:
// that of k codes is k·σ·√(2/π) with σ² ∝ 1/μ², so μ² ∝ k^(2/3).
func (p *aimPlan) columnShares() []float64 {
	out := make([]float64, len(p.schema.Columns))
	for c, k := range p.schema.Sizes() {
		out[c] = math.Pow(float64(k), 2./3)
	}
	floats.Scale(1/floats.Sum(out), out)
	return out
}

// columnNoise is the L1 error that a column would have, on average, if columns got the whole
// budget, as a share of the rows: of at most clearCodes codes, for of more most stay in the noise
// and are merged.
func (p *aimPlan) columnNoise(rows float64) float64 {
	noise, sizes := 0.0, p.schema.Sizes()
	for c, share := range p.columnShares() {
		noise += l1 * p.sigma(p.mu2*share) * float64(min(sizes[c], clearCodes)) /
			float64(len(sizes))
	}
	return noise / math.Max(rows, 1)
}

// clearCodes was chosen on two columns of 10,000 and 7 codes in 200,000 rows at ε = 1, of seven
// laws: against no such limit the error of the pair is between 2 % larger and 20 % smaller.
const clearCodes = 1024

// oneWay is the share for one-way marginals of a table with that columnNoise, with which it grows
// up to mostOneWay. Columns of fewer than 16 codes on average get less, for their pairs have few
// cells and say the same, as long as that error is small. Chosen on adult cut to 300, 1000, 3000
// and 10 000 rows, heart_cleveland, mammography, titanic, nltcs and cervical at ε = .1 to 1, where
// the two-way error is flat around it.
func (p *aimPlan) oneWay(noise float64) float64 {
	if p.cfg.OneWayShare > 0 {
		return p.cfg.OneWayShare
	}
	share := 0.75 * math.Pow(noise/0.2, 0.25) * math.Min(1, math.Max(p.codes()/16, noise/0.1))
	most := mostOneWay
	if p.cfg.Target == "" {
		most = math.Max(most, math.Min(share/2, 0.75))
	}
	return math.Max(min(share, most, 0.95-p.targetShare(noise)), firstShare)
}

// mostOneWay is where the error of pairs cut into quarters is least or flat, however large the
// noise is. At full detail the error of pairs is mostly that of their columns, and falls with a
// share of up to .8, at which no relation is left (cmd/bench/figures/small.tsv). Where noise is so
// large that hardly any can be kept, columns get up to .75, unless a target is named.
const mostOneWay = 0.5

// targetShare is the share for the pairs of the target, or of columns that may be one: more where
// noise is large, of which they stand out in no other way, but not where it drowns them, too, and
// nobody names the target.
func (p *aimPlan) targetShare(noise float64) float64 {
	if p.cfg.TargetShare > 0 {
		return p.cfg.TargetShare
	}
	share := 0.15
	if p.cfg.Target != "" {
		share = 0.2
	}
	if noise > largeNoise && (p.cfg.Target != "" || noise < drownedNoise) {
		share *= 1.4
	}
	return share
}

// shortColumns is the average number of codes below which columns are short: their tables have few
// cells, stand out of more noise, and are better measured in more rounds with more spent on the
// choice. Chosen on a table of 16 binary columns.
const shortColumns = 8

// codes is how many codes a column has on average.
func (p *aimPlan) codes() float64 {
	return float64(cellCount(p.schema)) / float64(len(p.schema.Columns))
}

// firstShare is what the first look at the columns costs, from which the row count is known.
const firstShare = 0.05

// choice is the share of a round for its choice, where noise is large or not.
func (p *aimPlan) choice(small bool) float64 {
	switch {
	case p.cfg.SelectShare > 0:
		return p.cfg.SelectShare
	case small || p.codes() < shortColumns:
		return 0.2
	}
	return 0.1
}

// rounds is how many rounds the budget would last if its noise never fell. A single pair is
// measured once, at the resolution that is chosen.
func (p *aimPlan) rounds() float64 {
	d := float64(len(p.schema.Columns))
	if p.codes() < shortColumns {
		return math.Min(8*d, 128)
	}
	if d == 2 {
		return 1
	}
	return math.Min(4*d, 100)
}
