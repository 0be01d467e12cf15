package report

import (
	"math"
	"math/rand/v2"

	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/table"
)

type randSource = rand.Rand

// source is a public stream of random numbers for one use.
func (w *work) source(use uint64) *randSource { return rand.New(rand.NewPCG(w.Seed, use)) }

const (
	syntheticTo = "synthetic rows"
	yardstick   = "holdout rows (yardstick)"
	mostFit     = 50_000 // rows of a table in the propensity fit
	mostSets    = 600    // sets of three columns
	mostCells   = 4e9    // rows·columns·sets that marginals may touch: about ten seconds
)

// others lists what is compared with the training table: the synthetic rows and, as the yardstick,
// the holdout.
func (w *work) others() (tables []*table.Table, names []string) {
	tables, names = []*table.Table{w.Synthetic}, []string{syntheticTo}
	if w.Holdout != nil {
		tables, names = append(tables, w.Holdout), append(names, yardstick)
	}
	return tables, names
}

// compared reports whether the cells themselves are, and not only their codes.
func (w *work) compared() bool {
	return w.in.Train.Values != nil && w.in.Synthetic[0].Values != nil
}

// shapes measures validity and the columns one by one.
func (w *work) shapes() error {
	if v := w.in.Synthetic[0].Values; v != nil {
		r := eval.Validity(v)
		w.add("Validity", w.share(syntheticTo, r.Valid, r.Rows))
	} else {
		w.skip("needs the synthetic rows as text", "Validity")
	}
	if w.compared() {
		w.skip("no column of a number has any", "MeanShift", "SpreadRatio", "Wasserstein")
		w.skip("every column is empty in one of the tables", "UncoveredShare")
	} else {
		w.skip("needs the rows as text", "MovedShare", "UncoveredShare", "MeanShift", "SpreadRatio",
			"Wasserstein")
		w.note("The cells themselves were not compared, because a table came from where it can be " +
			"read once only: what the schema moves is not seen.")
	}
	w.skip("no column is numeric", "KSComplement")
	w.skip("every column has only missing cells in one of the tables", "TVComplement")
	shapes, mean, err := eval.ColumnShapes(w.Train, w.Synthetic)
	if err != nil {
		return err
	}
	w.put("ColumnShapes", syntheticTo, mean)
	var yard []eval.ColumnShape
	if w.Holdout != nil {
		if yard, mean, err = eval.ColumnShapes(w.Train, w.Holdout); err != nil {
			return err
		}
		w.put("ColumnShapes", yardstick, mean)
	}
	for k, s := range shapes {
		if s.Metric == "KSComplement" {
			w.put("KSComplement", s.Column, s.Score)
		}
		if !math.IsNaN(s.TV) {
			w.put("TVComplement", s.Column, s.TV)
		}
		if w.compared() { // the schema may have moved missing cells
			a, err := w.in.Train.Values.MissingShare(s.Column)
			if err != nil {
				return err
			}
			b, err := w.in.Synthetic[0].Values.MissingShare(s.Column)
			if err != nil {
				return err
			}
			s.Missing = 1 - math.Abs(a-b)
		}
		w.put("MissingSimilarity", s.Column, s.Missing)
		c := w.distribution(k, s)
		// how far two real tables differ is not held against the synthetic one
		slack := 0.
		if yard != nil {
			slack = 1 - yard[k].Score
		}
		if err := w.losses(k, slack, &c); err != nil {
			return err
		}
		w.out.Columns = append(w.out.Columns, c)
	}
	return nil
}

// pairs measures every two columns.
func (w *work) pairs() error {
	all := []string{"CorrelationSimilarity", "ContingencySimilarity", "ColumnPairTrends"}
	if len(w.codecs) < 2 {
		w.skip("there is one column only", all...)
		return nil
	}
	w.skip("no two columns are of the kinds it is for", all...)
	tables, names := w.others()
	for i, t := range tables {
		trends, mean, err := eval.ColumnPairTrends(w.Train, t)
		if err != nil {
			return err
		}
		w.put("ColumnPairTrends", names[i], mean)
		for _, p := range trends {
			if i == 0 {
				w.add(p.Metric, Value{Of: p.First + " × " + p.Second, Value: Number(p.Score)})
			}
		}
	}
	return nil
}

// marginals measures sets of one, two and, where that is no more than some seconds, three columns.
func (w *work) marginals() error {
	d := len(w.codecs)
	rows := w.Train.Rows() + w.Synthetic.Rows()
	ways := min(d, 3)
	if sets := d * (d - 1) * (d - 2) / 6; ways == 3 &&
		(sets > mostSets || float64(3*sets)*float64(rows) > mostCells || !w.smallSets()) {
		ways = 2
		w.note("Marginals of three columns are left out: there are %d, too many or too large for "+
			"a report.", sets)
	}
	tables, names := w.others()
	for i, t := range tables {
		for k := 1; k <= ways; k++ {
			e, err := eval.MarginalError(w.Train, t, k)
			if err != nil {
				return err
			}
			of := names[i] + ", " + []string{"one column", "two columns", "three columns"}[k-1]
			w.put("MarginalError", of, e)
		}
	}
	return nil
}

// smallSets reports whether no marginal of three columns has more than ten million cells.
func (w *work) smallSets() bool {
	var top [3]int
	for _, c := range w.codecs {
		size := c.Size()
		for i := range top {
			if size > top[i] {
				size, top[i] = top[i], size
			}
		}
	}
	return float64(top[0])*float64(top[1])*float64(top[2]) <= 1e7
}

// propensity measures how well synthetic rows can be told from real ones.
func (w *work) propensity() error {
	train := cut(w.Train, mostFit, w.source(10))
	tables, names := w.others()
	for i, t := range tables {
		r, err := eval.PMSE(train, cut(t, mostFit, w.source(11)))
		if err != nil {
			return w.undefined(err, "PMSE")
		}
		w.add("PMSE", Value{Of: names[i], Value: Number(r.PMSE)},
			Value{Of: names[i] + ", ratio to its expectation", Value: Number(r.Ratio)})
	}
	if max(w.Train.Rows(), w.Synthetic.Rows()) > mostFit {
		w.note("PMSE is measured on at most %d rows of each table, drawn from seed %d.", mostFit, w.Seed)
	}
	return nil
}
