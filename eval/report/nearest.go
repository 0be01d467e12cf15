package report

import (
	"slices"

	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/table"
)

const dcrBins = 30

// points makes points of at most Near rows of each table; holdout is nil without one.
func (w *work) points(d eval.Distance) (train, holdout, synthetic *eval.Points, err error) {
	for i, t := range []struct {
		t  *table.Table
		to **eval.Points
	}{{w.Train, &train}, {w.Holdout, &holdout}, {w.Synthetic, &synthetic}} {
		if t.t == nil {
			continue
		}
		if *t.to, err = eval.TablePoints(w.Cut(t.t, w.Near, 40+uint64(i)), d); err != nil {
			return nil, nil, nil, err
		}
	}
	return train, holdout, synthetic, nil
}

// nearest measures the adversarial accuracies and the privacy loss.
func (w *work) nearest() error {
	train, holdout, synthetic, err := w.points(eval.Euclidean)
	if err != nil {
		return err
	}
	for _, t := range append(w.Compared(), eval.Named{Rows: w.Train}) {
		if t.Rows.Rows() > w.Near {
			w.note("Nearest-neighbour figures (NNAA, PrivacyLoss, DCR, NNDR and what follows from them) "+
				"are measured on at most %d rows of each table, drawn from seed %d.", w.Near, w.Seed)
			break
		}
	}
	out := &Nearest{}
	if holdout == nil {
		r, err := eval.NNAA(train, synthetic, w.Seed)
		if err != nil {
			return w.undefined(err, "NNAA")
		}
		out.Rows, out.Train = r.Rows, accuracyOf(r)
		w.forms("training table", r)
		w.out.Nearest = out
		return nil
	}
	r, err := eval.PrivacyLoss(train, holdout, synthetic, w.Seed)
	if err != nil {
		return w.undefined(err, "NNAA", "PrivacyLoss")
	}
	real, err := eval.NNAA(train, holdout, w.Seed)
	if err != nil {
		return w.undefined(err, "NNAA", "PrivacyLoss")
	}
	out.Rows, out.Train = r.Train.Rows, accuracyOf(r.Train)
	out.Holdout, out.Yardstick = new(accuracyOf(r.Holdout)), new(accuracyOf(real))
	out.Loss = &loss{number(r.Corrected), number(r.StdErr)}
	w.forms("training table", r.Train)
	w.forms("holdout", r.Holdout)
	w.add("NNAA", w.around("training table against holdout, corrected (yardstick)",
		real.Corrected.Mean, real.StdErr, 0, 1))
	w.add("PrivacyLoss", w.around("corrected", r.Corrected, r.StdErr, -1, 1),
		w.around("unbiased", r.Unbiased, r.StdErr, -1, 1),
		Value{Of: "original", Value: number(r.Original)})
	w.out.Nearest = out
	return nil
}

// forms adds the three forms of an adversarial accuracy.
func (w *work) forms(against string, r eval.NNAAResult) {
	w.add("NNAA",
		w.around("synthetic rows against "+against+", corrected", r.Corrected.Mean, r.StdErr, 0, 1),
		Value{Of: "… its real term", Value: number(r.Corrected.Real)},
		Value{Of: "… its synthetic term", Value: number(r.Corrected.Synthetic)},
		w.around("synthetic rows against "+against+", unbiased", r.Unbiased.Mean, r.StdErr, 0, 1),
		Value{Of: "synthetic rows against " + against + ", original",
			Value: number(r.Original.Mean)})
}

func accuracyOf(r eval.NNAAResult) accuracy {
	return accuracy{number(r.Corrected.Real), number(r.Corrected.Synthetic),
		number(r.Corrected.Mean), number(r.StdErr)}
}

// closest measures distances to the closest record.
func (w *work) closest() error {
	train, holdout, synthetic, err := w.points(eval.Gower)
	if err != nil {
		return err
	}
	if holdout == nil {
		return w.closestAlone(train, synthetic)
	}
	r, err := eval.Closest(train, holdout, synthetic, w.Seed)
	if err != nil {
		return w.undefined(err, "DCR", "NNDR", "DCRShare")
	}
	for _, x := range []struct {
		to         string
		dcr, ratio eval.Quantiles
	}{{"training rows", r.Train, r.TrainRatio}, {"holdout rows", r.Holdout, r.HoldoutRatio}} {
		w.add("DCR", quantiles(x.to, x.dcr)...)
		w.add("NNDR", quantiles(x.to, x.ratio)...)
	}
	w.add("DCRShare", w.Share(eval.SyntheticRows, r.CloserToTrain, synthetic.Len()))
	if w.out.Nearest != nil {
		w.out.Nearest.DCR = histogramOf(r.TrainDistances, r.HoldoutDistances)
	}
	return nil
}

// closestAlone is what can be measured without a holdout.
func (w *work) closestAlone(train, synthetic *eval.Points) error {
	first, _, err := eval.Nearest(synthetic, train)
	if err != nil {
		return err
	}
	sorted := slices.Sorted(slices.Values(first))
	w.put("DCR", "to training rows, median", sorted[len(sorted)/2])
	if w.out.Nearest != nil {
		w.out.Nearest.DCR = histogramOf(first, nil)
	}
	return nil
}

func quantiles(to string, q eval.Quantiles) []Value {
	return []Value{
		{Of: "to " + to + ", median", Value: number(q.Median)},
		{Of: "to " + to + ", 5 % quantile", Value: number(q.P05)},
		{Of: "to " + to + ", mean", Value: number(q.Mean)},
	}
}

// histogram counts distances in bins of equal width from 0 to the largest; holdout may be nil.
func histogramOf(train, holdout []float64) histogram {
	top := 0.
	for _, d := range slices.Concat(train, holdout) {
		top = max(top, d)
	}
	if top == 0 {
		top = 1
	}
	var h histogram
	for i := range dcrBins + 1 {
		h.Edges = append(h.Edges, number(top*float64(i)/dcrBins))
	}
	bin := func(x []float64) []number {
		if x == nil {
			return nil
		}
		out := make([]number, dcrBins)
		for _, d := range x {
			out[min(int(d/top*dcrBins), dcrBins-1)] += number(1 / float64(len(x)))
		}
		return out
	}
	h.Train, h.Holdout = bin(train), bin(holdout)
	return h
}
