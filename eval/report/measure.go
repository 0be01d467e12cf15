package report

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/eval"
)

const cellsNotCompared = "The cells themselves were not compared, because a table came from " +
	"where it can be read once only: what the schema moves is not seen."

// cellsCompared reports whether the cells themselves are, and not only their codes.
func (w *work) cellsCompared() bool { return w.Missing(eval.Cells) == "" }

// shapes measures the columns one by one.
func (w *work) shapes() error {
	if !w.cellsCompared() {
		w.note(cellsNotCompared)
	} else {
		w.reversed = eval.Reversals(w.TrainCells, w.SyntheticCells, brokenShare)
		var err error
		if w.Rules, err = eval.RulesKept(w.TrainCells, w.SyntheticCells); err != nil {
			return err
		}
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
		w.Columns = append(w.Columns, c)
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
	w.Associations = &associations{lost, broken[:min(len(broken), mostPairs)]}
	if kept := float64(lost.Kept); !math.IsNaN(kept) {
		w.put("AssociationKept", eval.SyntheticRows, kept)
		w.put("AssociationKept", "two halves of the training rows (yardstick)", float64(lost.Halves))
	}
	return w.relate(real, synthetic)
}

// relatedErrors are the metrics of relations that have no interval.
var relatedErrors = map[string]func(eval.Relations) float64{
	"CoarseError":   func(r eval.Relations) float64 { return r.Coarse },
	"SpearmanError": func(r eval.Relations) float64 { return r.Spearman },
	"CramerError":   func(r eval.Relations) float64 { return r.Cramer },
}

// relate measures what is kept of the relations, and what two real tables keep.
func (w *work) relate(real, synthetic *table.Table) error {
	yard, a, b := w.Yardstick()
	a, b = w.Cut(a, mostAssociatedRows, 23), w.Cut(b, mostAssociatedRows, 24)
	for _, t := range []struct {
		name            string
		real, synthetic *table.Table
	}{{eval.SyntheticRows, real, synthetic}, {yard, a, b}} {
		r, err := eval.KeptRelations(t.real, t.synthetic, w.Level, w.Seed)
		if err != nil {
			return err
		}
		if span := r.Kept.Span(); r.Kept.Estimate == r.Kept.Estimate {
			w.add("RelationsKept", result{Of: t.name, Value: number(r.Kept.Estimate), Interval: &span})
		}
		for name, of := range relatedErrors {
			if x := of(r); x == x {
				w.put(name, t.name, x)
			}
		}
	}
	return nil
}

const dcrBins = 30

// points makes points of at most Near rows of each table; that of a holdout is nil without one.
func (w *work) points(d eval.Distance) (out [3]*eval.Points, err error) {
	for i, t := range []*table.Table{w.Train, w.Holdout, w.Synthetic} {
		if t != nil && err == nil {
			out[i], err = eval.TablePoints(w.Cut(t, w.Near, 40+uint64(i)), d)
		}
	}
	return out, err
}

// nearest measures the adversarial accuracies and the privacy loss.
func (w *work) nearest() error {
	points, err := w.points(eval.Euclidean)
	if err != nil {
		return err
	}
	train, holdout, synthetic := points[0], points[1], points[2]
	if slices.ContainsFunc(append(w.Compared(), eval.Named{Rows: w.Train}), func(t eval.Named) bool {
		return t.Rows.Rows() > w.Near
	}) {
		w.note("Nearest-neighbour figures (NNAA, PrivacyLoss, DCR, NNDR and what follows from them) "+
			"are measured on at most %d rows of each table, drawn from seed %d.", w.Near, w.Seed)
	}
	out := &nearest{z: w.z}
	if holdout == nil {
		r, err := eval.NNAA(train, synthetic, w.Seed)
		if err != nil {
			return w.undefined(err, "NNAA")
		}
		out.Rows, out.Train, w.Nearest = r.Rows, w.accuracy("training table", r), out
		return nil
	}
	r, err := eval.PrivacyLoss(train, holdout, synthetic, w.Seed)
	real, other := eval.NNAA(train, holdout, w.Seed)
	if err := cmp.Or(err, other); err != nil {
		return w.undefined(err, "NNAA", "PrivacyLoss")
	}
	out.Rows, out.Train = r.Train.Rows, w.accuracy("training table", r.Train)
	out.Holdout = new(w.accuracy("holdout", r.Holdout))
	out.Yardstick, out.Loss = &real, &r
	w.add("NNAA", w.around("training table against holdout (yardstick)", real.Mean, real.StdErr, 0, 1))
	w.add("PrivacyLoss", w.around(eval.SyntheticRows, r.Loss, r.StdErr, -1, 1))
	w.Nearest = out
	return nil
}

// accuracy adds an adversarial accuracy and its terms.
func (w *work) accuracy(against string, r eval.Terms) eval.Terms {
	w.add("NNAA", w.around("synthetic rows against "+against, r.Mean, r.StdErr, 0, 1),
		result{Of: "… its real term", Value: number(r.Real)},
		result{Of: "… its synthetic term", Value: number(r.Synthetic)})
	return r
}

// closest measures distances to the closest record.
func (w *work) closest() error {
	points, err := w.points(eval.Gower)
	if err != nil {
		return err
	}
	train, holdout, synthetic := points[0], points[1], points[2]
	r, err := eval.Closest(train, holdout, synthetic, w.Seed)
	if err != nil {
		return w.undefined(err, "DCR", "NNDR", "DCRShare")
	}
	w.add("DCR", quantiles("training rows", r.Train)...)
	if holdout != nil {
		w.add("DCR", quantiles("holdout rows", r.Holdout)...)
		w.add("NNDR", quantiles("training rows", r.TrainRatio)...)
		w.add("NNDR", quantiles("holdout rows", r.HoldoutRatio)...)
		w.add("DCRShare", w.Share(eval.SyntheticRows, r.CloserToTrain, synthetic.Len()))
	}
	w.drawDCR(r.TrainDistances, r.HoldoutDistances)
	return nil
}

func quantiles(to string, q eval.Quantiles) []result {
	return []result{
		{Of: "to " + to + ", median", Value: number(q.Median)},
		{Of: "to " + to + ", 5 % quantile", Value: number(q.P05)},
		{Of: "to " + to + ", mean", Value: number(q.Mean)},
	}
}

// drawDCR counts distances in bins of equal width from 0 to the largest; holdout may be nil.
func (w *work) drawDCR(train, holdout []float64) {
	if w.Nearest == nil {
		return
	}
	top := floats.Max(slices.Concat(train, holdout))
	if top == 0 {
		top = 1
	}
	bin := func(x []float64) []float64 {
		if x == nil {
			return nil
		}
		out := make([]float64, dcrBins)
		for _, d := range x {
			out[min(int(d/top*dcrBins), dcrBins-1)] += 1 / float64(len(x))
		}
		return out
	}
	w.Nearest.DCR = histogram{floats.Span(make([]float64, dcrBins+1), 0, top), bin(train),
		bin(holdout)}
}
