package publish

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/accountant/calibrate"
	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/distance"
	"github.com/decoy-dp/decoy/privacy/query"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

// methodName is the name of a run in the ledger.
const methodName = "evaluate"

// Options says what is asked. The zero value is usable.
type Options struct {
	Target string // column to predict; without it there is no rate and no AUROC
	// its value that counts as positive, as the schema writes it; default: the rarest that the
	// synthetic rows have
	Positive string
	Drop     []string     // columns not to predict from
	Learner  eval.Learner // trained on the synthetic rows; default logistic regression
	Bins     int          // of the score, default 12: more cost more noise, fewer blur the curve
}

// RunOptions says at what price, and where it is written down.
type RunOptions struct {
	privacy.Options // without Plan, Price, Method and Program, which Run fills in
	Progress        func(stage string, fraction float64)
	// makes the result durable: the run is closed after it. May be nil
	Deliver func(*Result) error
}

// Shares of the budget, as μ², that each question gets: the more cells the answer is made of, the
// more.
const (
	shareRows     = .15
	shareScores   = .55
	shareDistance = .15 // each of two
)

// mostPairs of columns are compared; of more, as many evenly spread over them.
const mostPairs = 1000

// mostPairCells is the largest marginal of two columns that is compared.
const mostPairCells = 1 << 22

// plan is what is asked, and with what noise.
type plan struct {
	schema      *schema.Schema
	nb          privacy.Neighbours
	singles     [][]int
	pairs       [][]int
	scores      *scoreCells // nil without a target, or if no model can be trained
	label       *labelCells // nil without a target
	noScores    string      // why scores is nil
	z           float64
	rows        float64 // σ of the count, or of each label's count
	one, two    float64 // σ of the distances
	score       float64 // σ of a cell of the histogram of scores
	composition accountant.Composition
}

// Sets are the columns, and pairs of them, whose marginals a run without a target asks for: it asks
// for nothing else but the number of rows.
func Sets(s *schema.Schema) [][]int {
	singles, pairs := sets(s)
	return append(singles, pairs...)
}

func sets(s *schema.Schema) (singles, pairs [][]int) {
	sizes := s.Sizes()
	var all [][]int
	for i := range sizes {
		singles = append(singles, []int{i})
		for j := range i {
			if sizes[i]*sizes[j] <= mostPairCells {
				all = append(all, []int{j, i})
			}
		}
	}
	for k := range min(len(all), mostPairs) {
		pairs = append(pairs, all[k*len(all)/min(len(all), mostPairs)])
	}
	return singles, pairs
}

// newPlan decides everything that follows from public things: the schema, the synthetic rows, the
// budget.
func newPlan(
	s *schema.Schema, nb privacy.Neighbours, synthetic *table.Table, o Options, b accountant.Budget,
) (*plan, error) {
	if synthetic.Rows() == 0 {
		return nil, fmt.Errorf("publish: the synthetic table has no rows: %w", eval.ErrTables)
	}
	p := &plan{schema: s, nb: nb}
	p.singles, p.pairs = sets(s)
	if o.Target != "" {
		var err error
		if p.label, err = newLabel(synthetic, o); err != nil {
			return nil, err
		}
		p.scores, err = newScores(synthetic, o, p.label)
		switch {
		case errors.Is(err, eval.ErrOneClass):
			p.noScores = "the synthetic rows are all of one class"
		case err != nil:
			return nil, err
		}
	} else if o.Positive != "" {
		return nil, fmt.Errorf("publish: a positive value without a target column: %w", eval.ErrColumn)
	}
	return p, p.calibrate(b)
}

// calibrate finds the noise at which all events together are within the budget.
func (p *plan) calibrate(b accountant.Budget) error {
	z, err := calibrate.Scale(b, p.nb.Adjacency, func(z float64) accountant.Composition {
		p.at(z)
		return p.composition
	})
	if err != nil {
		return err
	}
	p.at(z)
	return nil
}

// at sets the noise for a multiplier z of the whole budget.
func (p *plan) at(z float64) {
	// its sensitivity
	unit := func(e accountant.Event) float64 { return 1 / e.(accountant.Gaussian).NoiseMultiplier }
	noise := func(share float64, e accountant.Event) float64 {
		return z / math.Sqrt(share) * unit(e)
	}
	p.z, p.composition = z, nil
	add := func(e accountant.Event) {
		for i, c := range p.composition {
			if c.Event == e {
				p.composition[i].Count++
				return
			}
		}
		p.composition = append(p.composition, accountant.Charge{Event: e, Count: 1})
	}
	if p.label != nil {
		p.rows = noise(shareRows, p.nb.MeasureEvent(privacy.Marginal{}, 1))
		add(p.nb.MeasureEvent(privacy.Marginal{}, p.rows))
	} else {
		p.rows = noise(shareRows, p.nb.MeasureEvent(query.Total{}, 1))
		add(p.nb.MeasureEvent(query.Total{}, p.rows))
	}
	singles, pairs := marginals(p.singles), marginals(p.pairs)
	p.one = noise(shareDistance, distance.Event(p.nb, singles, 1))
	add(distance.Event(p.nb, singles, p.one))
	if len(p.pairs) > 0 {
		p.two = noise(shareDistance, distance.Event(p.nb, pairs, 1))
		add(distance.Event(p.nb, pairs, p.two))
	}
	if p.scores != nil {
		p.score = noise(shareScores, p.nb.MeasureEvent(query.Cells{}, 1))
		add(p.nb.MeasureEvent(query.Cells{}, p.score))
	}
}

// marginals is queries over sets of columns.
func marginals(sets [][]int) []privacy.Query {
	out := make([]privacy.Query, len(sets))
	for i, cols := range sets {
		out[i] = privacy.Marginal{Cols: cols}
	}
	return out
}

// Run asks the private rows about the synthetic table and charges the whole budget, in the ledger
// before a row is read. synthetic must have the columns of the schema of rows. The session is
// returned for its report and run name as soon as one was opened, with an error too. Errors about
// the options wrap eval.ErrColumn, those about the synthetic table eval.ErrTables; others are those
// of privacy.Open.
func Run(
	ctx context.Context, rows *privacy.Rows, synthetic *table.Table, o Options, r RunOptions,
) (*Result, *privacy.Session, error) {
	nb := privacy.NeighboursOf(rows.Schema(), r.Adjacency)
	if err := sameColumns(rows.Schema(), synthetic.Schema()); err != nil {
		return nil, nil, err
	}
	p, err := newPlan(rows.Schema(), nb, synthetic, o, r.Budget)
	if err != nil {
		return nil, nil, err
	}
	r.Plan, r.Price, r.Method, r.Program = p.composition, nil, methodName, r.Tool
	if r.Progress == nil {
		r.Progress = func(string, float64) {}
	}
	return release.Run(ctx, privacy.Open, rows, r.Options,
		func(s *privacy.Session) (*Result, error) {
			estimates, err := p.ask(ctx, s, synthetic, r.Progress)
			if err != nil {
				return nil, err
			}
			out := &Result{Format: format, Publishable: true, Tool: r.Tool,
				Paid: release.PaidIn(s), SchemaSHA256: s.Schema().Fingerprint(),
				SyntheticRows: synthetic.Rows(), Target: o.Target, Estimates: estimates}
			if p.label != nil {
				out.Positive = p.label.text
			}
			return out, release.Seal(s, out)
		}, r.Deliver)
}

// sameColumns checks that two schemas give codes the same meaning: units and missing tokens may
// differ.
func sameColumns(a, b *schema.Schema) error {
	if len(a.Columns) != len(b.Columns) {
		return fmt.Errorf("publish: schemas of %d and of %d columns: %w", len(a.Columns),
			len(b.Columns), eval.ErrTables)
	}
	ca, err := a.Codecs()
	if err != nil {
		return err
	}
	cb, err := b.Codecs()
	if err != nil {
		return err
	}
	for i := range ca {
		same := a.Columns[i].Name == b.Columns[i].Name && ca[i].Size() == cb[i].Size()
		for code := 0; same && code < ca[i].Size(); code++ {
			same = ca[i].Label(uint16(code)) == cb[i].Label(uint16(code))
		}
		if !same {
			return fmt.Errorf("publish: column %d differs between the schemas: %w", i+1, eval.ErrTables)
		}
	}
	return nil
}

// ask calls the mechanisms of the plan.
func (p *plan) ask(
	ctx context.Context, s *privacy.Session, synthetic *table.Table, progress func(string, float64),
) ([]Estimate, error) {
	var out []Estimate
	var n, positive float64
	progress("asking", 0)
	if p.label != nil {
		counts, err := s.Measure(p.label.query(), p.rows)
		if err != nil {
			return nil, err
		}
		n, positive = max(1, float64(counts[0]+counts[1])), float64(counts[1])
	} else {
		total, err := s.Measure(query.Total{}, p.rows)
		if err != nil {
			return nil, err
		}
		n = max(1, float64(total[0]))
	}
	spread := p.rows // of n
	if p.label != nil {
		spread *= math.Sqrt2
	}
	out = append(out, Estimate{Name: "Rows", Of: "private table", Value: n, StdErr: spread,
		Meaning: "Number of rows of the private table."})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	progress("asking", .25)
	one, err := distance.Measure(s, candidates(synthetic, p.singles, n), p.one)
	if err != nil {
		return nil, err
	}
	out = append(out, marginalError("one column", one, p.one, len(p.singles), n, spread))
	if len(p.pairs) > 0 {
		two, err := distance.Measure(s, candidates(synthetic, p.pairs, n), p.two)
		if err != nil {
			return nil, err
		}
		out = append(out, marginalError("two columns", two, p.two, len(p.pairs), n, spread))
	}
	if p.label == nil {
		return out, nil
	}
	// The rate a/(a+b) of two counts with noise σ each moves by σ·√(a² + b²)/(a+b)².
	rate := positive / n
	out = append(out, Estimate{Name: "RareClassRate", Of: "private table",
		Value:   min(1, max(0, rate)),
		StdErr:  p.rows / n * math.Sqrt(rate*rate+(1-rate)*(1-rate)),
		Meaning: meaning("RareClassRate")})
	progress("asking", .5)
	if p.scores == nil {
		return append(out,
			Estimate{Name: "AUROC", Of: "model trained on synthetic rows", LeftOut: p.noScores,
				Meaning: meaning("AUROC")}), nil
	}
	counts, err := s.Measure(query.Cells{Rule: p.scores}, p.score)
	if err != nil {
		return nil, err
	}
	return append(out, auroc(counts, p.score)), nil
}

// candidates are marginals with what the synthetic table makes of n rows.
func candidates(synthetic *table.Table, sets [][]int, n float64) []privacy.Candidate {
	out := make([]privacy.Candidate, len(sets))
	sizes := synthetic.Schema().Sizes()
	for i, cols := range sets {
		cells := 1
		for _, c := range cols {
			cells *= sizes[c]
		}
		counts := make([]int64, cells)
		synthetic.CountTo(counts, cols)
		estimate := make([]float64, cells)
		for k, c := range counts {
			estimate[k] = float64(c) / float64(synthetic.Rows()) * n
		}
		out[i] = privacy.Candidate{Query: privacy.Marginal{Cols: cols}, Estimate: estimate}
	}
	return out
}

// marginalError turns a noisy sum of distances in rows into the mean total variation distance. A
// wrong n moves it by up to its own error.
func marginalError(of string, sum, sigma float64, sets int, n, spread float64) Estimate {
	t := float64(sets)
	return Estimate{Name: "MarginalError", Of: of, Value: min(1, max(0, sum/(2*t*n))),
		StdErr: math.Hypot(sigma/t, spread) / (2 * n), Meaning: meaning("MarginalError")}
}

// meaning is the sentence of package eval about a metric.
func meaning(name string) string {
	for _, m := range eval.Metrics() {
		if m.Name == name {
			return m.Meaning
		}
	}
	return ""
}
