package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/eval"
)

const (
	mostBins       = 40 // groups of a number that are drawn
	mostCategories = 10 // categories that are drawn by themselves
)

// distribution describes column k in all tables.
func (w *work) distribution(k int, s eval.ColumnShape) column {
	codec, train := w.codecs[k], w.Train.Counts(k)
	c := column{Name: s.Column, Kind: codec.Column().Kind.String(), Metric: s.Metric,
		Score: number(s.Score), codec: codec, shape: s, groups: group(codec, train)}
	c.Train, c.Synthetic = c.shares(train), c.shares(w.Synthetic.Counts(k))
	other := w.Synthetic
	if w.Holdout != nil {
		c.Holdout, other = c.shares(w.Holdout.Counts(k)), w.Holdout
	}
	// chance is how far another real table would be off, at this level
	chance := w.z * math.Sqrt(1/float64(w.Train.Rows())+1/float64(other.Rows()))
	for i, p := range c.Train {
		c.halves = append(c.halves, chance*math.Sqrt(p*(1-p)))
		tip := c.Labels[i] + ": training " + percent(p)
		if c.Holdout != nil {
			tip += ", holdout " + percent(c.Holdout[i])
		}
		c.tips = append(c.tips, tip+", synthetic "+percent(c.Synthetic[i]))
	}
	return c
}

// group joins neighbouring bins, or the categories that are rare in the training table.
func group(c *schema.Codec, train []int64) groups {
	g := groups{group: make([]int, c.Size())}
	codes := c.Values()
	g.Missing = codes < c.Size()
	if numeric(c) {
		g.join(c, codes, min(codes, mostBins))
	} else {
		of, size := eval.Commonest(train[:codes], mostCategories)
		copy(g.group, of)
		for k := range min(size, mostCategories) {
			g.Labels = append(g.Labels, c.Label(uint16(slices.Index(of, k))))
		}
		if g.Rest = codes > mostCategories; g.Rest {
			g.Labels = append(g.Labels, fmt.Sprintf("%d others", codes-mostCategories))
		}
	}
	if g.Missing {
		g.group[codes] = len(g.Labels)
		g.Labels = append(g.Labels, "missing")
	}
	return g
}

// join joins the bins of a number, which are codes, into groups.
func (g *groups) join(c *schema.Codec, codes, groups int) {
	edge := func(x, bound float64) {
		g.Edges, g.Bounds = append(g.Edges, c.Show(x, short)), append(g.Bounds, bound)
	}
	for code := range codes {
		g.group[code] = code * groups / codes
		if g.group[code] == len(g.Edges) {
			low, _ := c.Bin(uint16(code))
			edge(low, low)
		}
	}
	_, high := c.Bin(uint16(codes - 1))
	bound := high
	if c.Column().Kind.Stored() == schema.StoredInt {
		bound++ // both ends are in a bin of whole numbers
	}
	edge(high, bound)
	for i := range groups {
		g.Labels = append(g.Labels, g.Edges[i]+" – "+g.Edges[i+1])
		if groups == codes {
			g.Labels[i] = c.Label(uint16(i))
		}
	}
}

func (g groups) shares(counts []int64) []float64 {
	out, total := make([]float64, len(g.Labels)), 0.
	for code, n := range counts {
		out[g.group[code]] += float64(n)
		total += float64(n)
	}
	for i := range out {
		out[i] /= total
	}
	return out
}

func numeric(c *schema.Codec) bool { return c.Column().Kind.Ordered() }

// chart draws the distribution of a column: that of a number as steps, with a bar for missing
// cells.
func (c column) chart() template.HTML {
	if c.Edges == nil {
		return c.bars(0)
	}
	groups := len(c.Edges) - 1
	f := steps{label: "distribution of " + c.Name, width: 340, height: 176, left: 36, edges: c.Edges,
		tips: c.tips[:groups], series: []shares{{"train", c.Train[:groups]},
			{"synthetic", c.Synthetic[:groups]}}, halves: c.halves}
	if c.Missing {
		return f.plot().done() + c.bars(groups)
	}
	return f.plot().done()
}

// bars draws the groups from the given one on as categories. The line at the end of a training bar
// is the band of chance.
func (c column) bars(from int) template.HTML {
	f := rows{label: "distribution of " + c.Name, width: 340, left: 112, right: 46, to: 1e-9}
	for i := from; i < len(c.Labels); i++ {
		r := row{name: c.Labels[i], text: percent(c.Synthetic[i]), tip: c.tips[i]}
		if c.Missing && i == len(c.Labels)-1 || c.Rest && strings.HasSuffix(r.name, " others") {
			r.class = "soft"
		}
		a, b, half := c.Train[i], c.Synthetic[i], c.halves[i]
		r.marks = []mark{{class: "train", value: a, low: a - half, high: a + half, bar: true},
			{class: "synthetic", value: b, bar: true}}
		f.to = max(f.to, a+half, b)
		f.rows = append(f.rows, r)
	}
	return f.draw()
}

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
			fmt.Sprintf("%+.2g", shift))
	}
	if s := judge("SpreadRatio", math.Exp(off)); off > 6*d.SpreadError && s != good {
		c.lose(s, "Its standard deviation is %s in the real table and %s here.",
			c.codec.ShowDifference(float64(d.Real.Std), short),
			c.codec.ShowDifference(float64(d.Synthetic.Std), short))
	}
}
