package aim

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/marginal"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/synth"
)

// iterations of the estimation after a round; the last estimation runs until it has converged.
const iterations = 15

// groupSigmas is the noisy count in σ below which codes are merged.
const groupSigmas = 2

// fit is a run of a plan.
type fit struct {
	*plan
	session *privacy.Session
	ctx     context.Context
	work    float64 // cells touched so far, as sizes of tables and noisy counts tell: see plan.work

	total, used float64 // μ², of the pool or, in the published form, 2ρ
	step        float64 // what a round spends; 0 before the first
	sizes       []int   // codes of each column
	groups      *marginal.Grouping
	groupSizes  []int
	fine        resolutions
	candidates  []candidate
	ms          []marginal.Measurement
	tables      [][]int // column sets of ms and of the constraints
	model       *marginal.Model
	zeros       []marginal.Zeros
	chosen      []any // for the settings of the model
	released    []release.Measured
}

// Fit measures the columns, then chooses and measures until the budget or the work that it may take
// is gone, and estimates.
func (p *plan) Fit(ctx context.Context, s *privacy.Session, progress synth.Progress) (synth.Model,
	error) {
	f := &fit{plan: p, session: s, ctx: ctx, total: p.mu * p.mu * (1 - 1e-9),
		sizes: s.Schema().Sizes()}
	if p.cfg.Published {
		f.total = 2 * p.rho
	}
	progress.Report("measuring columns", 0)
	if err := f.columns(); err != nil {
		return synth.Model{}, err
	}
	if err := f.estimate(3 * iterations); err != nil {
		return synth.Model{}, err
	}
	for last := len(f.sizes) == 1; !last; {
		progress.Report("choosing and measuring", f.used/f.total)
		var err error
		if last, err = f.round(); err != nil {
			return synth.Model{}, err
		}
		if !last && f.work > p.work() {
			last = true
			if err := f.again(); err != nil {
				return synth.Model{}, err
			}
		}
	}
	progress.Report("fitting the model", 0)
	if err := f.estimate(0); err != nil {
		return synth.Model{}, err
	}
	if err := f.keepsRules(); err != nil {
		return synth.Model{}, err
	}
	return synth.Model{Params: &release.Marginal{Model: f.model, Grouping: f.groups,
		Measured: f.released}, Settings: f.settings()}, nil
}

// columns measures every column, part first and part when the row count is known, and the pairs of
// the target; then it decides which codes to merge and where to cut columns into runs. All that
// follows from noisy counts.
func (f *fit) columns() error {
	d := len(f.sizes)
	share := firstShare
	switch {
	case d == 1:
		share = 1
	case f.cfg.Published:
		share = (1 - f.cfg.SelectShare) * float64(d) / f.rounds()
	}
	raw, err := f.measureColumns(share)
	if err != nil {
		return err
	}
	if more := f.oneWay(rowsOf(raw)) - share; !f.cfg.Published && more > 0 && d > 1 {
		second, err := f.measureColumns(more)
		if err != nil {
			return err
		}
		for i := range raw {
			raw[i] = average(raw[i], second[i])
		}
	}
	k, merged := float64(groupSigmas), slices.Clone(raw)
	for i := range raw {
		if f.cfg.Published {
			continue
		}
		raw[i] = marginal.Smooth(raw[i])
		merged[i] = raw[i]
	}
	for i := range merged {
		if f.cfg.Published || f.ruled(i) { // every code stands for itself
			merged[i].Counts, merged[i].Sigmas, merged[i].Sigma = make([]float64, f.sizes[i]),
				nil, 1
			for j := range merged[i].Counts {
				merged[i].Counts[j] = k + 1
			}
		}
	}
	if f.groups, err = marginal.NewGrouping(f.sizes, merged, k); err != nil {
		return err
	}
	f.groupSizes = f.groups.Sizes()
	mass := make([][]float64, d)
	for i, m := range raw {
		m = f.groups.GroupMeasurement(m)
		f.ms = append(f.ms, m)
		f.tables = append(f.tables, m.Cols)
		for _, x := range m.Counts {
			mass[i] = append(mass[i], math.Max(x, 0))
		}
	}
	f.fine = newResolutions(mass)
	for _, r := range f.plan.zeros {
		f.zeros = append(f.zeros, r.zeros)
		f.tables = append(f.tables, r.zeros.Cols)
	}
	if cells, err := marginal.TreeCells(f.groupSizes, f.tables); err != nil ||
		float64(cells) > f.cells() {
		return fmt.Errorf("aim: the constraints need more than memory_mb %d: %w", f.cfg.MemoryMB,
			synth.ErrConfig)
	}
	t := f.schema.Index(f.cfg.Target)
	f.candidates = closure(f.sets, t)
	if t < 0 || d == 1 {
		return nil
	}
	for i := range d {
		pair := []int{min(i, t), max(i, t)}
		if i == t || !f.fits(pair, 1) {
			continue
		}
		if err := f.measure(pair, f.coarsest(pair),
			f.cfg.TargetShare*f.total/float64(d-1)); err != nil {
			return err
		}
	}
	return nil
}

// coarsest is the first level, from full detail down, at which the pair has at most 256 cells, or
// the last one.
func (f *fit) coarsest(pair []int) int {
	for _, level := range append([]int{0}, levels...) {
		if _, cells := f.fine.of(pair, level, f.groupSizes); cells <= 256 {
			return level
		}
	}
	return levels[len(levels)-1]
}

// ruled says whether a constraint names the column: its codes are then kept apart.
func (f *fit) ruled(col int) bool {
	return slices.ContainsFunc(f.plan.zeros,
		func(r rule) bool { return slices.Contains(r.zeros.Cols, col) })
}

// measureColumns spends the share on all columns evenly.
func (f *fit) measureColumns(share float64) ([]marginal.Measurement, error) {
	var out []marginal.Measurement
	for i := range f.sizes {
		mu2 := share * f.total / float64(len(f.sizes))
		m := privacy.Marginal{Cols: []int{i}}
		counts, err := f.session.Measure(m, f.sigma(mu2))
		if err != nil {
			return nil, err
		}
		f.keep(m, counts, f.sigma(mu2))
		f.used += mu2
		out = append(out, measurement(m.Cols, counts, f.sigma(mu2)))
	}
	return out, nil
}

// rowsOf is the row count that the columns agree on, by inverse variance.
func rowsOf(ms []marginal.Measurement) float64 {
	num, den := 0.0, 0.0
	for _, m := range ms {
		w := 1 / (float64(len(m.Counts)) * m.Sigma * m.Sigma)
		for _, x := range m.Counts {
			num += w * x
		}
		den += w
	}
	return num / den
}

// average joins two measurements of one table by inverse variance.
func average(a, b marginal.Measurement) marginal.Measurement {
	p, q := 1/(a.Sigma*a.Sigma), 1/(b.Sigma*b.Sigma)
	out := marginal.Measurement{Cols: a.Cols, Counts: make([]float64, len(a.Counts)),
		Sigma: 1 / math.Sqrt(p+q)}
	for i := range out.Counts {
		out.Counts[i] = (p*a.Counts[i] + q*b.Counts[i]) / (p + q)
	}
	return out
}

// measurement is a noisy marginal as package marginal takes it.
func measurement(cols []int, counts []int64, sigma float64) marginal.Measurement {
	m := marginal.Measurement{Cols: cols, Sigma: sigma, Counts: make([]float64, len(counts))}
	for i, c := range counts {
		m.Counts[i] = float64(c)
	}
	return m
}

// keep notes a released marginal for the model file.
func (f *fit) keep(m privacy.Marginal, counts []int64, sigma float64) {
	f.released = append(f.released, release.Measured{Cols: m.Cols, Groups: m.Groups,
		Counts: counts, Sigma: sigma})
}

// marginalOf is the table that the gate counts: codes merged by the grouping and then into runs.
func (f *fit) marginalOf(cols []int, runs [][]uint16) privacy.Marginal {
	m := privacy.Marginal{Cols: cols, Groups: make([][]uint16, len(cols))}
	for i, c := range cols {
		g := f.groups.Groups(c)
		if runs == nil || runs[i] == nil {
			m.Groups[i] = g
			continue
		}
		m.Groups[i] = make([]uint16, f.sizes[c])
		for code := range m.Groups[i] {
			of := uint16(code)
			if g != nil {
				of = g[code]
			}
			m.Groups[i][code] = runs[i][of]
		}
	}
	return m
}

// measure spends mu2 on a table, less if there is less left.
func (f *fit) measure(cols []int, level int, mu2 float64) error {
	if mu2 = math.Min(mu2, f.total-f.used); mu2 < 1e-6*f.total {
		return nil
	}
	runs, _ := f.fine.of(cols, level, f.groupSizes)
	query := f.marginalOf(cols, runs)
	counts, err := f.session.Measure(query, f.sigma(mu2))
	if err != nil {
		return err
	}
	f.keep(query, counts, f.sigma(mu2))
	f.used += mu2
	m := measurement(cols, counts, f.sigma(mu2))
	m.Groups = runs
	f.ms = append(f.ms, m)
	f.tables = append(f.tables, cols)
	names := make([]any, len(cols))
	for i, c := range cols {
		names[i] = f.schema.Columns[c].Name
	}
	f.chosen = append(f.chosen, names)
	return nil
}

// fits says whether the tree with the columns joined stays within the share of the memory.
func (f *fit) fits(cols []int, share float64) bool {
	cells, err := marginal.TreeCells(f.groupSizes,
		append(f.tables[:len(f.tables):len(f.tables)], cols))
	return err == nil && float64(cells) <= share*f.cells()
}

// again spends what is left on the tables that were chosen, once more and evenly: no choice, no new
// clique.
func (f *fit) again() error {
	left, n := f.total-f.used, len(f.chosen)
	if n == 0 || left < 1e-3*f.total {
		return nil
	}
	// Measurements follow the d columns in the order of f.chosen.
	for _, m := range slices.Clone(f.ms[len(f.sizes):]) {
		level := 0
		for _, l := range levels {
			if runs, _ := f.fine.of(m.Cols, l, f.groupSizes); runs != nil &&
				sameRuns(runs, m.Groups) {
				level = l
			}
		}
		if err := f.measure(m.Cols, level, left/float64(n)*(1-1e-9)); err != nil {
			return err
		}
	}
	return nil
}

func sameRuns(a, b [][]uint16) bool {
	return slices.EqualFunc(a, b, func(x, y []uint16) bool { return slices.Equal(x, y) })
}

// estimate fits the model; 0 iterations: until it has converged. Iterations count as work whether
// they are needed or not.
func (f *fit) estimate(iterations int) error {
	cells, err := marginal.TreeCells(f.groupSizes, f.tables)
	if err != nil {
		return err
	}
	f.work += float64(cells * iterations)
	m, err := marginal.Fit(f.ctx, f.groupSizes, f.ms, marginal.Options{Iterations: iterations,
		Warm: f.model, Zeros: f.zeros})
	if err == nil {
		f.model = m
	}
	return err
}

// keepsRules reports constraints that contradict each other: then some impossible cell must have
// mass.
func (f *fit) keepsRules() error {
	for i, z := range f.zeros {
		p := make([]float64, len(z.Impossible))
		if err := f.model.MarginalTo(p, z.Cols); err != nil {
			return err
		}
		for k, x := range p {
			if z.Impossible[k] && x > 1e-9*f.model.Total() {
				return fmt.Errorf("aim: constraint %q contradicts the others: %w",
					f.plan.zeros[i].text, synth.ErrConfig)
			}
		}
	}
	return nil
}

func (f *fit) settings() map[string]any {
	spent := f.used / f.total
	return map[string]any{
		"workload": f.cfg.Workload, "target": f.cfg.Target, "memory_mb": f.cfg.MemoryMB,
		"published": f.cfg.Published, "pool_mu": f.mu,
		"spent": math.Round(1e4*spent) / 1e4, "one_way_sigma": f.ms[0].Sigma, "marginals": f.chosen,
	}
}

// exponential is the ε of a choice that takes mu2, in the accounting of the form in use.
func (f *fit) exponential(mu2 float64) float64 {
	if f.cfg.Published {
		return 2 * math.Sqrt(mu2) // ε²/8 = mu2/2
	}
	return accountant.ExponentialOfMu(math.Sqrt(mu2))
}
