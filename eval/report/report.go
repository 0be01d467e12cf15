package report

import (
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/eval/linked"
)

// format is the version of the JSON: its field names change with it only.
const format = 1

// warning is what stands at the top of every report.
const warning = "Not private. These figures are computed from the real rows without any noise. " +
	"Keep this report as safe as the real table: " +
	"do not publish it, and do not use it to choose the settings of a private run."

// Table is one of the tables that are compared.
type Table struct {
	Rows *table.Table
	// optional: its cells as the file has them. Without those of the training and the synthetic
	// table, what the schema moves is not seen, and no column is called good.
	Values  *eval.Values
	Garbled bool   // its file is in another encoding than UTF-8
	Name    string // optional: what to call it, such as the name of the file
}

// Study is what is compared, real tables with synthetic ones: those of one table ([Tables]), or of
// linked ones ([Linked]).
type Study interface {
	subject(o Options) (subject, error)
}

// Linked are linked tables, of which the histories of units are compared.
type Linked struct {
	Schema           *schema.Linked
	Train, Synthetic *linked.Tables
	Holdout          *linked.Tables // optional: units that the synthesizer did not see
	// each by itself, with its name; none where a table can be read once only
	Tables []Tables
}

// Tables are the samples of one table. All must have the same columns.
type Tables struct {
	Train Table // required: the real rows that the synthetic ones were made from
	// optional: real rows that the synthesizer did not see; without them much is left out
	Holdout   Table
	Synthetic Table // required
}

// Options says what to measure and how. The zero value is usable. Those that figures depend on are
// in the JSON of a report.
type Options struct {
	Seed  uint64  `json:"seed"`  // public seed of subsamples and bootstraps; default 1
	Level float64 `json:"level"` // of the confidence intervals, in (0, 1); default .95
	// column to predict; without it, prediction and rare classes are left out
	Target string `json:"target,omitempty"`
	// its value that counts as positive, as the schema writes it; default: the rarest that the
	// training rows have
	Positive string `json:"positive,omitempty"`
	// columns not to predict from, such as those that give the answer away
	Drop []string `json:"drop,omitempty"`
	// most rows of a table in nearest-neighbour metrics, whose time is quadratic; default 10 000
	Near int `json:"nearest_rows"`
	Fit  int `json:"fit_rows"` // most rows that a classifier is trained on; default 100 000

	// optional: the guarantee under which the synthetic tables were made
	Claim    *Claim                               `json:"-"`
	Tool     string                               `json:"-"` // optional: what writes the report
	Progress func(stage string, fraction float64) `json:"-"` // optional
}

// What package eval measures, as the JSON of a report has it.
type (
	number   = eval.Number
	result   = eval.Value
	interval = eval.Span
)

// Report is what was found. Its JSON names are an interface.
type Report struct {
	Format       int         `json:"decoy_report"` // version of these names
	NotPrivate   bool        `json:"not_private"`  // always true
	Warning      string      `json:"warning"`
	Tool         string      `json:"tool,omitempty"`
	SchemaSHA256 string      `json:"schema_sha256"`
	Claim        *Claim      `json:"claim,omitempty"` // of the synthetic tables, if their model is known
	Tables       []tableInfo `json:"tables"`
	Settings     Options     `json:"settings"`
	Summary      []finding   `json:"summary"`
	Metrics      []metric    `json:"metrics"`
	figures
	Histories *histories `json:"histories,omitempty"` // of linked tables
	// how it was measured: subsamples, seeds, what was left out and why
	Notes []string `json:"notes"`
}

// figures are what is drawn of a table; of linked tables, the columns of all of them.
type figures struct {
	Columns      []column      `json:"columns"`
	Associations *associations `json:"associations,omitempty"`
	// what always holds between cells of real rows, that which most synthetic rows break first
	Rules       []eval.Together `json:"rules,omitempty"`
	Predictions []prediction    `json:"predictions,omitempty"`
	Nearest     *nearest        `json:"nearest,omitempty"`
	RareValues  []rareValue     `json:"rare_values,omitempty"`
}

// tableInfo describes one of the tables.
type tableInfo struct {
	Role string `json:"role"` // train, holdout, synthetic
	Name string `json:"name,omitempty"`
	Rows int    `json:"rows"`
	// rows of linked tables that have a unit, and do not count all the same
	Unused int `json:"rows_not_used,omitempty"`
}

// Claim is the guarantee of differential privacy under which a synthetic table was made.
type Claim struct {
	Method         string  `json:"method"`
	Epsilon        float64 `json:"epsilon"`
	Delta          float64 `json:"delta"`
	Adjacency      string  `json:"adjacency"`      // the relation of neighbouring tables
	Unit           string  `json:"unit,omitempty"` // id column; without one, a unit is a row
	MaxRowsPerUnit int     `json:"max_rows_per_unit,omitempty"`
	Text           string  `json:"text"` // the claim as one sentence, and what shows it
}

// status is a verdict.
type status string

// The verdicts.
const (
	good    status = "good"
	mixed   status = "mixed"
	poor    status = "poor"
	unknown status = "unknown" // cannot be told from these tables
)

// finding is one answer of the summary.
type finding struct {
	Question string `json:"question"`
	Status   status `json:"status"`
	Answer   string `json:"answer"` // plain sentences
	Rule     string `json:"rule"`   // how the status was decided
}

// metric is one entry of eval.Metrics with its values, or with the reason why there are none.
type metric struct {
	eval.Metric
	Values  []result `json:"values"`
	LeftOut string   `json:"left_out,omitempty"`
}

// groups are what the values of a column are joined into to be drawn: neighbouring bins of a
// number, rare categories.
type groups struct {
	Labels []string `json:"labels"`
	// of the groups of a numeric column, one more than groups: as text, and as numbers (days for
	// dates, microseconds for timestamps), between which a group lies
	Edges   []string  `json:"edges,omitempty"`
	Bounds  []float64 `json:"bounds,omitempty"`
	Missing bool      `json:"missing"` // the last group is the missing cells
	// the last group that is not missing is all other categories
	Rest  bool  `json:"rest"`
	group []int // of every code
}

// column is the distribution of a column in each table: shares of the rows.
type column struct {
	Name   string `json:"name"`
	Kind   string `json:"kind"`
	Metric string `json:"metric"` // KSComplement or TVComplement
	Score  number `json:"score"`  // of the metric
	Status status `json:"status"`
	// what is wrong with the column, as sentences; empty if it is good
	Losses []string `json:"losses,omitempty"`
	groups
	Train     []float64 `json:"train"`
	Holdout   []float64 `json:"holdout,omitempty"`
	Synthetic []float64 `json:"synthetic"`
	// what the cells themselves show, where the files were read; what only numbers have is null for
	// other columns
	Values *eval.Comparison `json:"values,omitempty"`

	shape  eval.ColumnShape
	halves []float64 // of the bands around the shares, in the drawing
	tips   []string  // of the groups
	codec  *schema.Codec
}

// associations says how strongly every two columns go together.
type associations struct {
	eval.AssociationLosses // at most a hundred of its pairs
	// what holds in real rows and synthetic rows break, the most frequent first, at most a hundred
	Broken []eval.Broken `json:"invented,omitempty"`
}

// prediction is one learner, trained on synthetic and on real rows.
type prediction struct {
	Learner   string `json:"learner"`
	Synthetic curve  `json:"synthetic"` // TSTR
	Real      curve  `json:"real"`      // TRTR
	Rate      number `json:"rate"`      // of positives among the holdout rows
	Rows      int    `json:"rows"`      // of the holdout
}

// curve is an ROC curve with what sums it up.
type curve struct {
	AUROC             number       `json:"auroc"`
	Interval          interval     `json:"interval"`
	AveragePrecision  number       `json:"average_precision"`
	PrecisionInterval interval     `json:"average_precision_interval"`
	Rows              int          `json:"rows"`     // trained on
	Constant          bool         `json:"constant"` // the rows to train on were all of one class
	Points            [][2]float64 `json:"points"`   // false and true positive rates
}

// nearest is what the nearest-neighbour figures are drawn from. Holdout and Loss need a holdout.
type nearest struct {
	Rows int `json:"rows"` // of each table in the accuracies
	// the adversarial accuracies in their corrected form
	Train   eval.Terms              `json:"train"`
	Holdout *eval.Terms             `json:"holdout,omitempty"`
	Loss    *eval.PrivacyLossResult `json:"privacy_loss,omitempty"`
	// of the holdout against the training table: two real tables
	Yardstick *eval.Terms `json:"yardstick,omitempty"`
	DCR       histogram   `json:"dcr"`
	z         float64     // half of an interval, in standard errors
}

// histogram is the shares of synthetic rows by their distance to the closest real row.
type histogram struct {
	Edges   []float64 `json:"edges"` // one more than shares
	Train   []float64 `json:"train"`
	Holdout []float64 `json:"holdout,omitempty"`
}

// rareValue is the rate of one value of a column in each table.
type rareValue struct {
	Column    string `json:"column"`
	Value     string `json:"value"`
	Target    bool   `json:"target"` // the column is the one to predict
	Train     rate   `json:"train"`
	Holdout   *rate  `json:"holdout,omitempty"`
	Synthetic rate   `json:"synthetic"`
}

// rate is a share of rows with its Wilson interval.
type rate struct {
	Rate number `json:"rate"`
	interval
}
