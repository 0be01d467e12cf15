package synth

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/marginal"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/schema"
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
	if p.cfg.SelectShare == 0 {
		p.cfg.SelectShare = 0.1
		if p.codes() < shortColumns {
			p.cfg.SelectShare = 0.2
		}
	}
	return p, nil
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
// up to .8: pairs that noise drowns bring nothing. Columns of fewer than 16 codes on average get
// less, for their pairs have few cells and say the same, as long as that error is small. Chosen on
// adult cut to 300, 1000, 3000 and 10 000 rows, heart_cleveland, mammography, titanic, nltcs and
// cervical at ε = .1 to 1, where the two-way error is flat around it. Where noise is large and
// nobody names a target, the pairs of likely ones have what is left: predictions are no worse.
func (p *aimPlan) oneWay(noise float64) float64 {
	if p.cfg.OneWayShare > 0 {
		return p.cfg.OneWayShare
	}
	share := 0.75 * math.Pow(noise/0.2, 0.25) * math.Min(1, math.Max(p.codes()/16, noise/0.1))
	pairs := p.targetShare(noise)
	most := math.Min(0.8-0.5*pairs, 0.95-pairs)
	if p.cfg.Target == "" && noise > largeNoise {
		most = 0.75
	}
	return math.Max(math.Min(share, most), firstShare)
}

// targetShare is the share for the pairs of the target, or of columns that may be one: more where
// tables are small, whose pairs stand out of the noise in no other way.
func (p *aimPlan) targetShare(noise float64) float64 {
	if p.cfg.TargetShare > 0 {
		return p.cfg.TargetShare
	}
	share := 0.15
	if p.cfg.Target != "" {
		share = 0.2
	}
	for _, large := range []float64{smallTable, largeNoise} {
		if noise > large {
			share += 0.1
		}
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

// smallTable was chosen on adult cut to 300 rows and more, heart_cleveland, titanic, cervical,
// mammography, acs_ma2019 and bank.
const smallTable = 0.1

// firstShare is what the first look at the columns costs, from which the row count is known.
const firstShare = 0.05

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

// Forecast has memory and time for a table of that many rows, which says how many marginals stand
// out of the noise, and so how large the tree grows: about as w columns side by side, or, of a
// number that is not known, as the memory allows. w, the time of a column and that of a cell were
// fitted to 26 runs at ε = 1, on cuts of nine tables from 303 to 48 842 rows, and to cervical,
// mammography and acs_ma2019 at ε = 1, 3 and 10 (go test ./cmd/decoy -run TestForecasts -v -args
// -tables DIR prints such). The joints are the sets of the workload; the closure is inside them.
func (p *aimPlan) Forecast(rows int) Forecast {
	sizes, sets := p.schema.Sizes(), make([][]int, len(p.sets))
	for i, s := range p.sets {
		sets[i] = s.Cols
	}
	d, n := float64(len(sizes)), int(p.rounds())
	round := p.mu2 * 0.6 / float64(n)
	f := Forecast{Joints: jointsOf(len(sizes), sets), Noise: []Noise{
		{What: "one-way marginal", Columns: 1, Count: len(sizes), Sigma: p.sigma(p.mu2 * 0.35 / d)},
		{What: "choice of a round", Count: n,
			Eps: accountant.ExponentialFor(math.Sqrt(p.cfg.SelectShare * round))},
		{What: "marginal of a round, at most", Columns: 2, Count: n,
			Sigma: p.sigma((1 - p.cfg.SelectShare) * round)}}}
	if d == 1 {
		f.Noise = f.Noise[:1]
		f.Noise[0].Sigma = p.sigma(p.mu2)
	}
	cells := 1.0
	for _, k := range sizes {
		cells = math.Min(cells*float64(k), p.cells())
	}
	// Measured, in processor time: 6 ns a cell and iteration, 15 iterations in each of some 25
	// estimates over a tree half as large, 500 at the end.
	f.Seconds = 6e-9 * cells * (0.5*25*iterations + 500)
	if rows > 0 && d > 1 {
		x := math.Max(float64(rows)/f.Noise[0].Sigma, 1.01)
		squares := 0.0 // of ln of the codes of a column, of which x/2 may be told apart
		for _, k := range sizes {
			squares += math.Pow(math.Log(math.Min(float64(k), x/2+2)), 2) / d
		}
		w := math.Min(0.047*math.Pow(math.Log(x), 3.2)*math.Pow(d/20, 0.45),
			(0.8*math.Sqrt(d)+1.2/math.Sqrt(d))*math.Pow(math.Log(x), 0.4))
		cells = math.Min(math.Exp(w*math.Sqrt(squares)), p.cells())
		f.Seconds = math.Min(f.Seconds, 0.1+0.0033*d+2.6e-6*cells)
	}
	f.MemoryBytes = int64(heldShare * bytesPerCell * cells)
	return f
}
