package synth

import (
	"fmt"
	"math"
	"math/big"

	"gonum.org/v1/gonum/stat/combin"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/model/workload"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
)

// totalShare is the share of epsilon for the number of rows.
const smallTotalShare = 0.1

// The limits: cells of the domain, and queries.
const (
	maxDomain  = 1 << 12
	maxQueries = 1 << 12
)

// SmallDB is SmallDB (Blum, Ligett, Roth, "A learning theory approach to non-interactive
// database privacy", STOC 2008; Dwork, Roth, "The algorithmic foundations of differential privacy",
// 2014, section 4.1): among all multisets of m rows of the domain, the exponential mechanism picks
// one whose answers to the queries of a workload are close to those of the private table, in the
// worst query.
//
// It is exact: every multiset is scored, and the draw is the exponential mechanism's. So it is for
// tiny domains; C(|X|+m−1, m) multisets beyond the limit are refused with their number. A Markov
// chain in place of the enumeration would not be differentially private.
type SmallDB struct {
	// Workload is a workload: the YAML text, or the path of a file of it. Marginals count as their
	// cells. Default: all pairs of columns (the column, if there is one).
	Workload string `mapstructure:"workload"`
	// Alpha is the error, as a share of the rows, that some multiset of the chosen size is sure to
	// meet; default 0.3.
	Alpha float64 `mapstructure:"alpha" default:"0.3" min:"0.01" max:"0.999999"`
	// Rows is the size m of the multisets; default the least that Alpha needs, see rowsFor.
	Rows int `mapstructure:"rows" min:"0" max:"1048576"`

	file []byte // the workload; nil: all pairs
}

// Name is "smalldb".
func (*SmallDB) Name() string { return "smalldb" }

func (f *SmallDB) check() (err error) {
	if f.file, err = workload.Source(f.Workload); err != nil {
		err = fmt.Errorf("%v", err)
	}
	return err
}

// rowsFor is a size m such that for any table some multiset of m of its rows answers each of the
// given number of counting queries within a share alpha of the rows.
//
// m rows drawn with replacement miss a query of fraction p by more than alpha with probability
// P(|Bin(m, p)/m − p| > alpha); if queries times the largest of these over p is below 1, some draw
// misses none. The textbook bounds that with Hoeffding's inequality and takes m =
// ⌈ln(queries)/alpha²⌉; the binomial tail itself is much smaller (20 queries, alpha 0.3: m = 34 and
// 12), and every row less divides the number of multisets (on 16 cells: 1.6·10¹² and 1.7·10⁷). It
// concerns utility only: privacy holds for any m.
func rowsFor(queries int, alpha float64) int {
	textbook := max(1, int(math.Ceil(math.Log(float64(queries))/(alpha*alpha))))
	for m := 1; m < min(textbook, 200); m++ {
		if float64(queries)*worstTail(m, alpha) < 1 {
			return m
		}
	}
	return textbook
}

// worstTail is the supremum over p of P(|Bin(m, p)/m − p| > alpha), on a grid of p, where an
// outcome that is about to miss counts as one that does.
func worstTail(m int, alpha float64) (worst float64) {
	const steps = 2000
	for i := 1; i < steps; i++ {
		p, tail := float64(i)/steps, 0.0
		for k := range m + 1 {
			if math.Abs(float64(k)/float64(m)-p) > alpha-1./steps {
				tail += math.Exp(combin.LogGeneralizedBinomial(float64(m), float64(k)) +
					float64(k)*math.Log(p) + float64(m-k)*math.Log(1-p))
			}
		}
		worst = max(worst, tail)
	}
	return worst
}

// candidatesOf is C(cells+m−1, m), the number of multisets of m rows.
func candidatesOf(cells, m int) *big.Int {
	return new(big.Int).Binomial(int64(cells)+int64(m)-1, int64(m))
}

// plan is a fit.
type smallPlan struct {
	cfg        SmallDB
	nb         privacy.Neighbours
	sizes      []int
	names      []string
	queries    []table.Expr
	members    [][]float64 // see membersOf
	rows       int
	candidates int
	total      float64 // scale of the noise of the number of rows
	epsilon    float64 // of the choice
}

// Reserve is one pure step for the number of rows and the choice.
func (f *SmallDB) Reserve(t Terms, b accountant.Budget, before float64) (
	accountant.Composition, accountant.Pricer, error,
) {
	return pure(t, b, before, 1)
}

// Plan counts the candidates, and refuses (ErrConfig) if they are too many. It divides the ε
// of a pure step between the number of rows and the choice.
func (f *SmallDB) Plan(t Terms) (Plan, error) {
	s, epsilon := t.Schema, t.Left.Epsilon*(1-1e-12)
	k := float64(max(1, t.Neighbours.MaxRowsPerUnit))
	p := &smallPlan{cfg: *f, nb: t.Neighbours, sizes: s.Sizes(),
		total: k / (epsilon * smallTotalShare) * (1 + 1e-12), epsilon: epsilon * (1 - smallTotalShare)}
	cells := 1.0
	for _, n := range p.sizes {
		cells *= float64(n)
	}
	if cells > maxDomain {
		return nil, fmt.Errorf("smalldb: the domain has %.4g cells, the limit is %d: %w", cells,
			maxDomain, ErrConfig)
	}
	if err := p.ask(f.file, s); err != nil {
		return nil, err
	}
	if p.rows = f.Rows; p.rows == 0 {
		p.rows = rowsFor(len(p.queries), f.Alpha)
	}
	all := candidatesOf(int(cells), p.rows)
	if all.Cmp(big.NewInt(privacy.MaxDatabases)) > 0 {
		return nil, fmt.Errorf(
			"smalldb: there are %v multisets of %d rows of a domain of %.0f cells, "+
				"the limit is %d: %w", all, p.rows, cells, privacy.MaxDatabases, ErrConfig)
	}
	p.candidates = int(all.Int64())
	return p, nil
}

// ask reads the workload and evaluates it on every cell of the domain.
func (p *smallPlan) ask(file []byte, s *schema.Schema) error {
	items := workload.Marginals(s, min(2, len(s.Columns)), 0)
	if file != nil {
		w, err := workload.Parse(file, s)
		if err != nil {
			return fmt.Errorf("smalldb: %w: %w", err, ErrConfig)
		}
		items = w.Items()
	}
	for _, it := range items {
		counts, err := it.Counts(p.sizes, maxQueries-len(p.queries))
		if err != nil || len(p.queries)+len(counts) > maxQueries {
			return fmt.Errorf("smalldb: the workload has more than %d queries, each cell of a "+
				"marginal being one: %w", maxQueries, ErrConfig)
		}
		for _, c := range counts {
			p.queries, p.names = append(p.queries, c.Where), append(p.names, c.Name)
		}
	}
	p.members = membersOf(p.sizes, p.queries)
	return nil
}

// membersOf is, for each cell of the domain, row-major, 1 for each query that it satisfies, else 0.
func membersOf(sizes []int, queries []table.Expr) [][]float64 {
	columns, cells := make([]int, len(sizes)), 1
	for c, n := range sizes {
		columns[c] = c
		cells *= n
	}
	out := make([][]float64, cells)
	for cell := range out {
		out[cell] = make([]float64, len(queries))
	}
	for q, x := range queries {
		for _, r := range workload.Runs(x, sizes, columns) {
			for cell := r.Lo; cell < r.Hi; cell++ {
				out[cell][q] = 1
			}
		}
	}
	return out
}
