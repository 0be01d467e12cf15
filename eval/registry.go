package eval

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
)

// Metric is one entry of the registry: what a report needs to measure a metric, to judge its
// values and to explain them.
type Metric struct {
	Name    string `json:"name"`  // the house name
	Alias   string `json:"alias"` // what other tools call it
	Range   string `json:"range"`
	Goal    string `json:"goal"`    // the value to hope for
	Meaning string `json:"meaning"` // one sentence
	rule    `json:"-"`
}

// rule is what a report does with a metric.
type rule struct {
	Needs needs  // what it cannot be measured without
	Else  string // why there may be no value all the same
	// A verdict of a report is good up to the one and poor beyond the other: a share, a factor, or
	// a distance from the goal. 0: there is none.
	Good, Poor float64
	ByColumn   bool // its values are of columns or of pairs: a report sums them up
	// Its values. Nil: package report measures it along with what it draws.
	Measure func(*Study) ([]Value, error)
}

// needs are parts of a study, as bits.
type needs uint8

// What a metric may need.
const (
	Pairs     needs = 1 << iota // two columns
	Target                      // a column to predict
	Holdout                     // real rows that the synthesizer did not see
	Cells                       // the cells of the training and the synthetic table
	Histories                   // the rows of a unit in linked tables
)

// Missing is why a metric with these needs cannot be measured; "" if it can.
func (s *Study) Missing(n needs) string {
	for _, need := range []struct {
		what  needs
		there bool
		why   string
	}{
		{Pairs, len(s.Train.Schema().Columns) > 1, "there is one column only"},
		{Target, s.Target != "", "needs a target column to predict"},
		{Holdout, s.Holdout != nil, "needs a holdout: real rows that the synthesizer did not see"},
		{Cells, s.TrainCells != nil && s.SyntheticCells != nil, "needs the rows as text"},
	} {
		if n&need.what != 0 && !need.there {
			return need.why
		}
	}
	return ""
}

const (
	noCell   = "every column is empty in one of the tables"
	noNumber = "no column of a number has any"
	noPair   = "no two columns are of the kinds it is for"

	noHistory = "there is no column to compare"
)

// Metrics lists every metric of the package, in the order of a report: whether the table is well
// formed, whether it looks like the real one, whether it is useful, whether it is private. The
// definition and source of each are in the documentation of the function of its name.
func Metrics() []Metric { return slices.Clone(metrics) }

var metrics = []Metric{
	{"Validity", "DataValidity, BoundaryAdherence, CategoryAdherence (SDMetrics)", "0 to 1", "1",
		"Share of rows all of whose cells the public schema allows.",
		rule{Else: "needs the synthetic rows as text", Measure: validity}},
	{"MovedShare", "1 less BoundaryAdherence, CategoryAdherence (SDMetrics) of real rows",
		"0 to 1", "0",
		"Share of the real cells of a column that the schema moves: to a bound, into another " +
			"category, to missing.",
		rule{Needs: Cells, ByColumn: true, Good: .02, Poor: .10}},
	{"UncoveredShare", "RangeCoverage, CategoryCoverage (SDMetrics)", "0 to 1",
		"that of a holdout",
		"Share of the real cells of a column beyond the least and the greatest synthetic " +
			"number, or of a category that the synthetic table does not have; not of those that the " +
			"schema moves.",
		rule{Needs: Cells, ByColumn: true, Good: .02, Poor: .10, Else: noCell}},
	{"InventedShare", "1 less BoundaryAdherence, CategoryAdherence (SDMetrics)", "0 to 1",
		"that of a holdout",
		"Share of the synthetic cells of a column beyond the real range, or of a code that no real " +
			"cell has.",
		rule{Needs: Cells, ByColumn: true, Good: .01, Poor: .10, Else: noCell}},
	{"MeanShift", "standardized mean difference, StatisticSimilarity (SDMetrics)", "any number",
		"0",
		"Synthetic mean less the real one, in real standard deviations.",
		rule{Needs: Cells, ByColumn: true, Good: .25, Poor: 1, Else: noNumber}},
	{"SpreadRatio", "none; variance ratio is its square", "0 up", "1",
		"Synthetic standard deviation over the real one.",
		rule{Needs: Cells, ByColumn: true, Good: 1.5, Poor: 3, Else: noNumber}},
	{"Wasserstein", "wasserstein_dist (synthcity), earth mover's distance", "0 up",
		"that of a holdout",
		"Mean distance between the real and the synthetic quantiles, in real standard " +
			"deviations.",
		rule{Needs: Cells, ByColumn: true, Else: noNumber}},
	{"KSComplement", "KSComplement (SDMetrics)", "0 to 1", "1",
		"One minus the largest gap between the real and the synthetic cumulative distribution " +
			"of a numeric column, as the schema reads its cells.",
		rule{ByColumn: true, Else: "no column is numeric"}},
	{"TVComplement", "TVComplement (SDMetrics)", "0 to 1", "1",
		"One minus half the summed differences between the real and the synthetic shares of a " +
			"column's values, as the schema reads them.",
		rule{ByColumn: true, Else: "every column has only missing cells in one of the tables"}},
	{"MissingSimilarity", "MissingValueSimilarity (SDMetrics)", "0 to 1", "1",
		"One minus the difference between the real and the synthetic share of missing cells of " +
			"a column.", rule{ByColumn: true}},
	{"ColumnShapes", "Column Shapes (SDMetrics quality report)", "0 to 1", "1",
		"Mean over all columns of KSComplement (numbers) or TVComplement (categories).",
		rule{Good: .90, Poor: .75}},
	{"CorrelationSimilarity", "CorrelationSimilarity (SDMetrics)", "0 to 1", "1",
		"One minus half the difference between the real and the synthetic correlation of two " +
			"numeric columns.", rule{Needs: Pairs, ByColumn: true, Else: noPair}},
	{"ContingencySimilarity", "ContingencySimilarity (SDMetrics)", "0 to 1", "1",
		"One minus the total variation distance between the real and the synthetic joint " +
			"distribution of two columns.", rule{Needs: Pairs, ByColumn: true, Else: noPair}},
	{"ColumnPairTrends", "Column Pair Trends (SDMetrics quality report)", "0 to 1", "1",
		"Mean over all pairs of columns of CorrelationSimilarity (two numbers) or " +
			"ContingencySimilarity (all others).",
		rule{Needs: Pairs, Good: .85, Poor: .70, Else: noPair}},
	{"AssociationKept", "none; CorrelationSimilarity (SDMetrics) is over all pairs", "up to 1",
		"1",
		"Share of the strength of the associated pairs that survives, beyond what two real " +
			"tables differ by.",
		rule{Needs: Pairs, Good: .90, Poor: .60,
			Else: "no two columns of the real table are associated"}},
	{"RelationsKept", "none", "any number", "1",
		"Slope of what coarse tables of two synthetic columns have beyond independence on what the " +
			"real ones have: 0 is independence.",
		rule{Needs: Pairs, Good: .90, Poor: .60, Else: "no two columns have any relation"}},
	{"CoarseError", "none; k-marginal error (SDNist) of coarse columns", "0 to 1",
		"that of two real tables",
		"Mean total variation distance between the real and the synthetic joint distributions of two " +
			"columns, each cut into at most four groups.", rule{Needs: Pairs}},
	{"SpearmanError", "none; CorrelationSimilarity (SDMetrics) is 1 less half of one pair's",
		"0 to 2", "that of two real tables",
		"Mean difference between the real and the synthetic rank correlation of two numeric columns.",
		rule{Needs: Pairs, Else: noPair}},
	{"CramerError", "none", "0 to 1", "that of two real tables",
		"Mean difference between the real and the synthetic Cramér's V of two columns that are not " +
			"both numeric.", rule{Needs: Pairs, Else: noPair}},
	{"MarginalError", "workload error (private-pgm); k-marginal (SDNist) is 1000 times 1 less it",
		"0 to 1", "0",
		"Mean total variation distance between the real and the synthetic joint distributions " +
			"of all sets of k columns.", rule{Measure: marginals}},
	{"PMSE", "pMSE, propensity score (synthpop, SDNist)", "0 to .25",
		"0; a ratio to its expectation of 1 to 2",
		"How well a logistic regression tells synthetic rows from real ones, as mean squared " +
			"excess over guessing.", rule{Measure: propensity}},
	{"RareClassRate", "none; outcome rate, prevalence", "0 to 1",
		"the rates of the training table and the holdout",
		"Share of rows of one class with a confidence interval, to see whether a rare class " +
			"survived.", rule{Needs: Target}},
	{"AUROC", "roc_auc_score (scikit-learn), roc_auc (synthcity)", "0 to 1",
		"that of a model trained on real rows",
		"Probability that a classifier scores a random positive row above a random negative one.",
		rule{Needs: Target | Holdout}},
	{"AveragePrecision", "average_precision_score (scikit-learn), PR-AUC", "0 to 1",
		"that of a model trained on real rows",
		"Precision averaged over the recalls of a classifier, which a rare class does not " +
			"flatter.", rule{Needs: Target | Holdout}},
	{"TSTR", "train-synthetic-test-real, ML efficacy (SDMetrics)", "0 to 1", "TRTR's value",
		"AUROC on real holdout rows of a classifier trained on synthetic rows.",
		rule{Needs: Target | Holdout, Good: .03, Poor: .10}},
	{"TRTR", "train-real-test-real", "0 to 1", "none: the yardstick of TSTR",
		"AUROC on real holdout rows of the same classifier trained on real rows.",
		rule{Needs: Target | Holdout}},
	{"NNAA", "nnaa (SynthEval), AdversarialAccuracy", "0 to 1", ".5",
		"How often rows are nearer to their own table than to the other: below one half the " +
			"synthetic rows crowd around real ones, above it they differ.", rule{}},
	{"PrivacyLoss", "priv_loss_nnaa (SynthEval)", "-1 to 1", "0 or below",
		"NNAA against a holdout minus NNAA against the training table: how much closer " +
			"synthetic rows keep to the rows they were made from.",
		rule{Needs: Holdout, Poor: .03}},
	{"DCR", "DCR (MOSTLY AI, SynthEval)", "0 up", "that of a holdout",
		"Distance of synthetic rows to the closest training row, beside the closest of as many " +
			"holdout rows.", rule{}},
	{"NNDR", "NNDR (MOSTLY AI, SynthEval)", "0 to 1", "that of a holdout",
		"Distance to the closest over distance to the second closest real row: small where a " +
			"synthetic row hangs on one outlier.", rule{Needs: Holdout}},
	{"DCRShare", "DCR share (MOSTLY AI); DCROverfittingProtection (SDMetrics) is twice 1 less it",
		"0 to 1", ".5",
		"Share of synthetic rows closer to a training row than to any of as many holdout rows.",
		rule{Needs: Holdout, Poor: .53}},
	{"IdenticalMatchShare",
		"IMS (MOSTLY AI), exact_match (SynthEval), 1 less NewRowSynthesis (SDMetrics)", "0 to 1",
		"at most that of a holdout",
		"Share of synthetic rows that equal a training row in every code.",
		rule{Poor: .01, Measure: identicalMatches}},
	{"UniqueExactMatches", "Unique Exact Matches (SDNist)", "0 to 1", "0",
		"Share of real rows that are unlike all others and occur in the synthetic table.",
		rule{Poor: .01, Measure: uniqueMatches}},
	{"AttributeInference", "attribute inference risk (anonymeter)", "0 to 1",
		"at most that of a holdout",
		"Share of real people of whom someone who knows all cells but one guesses that one, " +
			"from the nearest synthetic row.",
		rule{Needs: Holdout, ByColumn: true, Measure: attributes,
			Else: "needs two columns, one of them of 2 to 32 values or bins"}},

	// of linked tables: package linked
	history("FanOut", "Whether a unit has as many rows: mean distance of the numbers of rows, also "+
		"with each column of the unit."),
	history("ParentChild", "Whether rows fit the unit they belong to: mean distance of each column "+
		"of the unit, and the number of rows, with each of the rows."),
	history("Transition", "Whether the next row follows from the last: mean distance of each column "+
		"with itself in the next row."),
	history("Gap", "Whether the time between rows is right: distance of the growths of the order."),
	history("ThirdNext", "Whether a history keeps its thread: mean distance of each column with "+
		"itself three rows on."),
	history("DistinctValues", "Whether values come back as often: mean distance of how many values "+
		"of a column a unit has."),
	history("OrphansOrder", "Whether every row has a unit, and its place: mean share of rows without "+
		"a unit, of rows behind a later one, and of ids that were there before."),
	history("ChildChild", "Whether the columns of a row fit each other: mean distance of every two."),
}

// history is a metric of the histories of units. It is good up to a limit that chance sets, and
// poor so far beyond it that so many rows are others.
func history(name, meaning string) Metric {
	return Metric{name, "none", "0 to 1", "what chance makes of it", meaning,
		rule{Needs: Histories, Poor: .15, Else: noHistory}}
}

// MetricOf is the entry of a metric; one that is not listed panics.
func MetricOf(name string) Metric {
	for _, m := range metrics {
		if m.Name == name {
			return m
		}
	}
	panic("eval: no metric " + name)
}

// Value is a metric of something.
type Value struct {
	// a column, two columns, the tables compared, a learner and what it was trained on
	Of       string `json:"of"`
	Value    Number `json:"value"`
	Interval *Span  `json:"interval,omitempty"`
}

// Span is the ends of a confidence interval.
type Span struct {
	Low  Number `json:"low"`
	High Number `json:"high"`
}

// Span is the ends of the interval.
func (i Interval) Span() Span { return Span{Number(i.Low), Number(i.High)} }

// Number is a float64 that is null in JSON where it is not finite.
type Number float64

// MarshalJSON writes the shortest decimal that is the number, or null.
func (n Number) MarshalJSON() ([]byte, error) {
	x := float64(n)
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return []byte("null"), nil
	}
	return json.Marshal(x)
}

// UnmarshalJSON reads null as NaN.
func (n *Number) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*n = Number(math.NaN())
		return nil
	}
	return json.Unmarshal(text, (*float64)(n))
}

// String is the number to four significant digits.
func (n Number) String() string {
	if math.IsNaN(float64(n)) {
		return "–"
	}
	return strconv.FormatFloat(float64(n), 'g', 4, 64)
}
