package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// The thresholds of the summary are conventions, written beside each verdict; they prove nothing.
const (
	goodShapes, poorShapes = .90, .75 // ColumnShapes
	goodPairs, poorPairs   = .85, .70 // ColumnPairTrends
	goodGap, poorGap       = .03, .10 // AUROC lost
	lossOfNote             = .03      // PrivacyLoss
	shareOfNote            = .53      // DCRShare
)

const copyQuestion = "Are real rows copied?"

// summary answers four questions in plain words.
func (w *work) summary() []Finding {
	return []Finding{w.alike(), w.useful(), w.rareKept(), w.copied()}
}

// alike says whether the synthetic rows look like the real ones.
func (w *work) alike() Finding {
	f := Finding{Question: "Does it look like the real table?", Rule: fmt.Sprintf(
		"Good from %s (columns) and %s (pairs) on, poor below %s or %s.", percent(goodShapes),
		percent(goodPairs), percent(poorShapes), percent(poorPairs))}
	shapes, _ := w.first("ColumnShapes")
	pairs, two := w.first("ColumnPairTrends")
	f.Status = grade(float64(shapes.Value), goodShapes, poorShapes)
	worst := slices.MinFunc(w.out.Columns, func(a, b Column) int {
		switch {
		case a.Score < b.Score:
			return -1
		case a.Score > b.Score:
			return 1
		}
		return 0
	})
	f.Answer = fmt.Sprintf("Column by column, the distributions match to %s on average; the worst "+
		"is %s, at %s.", percent(float64(shapes.Value)), worst.Name, percent(float64(worst.Score)))
	if two {
		f.Status = worse(f.Status, grade(float64(pairs.Value), goodPairs, poorPairs))
		f.Answer += fmt.Sprintf(" Pairs of columns match to %s.",
			percent(float64(pairs.Value)))
		if yard := w.values["ColumnPairTrends"]; len(yard) > 1 {
			f.Answer += fmt.Sprintf(" The holdout, which is other real rows, matches to %s and "+
				"%s.",
				percent(float64(w.values["ColumnShapes"][1].Value)),
				percent(float64(yard[1].Value)))
		}
	}
	return f
}

// useful says whether models trained on synthetic rows work on real ones.
func (w *work) useful() Finding {
	f := Finding{Question: "Can a model be trained on it?", Status: Unknown, Rule: fmt.Sprintf(
		"By how much the AUROC of the best learner falls: good up to %.2f, poor above %.2f. "+
			"With few positive rows both figures are uncertain: see the intervals.", goodGap,
		poorGap)}
	if len(w.out.Predictions) == 0 {
		f.Answer = "Not measured: " + w.leftOut["TSTR"] + "."
		return f
	}
	by := func(of func(Prediction) Number) Prediction {
		return slices.MaxFunc(w.out.Predictions, func(a, b Prediction) int {
			return map[bool]int{true: 1, false: -1}[of(a) > of(b)]
		})
	}
	real, synthetic := by(func(p Prediction) Number { return p.Real.AUROC }),
		by(func(p Prediction) Number { return p.Synthetic.AUROC })
	gap := float64(real.Real.AUROC - synthetic.Synthetic.AUROC)
	f.Status = grade(-gap, -goodGap, -poorGap)
	f.Answer = fmt.Sprintf("To predict %s = %s, the best model trained on synthetic rows (%s) "+
		"reaches an AUROC of %s on real rows; the best trained on real rows (%s) %s. "+
		"(1 is perfect, 0.5 is guessing.)", w.Target, w.Positive, synthetic.Learner,
		interval(synthetic.Synthetic.AUROC, synthetic.Synthetic.Interval),
		real.Learner, interval(real.Real.AUROC, real.Real.Interval))
	if float64(real.Real.AUROC) < .6 {
		f.Status = Unknown
		f.Answer += " Even real rows hardly predict it, so this says little."
	}
	return f
}

// rareKept says whether the rare class survived.
func (w *work) rareKept() Finding {
	f := Finding{Question: "Did the rare outcome survive?", Status: Unknown, Rule: fmt.Sprintf(
		"Good if the %s intervals of synthetic and training rows overlap, poor if the rates "+
			"differ by more than a factor of two as well.", percent(w.Level))}
	if len(w.out.RareValues) == 0 || !w.out.RareValues[0].Target {
		f.Answer = "Not measured: no target column is given."
		return f
	}
	r := w.out.RareValues[0]
	f.Status = Good
	if r.Synthetic.Low > r.Train.High || r.Synthetic.High < r.Train.Low {
		f.Status = Mixed
		if ratio := float64(r.Synthetic.Rate / r.Train.Rate); !(ratio >= .5 && ratio <= 2) {
			f.Status = Poor
		}
	}
	f.Answer = fmt.Sprintf("%s = %s makes up %s of the synthetic rows (%s to %s) and %s of the "+
		"training rows (%s to %s).", r.Column, r.Value,
		percent(float64(r.Synthetic.Rate)), percent(float64(r.Synthetic.Low)),
		percent(float64(r.Synthetic.High)),
		percent(float64(r.Train.Rate)), percent(float64(r.Train.Low)),
		percent(float64(r.Train.High)))
	return f
}

// copied says whether synthetic rows keep closer to the rows they were made from than they should.
func (w *work) copied() Finding {
	f := Finding{Question: copyQuestion, Status: Unknown, Rule: fmt.Sprintf(
		"Suspicious if the privacy loss exceeds %.2f and twice its standard error, or if more "+
			"than %s of the synthetic rows are closer to training rows than to holdout rows. "+
			"Their absence proves nothing: only the guarantee of differential privacy does.",
		lossOfNote, percent(shareOfNote))}
	loss, ok := w.first("PrivacyLoss")
	share, also := w.first("DCRShare")
	if !ok || !also {
		f.Answer = "Unknown: this " + needsHoldout + "."
		return f
	}
	stderr := float64(w.out.Nearest.Loss.StdErr)
	same := w.values["IdenticalMatchShare"]
	signs := 0
	if float64(loss.Value) > max(lossOfNote, 2*stderr) {
		signs++
	}
	if share.Interval != nil && float64(share.Value) > shareOfNote && share.Interval.Low > .5 {
		signs++
	}
	f.Status = []Status{Good, Mixed, Poor}[signs]
	f.Answer = fmt.Sprintf("%s Privacy loss %s ± %.3f (0 is none, a copied table has about 0.5); "+
		"%s of the synthetic rows are closer to a row they were made from than to other real rows "+
		"(chance: 50 %%); "+
		"%s of them equal a training row in every column, and %s a row of the holdout.",
		[]string{"No sign of copying was found.", "There is a sign of copying.",
			"Synthetic rows keep too close to the rows they were made from."}[signs],
		fixed(loss.Value), w.z*stderr, percent(float64(share.Value)),
		percent(float64(equalSize(same, "training table"))),
		percent(float64(equalSize(same, "holdout"))))
	return f
}

// equalSize is the match share with a real table, of the comparison at equal sizes.
func equalSize(v []Value, name string) Number {
	out := Number(math.NaN())
	for _, x := range v {
		if strings.HasPrefix(x.Of, "with the "+name) {
			out = x.Value // the one of equal size is the last
		}
	}
	return out
}

// grade is good from one threshold on and poor below the other.
func grade(x, good, poor float64) Status {
	switch {
	case x >= good:
		return Good
	case x >= poor:
		return Mixed
	case x < poor:
		return Poor
	}
	return Unknown
}

// worse is the worse of two verdicts that are not unknown.
func worse(a, b Status) Status {
	rank := []Status{Good, Mixed, Poor}
	return rank[max(slices.Index(rank, a), slices.Index(rank, b))]
}

// percent is a share in per cent, precise enough to tell small ones.
func percent(x float64) string {
	switch p := 100 * x; {
	case math.IsNaN(x):
		return "–"
	case p == 0 || p == 100 || p >= 10 && p == math.Trunc(p):
		return fmt.Sprintf("%.0f %%", p)
	case 0 < p && p < .005:
		return "<0.01 %"
	case math.Abs(p) < 1:
		return fmt.Sprintf("%.2f %%", p)
	default:
		return fmt.Sprintf("%.1f %%", p)
	}
}

func fixed(x Number) string { return fmt.Sprintf("%.3f", float64(x)) }

func interval(x Number, i Interval) string {
	return fmt.Sprintf("%.3f (%.3f to %.3f)", float64(x), float64(i.Low), float64(i.High))
}
