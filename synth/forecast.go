package synth

import (
	"fmt"
	"math"
	"slices"

	"github.com/decoy-dp/decoy/gan"
	"github.com/decoy-dp/decoy/privacy/accountant"
)

// Forecast is what a plan expects to need, from public knowledge.
type Forecast struct {
	MemoryBytes int64   `json:"memory_bytes"` // besides the rows themselves
	Seconds     float64 `json:"seconds"`      // on one ordinary core, reading excluded
	Noise       []Noise `json:"noise"`
	// sets of columns, each increasing: every marginal that is asked for is over columns of one, so
	// that another engine may count the rows, once for the whole fit. nil: more is asked for
	Joints [][]int `json:"-"`
	Sums   int     `json:"-"` // over all rows, which it makes beside the joints, at most
}

// Noise is the noise of one kind of question: one of the last three is not 0.
type Noise struct {
	What    string  `json:"what"`
	Columns int     `json:"-"` // of a marginal that is measured, most often
	Count   int     `json:"count"`
	Sigma   float64 `json:"sigma,omitempty"` // rows
	// times what one unit may add, which is known only at each step
	Multiplier float64 `json:"noise_multiplier,omitempty"`
	Eps        float64 `json:"epsilon,omitempty"` // of a selection
}

// Forecast assumes that as many codes stay unmerged as so many rows can lift above the noise, all
// of them if rows is 0, and that the tree has half the cells of the largest. Its constants were
// measured on the tables adult, bank and support2, on one core (go test ./cmd/decoy -run
// TestForecasts -v -args -tables DIR compares).
func (p *mstPlan) Forecast(rows int) Forecast {
	pairs, sizes, columns := p.pairs(), p.schema.Sizes(), float64(p.columns)
	f := Forecast{Joints: jointsOf(p.columns, pairs), Seconds: 0.05 + 0.0045*columns,
		Noise: []Noise{{What: "one-way marginal", Columns: 1, Count: p.columns, Sigma: p.oneWay},
			{What: "tree edge selection", Count: p.columns - 1, Eps: p.epsilon},
			{What: "pair marginal", Columns: 2, Count: p.columns - 1, Sigma: p.pair}}}
	if p.columns == 1 {
		f.Noise = f.Noise[:1]
		return f
	}
	least := p.cfg.GroupSigmas * p.oneWay // rows of a code that stays
	noise := math.Erfc(p.cfg.GroupSigmas/math.Sqrt2) / 2
	sum, cells := 0, 0
	for c, k := range sizes {
		if rows > 0 {
			sizes[c] = min(k, int(float64(rows)/least+noise*float64(k))+2)
		}
		sum += sizes[c]
	}
	for _, e := range pairs {
		cells += sizes[e[0]] * sizes[e[1]]
	}
	widest := slices.Max(sizes)
	tree := min(widest*(sum-widest), cells) / 2 // the largest: the pairs of the widest column
	// An estimate is 8 bytes a candidate cell, its grid form 8 more; the model keeps about five
	// arrays over the tree's cells.
	f.MemoryBytes = int64(16*cells + 5*8*tree)
	// A selection counts every pair that is still open, 0.6 of all in the mean: 1 ns a row, 30 ns
	// a cell. The estimation: 10 ns a cell and iteration, over some 150 iterations on what is left of
	// the tree when rare codes are merged.
	f.Seconds += 0.6*(columns-1)*(1e-9*float64(len(pairs)*rows)+30e-9*float64(cells)) +
		10e-9*150*float64(tree)/2
	return f
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
			Eps: accountant.ExponentialFor(math.Sqrt(p.choice(false) * round))},
		{What: "marginal of a round, at most", Columns: 2, Count: n,
			Sigma: p.sigma((1 - p.choice(false)) * round)}}}
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

// Forecast assumes the largest distribution that the plan allows. The joints are the marginals of
// the workload; a histogram also counts single queries. Its constants were measured on
// adult, bank, support2 and icu-severity (cmd/decoy, TestForecasts), within a factor of 1.7.
func (p *mwemPlan) Forecast(int) Forecast {
	f, sizes, rounds := Forecast{}, p.w.Schema().Sizes(), float64(p.rounds)
	candidates, counts := 0.0, false
	var sets [][]int
	for _, it := range p.items {
		if counts = counts || it.IsCount(); !it.IsCount() {
			candidates += cellsOf(sizes, it.Cols)
			sets = append(sets, it.Cols)
		}
	}
	if p.graph {
		f.Noise = []Noise{{What: "one-way marginal", Columns: 1, Count: p.columns, Sigma: p.oneWay}}
		f.Joints = jointsOf(p.columns, sets)
		// Measured tables are as large as the average one.
		cells := min(4*rounds*candidates/float64(len(p.items)), float64(p.cfg.MaxCells))
		f.MemoryBytes = int64(40*cells + 24*candidates)
		f.Seconds = 2.6 * math.Pow(rounds*candidates/1e6, .75)
	} else {
		f.Noise = []Noise{{What: "number of rows", Count: 1, Sigma: p.deviation(p.total)}}
		cells := cellsOf(sizes, named(p.items))
		f.MemoryBytes = int64((24+4*rounds)*cells + 24*candidates)
		f.Seconds = rounds * (30e-9*rounds*cells + 10e-9*candidates + 1e-3)
	}
	f.Noise = append(f.Noise, Noise{What: "query selection", Count: p.rounds, Eps: p.epsilon})
	if !p.counts {
		f.Noise = append(f.Noise, Noise{What: "marginal", Columns: 2, Count: p.rounds, Sigma: p.sigma})
	}
	if counts {
		f.Noise = append(f.Noise, Noise{What: "count", Count: p.rounds, Sigma: p.deviation(p.count)})
	}
	return f
}

// Forecast counts the cells of the junction tree.
func (p *bayesPlan) Forecast(int) Forecast {
	return Forecast{MemoryBytes: 64 * int64(p.cells), Seconds: .05 + 1e-7*float64(p.cells),
		Noise: []Noise{{What: "column with its parents", Count: len(p.families),
			Sigma: math.Sqrt2 * p.scale}}}
}

// Forecast counts a score of 8 bytes a candidate, and 2 ns a candidate and query.
func (p *smallPlan) Forecast(int) Forecast {
	return Forecast{
		MemoryBytes: 8 * int64(p.candidates),
		Seconds:     float64(p.candidates) * (2e-9*float64(len(p.queries)) + 1e-7),
		Noise: []Noise{{What: "number of rows", Count: 1, Sigma: math.Sqrt2 * p.total},
			{What: fmt.Sprintf("choice among %d multisets of %d rows", p.candidates, p.rows),
				Count: 1, Eps: p.epsilon}},
	}
}

// Forecast counts the multiplications of the generator's steps, beside the marginal model.
func (p *wganPlan) Forecast(int) Forecast {
	c := p.cfg
	critic := float64(weights(cellCount(p.schema), c.Hidden))
	row, distil := gan.Work(cellCount(p.schema))
	measured := batch * (row + 4*critic*float64(min(snapshots, c.Steps)))
	speed := 2.7e10
	if c.Engine == gorgonia {
		speed /= 4
	}
	trained := float64(c.Steps*c.GeneratorSteps + c.PostSteps)
	f := p.marginals.Forecast(0)
	// Another engine makes sums over all rows, none clipped, of a critic that fits into its query.
	if f.Sums = c.Steps; c.Rate < 1 || p.mode.Clipped() || c.Lipschitz == interpolates ||
		critic > 1<<19 {
		f.Joints = nil
	}
	f.Noise = append(slices.Clone(f.Noise), Noise{What: "gradient sum", Count: c.Steps,
		Multiplier: p.penalty().GradientMultiplier(p.z)})
	if c.Lipschitz == interpolates {
		f.Noise = append(f.Noise, Noise{What: "sum of the penalty's gradient",
			Count: c.Steps, Multiplier: p.penalty().Multiplier(p.z)})
	}
	cells := float64(cellCount(p.schema))
	f.MemoryBytes = max(f.MemoryBytes, int64(4*batch*(6*cells+float64(1024+4*snapshots*c.Hidden[0]))+
		4*21*critic*float64(c.Steps)+4*cells*cells))
	f.Seconds += (float64(c.DistilSteps)*distil + trained*(distil+measured)) / speed
	return f
}

// Forecast counts the multiplications of the generator's steps, beside the marginal model.
func (p *patePlan) Forecast(int) Forecast {
	c, cells := p.cfg, float64(cellCount(p.schema))
	row, distil := gan.Work(cellCount(p.schema))
	f := p.marginals.Forecast(0)
	f.Joints = nil
	f.Seconds += (float64(c.DistilSteps+c.Rounds*c.GeneratorSteps)*distil +
		float64(c.Rounds*c.GeneratorSteps)*batch*(row+4*cells*studentHidden)) / 2e10
	f.MemoryBytes = max(f.MemoryBytes,
		int64(4*batch*(8*cells+1024)+4*float64(c.Rounds*c.Questions)*cells))
	one := Noise{What: "vote on a generated row", Count: p.questions(), Sigma: p.votes.Scale()}
	f.Noise = append(slices.Clone(f.Noise), one)
	if p.votes.CheckSigma > 0 {
		f.Noise = append(f.Noise, Noise{What: "check before a vote", Count: one.Count,
			Sigma: p.votes.CheckSigma})
	}
	return f
}
