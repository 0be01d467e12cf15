package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/eval"
)

// The thresholds of the summary are conventions, written beside each verdict; they prove nothing.
// Those of a metric are in its entry in eval.Metrics.

const commonOutcome = .2 // least share of the training rows of an outcome that is not rare

const copyQuestion = "Are real rows copied?"

// summary answers five questions in plain words.
func (w *work) summary() []finding {
	return []finding{w.alike(), w.associated(), w.useful(), w.rareKept(), w.copied()}
}

// alike says whether the columns look like the real ones, each by itself.
func (w *work) alike() finding {
	mean, moved := eval.MetricOf("ColumnShapes"), eval.MetricOf("MovedShare")
	shift, spread := eval.MetricOf("MeanShift"), eval.MetricOf("SpreadRatio")
	f := finding{Question: "Do the columns look alike?", Rule: fmt.Sprintf(
		"The worst column decides. It is good if at most %s of its real cells are moved by the schema, "+
			"at most %s are out of reach of the synthetic table (beyond the holdout's share), its mean "+
			"is off by at most %.2f standard deviations, its standard deviation by at most a factor of "+
			"%.1f, no category of %s of the rows is lost, no number that %s of its real cells are exactly "+
			"loses half of them, and its score is %s or more; it is poor from "+
			"%s, %s, %.0f, %.0f, or a score below %s. The mean score: good from %s on, poor below %s.",
		percent(moved.Good), percent(moved.Good), shift.Good, spread.Good, percent(lostShare),
		percent(heapShare), percent(goodColumn), percent(moved.Poor), percent(moved.Poor),
		shift.Poor, spread.Poor, percent(poorColumn), percent(mean.Good), percent(mean.Poor))}
	shapes, _ := w.first("ColumnShapes")
	f.Status = grade(shapes.Value, mean.Good, mean.Poor)
	bad := w.out.worst()
	for len(bad) > 0 && bad[len(bad)-1].Status == Good {
		bad = bad[:len(bad)-1]
	}
	f.Answer = fmt.Sprintf("The distributions of single columns match to %s on average%s.",
		percent(shapes.Value), w.yardstick("ColumnShapes"))
	for i, c := range bad {
		f.Status = worse(f.Status, c.Status)
		if i < 3 {
			loss := strings.Join(c.Losses, " ")
			f.Answer += " " + c.Name + ": " + strings.ToLower(loss[:1]) + loss[1:]
		}
	}
	if n := len(bad) - 3; n == 1 {
		f.Answer += " 1 more column has losses."
	} else if n > 1 {
		f.Answer += fmt.Sprintf(" %d more columns have losses.", n)
	}
	if !w.cellsCompared() {
		f.Status = worse(f.Status, Mixed)
		f.Answer += " The cells themselves were not compared, so what the schema moves is not seen."
	} else if len(bad) == 0 {
		f.Answer += " No column lost much: means, spreads and ranges are those of the real cells."
	}
	return f
}

// worst is the columns, the worst first.
func (r *Report) worst() []column {
	out := slices.Clone(r.Columns)
	slices.SortStableFunc(out, func(a, b column) int {
		return cmp.Or(cmp.Compare(rank(a.Status), rank(b.Status)), -cmp.Compare(len(a.Losses),
			len(b.Losses)), cmp.Compare(a.Score, b.Score))
	})
	return out
}

// useful says whether models trained on synthetic rows work on real ones.
func (w *work) useful() finding {
	m := eval.MetricOf("TSTR")
	f := finding{Question: "Can a model be trained on it?", Status: Unknown, Rule: fmt.Sprintf(
		"By how much the AUROC of the best learner falls: good up to %.2f, poor above %.2f. "+
			"With few positive rows both figures are uncertain: see the intervals.", m.Good,
		m.Poor)}
	if len(w.out.Predictions) == 0 {
		f.Answer = "Not measured: " + w.reason(m) + "."
		return f
	}
	by := func(of func(prediction) number) prediction {
		return slices.MaxFunc(w.out.Predictions, func(a, b prediction) int {
			return cmp.Compare(of(a), of(b))
		})
	}
	real, synthetic := by(func(p prediction) number { return p.Real.AUROC }),
		by(func(p prediction) number { return p.Synthetic.AUROC })
	gap := float64(real.Real.AUROC - synthetic.Synthetic.AUROC)
	f.Status = grade(gap, m.Good, m.Poor)
	f.Answer = fmt.Sprintf("To predict %s = %s, the best model trained on synthetic rows (%s) "+
		"reaches an AUROC of %s on real rows; the best trained on real rows (%s) %s. "+
		"(1 is perfect, 0.5 is guessing.)", w.Target, w.o.Positive, synthetic.Learner,
		interval(synthetic.Synthetic.AUROC, synthetic.Synthetic.Interval),
		real.Learner, interval(real.Real.AUROC, real.Real.Interval))
	f.Answer += w.direct
	if float64(real.Real.AUROC) < .6 {
		f.Status = Unknown
		f.Answer += " Even real rows hardly predict it, so this says little."
	}
	return f
}

// rareKept says whether the rare class survived.
func (w *work) rareKept() finding {
	f := finding{Question: "Did the rare outcome survive?", Status: Unknown, Rule: fmt.Sprintf(
		"Good if the %s intervals of synthetic and training rows overlap, or if an outcome of %s or "+
			"more differs by a tenth of its rate at most; poor if the rates differ by more than a "+
			"factor of two.", percent(w.Level), percent(commonOutcome))}
	if len(w.out.RareValues) == 0 || !w.out.RareValues[0].Target {
		f.Answer = "Not measured: no target column is given."
		return f
	}
	r := w.out.RareValues[0]
	f.Status = Good
	ratio, common := float64(r.Synthetic.Rate/r.Train.Rate), r.Train.Rate >= commonOutcome
	if common {
		f.Question = "Is the outcome as frequent?"
	}
	if (r.Synthetic.Low > r.Train.High || r.Synthetic.High < r.Train.Low) &&
		!(common && math.Abs(ratio-1) <= .1) {
		f.Status = Mixed
		if !(ratio >= .5 && ratio <= 2) {
			f.Status = Poor
		}
	}
	f.Answer = fmt.Sprintf("%s = %s makes up %s of the synthetic rows (%s to %s) and %s of the "+
		"training rows (%s to %s).", r.Column, r.Value, percent(r.Synthetic.Rate),
		percent(r.Synthetic.Low), percent(r.Synthetic.High), percent(r.Train.Rate), percent(r.Train.Low),
		percent(r.Train.High))
	return f
}

// copied says whether synthetic rows keep closer to the rows they were made from than they should.
func (w *work) copied() finding {
	lost, closer := eval.MetricOf("PrivacyLoss"), eval.MetricOf("DCRShare")
	f := finding{Question: copyQuestion, Status: Unknown, Rule: fmt.Sprintf(
		"Suspicious if one of these is beyond its limit, and beyond chance by three standard errors: "+
			"the privacy loss (%.2f), the share of synthetic rows closer to training rows than to "+
			"holdout rows (%s), the rows that equal a training row, less those that equal one of the "+
			"holdout (%s). Their absence proves nothing: only the guarantee of differential privacy "+
			"does.",
		lost.Poor, percent(closer.Poor), percent(eval.MetricOf("IdenticalMatchShare").Poor))}
	loss, ok := w.first("PrivacyLoss")
	share, also := w.first("DCRShare")
	if !ok || !also {
		f.Answer = "Unknown: this " + w.reason(lost) + "."
		return f
	}
	stderr := float64(w.out.Nearest.Loss.StdErr)
	same := w.values["IdenticalMatchShare"]
	chance := 3 * math.Sqrt(.25/float64(min(w.Near, w.Synthetic.Rows())))
	signs := 0
	for _, sign := range []bool{float64(loss.Value) > max(lost.Poor, 3*stderr),
		float64(share.Value) > max(closer.Poor, .5+chance), w.matched()} {
		if sign {
			signs = min(signs+1, 2)
		}
	}
	f.Status = []Status{Good, Mixed, Poor}[signs]
	f.Answer = fmt.Sprintf("%s Privacy loss %s ± %.3f (0 is none, a copied table has about 0.5); "+
		"%s of the synthetic rows are closer to a row they were made from than to other real rows "+
		"(chance: 50 %%); "+
		"%s of them equal a training row in every column, and %s a row of the holdout.",
		[]string{"No sign of copying was found.", "There is a sign of copying.",
			"Synthetic rows keep too close to the rows they were made from."}[signs],
		fixed(loss.Value), w.z*stderr, percent(share.Value),
		percent(equalSize(same, "training table")),
		percent(equalSize(same, "holdout")))
	return f
}

// equalSize is a match share with a real table, of the comparison at equal sizes.
func equalSize(v []result, name string) number {
	out := number(math.NaN())
	for _, x := range v {
		if strings.HasPrefix(x.Of, "with the "+name) || strings.HasPrefix(x.Of, "rows of the "+name) {
			out = x.Value // the one of equal size is the last
		}
	}
	return out
}

// matched reports whether more rows equal those of the training table than chance would have it.
func (w *work) matched() bool {
	n := min(w.Train.Rows(), w.Holdout.Rows())
	for metric, rows := range map[string]int{
		"IdenticalMatchShare": w.Synthetic.Rows(), "UniqueExactMatches": n,
	} {
		p, q := float64(equalSize(w.values[metric], "training table")),
			float64(equalSize(w.values[metric], "holdout"))
		if p-q > max(eval.MetricOf(metric).Poor, 3*math.Sqrt((p+q)/float64(rows))) {
			return true
		}
	}
	return false
}

// judge grades a value of a metric by its entry.
func judge(metric string, x float64) Status {
	m := eval.MetricOf(metric)
	return grade(x, m.Good, m.Poor)
}

// grade is good up to one threshold and poor beyond the other, whichever is the greater.
func grade[F ~float64](value F, good, poor float64) Status {
	x := float64(value)
	if good < poor {
		x, good, poor = -x, -good, -poor
	}
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
	if rank(b) < rank(a) {
		return b
	}
	return a
}

// percent is a share in per cent, precise enough to tell small ones.
func percent[F ~float64](share F) string {
	x := float64(share)
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

func fixed[F ~float64](x F) string {
	return strings.Replace(fmt.Sprintf("%.3f", x), "-", "−", 1)
}

func interval(x number, i Interval) string {
	return fmt.Sprintf("%.3f (%.3f to %.3f)", x, i.Low, i.High)
}
