package report

import (
	"fmt"
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
		if *t.to, err = eval.TablePoints(cut(t.t, w.Near, w.source(40+uint64(i))), d); err != nil {
			return nil, nil, nil, err
		}
	}
	return train, holdout, synthetic, nil
}

// nearest measures the adversarial accuracies and the privacy loss.
func (w *work) nearest() error {
	for _, t := range []*table.Table{w.Train, w.Holdout, w.Synthetic} {
		if t != nil && t.Rows() > w.Near {
			w.note("Nearest-neighbour figures (NNAA, PrivacyLoss, DCR, NNDR and what follows from them) "+
				"are measured on at most %d rows of each table, drawn from seed %d.", w.Near, w.Seed)
			break
		}
	}
	train, holdout, synthetic, err := w.points(eval.Euclidean)
	if err != nil {
		return err
	}
	out := &Nearest{}
	if holdout == nil {
		w.skip(needsHoldout, "PrivacyLoss")
		r, err := eval.NNAA(train, synthetic, w.Seed)
		if err != nil {
			return w.undefined(err, "NNAA")
		}
		out.Rows, out.Train = r.Rows, accuracy(r)
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
	out.Rows, out.Train = r.Train.Rows, accuracy(r.Train)
	out.Holdout, out.Yardstick = new(accuracy(r.Holdout)), new(accuracy(real))
	out.Loss = &Loss{Number(r.Corrected), Number(r.StdErr)}
	w.forms("training table", r.Train)
	w.forms("holdout", r.Holdout)
	w.add("NNAA", w.around("training table against holdout, corrected (yardstick)",
		real.Corrected.Mean, real.StdErr, 0, 1))
	w.add("PrivacyLoss", w.around("corrected", r.Corrected, r.StdErr, -1, 1),
		w.around("unbiased", r.Unbiased, r.StdErr, -1, 1),
		Value{Of: "original", Value: Number(r.Original)})
	w.out.Nearest = out
	return nil
}

// forms adds the three forms of an adversarial accuracy.
func (w *work) forms(against string, r eval.NNAAResult) {
	w.add("NNAA",
		w.around("synthetic rows against "+against+", corrected", r.Corrected.Mean, r.StdErr, 0, 1),
		Value{Of: "… its real term", Value: Number(r.Corrected.Real)},
		Value{Of: "… its synthetic term", Value: Number(r.Corrected.Synthetic)},
		w.around("synthetic rows against "+against+", unbiased", r.Unbiased.Mean, r.StdErr, 0, 1),
		Value{Of: "synthetic rows against " + against + ", original",
			Value: Number(r.Original.Mean)})
}

func accuracy(r eval.NNAAResult) Accuracy {
	return Accuracy{Number(r.Corrected.Real), Number(r.Corrected.Synthetic),
		Number(r.Corrected.Mean), Number(r.StdErr)}
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
	w.add("DCRShare", w.share(syntheticTo, r.CloserToTrain, synthetic.Len()))
	if w.out.Nearest != nil {
		w.out.Nearest.DCR = histogram(r.TrainDistances, r.HoldoutDistances)
	}
	return nil
}

// closestAlone is what can be measured without a holdout.
func (w *work) closestAlone(train, synthetic *eval.Points) error {
	w.skip(needsHoldout, "DCRShare", "NNDR")
	first, _, err := eval.Nearest(synthetic, train)
	if err != nil {
		return err
	}
	sorted := slices.Sorted(slices.Values(first))
	w.put("DCR", "to training rows, median", sorted[len(sorted)/2])
	if w.out.Nearest != nil {
		w.out.Nearest.DCR = histogram(first, nil)
	}
	return nil
}

func quantiles(to string, q eval.Quantiles) []Value {
	return []Value{
		{Of: "to " + to + ", median", Value: Number(q.Median)},
		{Of: "to " + to + ", 5 % quantile", Value: Number(q.P05)},
		{Of: "to " + to + ", mean", Value: Number(q.Mean)},
	}
}

// histogram counts distances in bins of equal width from 0 to the largest; holdout may be nil.
func histogram(train, holdout []float64) Histogram {
	top := 0.
	for _, d := range slices.Concat(train, holdout) {
		top = max(top, d)
	}
	if top == 0 {
		top = 1
	}
	var h Histogram
	for i := range dcrBins + 1 {
		h.Edges = append(h.Edges, Number(top*float64(i)/dcrBins))
	}
	bin := func(x []float64) []Number {
		if x == nil {
			return nil
		}
		out := make([]Number, dcrBins)
		for _, d := range x {
			out[min(int(d/top*dcrBins), dcrBins-1)] += Number(1 / float64(len(x)))
		}
		return out
	}
	h.Train, h.Holdout = bin(train), bin(holdout)
	return h
}

// matches measures equal rows and what quasi-identifiers give away.
func (w *work) matches() error {
	tables, names := w.real()
	for i, t := range tables {
		same, err := eval.IdenticalMatchShare(t, w.Synthetic)
		if err != nil {
			return err
		}
		unique, err := eval.UniqueExactMatches(t, w.Synthetic)
		if err != nil {
			return err
		}
		w.add("IdenticalMatchShare", w.share("with the "+names[i], same, w.Synthetic.Rows()))
		w.add("UniqueExactMatches", w.share("rows of the "+names[i], unique, t.Rows()))
	}
	if len(w.Quasi) == 0 {
		w.skip("needs quasi-identifiers: the columns that an outsider might know of a person",
			"KAnonymity", "LinkageRisk")
		return nil
	}
	for i, t := range tables {
		k, err := eval.KAnonymity(t, w.Quasi)
		if err != nil {
			return err
		}
		w.add("KAnonymity", Value{Of: names[i], Value: Number(k.K)},
			Value{Of: names[i] + ", share of rows that are alone", Value: Number(k.Unique)})
		l, err := eval.LinkageRisk(t, w.Synthetic, w.Quasi)
		if err != nil {
			return err
		}
		w.add("LinkageRisk", Value{Of: names[i], Value: Number(l.Risk)},
			Value{Of: names[i] + ", if its quasi-identifiers were published",
				Value: Number(l.Ceiling)})
	}
	return nil
}

// The attack on attributes: people of each table, and codes of a secret column.
const (
	attacked    = 1000
	secretCodes = 32
)

// attributes has an attacker guess each cell of some people, and as the control of people that the
// synthesizer has not seen.
func (w *work) attributes() error {
	const name = "AttributeInference"
	if w.Holdout == nil {
		w.skip(needsHoldout, name)
		return nil
	}
	synthetic := cut(w.Synthetic, w.Near, w.source(60))
	train, holdout := cut(w.Train, attacked, w.source(61)), cut(w.Holdout, attacked, w.source(62))
	var seen, unseen []Value
	var inside, outside float64
	for i, size := range w.Train.Schema().Sizes() {
		secret := w.Train.Schema().Columns[i].Name
		if size < 2 || size > secretCodes || len(w.Train.Schema().Columns) < 2 {
			continue
		}
		of, err := eval.AttributeInference(train, synthetic, secret)
		if err != nil {
			return err
		}
		control, err := eval.AttributeInference(holdout, synthetic, secret)
		if err != nil {
			return err
		}
		inside, outside = inside+of, outside+control
		seen = append(seen, w.share(secret+", training table", of, train.Rows()))
		unseen = append(unseen, w.share(secret+", holdout", control, holdout.Rows()))
	}
	n := float64(len(seen))
	if n == 0 {
		w.skip(fmt.Sprintf("needs two columns, one of them of 2 to %d values or bins", secretCodes), name)
		return nil
	}
	w.add(name, Value{Of: "mean of columns, training table", Value: Number(inside / n)},
		Value{Of: "mean of columns, holdout", Value: Number(outside / n)})
	for i := range seen {
		w.add(name, seen[i], unseen[i])
	}
	return nil
}
