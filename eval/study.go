package eval

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/decoy-dp/decoy/data/table"
)

// Study is what the metrics of [Metrics] are measured on, and how.
type Study struct {
	Train, Synthetic *table.Table
	Holdout          *table.Table // nil without one
	// the cells of the training and the synthetic table as the files have them; nil without
	TrainCells, SyntheticCells *Values
	Target                     string  // column to predict; "" without one
	Seed                       uint64  // public seed of subsamples
	Near                       int     // most rows of a table where all pairs of rows are compared
	Level                      float64 // of confidence intervals, in (0, 1)
	// what a reader must know of how it was measured, in the words of [fmt.Sprintf]
	Note func(format string, args ...any)
}

// Named is a table of a study with its name in a report.
type Named struct {
	Name string
	Rows *table.Table
}

// SyntheticRows is the name of the synthetic table in values.
const SyntheticRows = "synthetic rows"

// Compared lists what is compared with the training table: the synthetic rows and, as the
// yardstick, the holdout.
func (s *Study) Compared() []Named {
	out := []Named{{SyntheticRows, s.Synthetic}}
	if s.Holdout != nil {
		out = append(out, Named{"holdout rows (yardstick)", s.Holdout})
	}
	return out
}

// Yardstick is two real tables, of which a figure shows what chance makes of it: the training table
// and the holdout or, without one, two halves of the training table.
func (s *Study) Yardstick() (name string, a, b *table.Table) {
	if s.Holdout != nil {
		return "holdout rows (yardstick)", s.Train, s.Holdout
	}
	a, b = halves(s.Train, s.Seed)
	return "two halves of the training rows (yardstick)", a, b
}

// halves draws two halves of a table, each of at least a row.
func halves(t *table.Table, seed uint64) (a, b *table.Table) {
	rows := rand.New(rand.NewPCG(seed, 51)).Perm(t.Rows())
	half := (len(rows) + 1) / 2
	return t.Select(rows[:half]), t.Select(rows[len(rows)-half:])
}

// real lists the real tables that there are, the training table first. Where a holdout is of
// another size, the larger of the two is there once more, cut to the size of the smaller: matches
// grow with the number of rows, and only equal sizes can be compared.
func (s *Study) real() []Named {
	out := []Named{{"training table", s.Train}}
	if s.Holdout == nil {
		return out
	}
	out = append(out, Named{"holdout", s.Holdout})
	a, b := out[0], out[1]
	if a.Rows.Rows() < b.Rows.Rows() {
		a, b = b, a
	}
	if n := b.Rows.Rows(); n < a.Rows.Rows() {
		out = append(out, Named{a.Name + ", as many rows as the " + b.Name, s.Cut(a.Rows, n, 50)})
	}
	return out
}

// Cut draws at most n rows of a table, which may be nil, from the public seed; each use of it draws
// others.
func (s *Study) Cut(t *table.Table, n int, use uint64) *table.Table {
	if t == nil || t.Rows() <= n {
		return t
	}
	return t.Select(choice(t.Rows(), n, s.Seed, use))
}

// Share is a proportion of n rows with its [Wilson] interval.
func (s *Study) Share(of string, p float64, n int) Value {
	v := Value{Of: of, Value: Number(p)}
	if i, err := Wilson(int64(math.Round(p*float64(n))), int64(n), s.Level); err == nil {
		v.Interval = new(i.Span())
	}
	return v
}

// each measures a metric for several tables.
func each(tables []Named, of func(Named) ([]Value, error)) ([]Value, error) {
	var out []Value
	for _, t := range tables {
		v, err := of(t)
		if err != nil {
			return nil, err
		}
		out = append(out, v...)
	}
	return out, nil
}

func validity(s *Study) ([]Value, error) {
	if s.SyntheticCells == nil {
		return nil, nil
	}
	share := Validity(s.SyntheticCells)
	return []Value{s.Share(SyntheticRows, share, s.SyntheticCells.rows)}, nil
}

const (
	mostFit   = 50_000 // rows of a table in the propensity fit
	mostSets  = 600    // sets of three columns
	mostCells = 4e9    // rows·columns·sets that marginals may touch: about ten seconds
)

// propensity measures how well synthetic rows, and those of the holdout, can be told from others.
func propensity(s *Study) ([]Value, error) {
	if max(s.Train.Rows(), s.Synthetic.Rows()) > mostFit {
		s.Note("PMSE is measured on at most %d rows of each table, drawn from seed %d.", mostFit, s.Seed)
	}
	train := s.Cut(s.Train, mostFit, 10)
	return each(s.Compared(), func(t Named) ([]Value, error) {
		r, err := PMSE(train, s.Cut(t.Rows, mostFit, 11))
		return []Value{{Of: t.Name, Value: Number(r.PMSE)},
			{Of: t.Name + ", ratio to its expectation", Value: Number(r.Ratio)}}, err
	})
}

// marginals measures sets of one, two and, where that is no more than some seconds, three columns.
func marginals(s *Study) ([]Value, error) {
	sizes := s.Train.Schema().Sizes()
	d := len(sizes)
	ways := min(d, 3)
	if ways == 3 {
		slices.SortFunc(sizes, func(a, b int) int { return b - a })
		largest := float64(sizes[0]) * float64(sizes[1]) * float64(sizes[2])
		sets, rows := d*(d-1)*(d-2)/6, s.Train.Rows()+s.Synthetic.Rows()
		if sets > mostSets || float64(3*sets)*float64(rows) > mostCells || largest > 1e7 {
			ways = 2
			s.Note("Marginals of three columns are left out: there are %d, too many or too large for "+
				"a report.", sets)
		}
	}
	return each(s.Compared(), func(t Named) ([]Value, error) {
		var out []Value
		for k := 1; k <= ways; k++ {
			e, err := MarginalError(s.Train, t.Rows, k)
			if err != nil {
				return nil, err
			}
			of := t.Name + ", " + []string{"one column", "two columns", "three columns"}[k-1]
			out = append(out, Value{Of: of, Value: Number(e)})
		}
		return out, nil
	})
}

func identicalMatches(s *Study) ([]Value, error) {
	return each(s.real(), func(t Named) ([]Value, error) {
		same, err := IdenticalMatchShare(t.Rows, s.Synthetic)
		return []Value{s.Share("with the "+t.Name, same, s.Synthetic.Rows())}, err
	})
}

func uniqueMatches(s *Study) ([]Value, error) {
	return each(s.real(), func(t Named) ([]Value, error) {
		unique, err := UniqueExactMatches(t.Rows, s.Synthetic)
		return []Value{s.Share("rows of the "+t.Name, unique, t.Rows.Rows())}, err
	})
}

// The attack on attributes: people of each table, and codes of a secret column.
const (
	attacked    = 1000
	secretCodes = 32
)

// attributes has an attacker guess each cell of some people, and as the control of people that the
// synthesizer has not seen.
func attributes(s *Study) ([]Value, error) {
	synthetic := s.Cut(s.Synthetic, s.Near, 60)
	people := []Named{{"training table", s.Cut(s.Train, attacked, 61)},
		{"holdout", s.Cut(s.Holdout, attacked, 62)}}
	means := []Value{{Of: "mean of columns, training table"}, {Of: "mean of columns, holdout"}}
	var out []Value
	for i, size := range s.Train.Schema().Sizes() {
		secret := s.Train.Schema().Columns[i].Name
		if size < 2 || size > secretCodes || len(s.Train.Schema().Columns) < 2 {
			continue
		}
		for k, t := range people {
			right, err := AttributeInference(t.Rows, synthetic, secret)
			if err != nil {
				return nil, err
			}
			means[k].Value += Number(right)
			out = append(out, s.Share(secret+", "+t.Name, right, t.Rows.Rows()))
		}
	}
	if out == nil {
		return nil, nil
	}
	for k := range means {
		means[k].Value /= Number(len(out) / 2)
	}
	return append(means, out...), nil
}
