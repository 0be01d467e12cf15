package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/eval"
)

// The thresholds of the summary are conventions, written beside each verdict; they prove nothing.
// Those of a metric are in its entry in eval.Metrics.
const (
	commonOutcome      = .2       // least share of the training rows of an outcome that is not rare
	certainLevel       = .9999    // of intervals that do not overlap by chance
	goodPair, poorPair = .15, .40 // how far one pair is off, less the band
	fewTell            = .5       // the band of tables that are too small to say anything
	givenAway          = .995     // AUROC that is too good
	// least share of the synthetic rows that break what holds in real rows, and what is poor
	brokenShare, poorBroken = .005, .10
	// share of the synthetic rows that break a rule which 99 % of the real ones keep, up to which rows
	// hang together
	looseRule = .03
	mostRules = 12 // that are named
	// least share of the real rows that keep what the schema keeps, for it to be true of them
	trueRule = .99
)

const (
	copyQuestion     = "Are real rows copied?"
	togetherQuestion = "Do rows hang together?"
)

// questions are those of one table.
func (w *work) questions() []question {
	return []question{
		{"Do the columns look alike?", alikeRule, w.alike},
		{"Are associations kept?", associatedRule, w.associated},
		{"Can a model be trained on it?", usefulRule, w.useful},
		{"Did the rare outcome survive?", fmt.Sprintf(rareRule, percent(w.Level),
			percent(commonOutcome), percent(certainLevel)), w.rareKept},
		{copyQuestion, copiedRule, w.copied},
		{togetherQuestion, togetherRule, w.together},
	}
}

// see adds a sentence, and the verdict of what it says.
func (f *finding) see(s status, format string, args ...any) {
	f.Status = worse(f.Status, s)
	f.say(format, args...)
}

// say adds a sentence.
func (f *finding) say(format string, args ...any) {
	text := f.Answer + " " + fmt.Sprintf(format, args...)
	f.Answer = strings.TrimSpace(strings.ReplaceAll(text, " \n", "\n"))
}

var alikeRule = func(mean, moved, shift, spread eval.Metric) string {
	return fmt.Sprintf("The worst column decides, by what chance does not explain. It is good if its "+
		"score is %s or more (poor below %s), at most %s (poor from %s on) of its real cells are moved "+
		"by the schema, its mean is off by at most %.2f (%.0f) standard deviations and its standard "+
		"deviation by at most a factor of %.1f (%.0f), and neither table has cells that the other "+
		"lacks: categories, heaps, missing cells, forms of numbers, numbers out of range. The mean "+
		"score: good from %s on, poor below %s.", percent(goodColumn), percent(poorColumn),
		percent(moved.Good), percent(moved.Poor), shift.Good, shift.Poor, spread.Good, spread.Poor,
		percent(mean.Good), percent(mean.Poor))
}(eval.MetricOf("ColumnShapes"), eval.MetricOf("MovedShare"), eval.MetricOf("MeanShift"),
	eval.MetricOf("SpreadRatio"))

// alike says whether the columns look like the real ones, each by itself.
func (w *work) alike(f *finding) {
	shapes, _ := w.first("ColumnShapes")
	if w.in.Train.Garbled {
		f.see(poor, "The real file is not valid UTF-8. Its cells with letters beyond ASCII were read as "+
			"missing, here and when the synthetic table was made. Make the table again with "+
			"--encoding windows-1252, or what it is in.")
	}
	if w.cellsCompared() && w.TrainCells.LeftOut() != nil {
		f.see(mixed, "Not in the schema, and so not here: %s.", listed(w.TrainCells.LeftOut()))
	}
	mean, chance := w.beyondYard("ColumnShapes"), 0.
	for _, c := range w.Columns {
		chance += c.shape.Chance / float64(len(w.Columns))
	}
	if w.Train.Units() != nil && float64(1-shapes.Value) <= chance {
		mean = good // two halves of the rows have rows of the same units
	}
	f.see(mean,
		"As the schema reads their cells, single columns match to %s on average%s.",
		percent(shapes.Value), w.yardstick("ColumnShapes"))
	more := 0
	for _, c := range w.figures.byStatus() {
		if c.Status == good {
			break
		}
		more++
		loss := few(c.Losses, " ", " ", "Other losses (%d) are in the table of columns.")
		f.see(c.Status, "\n%s: %s", c.Name, strings.ToLower(loss[:1])+loss[1:])
	}
	if !w.cellsCompared() {
		f.see(mixed, "The cells themselves were not compared, so what the schema moves is not seen.")
	} else if more == 0 {
		f.say("No column lost much: means and spreads are close to those of the real cells, and few " +
			"cells of either table are out of the other's range.")
	}
}

// byStatus is the columns, the worst first.
func (f *figures) byStatus() []column {
	out := slices.Clone(f.Columns)
	slices.SortStableFunc(out, func(a, b column) int {
		return cmp.Or(cmp.Compare(rank(a.Status), rank(b.Status)), -cmp.Compare(len(a.Losses),
			len(b.Losses)), cmp.Compare(a.Score, b.Score))
	})
	return out
}

var associatedRule = func(all, associated, related eval.Metric) string {
	return fmt.Sprintf(
		"Of the strength of the pairs that are associated in the real table, good from %s on "+
			"and poor below %s; of what coarse tables of two columns have beyond independence, good "+
			"from %s on and poor below %s, at the upper end of the interval and beyond what two real "+
			"tables lack; no pair may be off by more than %.2f (poor from %.2f on), beyond "+
			"what two real tables differ by; no column may keep less than a fifth of its "+
			"associations; of any two columns, at most %s of the synthetic rows (poor from %s on) "+
			"may have a value of one with a value of the other that 99.9 %% of the real rows with "+
			"the first do not have. ColumnPairTrends, over all pairs and beyond what it is of two "+
			"real tables: good from %s on, poor below %s.",
		percent(associated.Good), percent(associated.Poor), percent(related.Good),
		percent(related.Poor), goodPair, poorPair, percent(brokenShare),
		percent(poorBroken), percent(all.Good), percent(all.Poor))
}(eval.MetricOf("ColumnPairTrends"), eval.MetricOf("AssociationKept"),
	eval.MetricOf("RelationsKept"))

// associated says whether columns that go together still do.
func (w *work) associated(f *finding) {
	trends, ok := w.first("ColumnPairTrends")
	if !ok {
		f.say("There is one column only.")
		return
	}
	f.Status = w.beyondYard("ColumnPairTrends")
	if len(w.worst) > 0 {
		kept, some := w.first("AssociationKept")
		if some {
			f.see(w.beyondYard("AssociationKept"), "Columns that go together in the real table "+
				"keep %s of the strength of their associations.", percent(max(0, kept.Value)))
		} else {
			why := "no two columns of the real table go together, and sets of three are not looked at"
			if w.Associations.Band > fewTell {
				why = "the rows of one of the tables are too few to tell which columns go together"
			}
			f.say("Nothing to keep: %s.", why)
		}
		w.related(f)
		var lost, strong []string
		for _, p := range w.worst {
			if p.Excess <= goodPair || !p.Certain {
				continue
			}
			f.Status = worse(f.Status, grade(p.Excess, goodPair, poorPair))
			s := fmt.Sprintf("%s and %s: %s in the real table, %s here", p.First, p.Second,
				twoDigits(p.Real), twoDigits(p.Synthetic))
			if math.Abs(float64(p.Real)) >= math.Abs(float64(p.Synthetic)) || p.Real*p.Synthetic < 0 {
				lost = append(lost, s)
			} else {
				strong = append(strong, s)
			}
		}
		for i, list := range [][]string{lost, strong} {
			if list != nil {
				f.say("\n%s: %s.", []string{"Lost", "Too strong"}[i],
					few(list, "; ", "; ", "and %d more pairs"))
			}
		}
		if alone := w.Associations.Unrelated; alone != nil {
			s := mixed
			if slices.Contains(alone, w.Target) {
				s = poor
			}
			f.see(s, "\nHardly goes with any column here, but does so in the real table: %s.",
				listed(alone))
		}
		w.inOrder(f)
		if broken := w.Associations.Broken; len(broken) > 0 {
			f.see(grade(broken[0].Total, brokenShare, poorBroken), "%s", impossible(broken))
		}
		if !some && f.Status == good {
			f.Status = unknown
		}
	}
	f.say("\nPairs of columns match to %s%s.", percent(trends.Value),
		w.yardstick("ColumnPairTrends"))
}

// related says what coarse tables of two columns keep. The upper end of its interval is judged, for
// only what exceeds chance counts.
func (w *work) related(f *finding) {
	v := w.values["RelationsKept"]
	if len(v) < 2 {
		return
	}
	kept, yard := v[0], v[1].Value
	if yard < tellsLittle {
		f.say("Two real tables agree in so little of what pairs of columns have beyond independence " +
			"that what is kept of it cannot be told.")
		return
	}
	verdict := judge("RelationsKept", kept.Interval.High+1-min(yard, 1))
	f.see(verdict, "Of what coarse tables of two columns have beyond independence, %s is kept (%s to "+
		"%s; %s: %s).", percent(kept.Value), percent(kept.Interval.Low),
		percent(kept.Interval.High), strings.TrimSuffix(v[1].Of, " (yardstick)"), percent(yard))
	if kept.Interval.High < tellsLittle {
		f.say("The columns are hardly more than independent: do not study relations in this table.")
	}
}

// tellsLittle is what is kept of relations where there may as well be none.
const tellsLittle = .2

// inOrder tells of dates that end before they begin.
func (w *work) inOrder(f *finding) {
	for _, r := range w.reversed {
		with := ""
		if !r.Alike {
			with = "with both in one format, "
		}
		f.see(grade(r.Synthetic, brokenShare, poorBroken), "\n%s is before %s in %s of the synthetic "+
			"rows and in %s of the real ones: %s\"after: %[2]s\" in the schema keeps them in order "+
			"(docs/schema.md).", r.Second, r.First, percent(r.Synthetic), percent(r.Real), with)
	}
}

var togetherRule = fmt.Sprintf("Of what holds in 99 %% of the real rows (dates in order, their "+
	"differences, sums of two to four columns, some taken off or negative, products of two, copies, "+
	"and what the schema says), the rule that most synthetic rows break decides: good up to %s of "+
	"those that say something, poor above %s. The same holds for a rule that the schema keeps and "+
	"that fewer real rows do: by how many more synthetic rows keep it.",
	percent(looseRule), percent(poorBroken))

// together says whether the cells of a row belong together.
func (w *work) together(f *finding) {
	switch {
	case !w.cellsCompared():
		f.say("The cells themselves were not compared, so this is not seen.")
		return
	case len(w.Rules) == 0:
		f.say("None of the rules that are looked for holds in the real rows.")
		return
	}
	var list, untrue []string
	for _, r := range w.Rules {
		broken := 1 - r.Synthetic
		if r.Real < trueRule {
			broken = max(0, r.Synthetic-r.Real)
			untrue = append(untrue, fmt.Sprintf("The schema keeps that %s, which holds in %s of the real "+
				"rows only, and in %s of the synthetic ones", r.Rule, percent(r.Real), percent(r.Synthetic)))
		}
		f.Status = worse(f.Status, grade(-broken, -looseRule, -poorBroken))
		if r.Real < trueRule {
			continue
		}
		list = append(list, fmt.Sprintf("%s: in %s of the synthetic rows and %s of the real ones", r.Rule,
			percent(r.Synthetic), percent(r.Real)))
	}
	if n := len(list); n > mostRules {
		list = append(list[:mostRules], fmt.Sprintf("%d more, each in more of the rows", n-mostRules))
	}
	if list != nil {
		f.say("What holds in real rows:\n– %s.", strings.Join(list, "\n– "))
	}
	if untrue != nil {
		f.say("\n%s.", few(untrue, ".\n", ".\n", "%d more like that"))
	}
	if f.Status != good && list != nil {
		f.say("\nA schema keeps such a rule in every row, for nothing (docs/schema.md, Constraints).")
	}
}

// impossible names what synthetic rows break.
func impossible(list []eval.Broken) string {
	var out []string
	for _, v := range list {
		more := ""
		if v.Total > v.Share {
			more = fmt.Sprintf("; counted over all values of %s, %s", v.First, percent(v.Total))
		}
		out = append(out, fmt.Sprintf("%s = %s with %s = %s (%s of the synthetic rows%s)", v.First,
			v.FirstValue, v.Second, v.SecondValue, percent(v.Share), more))
	}
	return "\nHardly any real row has\n– " + few(out, ",\n– ", ",\n– ", "%d more like that") +
		".\nIf everybody knows that such rows cannot exist, write it into the schema as a rule or a " +
		"lookup, and no synthetic row has it (docs/schema.md). What only these rows show is private " +
		"and does not belong there."
}

var usefulRule = fmt.Sprintf("By how much the AUROC of the best learner falls: good up to %.2f, "+
	"poor above %.2f. With few positive rows both figures are uncertain: see the intervals.",
	eval.MetricOf("TSTR").Good, eval.MetricOf("TSTR").Poor)

// useful says whether models trained on synthetic rows work on real ones.
func (w *work) useful(f *finding) {
	if len(w.Predictions) == 0 {
		f.say("Not measured: %s.", w.reason(eval.MetricOf("TSTR")))
		return
	}
	best := func(of func(prediction) curve) (string, number, string) {
		p := slices.MaxFunc(w.Predictions, func(a, b prediction) int {
			return cmp.Compare(of(a).AUROC, of(b).AUROC)
		})
		c := of(p)
		return p.Learner, c.AUROC, fmt.Sprintf("%.3f (%.3f to %.3f)", c.AUROC, c.Interval.Low,
			c.Interval.High)
	}
	learner, synthetic, reached := best(func(p prediction) curve { return p.Synthetic })
	other, real, reachable := best(func(p prediction) curve { return p.Real })
	f.see(judge("TSTR", real-synthetic), "To predict %s = %s, the best model trained on synthetic "+
		"rows (%s) reaches an AUROC of %s on real rows; the best trained on real rows (%s) %s. "+
		"(1 is perfect, 0.5 is guessing.)", w.Target, w.o.Positive, learner, reached, other,
		reachable)
	if why := w.noOutcome(); why != "" {
		f.see(poor, "%s", why)
	}
	if real > givenAway {
		f.say("So good a prediction means that another column gives the target away: --drop it.")
	}
	if real < .6 {
		f.say("Even real rows hardly predict it, so this says little.")
		f.Status = unknown
	}
}

const rareRule = "Good if the %s intervals of synthetic and training rows overlap, or if an " +
	"outcome of %s or more differs by a tenth of its rate at most; poor if the rates differ by more " +
	"than a factor of two, or if it stands for values that the schema does not have. If the " +
	"intervals overlap at %s, the rows are too few to tell."

// rareKept says whether the rare class survived.
func (w *work) rareKept(f *finding) {
	if len(w.RareValues) == 0 || !w.RareValues[0].Target {
		f.say("Not measured: no target column is given.")
		return
	}
	r := w.RareValues[0]
	ratio, common := float64(r.Synthetic.Rate/r.Train.Rate), r.Train.Rate >= commonOutcome
	if common {
		f.Question = "Is the outcome as frequent?"
	}
	verdict := good
	values := w.Columns[w.target].Values
	certain := !w.overlap(certainLevel) || values != nil && slices.Contains(values.Found,
		eval.Found{Sort: eval.Lost, What: r.Value, Real: float64(r.Train.Rate)})
	if (r.Synthetic.Low > r.Train.High || r.Synthetic.High < r.Train.Low) &&
		!(common && math.Abs(ratio-1) <= .1) {
		verdict = mixed
		if !(ratio >= .5 && ratio <= 2) {
			verdict = poor
		}
		if !certain {
			verdict = unknown
		}
	}
	if why := w.noOutcome(); why != "" {
		verdict = poor
		f.say("%s", why)
	}
	f.see(verdict, "%s = %s makes up %s of the synthetic rows (%s to %s) and %s of the "+
		"training rows (%s to %s).", r.Column, r.Value, percent(r.Synthetic.Rate),
		percent(r.Synthetic.Low), percent(r.Synthetic.High), percent(r.Train.Rate), percent(r.Train.Low),
		percent(r.Train.High))
}

// overlap reports whether the intervals of the positive rate overlap at a level.
func (w *work) overlap(level float64) bool {
	a, err := eval.RareClassRate(w.Train, w.Target, w.positive, level)
	b, other := eval.RareClassRate(w.Synthetic, w.Target, w.positive, level)
	return err != nil || other != nil || a.Low <= b.High && b.Low <= a.High
}

// noOutcome says why the positive value is no outcome: it stands for values that the schema lacks.
func (w *work) noOutcome() string {
	c := w.Train.Schema().Columns[w.target]
	if c.OnInvalid != schema.Other || c.Other != w.o.Positive {
		return ""
	}
	moved := eval.Moved{}
	if v := w.Columns[w.target].Values; v != nil {
		if moved = v.Moved; moved.Foreign == nil {
			return ""
		}
	}
	return fmt.Sprintf("%s = %s is no outcome but stands for what the schema does not have%s.",
		w.Target, w.o.Positive, whereTo(w.codecs[w.target], moved))
}

var copiedRule = fmt.Sprintf(
	"Suspicious if one of these is beyond its limit, and beyond chance by three standard errors: "+
		"the privacy loss (%.2f), the share of synthetic rows closer to training rows than to "+
		"holdout rows (%s), the rows that equal a training row, less those that equal one of the "+
		"holdout (%s). Their absence proves nothing: only the guarantee of differential privacy "+
		"does.", eval.MetricOf("PrivacyLoss").Poor, percent(eval.MetricOf("DCRShare").Poor),
	percent(eval.MetricOf("IdenticalMatchShare").Poor))

// copied says whether synthetic rows keep closer to the rows they were made from than they should.
func (w *work) copied(f *finding) {
	lost, closer := eval.MetricOf("PrivacyLoss"), eval.MetricOf("DCRShare")
	loss, ok := w.first("PrivacyLoss")
	share, also := w.first("DCRShare")
	if !ok || !also {
		f.say("Unknown: this %s.", w.reason(lost))
		return
	}
	stderr := float64(w.Nearest.Loss.StdErr)
	same := w.values["IdenticalMatchShare"]
	chance := 3 * math.Sqrt(.25/float64(min(w.Near, w.Synthetic.Rows())))
	signs := 0
	for _, sign := range []bool{float64(loss.Value) > max(lost.Poor, 3*stderr),
		float64(share.Value) > max(closer.Poor, .5+chance), w.matched()} {
		if sign {
			signs = min(signs+1, 2)
		}
	}
	f.see([]status{good, mixed, poor}[signs],
		"%s Privacy loss %s ± %.3f (0 is none, a copied table has about 0.5); "+
			"%s of the synthetic rows are closer to a row they were made from than to other real rows "+
			"(chance: 50 %%); "+
			"%s of them equal a training row in every column, and %s a row of the holdout.",
		[]string{"No sign of copying was found.", "There is a sign of copying.",
			"Synthetic rows keep too close to the rows they were made from."}[signs],
		fixed(loss.Value), w.z*stderr, percent(share.Value),
		percent(equalSize(same, "training table")), percent(equalSize(same, "holdout")))
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
func judge[F ~float64](metric string, x F) status {
	m := eval.MetricOf(metric)
	return grade(x, m.Good, m.Poor)
}

// grade is good up to one threshold and poor beyond the other, whichever is the greater.
func grade[F ~float64](value F, above, below float64) status {
	x := float64(value)
	if above < below {
		x, above, below = -x, -above, -below
	}
	switch {
	case x >= above:
		return good
	case x >= below:
		return mixed
	case x < below:
		return poor
	}
	return unknown
}

// worse is the worse of two verdicts; what is unknown does not count.
func worse(a, b status) status {
	if rank(b) < rank(a) {
		return b
	}
	return a
}

// rank orders verdicts from bad to good.
func rank(s status) int { return slices.Index([]status{poor, mixed, good, unknown}, s) }
