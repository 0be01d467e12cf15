package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/schema"
)

const (
	goodColumn, poorColumn = .85, .60 // score of the bins of a column
	mostNamed              = 2        // cells of one sort that are named
)

// sorts are what a report says of cells of a sort: which, and their shares of the real and of the
// synthetic cells; up to which excess a column is good, and from where on it is poor.
var sorts = map[eval.Sort]struct {
	says       string
	good, poor float64
}{
	eval.Lost:    {"Lost: %[1]s (%[2]s of the real rows).", 0, .10},
	eval.Outside: {"%[2]s of the real cells are %[1]s.", .02, .10},
	eval.Heap:    {manyAndFew, 0, .45},
	eval.Form:    {manyAndFew, 0, 1},
	eval.Far:     {beyond, 0, .10},
	eval.Beyond:  {beyond, .01, .10},
	eval.Unseen:  {unseen, .01, .10},
	eval.Codes:   {unseen, .10, .50},
	eval.Rare: {"Values of at most .5 %% of the real cells each, such as %[1]s, make up %[3]s of " +
		"its cells, and %[2]s of the real ones.", .02, 1},
}

const (
	manyAndFew = "%[2]s of the real cells are %[1]s, and %[3]s here."
	beyond     = "%[3]s of its cells are beyond the real ones, which %[1]s."
	unseen     = "%[3]s of its cells have values that no real cell has, such as %[1]s."
)

// losses compares a column and says what is wrong with it.
func (w *work) losses(c *column) error {
	c.Status = good
	if s := grade(c.Score, goodColumn, poorColumn); s != good && 1-c.shape.Score > c.shape.Chance {
		c.lose(s, "Its distribution matches to %s only.", percent(c.Score))
	}
	if !w.cellsCompared() { // the schema may have moved missing cells
		w.put("MissingSimilarity", c.Name, c.shape.Missing)
		return nil
	}
	v, err := eval.Compare(w.TrainCells, w.SyntheticCells, c.Name)
	if err != nil {
		return err
	}
	c.Values = &v
	w.add("MovedShare", w.Share(c.Name, float64(v.Share), w.TrainCells.Rows()))
	if s := judge("MovedShare", v.Share); s != good {
		c.lose(s, "The schema moves %s of the real cells%s.", percent(v.Share),
			whereTo(c.codec, v.Moved))
	}
	more := map[eval.Sort]int{}
	for i, f := range v.Found {
		sort := sorts[f.Sort]
		s := grade(f.Excess(), sort.good, sort.poor)
		if s == good || f.Sort == eval.Heap && f.What == "missing" && v.Blank > 0 {
			continue // of cells that are missing in the file the schema has been said to move them
		}
		if more[f.Sort]++; more[f.Sort] <= mostNamed {
			c.lose(s, sort.says, f.What, percent(f.Real), percent(f.Synthetic))
		} else if i == len(v.Found)-1 || v.Found[i+1].Sort != f.Sort {
			c.lose(s, "%d more like that.", more[f.Sort]-mostNamed)
		}
	}
	if v.Real != nil {
		c.drift(v.Drift)
	}
	w.put("MissingSimilarity", c.Name, v.Missing)
	for metric, x := range map[string]number{"UncoveredShare": v.Uncovered,
		"InventedShare": v.Invented, "MeanShift": v.Mean, "SpreadRatio": v.Spread,
		"Wasserstein": v.Wasserstein} {
		if x == x { // a column without numbers has none
			w.add(metric, result{Of: c.Name, Value: x})
		}
	}
	return nil
}

// lose notes what is wrong, and how bad it is.
func (c *column) lose(s status, format string, args ...any) {
	c.Status = worse(c.Status, s)
	c.Losses = append(c.Losses, fmt.Sprintf(format, args...))
}

// whereTo says where the cells went that the schema moves.
func whereTo(c *schema.Codec, v eval.Moved) string {
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

// drift says how the mean and the spread of numbers differ.
func (c *column) drift(d eval.Drift) {
	shift, off := float64(d.Mean), math.Abs(math.Log(float64(d.Spread)))
	if s := judge("MeanShift", math.Abs(shift)); math.Abs(shift) > 4*d.MeanError && s != good {
		c.lose(s, "Its mean is %s in the real table and %s here (%s standard deviations).",
			c.codec.Show(float64(d.Real.Mean), short), c.codec.Show(float64(d.Synthetic.Mean), short),
			signed(shift))
	}
	if s := judge("SpreadRatio", math.Exp(off)); off > 6*d.SpreadError && s != good {
		c.lose(s, "Its standard deviation is %s in the real table and %s here.",
			c.codec.ShowDifference(float64(d.Real.Std), short),
			c.codec.ShowDifference(float64(d.Synthetic.Std), short))
	}
}
