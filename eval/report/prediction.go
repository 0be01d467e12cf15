package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/eval"
)

const (
	mostRare   = 8   // rare values besides those of the target
	mostTarget = 6   // values of the target that are shown
	mostPoints = 200 // of an ROC curve that are kept
)

var learners = []struct {
	name  string
	which eval.Learner
}{
	{"logistic regression", eval.LogisticRegression},
	{"gradient boosting", eval.GradientBoosting},
}

// predict trains every learner on synthetic and on real rows and tests both on the holdout.
func (w *work) predict(ctx context.Context) error {
	if w.Missing(eval.Target|eval.Holdout) != "" {
		if w.target < 0 {
			w.note("No target column is given: prediction is left out.")
		}
		return nil
	}
	if max(w.Synthetic.Rows(), w.Train.Rows()) > w.o.Fit {
		w.note("Classifiers are trained on at most %d rows of each table, drawn from seed %d.",
			w.o.Fit, w.Seed)
	}
	synthetic, train := w.Cut(w.Synthetic, w.o.Fit, 30), w.Cut(w.Train, w.o.Fit, 31)
	for i, l := range learners {
		if err := ctx.Err(); err != nil {
			return err
		}
		w.o.Progress("prediction: "+l.name, .6+.1*float64(i)/float64(len(learners)))
		task := eval.Task{Label: w.Target, Positive: w.positive, Drop: w.o.Drop, Learner: l.which,
			Seed: w.Seed}
		p := prediction{Learner: l.name, Rows: w.Holdout.Rows()}
		for _, from := range []struct {
			rows           *table.Table
			metric, suffix string
			to             *curve
		}{{synthetic, "TSTR", ", trained on synthetic rows", &p.Synthetic},
			{train, "TRTR", ", trained on real rows", &p.Real}} {
			scored, err := eval.TSTR(from.rows, w.Holdout, task)
			if err == nil {
				*from.to, err = w.curve(scored, from.rows)
			}
			if err != nil {
				return w.undefined(err, "TSTR", "TRTR", "AUROC", "AveragePrecision")
			}
			if p.Rate == 0 {
				p.Rate = number(scored.Rate)
			}
			auroc := result{Of: l.name, Value: from.to.AUROC, Interval: &from.to.Interval}
			w.add(from.metric, auroc)
			auroc.Of += from.suffix
			w.add("AUROC", auroc)
			w.add("AveragePrecision", result{Of: auroc.Of, Value: from.to.AveragePrecision,
				Interval: &from.to.PrecisionInterval})
		}
		w.Predictions = append(w.Predictions, p)
	}
	w.add("AveragePrecision", result{Of: "scores that say nothing", Value: w.Predictions[0].Rate})
	return nil
}

// curve sums up the scores of a classifier.
func (w *work) curve(p eval.Prediction, trained *table.Table) (curve, error) {
	o := eval.BootstrapOptions{Level: w.Level, Seed: w.Seed}
	if len(p.Scores) > 5_000 {
		o.Replicates = 200
	}
	of, err := eval.CurveOf(p.Scores, p.Labels, o)
	if err != nil {
		return curve{}, err
	}
	c := curve{AUROC: number(of.AUROC.Estimate), Interval: of.AUROC.Span(),
		AveragePrecision:  number(of.AveragePrecision.Estimate),
		PrecisionInterval: of.AveragePrecision.Span(), Rows: trained.Rows(), Constant: p.Constant}
	last := len(of.Points) - 1
	for at := 0.; int(at) < last; at += max(1, float64(last)/mostPoints) {
		c.Points = append(c.Points, of.Points[int(at)])
	}
	c.Points = append(c.Points, [2]float64{1, 1})
	return c, nil
}

// value is one value of a column.
type value struct {
	column int
	code   uint16
	n      int64 // training rows that have it
}

// rare measures the rates of the target's values and of the rarest values of the other categories.
func (w *work) rare() error {
	for _, at := range w.rarest() {
		codec := w.codecs[at.column]
		v := rareValue{Column: codec.Column().Name, Value: codec.Label(at.code),
			Target: at.column == w.target}
		if w.Holdout != nil {
			v.Holdout = &rate{}
		}
		for _, t := range []struct {
			name string
			rows *table.Table
			to   *rate
		}{{eval.SyntheticRows, w.Synthetic, &v.Synthetic}, {"training table", w.Train, &v.Train},
			{"holdout", w.Holdout, v.Holdout}} {
			if t.rows == nil {
				continue
			}
			i, err := eval.RareClassRate(t.rows, v.Column, at.code, w.Level)
			if err != nil {
				return err
			}
			*t.to = rate{number(i.Estimate), i.Span()}
			if v.Target && at.code == w.positive {
				w.add("RareClassRate", result{Of: fmt.Sprintf("%s = %s, %s", v.Column, v.Value, t.name),
					Value: t.to.Rate, Interval: new(i.Span())})
			}
		}
		w.RareValues = append(w.RareValues, v)
	}
	return nil
}

// rarest is the values whose rates are shown: those of the target, the positive one first, and of
// the other categories those that are rarest in the training table.
func (w *work) rarest() []value {
	var target, rest []value
	for k, c := range w.codecs {
		for code, n := range w.Train.Counts(k) {
			switch at := (value{k, uint16(code), n}); {
			case k == w.target && at.code == w.positive:
				at.n = -1 // before all others
				target = append(target, at)
			case k == w.target && n > 0:
				target = append(target, at)
			case k != w.target && !numeric(c) && n > 0 && code < c.Values():
				rest = append(rest, at)
			}
		}
	}
	for _, values := range [][]value{target, rest} {
		slices.SortStableFunc(values, func(a, b value) int { return cmp.Compare(a.n, b.n) })
	}
	return append(target[:min(len(target), mostTarget)], rest[:min(len(rest), mostRare)]...)
}
