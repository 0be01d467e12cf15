package report

import (
	"math"
	"slices"

	"github.com/decoy-dp/decoy/eval"
)

// cellsCompared reports whether the cells themselves are, and not only their codes.
func (w *work) cellsCompared() bool { return w.Missing(eval.Cells) == "" }

// shapes measures the columns one by one.
func (w *work) shapes() error {
	if !w.cellsCompared() {
		w.note("The cells themselves were not compared, because a table came from where it can be " +
			"read once only: what the schema moves is not seen.")
	} else {
		w.reversed = eval.Reversals(w.TrainCells, w.SyntheticCells, brokenShare)
	}
	shapes, mean, err := eval.ColumnShapes(w.Train, w.Synthetic)
	if err != nil {
		return err
	}
	yard, a, b := w.Yardstick()
	_, chance, err := eval.ColumnShapes(a, b)
	if err != nil {
		return err
	}
	w.put("ColumnShapes", eval.SyntheticRows, mean)
	w.put("ColumnShapes", yard, chance)
	for k, s := range shapes {
		if s.Metric == "KSComplement" {
			w.put("KSComplement", s.Column, s.Score)
		}
		if !math.IsNaN(s.TV) {
			w.put("TVComplement", s.Column, s.TV)
		}
		c := w.distribution(k, s)
		if err := w.losses(&c); err != nil {
			return err
		}
		w.out.Columns = append(w.out.Columns, c)
	}
	return nil
}

// pairs measures every two columns.
func (w *work) pairs() error {
	if w.Missing(eval.Pairs) != "" {
		return nil
	}
	trends, mean, err := eval.ColumnPairTrends(w.Train, w.Synthetic)
	if err != nil {
		return err
	}
	yard, a, b := w.Yardstick()
	_, chance, err := eval.ColumnPairTrends(a, b)
	if err != nil {
		return err
	}
	w.put("ColumnPairTrends", eval.SyntheticRows, mean)
	w.put("ColumnPairTrends", yard, chance)
	for _, p := range trends {
		w.put(p.Metric, p.First+" × "+p.Second, p.Score)
	}
	return nil
}

const (
	mostAssociatedRows = 200_000 // rows of a table
	mostPairs          = 100     // pairs that the JSON names
)

// associate measures how strongly every two columns go together in each table.
func (w *work) associate() error {
	if w.Missing(eval.Pairs) != "" {
		return nil
	}
	if w.Train.Rows() > mostAssociatedRows {
		w.note("Associations are measured on at most %d rows of each table, drawn from seed %d.",
			mostAssociatedRows, w.Seed)
	}
	real, synthetic := w.Cut(w.Train, mostAssociatedRows, 20),
		w.Cut(w.Synthetic, mostAssociatedRows, 21)
	holdout := w.Cut(w.Holdout, mostAssociatedRows, 22)
	lost, err := eval.LostAssociations(real, synthetic, holdout)
	if err != nil {
		return err
	}
	broken, err := eval.Implications(real, synthetic, holdout, brokenShare)
	if err != nil {
		return err
	}
	if w.cellsCompared() {
		if err := lost.WithCells(w.TrainCells, w.SyntheticCells); err != nil {
			return err
		}
		broken = slices.DeleteFunc(broken, func(b eval.Broken) bool { // which is said once
			return slices.ContainsFunc(w.reversed, func(r eval.Reversal) bool {
				return r.First == b.First && r.Second == b.Second ||
					r.First == b.Second && r.Second == b.First
			})
		})
	}
	w.worst = lost.Pairs
	lost.Pairs = lost.Pairs[:min(len(lost.Pairs), mostPairs)]
	w.out.Associations = &associations{lost, broken[:min(len(broken), mostPairs)]}
	if kept := float64(lost.Kept); !math.IsNaN(kept) {
		w.put("AssociationKept", eval.SyntheticRows, kept)
		w.put("AssociationKept", "two halves of the training rows (yardstick)", float64(lost.Halves))
	}
	return nil
}
