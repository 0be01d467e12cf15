package report

import (
	"fmt"
	"math"
	"slices"
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

// losses compares the cells of a column and says what is wrong with it. slack is what the holdout
// lacks of a full score.
func (w *work) losses(k int, slack float64, c *column) error {
	c.Status = grade(float64(c.Score)+slack, goodColumn, poorColumn)
	if c.Status != Good {
		c.Losses = append(c.Losses, fmt.Sprintf("Its distribution matches to %s only.", percent(c.Score)))
	}
	if !w.cellsCompared() {
		return nil
	}
	train, synthetic := w.TrainCells, w.SyntheticCells
	moved, err := eval.MovedShare(train, c.Name)
	if err != nil {
		return err
	}
	nan := number(math.NaN())
	v := &columnValues{number(moved), nan, nan, nan, nan, nan, nil, nil, nil}
	c.Values = v
	lose := func(s Status, format string, args ...any) {
		c.Status = worse(c.Status, s)
		c.Losses = append(c.Losses, fmt.Sprintf(format, args...))
	}
	if s := judge("MovedShare", moved); s != Good {
		lose(s, "The schema moves %s of the real cells%s.", percent(moved),
			w.whereTo(w.codecs[k], eval.Validity(train).Columns[k]))
	}
	if u, err := eval.UncoveredShare(train, synthetic, c.Name); err == nil {
		v.Uncovered = number(u.Share)
		// the range of n rows leaves out 4.7/n of all with probability .05: Beta(2, n−1)
		yard := 5 / float64(synthetic.Rows())
		if w.in.Holdout.Values != nil {
			if h, err := eval.UncoveredShare(train, w.in.Holdout.Values, c.Name); err == nil {
				yard, v.UncoveredHoldout = max(yard, h.Share), number(h.Share)
			}
		}
		s := judge("UncoveredShare", u.Share-yard)
		var lost []string
		for i, share := range u.Shares {
			if share >= lostShare && share*float64(synthetic.Rows()) >= lostRows {
				lost = append(lost, fmt.Sprintf("%s (%s of the real rows)", u.Lost[i], percent(share)))
			}
		}
		switch {
		case lost != nil:
			lose(worse(s, Mixed), "Lost: %s.", listed(lost))
		case s != Good:
			lose(s, "%s of the real cells are outside what the synthetic table has.", percent(u.Share))
		}
	}
	if !numeric(w.codecs[k]) {
		return nil
	}
	heaps, err := eval.Heaps(train, synthetic, c.Name, heapShare)
	if err != nil {
		return err
	}
	for _, h := range heaps {
		if h.Synthetic < keptHeap*h.Real {
			lose(Mixed, "%s of the real cells are exactly %s, and %s here.", percent(h.Real),
				w.codecs[k].Show(h.Value, allDigits), percent(h.Synthetic))
		}
	}
	d, err := eval.NumberDrift(train, synthetic, c.Name)
	if err != nil { // no numbers
		return w.undefined(err)
	}
	v.MeanShift, v.SpreadRatio, v.Wasserstein = number(d.Mean), number(d.Spread), number(d.Wasserstein)
	v.Train, v.Holdout, v.Synthetic = summaryOf(train, c.Name),
		summaryOf(w.in.Holdout.Values, c.Name), summaryOf(synthetic, c.Name)
	codec := w.codecs[k]
	if s := judge("MeanShift", math.Abs(d.Mean)); s != Good {
		lose(s, "Its mean is %s in the real table and %s here (%s standard deviations).",
			codec.Show(float64(v.Train.Mean), short), codec.Show(float64(v.Synthetic.Mean), short),
			signed(d.Mean))
	}
	off := math.Abs(math.Log(d.Spread))
	if s := judge("SpreadRatio", math.Exp(off)); off > 3*d.SpreadError && s != Good {
		lose(s, "Its standard deviation is %s in the real table and %s here.",
			codec.ShowDifference(float64(v.Train.Std), short),
			codec.ShowDifference(float64(v.Synthetic.Std), short))
	}
	return nil
}

// whereTo says where the cells went that the schema moves.
func (w *work) whereTo(c *schema.Codec, v eval.ColumnValidity) string {
	var out []string
	if v.Blank > 0 {
		as := "are not allowed"
		if v.ReadAs != "" {
			as = "are read as " + v.ReadAs
		}
		out = append(out, fmt.Sprintf("%s are missing in the file and %s (declare missing tokens)",
			percent(v.Blank), as))
	}
	if numeric(c) {
		if v.Below > 0 {
			out = append(out, fmt.Sprintf("%s are below its bound of %s", percent(v.Below),
				c.Show(c.Column().Min, short)))
		}
		if v.Above > 0 {
			out = append(out, fmt.Sprintf("%s are above its bound of %s", percent(v.Above),
				c.Show(c.Column().Max, short)))
		}
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

// allDigits writes a number to the last digit.
func allDigits(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// short is a number to three digits, or whole.
func short[F ~float64](number F) string {
	x := float64(number)
	switch a := math.Abs(x); {
	case a >= 1e6 || a > 0 && a < 1e-3:
		return strings.Replace(strconv.FormatFloat(x, 'g', 3, 64), "e+0", "e", 1)
	case a >= 100:
		return strconv.FormatFloat(math.Round(x), 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

func signed(x float64) string {
	if math.Abs(x) < 1e-9 {
		return "0"
	}
	return fmt.Sprintf("%+.2g", x)
}

// listed joins names in words.
func listed(names []string) string { return few(names, ", ", " and ", "%d more") }

// few joins the first three texts, and says how many more there are.
func few(texts []string, between, last, more string) string {
	const most = 3
	if n := len(texts); n > most {
		texts = append(slices.Clone(texts[:most]), fmt.Sprintf(more, n-most))
	}
	end := len(texts) - 1
	if end == 0 {
		return texts[0]
	}
	return strings.Join(texts[:end], between) + last + texts[end]
}

// rank orders columns and statuses from bad to good.
func rank(s Status) int { return slices.Index([]Status{Poor, Mixed, Good, Unknown}, s) }
