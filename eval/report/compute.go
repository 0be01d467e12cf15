package report

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/schema"
)

// work is a report in the making.
type work struct {
	eval.Study
	o        Options
	in       Tables
	codecs   []*schema.Codec
	target   int    // column, −1 without
	positive uint16 // code
	z        float64
	worst    []eval.PairLoss     // pairs of columns, the worst first
	reversed []eval.Reversal     // dates that end before they begin, the worst first
	values   map[string][]result // by metric
	leftOut  map[string]string   // why a metric is not defined for these tables
	out      *Report
}

// Compute measures everything. Tables of other columns or without rows give an error that wraps
// eval.ErrTables, a column that the schema does not have or a target that cannot be one an error
// that wraps eval.ErrColumn, a level outside (0, 1) one that wraps eval.ErrInterval. The same
// tables and options give the same report.
func Compute(ctx context.Context, in Tables, o Options) (*Report, error) {
	w, err := start(in, o)
	if err != nil {
		return nil, err
	}
	return w.out, w.run(ctx)
}

// run measures in the order of the stages, which is that of the values of a metric.
func (w *work) run(ctx context.Context) error {
	stages := []struct {
		name string
		do   func() error
	}{
		{"columns", w.shapes},
		{"pairs of columns", w.pairs},
		{"associations", w.associate},
		{"rows", func() error { return w.measure() }},
		{"rare values", w.rare},
		{"prediction", func() error { return w.predict(ctx) }},
		{"nearest rows", w.nearest},
		{"distances", w.closest},
	}
	for i, s := range stages {
		if err := ctx.Err(); err != nil {
			return err
		}
		w.o.Progress(s.name, float64(i)/float64(len(stages)))
		if err := s.do(); err != nil {
			return err
		}
	}
	w.finish()
	w.o.Progress("summary", 1)
	return nil
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

// start checks the input and fills in the defaults.
func start(in Tables, o Options) (*work, error) {
	if in.Train.Rows == nil || in.Synthetic.Rows == nil {
		return nil, fmt.Errorf("report: a training table and a synthetic one are needed: %w",
			eval.ErrTables)
	}
	o.Level, o.Seed = cmp.Or(o.Level, .95), cmp.Or(o.Seed, 1)
	o.Near, o.Fit = cmp.Or(max(o.Near, 0), 10_000), cmp.Or(max(o.Fit, 0), 100_000)
	if !(o.Level > 0 && o.Level < 1) {
		return nil, fmt.Errorf("report: level %v is not between 0 and 1: %w", o.Level, eval.ErrInterval)
	}
	if o.Progress == nil {
		o.Progress = func(string, float64) {}
	}
	s := in.Train.Rows.Schema()
	w := &work{in: in, o: o, target: -1, z: math.Sqrt2 * math.Erfinv(o.Level),
		Study: eval.Study{Train: in.Train.Rows, Synthetic: in.Synthetic.Rows,
			Holdout: in.Holdout.Rows, TrainCells: in.Train.Values,
			SyntheticCells: in.Synthetic.Values, Target: o.Target,
			Seed: o.Seed, Near: o.Near, Level: o.Level},
		values: map[string][]result{}, leftOut: map[string]string{}}
	w.Note = w.note
	if w.TrainCells != nil && w.SyntheticCells != nil {
		w.TrainCells.Belong(w.Train.Units(), nil)
		w.SyntheticCells.Belong(w.Synthetic.Units(), w.TrainCells)
	}
	for _, other := range w.Compared() {
		// a metric of one way that needs all tables checks them all
		if _, err := eval.MarginalError(w.Train, other.Rows, 1); err != nil {
			return nil, err
		}
	}
	for _, name := range o.Drop {
		if s.Index(name) < 0 {
			return nil, fmt.Errorf("report: the schema has no column %q: %w", name, eval.ErrColumn)
		}
	}
	var err error
	if w.codecs, err = s.Codecs(); err != nil {
		return nil, err
	}
	if err := w.aim(); err != nil {
		return nil, err
	}
	w.out = &Report{Format: format, NotPrivate: true, Warning: warning, Tool: o.Tool,
		SchemaSHA256: s.Fingerprint(), Settings: w.o, Notes: []string{}}
	w.out.Settings.Progress = nil
	for _, t := range []struct {
		role string
		Table
	}{{"train", in.Train}, {"holdout", in.Holdout}, {"synthetic", in.Synthetic}} {
		if t.Rows != nil {
			w.out.Tables = append(w.out.Tables, tableInfo{t.role, t.Name, t.Rows.Rows(), t.Claim})
		}
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
			return fmt.Errorf("report: a positive value without a target column: %w", eval.ErrColumn)
		}
		return nil
	}
	if w.target = w.Train.Schema().Index(w.Target); w.target < 0 {
		return fmt.Errorf("report: the schema has no target column %q: %w", w.Target, eval.ErrColumn)
	}
	if len(w.codecs) < 2 {
		return fmt.Errorf("report: there is no column to predict %q from: %w", w.Target, eval.ErrColumn)
	}
	if slices.Contains(w.o.Drop, w.Target) {
		return fmt.Errorf("report: the target column %q is to be dropped: %w", w.Target, eval.ErrColumn)
	}
	codec := w.codecs[w.target]
	if w.o.Positive != "" {
		for code := range codec.Size() {
			if codec.Label(uint16(code)) == w.o.Positive {
				w.positive = uint16(code)
				return nil
			}
		}
		return fmt.Errorf("report: target column %q has no value %q in the schema: %w", w.Target,
			w.o.Positive, eval.ErrColumn)
	}
	values := codec.Values()
	if numeric(codec) && values > 2 {
		return fmt.Errorf("report: target column %q is a number, which has no rare class; take a "+
			"column of classes, or name the bin that counts as positive, such as %q: %w", w.Target,
			codec.Label(uint16(values-1)), eval.ErrColumn)
	}
	if codec.Size() > mostClasses {
		return fmt.Errorf("report: target column %q has %d values; the positive one must be "+
			"named: %w", w.Target, codec.Size(), eval.ErrColumn)
	}
	best := int64(math.MaxInt64)
	for code, n := range w.Train.Counts(w.target) {
		if n > 0 && n < best && code < values {
			best, w.positive = n, uint16(code)
		}
	}
	w.o.Positive = codec.Label(w.positive)
	return nil
}

func (w *work) add(metric string, v ...result) { w.values[metric] = append(w.values[metric], v...) }

// put adds one number without an interval.
func (w *work) put(metric, of string, x float64) { w.add(metric, result{Of: of, Value: number(x)}) }

func (w *work) note(text string, args ...any) {
	w.out.Notes = append(w.out.Notes, fmt.Sprintf(text, args...))
}

// undefined leaves the metrics out if the tables do not allow them, and passes other errors on.
func (w *work) undefined(err error, metrics ...string) error {
	if !slices.ContainsFunc([]error{eval.ErrTables, eval.ErrColumn, eval.ErrOneClass,
		eval.ErrInterval, eval.ErrFit}, func(e error) bool { return errors.Is(err, e) }) {
		return err
	}
	for _, m := range metrics {
		w.leftOut[m] = "not defined for these tables: " + strings.TrimPrefix(err.Error(), "eval: ")
	}
	return nil
}

// finish lists the metrics in the order of package eval and writes the summary.
func (w *work) finish() {
	for _, m := range eval.Metrics() {
		entry := metric{m, w.values[m.Name], ""}
		if len(entry.Values) == 0 {
			entry.Values, entry.LeftOut = []result{}, w.reason(m)
		}
		w.out.Metrics = append(w.out.Metrics, entry)
	}
	w.out.Summary = w.summary()
}

// reason is why a metric has no value.
func (w *work) reason(m eval.Metric) string {
	return cmp.Or(w.Missing(m.Needs), w.leftOut[m.Name], m.Else)
}

// first returns the first value of a metric.
func (w *work) first(metric string) (result, bool) {
	if v := w.values[metric]; len(v) > 0 {
		return v[0], true
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
