package eval

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/decoy-dp/decoy/data/schema"
)

// Sort says what is wrong with cells.
type Sort uint8

// The sorts, in the order in which a report names them.
const (
	Lost    Sort = iota // a category that the schema has and no synthetic cell
	Outside             // real cells out of reach of the synthetic table
	Codes               // numbers that no real cell has, of a column of codes
	Heap                // cells of one value, or missing ones: many in one table and few in the other
	Form                // how numbers are written: the rule in one table and not in the other
	Far                 // numbers beyond the real range by more than half of its length
	Beyond              // numbers beyond the real range
	Unseen              // categories that no real cell has
	Rare                // categories that at most a two hundredth of the real cells has
)

// Found is cells of one sort that differ from those of another sample of the real population.
type Found struct {
	Sort Sort
	What string // the value, up to three examples, or where they are
	// shares of the cells of each table, 0 to 1; what chance makes of it, where a real column has no
	// such cells by definition or a synthetic one has none
	Real, Synthetic float64
}

// Excess is by how much the shares differ.
func (f Found) Excess() float64 { return math.Abs(f.Synthetic - f.Real) }

// Comparison is what differs between a column of two tables.
type Comparison struct {
	Moved // real cells
	// UncoveredShare and InventedShare; NaN of numbers of which one table has none
	Uncovered Number `json:"uncovered"`
	Invented  Number `json:"invented"`
	Drift
	// MissingSimilarity of the cells in the files: declared missing tokens and, where the schema
	// does not allow them, texts that mean missing all the same (see schema.MeansMissing)
	Missing float64 `json:"-"`
	Found   []Found `json:"-"` // by sort, the largest excess first
}

// Conventions, under which 25 kinds of damage change a verdict, and halves of real tables do not
// blame each other: eval/report, TestVerdictsSeeDamage and TestHalvesOfTables.
const (
	leastHeap   = .05  // share of the cells of a value that is missed or made up
	standsOut   = .02  // that of a number which is twice as frequent as the next, and is missed
	certainHeap = .10  // share of a heap of which a third is lost; of a smaller one four fifths are
	rareValue   = .005 // most of the real cells that are of one rare value
	missedValue = .002 // least of the real cells of a category that is missed
	ruleOfForm  = .95  // share of the cells that are written in a way that is the rule
	mostForms   = 3    // decimals that are told apart
	fewCodes    = 20   // whole numbers that are judged as categories are
)

// Compare compares the values of a column, and finds what chance does not explain. The tables must
// have one schema.
//
// Name MovedShare. Alias none; 1 less BoundaryAdherence or CategoryAdherence (SDMetrics) of the
// real column. The share of the real cells that the schema does not allow, and that reading with it
// therefore moves. Range 0 to 1; goal: 0. Source: SDMetrics documentation, BoundaryAdherence.
//
// Name UncoveredShare. Alias RangeCoverage and CategoryCoverage (SDMetrics), which compare ranges
// and sets of categories: there one outlier, or one category of one row, counts as much as all
// others. The share of real cells that lie beyond the least and the greatest synthetic number, by
// more than a hundredth of their standard deviation, or whose category the synthetic table does not
// have; cells that the schema does not allow are left out. Range 0 to 1; goal: that of a holdout.
// Source: SDMetrics documentation, RangeCoverage, CategoryCoverage.
//
// Name InventedShare. Alias 1 less BoundaryAdherence, CategoryAdherence (SDMetrics). The share of
// synthetic cells that lie beyond the real range, or whose value no real cell has: a category, or a
// number of a column of codes. Numbers are codes if at most one in a hundred real cells is unlike
// all others, and the middle 98 % are at most twenty whole numbers, as all are whole, or if less
// than half of the numbers there occur that have as many decimals, up to three, as four in five of
// the cells. A category that stands for all others counts as one that real cells have if they have
// any that the schema does not. Range 0 to 1; goal: that of a holdout. Source: SDMetrics
// documentation, BoundaryAdherence, CategoryAdherence.
//
// MeanShift, SpreadRatio and Wasserstein compare numbers as they are, without bins. σ is the
// standard deviation of the real ones; where it is 0, a difference is infinite.
//
// Name MeanShift. Alias standardized mean difference, StatisticSimilarity (SDMetrics). The
// synthetic mean less the real one, over σ. Range any number; goal: 0. Source: Cohen 1988,
// Statistical Power Analysis, section 2.2, with σ of the real rows alone.
//
// Name SpreadRatio. Alias none; variance ratio is its square. The synthetic standard deviation over
// σ. Range 0 up; goal: 1. Source: Rubin 2001, Health Services & Outcomes Research Methodology 2.
//
// Name Wasserstein. Alias wasserstein_dist (synthcity), earth mover's distance. The mean distance
// ∫|F⁻¹ − G⁻¹| of quantiles, over σ. Range 0 up; goal: that of a holdout. Source: Vallender 1974,
// Theory of Probability and Its Applications 18.
//
// Heaps are values of a twentieth of the cells in one table of which the other has less than a
// fifth, or of a tenth of the cells of which it has less than two thirds. A number that only
// synthetic cells heap up at counts where its public bin does not explain it, and one that less
// than a tenth of the real cells are if it is twice as frequent as the next, from a fiftieth on.
// Missing cells of which the real column has none count at any share. How numbers are written
// counts if it is the rule, and finer in the synthetic table, or coarser than a tenth of the
// standard deviation.
//
// A column that is not there is an error that wraps [ErrColumn].
func Compare(real, synthetic *Values, name string) (Comparison, error) {
	at := slices.IndexFunc(real.columns, func(c cells) bool { return c.name == name })
	if at < 0 {
		return Comparison{}, fmt.Errorf("the schema has no column %q: %w", name, ErrColumn)
	}
	a, b := &real.columns[at], &synthetic.columns[at]
	c := comparison{a: a, b: b, n: real.rows, m: synthetic.rows, of: [2]*Values{real, synthetic}}
	p, q := float64(a.missing)/float64(c.n), float64(b.missing)/float64(c.m)
	c.Moved, c.Drift, c.Missing = a.moved(c.n), c.drift(), 1-math.Abs(p-q)
	c.values, c.real, c.synthetic = joined(a.values(true), b.values(false))
	least := leastHeap
	if a.missing == 0 {
		least = 0
	}
	c.heap(Heap, "missing", int64(a.missing), int64(b.missing), least)
	c.heap(Heap, "not missing", int64(c.n-a.missing), int64(c.m-b.missing), leastHeap)
	if a.ordered() {
		c.numbers()
	} else {
		c.categories()
	}
	slices.SortStableFunc(c.Found, func(a, b Found) int {
		return cmp.Or(cmp.Compare(a.Sort, b.Sort), cmp.Compare(b.Excess(), a.Excess()))
	})
	return c.Comparison, nil
}

// comparison is one in the making: of n real cells with m synthetic ones.
type comparison struct {
	Comparison
	a, b            *cells
	n, m            int
	of              [2]*Values
	values          []string
	real, synthetic []int64 // cells of each value
}

// differ reports whether chance does not explain a real and a synthetic share.
func (c *comparison) differ(p, q float64) bool {
	return differ(p, c.of[0].effective, q, c.of[1].effective)
}

func (c *comparison) add(s Sort, what string, real, synthetic float64) {
	c.Found = append(c.Found, Found{s, what, real, synthetic})
}

// heap adds cells of which there are x and y if one table has at least a share, and the other few.
func (c *comparison) heap(s Sort, what string, x, y int64, least float64) {
	p, q := float64(x)/float64(c.n), float64(y)/float64(c.m)
	high, low, part := max(p, q), min(p, q), .2
	if high >= certainHeap {
		part = 2. / 3
	}
	if high >= least && low < part*high && c.differ(p, q) {
		c.add(s, what, p, q)
	}
}

// unseen adds synthetic cells of values that at most so many of the real cells have, if they are
// more than so many times what chance makes of them, and gives their share.
func (c *comparison) unseen(s Sort, most int64, times float64) (share float64, added bool) {
	share, chance, top := unseen(c.real, c.synthetic, most, c.of[0].designEffect())
	if added = share > times*chance && c.differ(chance, share); added {
		c.add(s, c.named(top), chance, share)
	}
	return share, added
}

func (c *comparison) named(values []int) string {
	return named(values, ", ", func(i int) string { return c.values[i] })
}

func (c *comparison) categories() {
	lost, rest := 0., slices.Clone(c.real)
	for i, what := range c.values {
		x, y := c.real[i], c.synthetic[i]
		p := float64(x) / float64(c.n)
		code, err := c.a.codec.EncodeText([]byte(what))
		switch {
		case y == 0 && (err != nil || c.a.count[code] == 0):
			rest[i] = 0 // the schema does not have it, or it stands for such: MovedShare has them
		case y == 0 && (p >= missedValue || len(c.values) == 2) &&
			missedBeyondChance(float64(x)/c.of[0].designEffect(), c.of[0].effective, c.of[1].effective):
			c.add(Lost, what, p, 0)
			lost, rest[i] = lost+p, 0
		case p >= rareValue: // Rare has the others
			c.heap(Heap, what, x, y, leastHeap)
		}
	}
	share, chance, top := unseen(c.synthetic, rest, 0, c.of[1].designEffect())
	if share *= float64(sum(rest)) / float64(c.n); share > chance && c.differ(share, chance) {
		c.add(Outside, "of values that no cell here has, such as "+c.named(top), share, chance)
	}
	made, added := c.unseen(Unseen, 0, 1)
	if c.Uncovered, c.Invented = Number(lost+share), Number(made); !added {
		c.unseen(Rare, int64(rareValue*float64(c.n)), 2)
	}
}

func (c *comparison) numbers() {
	a, b := c.a.numbers, c.b.numbers
	if len(a) == 0 || len(b) == 0 {
		c.Uncovered, c.Invented = Number(math.NaN()), Number(math.NaN())
		return
	}
	_, std := moments(a)
	few, sparse := false, false
	if c.a.codec.Column().Kind.Stored() < schema.StoredDays {
		c.forms(std)
		few, sparse = c.codes()
	}
	if few {
		c.categories()
		return
	}
	c.reach(std / 100)
	alone := c.a.peaks()
	for i, what := range c.values {
		x, y := c.real[i], c.synthetic[i]
		p, q := float64(x)/float64(c.n), float64(y)/float64(c.m)
		if p > q && alone[what] {
			c.heap(Heap, "exactly "+what, x, y, standsOut)
		} else if p >= certainHeap || p < q && !c.explained(what) {
			c.heap(Heap, "exactly "+what, x, y, leastHeap)
		}
	}
	if sparse {
		made, _ := c.unseen(Codes, 0, 1)
		c.Invented = max(c.Invented, Number(made))
	}
}

// forms compares how numbers are written.
func (c *comparison) forms(std float64) {
	c.heap(Form, "numbers with leading zeros", int64(c.a.padded), int64(c.b.padded), leastHeap)
	name, step := "whole numbers", 1.
	for decimals := 1; decimals <= mostForms+1; decimals++ {
		x, y, before := multiples(c.a.numbers, step), multiples(c.b.numbers, step), len(c.Found)
		if float64(x)/float64(c.n) > float64(y)/float64(c.m) || step > std/10 {
			c.heap(Form, name, x, y, ruleOfForm)
		}
		if len(c.Found) > before {
			break // whoever lacks the coarser lacks the finer
		}
		name, step = fmt.Sprintf("numbers of at most %d decimals", decimals), step/10
	}
}

// reach compares the ranges of numbers, up to a margin.
func (c *comparison) reach(margin float64) {
	lo, hi := c.a.bounds()
	a, b := c.a.numbers, c.b.numbers
	within := a[first(a, lo):first(a, math.Nextafter(hi, math.Inf(1)))]
	lost, _, where := c.outside(within, b, margin)
	// One row of the fewer ones is a share of its own, too.
	chance := beyondRange(min(c.of[0].effective, c.of[1].effective))
	share := float64(lost) / float64(c.n)
	if c.Uncovered = Number(share); share > chance {
		c.add(Outside, "beyond those here, which "+where, share, chance)
	}
	made, far, where := c.outside(b, a, margin)
	share = float64(made) / float64(c.m)
	if c.Invented = Number(share); c.differ(0, float64(far)/float64(c.m)) {
		c.add(Far, where, chance, share)
	} else if share > chance {
		c.add(Beyond, where, chance, share)
	}
}

// codes reports whether the numbers of the real column are so few that they are judged as
// categories are, or codes: see [Compare].
func (c *comparison) codes() (few, sparse bool) {
	a, distinct := c.a.numbers, 0
	middle, wholes := a[len(a)/100:len(a)-len(a)/100], multiples(a, 1)
	for range runs(middle) {
		distinct++
	}
	_, alone, _ := unseen(c.real, c.synthetic, 0, 1)
	few = distinct <= fewCodes && wholes == int64(len(a)) && alone <= .01
	step, on := 1., wholes
	for decimals := 0; decimals < mostForms && 5*on < 4*int64(len(a)); decimals++ {
		step /= 10
		on = multiples(a, step)
	}
	return few, alone <= .01 && 5*on >= 4*int64(len(a)) &&
		float64(distinct) < .5*(middle[len(middle)-1]-middle[0])/step
}

// peaks are the numbers that are twice as frequent as the next to either side.
func (c *cells) peaks() map[string]bool {
	out, before, at, last := map[string]bool{}, int64(0), int64(0), 0.
	for x, n := range runs(append(slices.Clone(c.numbers), math.Inf(1))) {
		if at > 0 && at >= 2*max(before, n) {
			out[c.codec.Show(last, exact)] = true
		}
		before, at, last = at, n, x
	}
	return out
}

// explained reports whether the bin of a number holds about as many of the real cells as of the
// synthetic ones, so that the number is where the synthetic table puts those of its bin.
func (c *comparison) explained(value string) bool {
	x, ok := c.a.codec.ParseValue(value)
	code, err := c.a.codec.EncodeText([]byte(value))
	if !ok || err != nil {
		return false
	}
	lo, hi := c.a.codec.Bin(code)
	within := func(sorted []float64, rows int) float64 {
		to := first(sorted, max(hi, math.Nextafter(x, math.Inf(1))))
		return float64(to-first(sorted, lo)) / float64(rows)
	}
	return within(c.b.numbers, c.m) < 2*within(c.a.numbers, c.n)
}

// values counts the cells that are not missing by their value. What the schema does not have counts
// as itself and, of a real table, as the category that it is read as: synthetic rows have that.
func (c *cells) values(real bool) map[string]int64 {
	out := map[string]int64{}
	for x, n := range runs(c.numbers) {
		out[c.codec.Show(x, exact)] += n
	}
	for code, n := range c.count {
		if n > 0 && !c.ordered() && code < c.codec.Values() {
			out[c.codec.Label(uint16(code))] += n
		}
	}
	for text, n := range c.foreign {
		out[text] += int64(n)
		if real && c.other != "" {
			out[c.other] += int64(n)
		}
	}
	return out
}

// joined joins the counts of two tables, in the order of the names.
func joined(a, b map[string]int64) (names []string, x, y []int64) {
	all := maps.Clone(a)
	maps.Copy(all, b)
	names = slices.Sorted(maps.Keys(all))
	for _, name := range names {
		x, y = append(x, a[name]), append(y, b[name])
	}
	return names, x, y
}

// runs yields the distinct numbers of a sorted list, and how many there are of each.
func runs(sorted []float64) iter.Seq2[float64, int64] {
	return func(yield func(float64, int64) bool) {
		for from := 0; from < len(sorted); {
			to := from
			for to < len(sorted) && sorted[to] == sorted[from] {
				to++
			}
			if !yield(sorted[from], int64(to-from)) {
				return
			}
			from = to
		}
	}
}

// exact writes a number with all digits that differences of decimals keep.
func exact(x float64) string { return strconv.FormatFloat(x, 'g', 12, 64) }

// multiples counts the numbers that are multiples of a step.
func multiples(numbers []float64, step float64) (out int64) {
	for _, x := range numbers {
		if k := x / step; math.Abs(k-math.Round(k)) < 1e-6 {
			out++
		}
	}
	return out
}

// first is the place of the first number of a sorted list that is at least x.
func first(sorted []float64, x float64) int {
	at, _ := slices.BinarySearch(sorted, x)
	return at
}

// outside counts the numbers of x that are beyond the least and the greatest of y by more than a
// margin; far are those beyond by more than half of the length of y's range. y is sorted. where
// says where y begins and ends, and what the furthest of x is.
func (c *comparison) outside(x, y []float64, margin float64) (n, far int, where string) {
	least, greatest, most, furthest := y[0], y[len(y)-1], margin, 0.
	for _, v := range x {
		off := max(least-v, v-greatest)
		if off <= margin {
			continue
		}
		n++
		if off > (greatest-least)/2 {
			far++
		}
		if off > most {
			most, furthest = off, v
		}
	}
	show := c.a.codec.Show
	return n, far, "run from " + show(least, exact) + " to " + show(greatest, exact) +
		", as far as " + show(furthest, exact)
}
