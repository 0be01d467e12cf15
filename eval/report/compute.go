package report

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/eval"
)

// subject is what a report is about: a table, or linked tables.
type subject interface {
	stages(ctx context.Context) []stage // in the order of the values of a metric
	metric(m eval.Metric) (entry metric, listed bool)
	questions() []question
	describe(r *Report)
}

// stage is a part of the work.
type stage struct {
	name string
	do   func() error
}

// question is one of the summary: what is asked, by which rule it is decided, and what judges it. A
// judge says what it sees with [finding.see]; the worst decides.
type question struct {
	text, rule string
	judge      func(f *finding)
}

// values are those of metrics, by name.
type values map[string][]result

// Compute measures everything. Tables of other columns or without rows give an error that wraps
// eval.ErrTables, a column that the schema does not have or a target that cannot be one an error
// that wraps eval.ErrColumn, a level outside (0, 1) one that wraps eval.ErrInterval. The same
// tables and options give the same report.
func Compute(ctx context.Context, in Study, o Options) (*Report, error) {
	o, err := o.filled()
	if err != nil {
		return nil, err
	}
	s, err := in.subject(o)
	if err != nil {
		return nil, err
	}
	stages := s.stages(ctx)
	for i, stage := range stages {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		o.Progress(stage.name, float64(i)/float64(len(stages)))
		if err := stage.do(); err != nil {
			return nil, err
		}
	}
	r := &Report{Format: format, NotPrivate: true, Warning: warning, Tool: o.Tool, Claim: o.Claim,
		Settings: o, Notes: []string{}}
	s.describe(r)
	for _, m := range eval.Metrics() {
		if entry, ok := s.metric(m); ok {
			r.Metrics = append(r.Metrics, entry)
		}
	}
	r.Summary = answer(s.questions())
	return r, nil
}

func answer(questions []question) (out []finding) {
	for _, q := range questions {
		f := finding{Question: q.text, Status: unknown, Rule: q.rule}
		q.judge(&f)
		out = append(out, f)
	}
	return out
}

// filled has the defaults.
func (o Options) filled() (Options, error) {
	o.Level, o.Seed = cmp.Or(o.Level, .95), cmp.Or(o.Seed, 1)
	o.Near, o.Fit = cmp.Or(max(o.Near, 0), 10_000), cmp.Or(max(o.Fit, 0), 100_000)
	if !(o.Level > 0 && o.Level < 1) {
		return o, fmt.Errorf("level %v is not between 0 and 1: %w", o.Level, eval.ErrInterval)
	}
	if o.Progress == nil {
		o.Progress = func(string, float64) {}
	}
	return o, nil
}

// work is what is found about a table.
type work struct {
	eval.Study
	o        Options
	in       Tables
	codecs   []*schema.Codec
	target   int    // column, −1 without
	positive uint16 // code
	z        float64
	worst    []eval.PairLoss   // pairs of columns, the worst first
	reversed []eval.Reversal   // dates that end before they begin, the worst first
	leftOut  map[string]string // why a metric is not defined for these tables
	notes    []string
	values
	figures
}

func (w *work) stages(ctx context.Context) []stage {
	return []stage{
		{"columns", w.shapes},
		{"pairs of columns", w.pairs},
		{"associations", w.associate},
		{"rows", func() error { return w.measure() }},
		{"rare values", w.rare},
		{"prediction", func() error { return w.predict(ctx) }},
		{"nearest rows", w.nearest},
		{"distances", w.closest},
	}
}

// measure measures the metrics that are not measured along with what is drawn, or only some.
func (w *work) measure(only ...string) error {
	for _, m := range eval.Metrics() {
		if m.Measure == nil || w.Missing(m.Needs) != "" || only != nil && !slices.Contains(only, m.Name) {
			continue
		}
		v, err := m.Measure(&w.Study)
		if err != nil {
			if err := w.undefined(err, m.Name); err != nil {
				return err
			}
			continue
		}
		w.add(m.Name, v...)
	}
	return nil
}

func (in Tables) subject(o Options) (subject, error) { return start(in, o) }

// start checks a table, of filled options.
func start(in Tables, o Options) (*work, error) {
	if in.Train.Rows == nil || in.Synthetic.Rows == nil {
		return nil, fmt.Errorf("a training table and a synthetic one are needed: %w",
			eval.ErrTables)
	}
	s := in.Train.Rows.Schema()
	w := &work{in: in, o: o, target: -1, z: math.Sqrt2 * math.Erfinv(o.Level),
		Study: eval.Study{Train: in.Train.Rows, Synthetic: in.Synthetic.Rows,
			Holdout: in.Holdout.Rows, TrainCells: in.Train.Values,
			SyntheticCells: in.Synthetic.Values, Target: o.Target,
			Seed: o.Seed, Near: o.Near, Level: o.Level},
		values: values{}, leftOut: map[string]string{}, notes: []string{}}
	w.Note = w.note
	if w.TrainCells != nil && w.SyntheticCells != nil {
		w.TrainCells.SetUnits(w.Train.Units(), nil)
		w.SyntheticCells.SetUnits(w.Synthetic.Units(), w.TrainCells)
	}
	for _, other := range w.Compared() {
		// a metric of one way that needs all tables checks them all
		if _, err := eval.MarginalError(w.Train, other.Rows, 1); err != nil {
			return nil, err
		}
	}
	for _, name := range o.Drop {
		if s.Index(name) < 0 {
			return nil, fmt.Errorf("the schema has no column %q: %w", name, eval.ErrColumn)
		}
	}
	var err error
	if w.codecs, err = s.Codecs(); err != nil {
		return nil, err
	}
	if err := w.aim(); err != nil {
		return nil, err
	}
	if w.Holdout == nil {
		w.note("There is no holdout. Figures that need real rows which the synthesizer did not " +
			"see are left out: prediction, privacy loss, and every yardstick.")
	}
	return w, nil
}

// most values of a target whose positive one need not be named.
const mostClasses = 20

// aim finds the target column and the code of its positive value.
func (w *work) aim() error {
	if w.Target == "" {
		if w.o.Positive != "" {
			return fmt.Errorf("a positive value without a target column: %w", eval.ErrColumn)
		}
		return nil
	}
	if w.target = w.Train.Schema().Index(w.Target); w.target < 0 {
		return fmt.Errorf("the schema has no target column %q: %w", w.Target, eval.ErrColumn)
	}
	if len(w.codecs) < 2 {
		return fmt.Errorf("there is no column to predict %q from: %w", w.Target, eval.ErrColumn)
	}
	if slices.Contains(w.o.Drop, w.Target) {
		return fmt.Errorf("the target column %q is to be dropped: %w", w.Target, eval.ErrColumn)
	}
	codec := w.codecs[w.target]
	if w.o.Positive != "" {
		for code := range codec.Size() {
			if codec.Label(uint16(code)) == w.o.Positive {
				w.positive = uint16(code)
				return nil
			}
		}
		return fmt.Errorf("target column %q has no value %q in the schema: %w", w.Target,
			w.o.Positive, eval.ErrColumn)
	}
	values := codec.Values()
	seen, rarest := 0, int64(math.MaxInt64)
	for code, n := range w.Train.Counts(w.target)[:values] {
		if n > 0 {
			seen++
		}
		if n > 0 && n < rarest {
			rarest, w.positive = n, uint16(code)
		}
	}
	if numeric(codec) && seen > 2 { // bounds that were bought may be wider than 0 and 1
		return fmt.Errorf("target column %q is a number, which has no rare class; take a "+
			"column of classes, or name the bin that counts as positive, such as %q: %w", w.Target,
			codec.Label(uint16(values-1)), eval.ErrColumn)
	}
	if codec.Size() > mostClasses {
		return fmt.Errorf("target column %q has %d values; the positive one must be "+
			"named: %w", w.Target, codec.Size(), eval.ErrColumn)
	}
	w.o.Positive = codec.Label(w.positive)
	return nil
}

func (v values) add(metric string, x ...result) { v[metric] = append(v[metric], x...) }

// put adds one number without an interval.
func (v values) put(metric, of string, x float64) {
	v.add(metric, result{Of: of, Value: number(x)})
}

func (w *work) note(text string, args ...any) {
	w.notes = append(w.notes, fmt.Sprintf(text, args...))
}

// undefined leaves the metrics out if the tables do not allow them, and passes other errors on.
func (w *work) undefined(err error, metrics ...string) error {
	if !slices.ContainsFunc([]error{eval.ErrTables, eval.ErrColumn, eval.ErrOneClass,
		eval.ErrInterval, eval.ErrFit}, func(e error) bool { return errors.Is(err, e) }) {
		return err
	}
	for _, m := range metrics {
		w.leftOut[m] = "not defined for these tables: " + err.Error()
	}
	return nil
}

// describe says what was compared, of one table.
func (w *work) describe(r *Report) {
	r.SchemaSHA256, r.figures, r.Notes = w.Train.Schema().Fingerprint(), w.figures, w.notes
	r.Settings.Positive = w.o.Positive
	for _, t := range []struct {
		role string
		Table
	}{{"train", w.in.Train}, {"holdout", w.in.Holdout}, {"synthetic", w.in.Synthetic}} {
		if t.Rows != nil {
			r.Tables = append(r.Tables, tableInfo{Role: t.role, Name: t.Name, Rows: t.Rows.Rows()})
		}
	}
}

// metric is an entry of the report, or the reason why there is no value.
func (w *work) metric(m eval.Metric) (metric, bool) {
	entry := metric{Metric: m, Values: append([]result{}, w.values[m.Name]...)}
	if len(entry.Values) == 0 {
		entry.LeftOut = w.reason(m)
	}
	return entry, m.Needs&eval.Histories == 0
}

// reason is why a metric has no value.
func (w *work) reason(m eval.Metric) string {
	return cmp.Or(w.Missing(m.Needs), w.leftOut[m.Name], m.Else)
}

// first returns the first value of a metric.
func (v values) first(metric string) (result, bool) {
	if x := v[metric]; len(x) > 0 {
		return x[0], true
	}
	return result{}, false
}

// yardstick says how two real tables do in a metric of all columns.
func (w *work) yardstick(metric string) string {
	v := w.values[metric][1]
	return ", those of " + strings.TrimSuffix(v.Of, " (yardstick)") + " to " + percent(v.Value)
}

// beyondYard judges a metric of all columns by what it lacks of that of two real tables.
func (w *work) beyondYard(metric string) status {
	v := w.values[metric]
	return judge(metric, v[0].Value+1-v[1].Value)
}

// around is a value with a normal interval within [low, high].
func (w *work) around(of string, x, stderr, low, high float64) result {
	return result{Of: of, Value: number(x), Interval: &interval{
		Low: number(max(low, x-w.z*stderr)), High: number(min(high, x+w.z*stderr))}}
}
