package report

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/table"
)

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
		out.Rows, out.Train, w.out.Nearest = r.Rows, w.accuracy("training table", r), out
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
	w.out.Nearest = out
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
	if w.out.Nearest == nil {
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
	w.out.Nearest.DCR = histogram{floats.Span(make([]float64, dcrBins+1), 0, top), bin(train),
		bin(holdout)}
}
