package stats

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/privacy/mech/vote"
)

// Statistic is what is computed on each block.
type Statistic struct {
	vote.Statistic
	Rows int // of a block by default: enough for the statistic to make sense
	// what computes it from counts where each unit is one row, on which column; nil: only blocks do
	direct func(a asked, mu2 float64, r *Validated) error
	column column
	codec  *schema.Codec // of that column; nil without one
}

// Limits hold a program on each block.
type Limits struct {
	Time time.Duration // > 0, from its start; whatever it started is killed then
	MiB  int           // of memory for each process, at least 1
}

// sixDigits writes a number.
func sixDigits(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }

// Text is a result as its column writes values: a date for the mean of dates.
func (f Statistic) Text(x float64) string {
	if f.codec == nil {
		return sixDigits(x)
	}
	return f.codec.Show(x, sixDigits)
}

// Length is a difference of two results, in days for dates.
func (f Statistic) Length(x float64) string {
	if f.codec == nil {
		return sixDigits(x)
	}
	return f.codec.ShowDifference(x, sixDigits)
}

// WithRange sets the range to which the results of blocks are cut, and has blocks compute them.
func (f Statistic) WithRange(lower, upper float64) Statistic {
	f.Lower, f.Upper, f.direct = lower, upper, nil
	return f
}

// Statistics are those of [ParseStatistic], with what they are.
const Statistics = `mean:COLUMN
quantile:COLUMN,Q                of order Q, 0 to 1
coefficient:TARGET~COLUMN+...    of the first COLUMN, adjusted for the others: least squares
                                 for a number, log odds for a target of two values
auroc:TARGET                     of a logistic regression on all other columns: trained on
                                 every second row of a block, tested on the others`

// ParseStatistic reads the text of one of the [Statistics] against a schema. The range of results
// is that of the column, or 0 to 1 for an AUROC; a coefficient has none, so that the caller must
// set one. Numbers are the middles of the schema's bins. Errors wrap ErrStatistic.
func ParseStatistic(text string, s *schema.Schema) (Statistic, error) {
	out := Statistic{Statistic: vote.Statistic{Name: text, Lower: math.NaN(), Upper: math.NaN()}}
	codecs, err := s.Codecs()
	if err != nil {
		return out, err
	}
	kind, of, _ := strings.Cut(text, ":")
	from := source{s, codecs}
	switch kind {
	case "mean":
		err = out.mean(from, of)
	case "quantile":
		err = out.quantile(from, of)
	case "coefficient":
		err = out.coefficient(from, of)
	case "auroc":
		err = out.auroc(from, of)
	default:
		err = fmt.Errorf("a statistic is one of\n%s", Statistics)
	}
	if err != nil {
		return out, fmt.Errorf("%s: %v: %w", text, err, ErrStatistic)
	}
	return out, nil
}

// source is where the columns of a statistic come from.
type source struct {
	*schema.Schema
	codecs []*schema.Codec
}

// columns are those of these names.
func (s source) columns(names ...string) (cols []column, err error) {
	for _, name := range names {
		at, err := columnOf(s.Schema, name)
		if err != nil {
			return nil, err
		}
		cols = append(cols, newColumn(at, s.codecs[at]))
	}
	return cols, nil
}

// name is that of a column.
func (s source) name(c column) string { return s.Columns[c.at].Name }

// mean is mean:COLUMN.
func (f *Statistic) mean(from source, name string) error {
	cols, err := from.columns(name)
	if err != nil {
		return err
	}
	c := cols[0]
	if c.values == nil {
		return fmt.Errorf("column %q is not a number, and has more or less than two values", name)
	}
	f.codec = from.codecs[c.at]
	f.Lower, f.Upper = slices.Min(c.values), slices.Max(c.values)
	f.Rows, f.Of = 20, func(t *table.Table) float64 { return stat.Mean(c.present(t), nil) }
	f.column, f.direct = c, directMean
	return nil
}

// quantile is quantile:COLUMN,Q.
func (f *Statistic) quantile(from source, of string) error {
	at := strings.LastIndexByte(of, ',')
	q, err := strconv.ParseFloat(strings.TrimSpace(of[at+1:]), 64)
	if at < 0 || err != nil || !(q >= 0 && q <= 1) {
		return errors.New("it is quantile:COLUMN,Q with Q from 0 to 1")
	}
	if err := f.mean(from, of[:at]); err != nil {
		return err
	}
	c := f.column
	f.Rows, f.Of = 100, func(t *table.Table) float64 { return quantile(c.present(t), q) }
	f.direct = directQuantile(q)
	return nil
}

// coefficient is coefficient:TARGET~COLUMN+...
func (f *Statistic) coefficient(from source, of string) error {
	target, names, _ := strings.Cut(of, "~")
	cols, err := from.columns(append([]string{target}, strings.Split(names, "+")...)...)
	if err != nil {
		return err
	}
	for i, c := range cols {
		switch {
		case i < 2 && c.values == nil:
			return fmt.Errorf("column %q is not a number, and has more or less than two values",
				from.name(c))
		case slices.ContainsFunc(cols[:i], func(d column) bool { return d.at == c.at }):
			return fmt.Errorf("column %q is there twice", from.name(c))
		}
	}
	r := regression{target: cols[0], from: cols[1:],
		logistic: !from.Columns[cols[0].at].Kind.Ordered()}
	if r.width() > maxWidth {
		return fmt.Errorf("%d coefficients, at most %d are possible", r.width(), maxWidth)
	}
	f.Rows, f.Of = 50+20*r.width(), r.first
	return nil
}

// auroc is auroc:TARGET.
func (f *Statistic) auroc(from source, target string) error {
	cols, err := from.columns(target)
	if err != nil {
		return err
	}
	if !cols[0].isPair() {
		return errors.New("the target must have two values")
	}
	task := eval.Task{Label: target, Positive: 1}
	f.Lower, f.Upper, f.Rows = 0, 1, 500
	f.Of = func(t *table.Table) float64 { return halvesAUROC(t, task) }
	return nil
}

// column is a column of a schema as numbers.
type column struct {
	at, size int
	values   []float64 // of each code but the missing one; nil: more than two categories
	// the least and the greatest value of such a code
	low, high []float64
}

func newColumn(at int, c *schema.Codec) column {
	out := column{at: at, size: c.Values()}
	for code := range out.size {
		lo, hi := float64(code), float64(code)
		if c.Column().Kind.Ordered() {
			lo, hi = c.Bin(uint16(code))
		} else if out.size != 2 {
			return out
		}
		out.low, out.high = append(out.low, lo), append(out.high, hi)
		out.values = append(out.values, lo+(hi-lo)/2)
	}
	return out
}

// isPair reports whether the column has two values.
func (c column) isPair() bool { return len(c.values) == 2 && slices.Equal(c.low, c.high) }

// present are the values that are not missing.
func (c column) present(t *table.Table) (xs []float64) {
	codes := t.Column(c.at)
	for i := range t.Rows() {
		if code := int(codes.At(i)); code < c.size {
			xs = append(xs, c.values[code])
		}
	}
	return xs
}

// quantile is that of Hyndman and Fan's type 7, NaN without values.
func quantile(xs []float64, q float64) float64 {
	if len(xs) == 0 {
		return math.NaN()
	}
	slices.Sort(xs)
	at := q * float64(len(xs)-1)
	i := int(at)
	next := xs[min(i+1, len(xs)-1)]
	return xs[i] + (at-float64(i))*(next-xs[i])
}

// halvesAUROC is NaN where one half has one class.
func halvesAUROC(t *table.Table, task eval.Task) float64 {
	var halves [2][]int
	for i := range t.Rows() {
		halves[i%2] = append(halves[i%2], i)
	}
	p, err := eval.TRTR(t.Select(halves[0]), t.Select(halves[1]), task)
	if err != nil || p.Constant {
		return math.NaN()
	}
	return p.AUROC
}
