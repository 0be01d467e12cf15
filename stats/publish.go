package stats

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/ledger"
)

// Evaluation says what is asked about a synthetic table. The zero value is usable.
type Evaluation struct {
	Target string // column to predict; without it there is no rate and no AUROC
	// its value that counts as positive, as the schema writes it; default: the rarest that the
	// synthetic rows have
	Positive string
	Drop     []string // columns not to predict from, by a logistic regression
}

// estimate is one number that was bought, with its standard error: of the noise and, for an AUROC,
// of the rows drawn.
type estimate struct {
	Name    string  `json:"name"`
	Of      string  `json:"of"`
	Value   float64 `json:"value"`
	StdErr  float64 `json:"std_err"`
	LeftOut string  `json:"left_out,omitempty"` // why there is no value
	Meaning string  `json:"meaning"`
}

// Published is an evaluation: all of it may be given away.
type Published struct {
	Format      int    `json:"decoy_published"`
	Publishable bool   `json:"publishable"` // always true
	Tool        string `json:"tool,omitempty"`
	release.Paid
	SchemaSHA256  string     `json:"schema_sha256"`
	SyntheticRows int        `json:"synthetic_rows"`
	Target        string     `json:"target,omitempty"`
	Positive      string     `json:"positive,omitempty"`
	Estimates     []estimate `json:"estimates"`
	release.Proof
}

// States are the claim and the program that the file names.
func (r *Published) States() (release.Claim, string) { return r.Claim(), r.Tool }

// Check returns an error for a ledger of another schema.
func (r *Published) Check(run ledger.VerifiedRun) error {
	if run.Reserve.SchemaSHA256 != r.SchemaSHA256 || !r.Publishable {
		return errors.New("the ledger is of another schema, or not of a published evaluation")
	}
	return nil
}

// Shares of the budget, as μ², that each question gets, as far as it is asked: the more cells the
// answer is made of, the more.
const (
	shareRows     = .15
	shareScores   = .55
	shareDistance = .15 // each of two
)

// mostPairs of columns are compared; of more, as many evenly spread over them.
const mostPairs = 1000

// mostPairCells is the largest marginal of two columns that is compared.
const mostPairCells = 1 << 22

// evaluation is what is asked, and with what noise.
type evaluation struct {
	synthetic *table.Table
	sets      [2][][]int      // of columns, whose marginals are compared: single ones, and pairs
	scores    *privacy.Scores // nil without a target, or if no model can be trained
	label     *labelCells     // nil without a target
	noScores  string          // why scores is nil
	mu        float64         // of everything
	shares    float64         // of the questions that are asked
}

// PublishedSets are the columns, and pairs of them, whose marginals a run without a target asks
// for: it asks for nothing else but the number of rows.
func PublishedSets(s *schema.Schema) [][]int {
	sets := comparedSets(s.Sizes())
	return append(sets[0], sets[1]...)
}

func comparedSets(sizes []int) (sets [2][][]int) {
	var all [][]int
	for i := range sizes {
		sets[0] = append(sets[0], []int{i})
		for j := range i {
			if sizes[i]*sizes[j] <= mostPairCells {
				all = append(all, []int{j, i})
			}
		}
	}
	n := min(len(all), mostPairs)
	for k := range n {
		sets[1] = append(sets[1], all[k*len(all)/n])
	}
	return sets
}

// newEvaluation decides everything that follows from public things: the schema, the synthetic rows,
// the budget.
func newEvaluation(
	s *schema.Schema, synthetic *table.Table, o Evaluation, b accountant.Budget,
) (p *evaluation, err error) {
	if err := comparable(s, synthetic); err != nil {
		return nil, err
	}
	p = &evaluation{synthetic: synthetic, sets: comparedSets(s.Sizes()), shares: shareRows}
	for _, sets := range p.sets {
		if len(sets) > 0 {
			p.shares += shareDistance
		}
	}
	if o.Target != "" {
		if p.label, err = newLabel(synthetic, o); err != nil {
			return nil, err
		}
		switch p.scores, err = newScores(synthetic, o, p.label); {
		case err == nil:
			p.shares += shareScores
		case errors.Is(err, eval.ErrOneClass):
			p.noScores = "the synthetic rows are all of one class"
		default:
			return nil, err
		}
	} else if o.Positive != "" {
		return nil, fmt.Errorf("a positive value without a target column: %w", eval.ErrColumn)
	}
	p.mu, err = accountant.MuFor(b)
	return p, err
}

// sigma is the noise at which a question takes its share, by its event with noise 1.
func (p *evaluation) sigma(share float64, e accountant.Event) float64 {
	return unit(e) / (p.mu * math.Sqrt(below*share/p.shares))
}

// Publish asks the private rows about the synthetic table and charges the whole budget, in the
// ledger before a row is read: mean errors of one- and two-way marginals, the rate of a class, and
// the AUROC of a model that was trained on synthetic rows only. synthetic must have the columns of
// the schema of rows. The session is returned for its report and run name as soon as one was
// opened, with an error too. Errors about what is asked wrap eval.ErrColumn, those about the
// synthetic table eval.ErrTables; others are those of privacy.Open.
func Publish(
	ctx context.Context, rows *privacy.Rows, synthetic *table.Table, o Evaluation, r Run[*Published],
) (*Published, *privacy.Session, error) {
	p, err := newEvaluation(rows.Schema(), synthetic, o, r.Budget)
	if err != nil {
		return nil, nil, err
	}
	return r.buy(ctx, rows, "evaluate", pool(p.mu),
		func(s *privacy.Session) (*Published, error) {
			estimates, err := p.measure(ctx, s, r.report)
			if err != nil {
				return nil, err
			}
			out := &Published{Format: format, Publishable: true, Tool: r.Tool,
				Paid: release.PaidIn(s), SchemaSHA256: s.Schema().Fingerprint(),
				SyntheticRows: synthetic.Rows(), Target: o.Target, Estimates: estimates}
			if p.label != nil {
				out.Positive = p.label.text
			}
			return out, release.Seal(s, out)
		})
}

// comparable checks that there are synthetic rows, and that their schema gives codes the same
// meaning: units and missing tokens may differ.
func comparable(a *schema.Schema, synthetic *table.Table) error {
	b := synthetic.Schema()
	if synthetic.Rows() == 0 {
		return fmt.Errorf("the synthetic table has no rows: %w", eval.ErrTables)
	}
	if len(a.Columns) != len(b.Columns) {
		return fmt.Errorf("schemas of %d and of %d columns: %w", len(a.Columns),
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
			return fmt.Errorf("column %d differs between the schemas: %w", i+1, eval.ErrTables)
		}
	}
	return nil
}

// measure calls the mechanisms.
func (p *evaluation) measure(
	ctx context.Context, s *privacy.Session, progress func(string, float64),
) ([]estimate, error) {
	nb := s.Neighbours()
	progress("asking", 0)
	var rows privacy.Query = privacy.Total{}
	if p.label != nil {
		rows = p.label.query()
	}
	sigma := p.sigma(shareRows, nb.MeasureEvent(rows, 1))
	counts, err := s.Measure(rows, sigma)
	if err != nil {
		return nil, err
	}
	n := 0.0
	for _, x := range counts {
		n += float64(x)
	}
	n = max(1, n)
	spread := sigma * math.Sqrt(float64(len(counts))) // of n
	out := []estimate{{Name: "Rows", Of: "private table", Value: n, StdErr: spread,
		Meaning: "Number of rows of the private table."}}
	for i, of := range []string{"one column", "two columns"} {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		progress("asking", .25*float64(1+i))
		if len(p.sets[i]) == 0 {
			continue
		}
		e, err := p.marginalError(s, p.sets[i], n, spread)
		if err != nil {
			return nil, err
		}
		e.Of = of
		out = append(out, e)
	}
	if p.label == nil {
		return out, nil
	}
	// The rate a/(a+b) of two counts with noise σ each moves by σ·√(a² + b²)/(a+b)².
	rate := float64(counts[1]) / n
	out = append(out, estimate{Name: "RareClassRate", Of: "private table",
		Value: min(1, max(0, rate)), StdErr: sigma / n * math.Hypot(rate, 1-rate)})
	auroc := estimate{LeftOut: p.noScores}
	if p.scores != nil {
		sigma := p.sigma(shareScores, nb.MeasureEvent(privacy.Scores{}, 1))
		counts, err := s.Measure(*p.scores, sigma)
		if err != nil {
			return nil, err
		}
		auroc = binnedAUROC(counts, sigma)
	}
	auroc.Name, auroc.Of = "AUROC", "model trained on synthetic rows"
	out = append(out, auroc)
	for i := range out[1:] {
		out[1+i].Meaning = eval.MetricOf(out[1+i].Name).Meaning
	}
	return out, nil
}

// marginalError buys the sum of the distances of some marginals from what the synthetic table makes
// of n rows, and turns it, in rows, into the mean total variation distance. A wrong n moves it by
// up to its own error.
func (p *evaluation) marginalError(
	s *privacy.Session, sets [][]int, n, spread float64,
) (out estimate, err error) {
	var asked []privacy.Candidate
	var queries []privacy.Query
	for _, cols := range sets {
		var estimate []float64
		for _, c := range p.synthetic.Counts(cols...) {
			estimate = append(estimate, float64(c)/float64(p.synthetic.Rows())*n)
		}
		queries = append(queries, privacy.Marginal{Cols: cols})
		asked = append(asked, privacy.Candidate{Query: queries[len(queries)-1], Estimate: estimate})
	}
	sigma := p.sigma(shareDistance, s.Neighbours().DistanceEvent(queries, 1))
	sum, err := s.MeasureDistance(asked, sigma)
	t := float64(len(sets))
	return estimate{Name: "MarginalError", Value: min(1, max(0, sum/(2*t*n))),
		StdErr: math.Hypot(sigma/t, spread) / (2 * n)}, err
}
