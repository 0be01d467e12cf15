package eval

import (
	"cmp"
	"math"
	"slices"

	"github.com/decoy-dp/decoy/data/schema"
)

// Together is a rule that the cells of real rows keep, and the share of the rows of each table that
// keep it, of those that say something of it.
type Together struct {
	Rule      string `json:"rule"` // in words
	Column    string `json:"column"`
	Family    string `json:"family"` // order, difference, sum, product, copy, ratio or max
	Real      Number `json:"real"`
	Synthetic Number `json:"synthetic"` // 0 if next to no row says anything
	// the schema keeps it, in whatever share of the real rows it holds
	Declared bool `json:"declared,omitempty"`
}

const (
	leastRule  = .99 // share of the real rows that keep a rule
	leastTells = .02 // share of the rows that must say something
	fewestTell = 20  // and how many
	knownCells = 64  // of about equally many rows, by which candidates are chosen
	mostDigits = 6
)

// RulesKept lists what holds in at least 99 % of the real rows that say something of it: of dates
// or timestamps that have an order, their differences in seconds to years, sums of two to four
// numbers, some taken off or negative, products of two, and copies (schema.Candidates). What the
// schema itself has rows keep is listed in any case, unless next to no real row says anything: that
// it is after another column, or what numbers make of it. Rows in which cells are missing or zeros
// say nothing. At most 20,000 rows of each table are looked at. The rules that most synthetic rows
// break come first; those about a column that the synthetic table lacks are left out. The
// tables must have one schema.
func RulesKept(real, synthetic *Values) ([]Together, error) {
	known := real.known(synthetic)
	columns, at := []schema.Column(nil), []int(nil)
	for i, k := range known {
		if k.Masses != nil {
			columns, at = append(columns, k.Column), append(at, i)
		}
	}
	var asked []schema.Made
	for _, m := range real.related {
		there := func(name string) bool {
			return slices.ContainsFunc(columns, func(c schema.Column) bool { return c.Name == name })
		}
		if there(m.Name) &&
			!slices.ContainsFunc(m.Operands(), func(of string) bool { return !there(of) }) {
			asked = append(asked, m)
		}
	}
	declared := len(asked)
	for _, c := range schema.Candidates(known) {
		same := func(m schema.Made) bool { return m.String() == c.Made.String() }
		if !slices.ContainsFunc(asked, same) {
			asked = append(asked, c.Made)
		}
	}
	if len(asked) == 0 {
		return nil, nil
	}
	rules, err := schema.NewRelations(columns, asked)
	if err != nil {
		return nil, err
	}
	var out []Together
	for k, m := range asked {
		of, tells := real.share(rules, k, at)
		if !tells || of < leastRule && k >= declared {
			continue
		}
		other, _ := synthetic.share(rules, k, at)
		out = append(out, Together{m.String(), m.Name, m.Kind.String(), Number(of), Number(other),
			k < declared})
	}
	slices.SortStableFunc(out, func(a, b Together) int {
		return cmp.Compare(a.Synthetic, b.Synthetic)
	})
	return out, nil
}

// share is the share of the rows that keep rule k among those that say something of it; 0 and false
// if these are too few. at are the columns of the rules among those of the file.
func (v *Values) share(rules *schema.Relations, k int, at []int) (of float64, tells bool) {
	x, holds, breaks := make([]float64, len(at)), 0., 0.
	for _, row := range v.written {
		for i, c := range at {
			x[i] = row[c]
		}
		switch rules.Held(k, x) {
		case schema.Holds:
			holds++
		case schema.Breaks:
			breaks++
		}
	}
	if holds+breaks < max(leastTells*float64(len(v.written)), min(fewestTell, float64(v.rows))) {
		return 0, false
	}
	return holds / (holds + breaks), true
}

// known is what candidates are chosen by: the columns of the files, with their bounds and digits,
// and without masses those that one of the tables lacks.
func (v *Values) known(other *Values) (out []schema.Known) {
	for i, c := range v.forms {
		k := c
		var numbers []float64
		for _, row := range v.written {
			if !math.IsNaN(row[i]) {
				numbers = append(numbers, row[i])
			}
		}
		if slices.Sort(numbers); len(numbers) > 0 && v.at[i] >= 0 && other.at[i] >= 0 {
			k.Min, k.Max = numbers[0], numbers[len(numbers)-1]
			if k.Missing = nil; k.Kind.Stored() == schema.StoredFloat {
				k.Decimals = decimalsOf(numbers)
			}
			k.Bins, k.After = 1, ""
			if _, err := schema.NewCodec(k.Column); err == nil {
				k.Masses = massesOf(numbers)
			}
		}
		out = append(out, k)
	}
	return out
}

// decimalsOf is how many digits behind the point nearly all numbers have at most.
func decimalsOf(numbers []float64) int {
	step := 1.
	for d := range mostDigits {
		if float64(multiples(numbers, step)) >= leastRule*float64(len(numbers)) {
			return d
		}
		step /= 10
	}
	return mostDigits
}

// massesOf are runs of about equally many sorted numbers.
func massesOf(numbers []float64) (out []schema.Mass) {
	for from := 0; from < len(numbers); {
		to := min(from+max(1, len(numbers)/knownCells), len(numbers))
		for to < len(numbers) && numbers[to] == numbers[to-1] {
			to++
		}
		out = append(out, schema.Mass{Lo: numbers[from], Hi: numbers[to-1], Rows: float64(to - from)})
		from = to
	}
	return out
}
