package synth

import (
	"fmt"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"

	"github.com/decoy-dp/decoy/model/workload"
)

// MWEM is MWEM (Hardt, Ligett, McSherry, "A simple and practical algorithm for
// differentially private data release", NIPS 2012, arXiv 1012.4763): in T rounds, let the
// exponential mechanism pick the query of a workload that the present distribution answers worst,
// measure it with noise, and move the distribution towards the answer.
//
// Beside the paper, which makes one update a round with one query and releases the average of the
// iterates: a marginal is picked and measured as a whole, which costs no more than one of its
// cells; after each round all measurements are fitted again, and the last iterate is released; both
// halves of the budget are charged, the number of rows is bought with noise, and the budget is
// composed exactly instead of as ε/2T a call. There are two forms, by the workload:
//
//   - with counts, one histogram over the columns that queries speak of, the others being uniform.
//     It is fitted by coordinate steps to a regularised maximum of the entropy;
//   - of marginals only, a graphical model (package marginal), which needs cells for the cliques of
//     its junction tree only. One-way marginals are measured first and rare codes merged, as in
//     MST.
type MWEM struct {
	// Workload is a workload: the YAML text, or the path of a file of it. Default: all pairs of
	// columns (all columns, if there is one).
	Workload string `mapstructure:"workload"`
	// Rounds is the number of queries that are measured; default 30, of a workload of marginals twice
	// the columns, and never more than there are queries.
	Rounds int `mapstructure:"rounds" min:"0" max:"10000"`
	// SelectShare is the share of the budget for picking queries; default 0.2.
	SelectShare float64 `mapstructure:"select_share" default:"0.2" min:"1e-6" max:"0.79"`
	// MaxCells is the limit on the cells of the histogram or of the junction tree; default
	// 10,000,000.
	MaxCells int `mapstructure:"max_cells" default:"10000000" min:"1" max:"100000000"`

	file []byte // the workload; nil: all pairs
}

// What is measured first has these shares of the budget: for a graph the one-way marginals, for a
// histogram the number of rows.
const (
	oneWayShare    = 0.2
	mwemTotalShare = 0.02
)

// Name is "mwem".
func (*MWEM) Name() string { return "mwem" }

func (f *MWEM) check() (err error) {
	if f.file, err = workload.Source(f.Workload); err != nil {
		err = fmt.Errorf("%v", err)
	}
	return err
}

// workloadOf is the workload for a schema. Without a file, pairs too large to be held are left out;
// what then is in no pair is a column alone.
func (f *MWEM) workloadOf(s *schema.Schema) (*workload.Workload, error) {
	if f.file != nil {
		w, err := workload.Parse(f.file, s)
		if err != nil {
			return nil, fmt.Errorf("mwem: %w: %w", err, ErrConfig)
		}
		return w, nil
	}
	limit := min(f.MaxCells, privacy.MaxCells)
	items := workload.Marginals(s, 2, limit)
	if len(items) == 0 {
		items = workload.Marginals(s, 1, limit)
	}
	w, err := workload.New(s, items)
	if err != nil {
		return nil, fmt.Errorf("mwem: no column fits into %d cells: %w: %w", limit,
			err, ErrConfig)
	}
	return w, nil
}

// Reserve is one filter of Gaussian noise, or one pure step where there is no δ, of a workload of
// counts.
func (f *MWEM) Reserve(t Terms, b accountant.Budget, before float64) (
	accountant.Composition, accountant.Pricer, error,
) {
	p, err := f.plan(t)
	if err != nil {
		return nil, nil, err
	}
	if p.counts && b.Delta == 0 {
		return pure(t, b, before, 1)
	}
	return gaussian{}.Reserve(t, b, before)
}

// Plan reads the workload against the schema, and has the noise that is left.
func (f *MWEM) Plan(t Terms) (Plan, error) {
	p, err := f.plan(t)
	if err != nil {
		return nil, err
	}
	p.pay(t.Left)
	return p, nil
}

// plan is the plan without noise.
func (f *MWEM) plan(t Terms) (*mwemPlan, error) {
	w, err := f.workloadOf(t.Schema)
	if err != nil {
		return nil, err
	}
	p := &mwemPlan{cfg: *f, nb: t.Neighbours, w: w}
	return p, p.choose()
}
