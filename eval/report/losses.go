package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/schema"
)

// What a column may lose and still be good, and from where on it is poor. The worst decides.
const (
	goodColumn, poorColumn = .85, .60 // score of the bins
	lostShare              = .002     // least share of the real rows of a category that is missed
	heapShare              = .10      // least share of the real cells that are one number exactly
	keptHeap               = .5       // of that share, what the synthetic table must have
	lostRows               = 10       // least rows that a synthetic table of its size should have
)

// columnChecks are what may be wrong with the cells of a column, in the order in which it is said.
// Each measures what it needs, and says what it finds with [column.lose].
var columnChecks = []func(*work, *column) error{
	(*work).checkMoved, (*work).checkUncovered, (*work).checkHeaps, (*work).checkDrift,
}

// losses compares a column and says what is wrong with it. slack is what the holdout lacks of a
// full score.
func (w *work) losses(slack float64, c *column) error {
	c.Status = good
	if s := grade(float64(c.Score)+slack, goodColumn, poorColumn); s != good {
		c.lose(s, "Its distribution matches to %s only.", percent(c.Score))
	}
	if !w.cellsCompared() {
		return nil
	}
	nan := number(math.NaN())
	c.Values = &columnValues{Uncovered: nan, UncoveredHoldout: nan, MeanShift: nan,
		SpreadRatio: nan, Wasserstein: nan}
	for _, check := range columnChecks {
		if err := check(w, c); err != nil {
			return err
		}
	}
	return nil
}

// lose notes what is wrong, and how bad it is.
func (c *column) lose(s status, format string, args ...any) {
	c.Status = worse(c.Status, s)
	c.Losses = append(c.Losses, fmt.Sprintf(format, args...))
}

func (w *work) checkMoved(c *column) error {
	moved, err := eval.MovedShare(w.TrainCells, c.Name)
	c.Values.Moved = number(moved)
	if s := judge("MovedShare", moved); s != good {
		validity := eval.Validity(w.TrainCells).Columns[w.Train.Schema().Index(c.Name)]
		c.lose(s, "The schema moves %s of the real cells%s.", percent(moved),
			whereTo(c.codec, validity))
	}
	return err
}

// whereTo says where the cells went that the schema moves.
func whereTo(c *schema.Codec, v eval.ColumnValidity) string {
	var out []string
	say := func(share float64, format string, args ...any) {
		if share > 0 {
			out = append(out, percent(share)+" are "+fmt.Sprintf(format, args...))
		}
	}
	as := "are not allowed"
	if v.ReadAs != "" {
		as = "are read as " + v.ReadAs
	}
	say(v.Blank, "missing in the file and %s (declare missing tokens)", as)
	if numeric(c) {
		say(v.Below, "below its bound of %s", c.Show(c.Column().Min, short))
		say(v.Above, "above its bound of %s", c.Show(c.Column().Max, short))
	} else if len(v.Foreign) > 0 {
		var quoted []string // a text may be a blank
		for _, text := range v.Foreign {
			quoted = append(quoted, strconv.Quote(text))
		}
		out = append(out, "it does not have "+listed(quoted))
	}
	if out == nil {
		return ""
	}
	return ": " + strings.Join(out, ", ")
}

func (w *work) checkUncovered(c *column) error {
	u, err := eval.UncoveredShare(w.TrainCells, w.SyntheticCells, c.Name)
	if err != nil {
		return w.undefined(err) // empty in one of the tables
	}
	c.Values.Uncovered = number(u.Share)
	// the range of n rows leaves out 4.7/n of all with probability .05: Beta(2, n−1)
	rows := float64(w.Synthetic.Rows())
	yard := 5 / rows
	if w.in.Holdout.Values != nil {
		if h, err := eval.UncoveredShare(w.TrainCells, w.in.Holdout.Values, c.Name); err == nil {
			yard, c.Values.UncoveredHoldout = max(yard, h.Share), number(h.Share)
		}
	}
	s := judge("UncoveredShare", u.Share-yard)
	var lost []string
	for i, share := range u.Shares {
		if share >= lostShare && share*rows >= lostRows {
			lost = append(lost, fmt.Sprintf("%s (%s of the real rows)", u.Lost[i], percent(share)))
		}
	}
	switch {
	case lost != nil:
		c.lose(worse(s, mixed), "Lost: %s.", listed(lost))
	case s != good:
		c.lose(s, "%s of the real cells are outside what the synthetic table has.", percent(u.Share))
	}
	return nil
}

func (w *work) checkHeaps(c *column) error {
	heaps, err := eval.Heaps(w.TrainCells, w.SyntheticCells, c.Name, heapShare)
	for _, h := range heaps {
		if h.Synthetic < keptHeap*h.Real {
			c.lose(mixed, "%s of the real cells are exactly %s, and %s here.", percent(h.Real),
				c.codec.Show(h.Value, allDigits), percent(h.Synthetic))
		}
	}
	return err
}

func (w *work) checkDrift(c *column) error {
	d, err := eval.NumberDrift(w.TrainCells, w.SyntheticCells, c.Name)
	if err != nil { // no numbers
		return w.undefined(err)
	}
	v := c.Values
	v.MeanShift, v.SpreadRatio, v.Wasserstein = number(d.Mean), number(d.Spread), number(d.Wasserstein)
	v.Train, v.Holdout, v.Synthetic = summaryOf(w.TrainCells, c.Name),
		summaryOf(w.in.Holdout.Values, c.Name), summaryOf(w.SyntheticCells, c.Name)
	if s := judge("MeanShift", math.Abs(d.Mean)); s != good {
		c.lose(s, "Its mean is %s in the real table and %s here (%s standard deviations).",
			c.codec.Show(float64(v.Train.Mean), short), c.codec.Show(float64(v.Synthetic.Mean), short),
			signed(d.Mean))
	}
	off := math.Abs(math.Log(d.Spread))
	if s := judge("SpreadRatio", math.Exp(off)); off > 3*d.SpreadError && s != good {
		c.lose(s, "Its standard deviation is %s in the real table and %s here.",
			c.codec.ShowDifference(float64(v.Train.Std), short),
			c.codec.ShowDifference(float64(v.Synthetic.Std), short))
	}
	return nil
}

// summaryOf is nil without numbers.
func summaryOf(v *eval.Values, name string) *summary {
	if v == nil {
		return nil
	}
	s, err := v.Summary(name)
	if err != nil {
		return nil
	}
	return &s
}
