package report

import (
	"cmp"
	"math"

	"github.com/decoy-dp/decoy/eval"
)

// cellsCompared reports whether the cells themselves are, and not only their codes.
func (w *work) cellsCompared() bool { return w.Missing(eval.Cells) == "" }

// shapes measures the columns one by one.
func (w *work) shapes() error {
	if !w.cellsCompared() {
		w.note("The cells themselves were not compared, because a table came from where it can be " +
			"read once only: what the schema moves is not seen.")
	}
	var shapes, yard []eval.ColumnShape
	for i, t := range w.Compared() {
		of, mean, err := eval.ColumnShapes(w.Train, t.Rows)
		if err != nil {
			return err
		}
		w.put("ColumnShapes", t.Name, mean)
		if i == 0 {
			shapes = of
		} else {
			yard = of
		}
	}
	for k, s := range shapes {
		if s.Metric == "KSComplement" {
			w.put("KSComplement", s.Column, s.Score)
		}
		if !math.IsNaN(s.TV) {
			w.put("TVComplement", s.Column, s.TV)
		}
		if w.cellsCompared() { // the schema may have moved missing cells
			a, err := w.TrainCells.MissingShare(s.Column)
			b, other := w.SyntheticCells.MissingShare(s.Column)
			if err := cmp.Or(err, other); err != nil {
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
		if err := w.losses(slack, &c); err != nil {
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
	for i, t := range w.Compared() {
		trends, mean, err := eval.ColumnPairTrends(w.Train, t.Rows)
		if err != nil {
			return err
		}
		w.put("ColumnPairTrends", t.Name, mean)
		for _, p := range trends {
			if i == 0 {
				w.put(p.Metric, p.First+" × "+p.Second, p.Score)
			}
		}
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
	invented, err := eval.Invented(real, synthetic, holdout, inventedShare)
	if err != nil {
		return err
	}
	w.worst = lost.Pairs
	lost.Pairs = lost.Pairs[:min(len(lost.Pairs), mostPairs)]
	w.out.Associations = &associations{lost, invented[:min(len(invented), mostPairs)]}
	if kept := float64(lost.Kept); !math.IsNaN(kept) {
		w.put("AssociationKept", eval.SyntheticRows, kept)
	}
	return nil
}
