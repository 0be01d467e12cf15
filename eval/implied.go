package eval

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/decoy-dp/decoy/data/table"
)

// Broken is what one value implies of another column in real rows and not in synthetic ones.
type Broken struct {
	First       string `json:"first"`
	FirstValue  string `json:"first_value"` // as the schema writes it, or a range
	Second      string `json:"second"`
	SecondValue string `json:"second_value"` // the most frequent of those that break it, at most three
	Share       Number `json:"share"`        // of the synthetic rows that break it
	// of the synthetic rows that break what any value of the first column implies of the second
	Total   Number `json:"total"`
	OfThese Number `json:"of_these"` // of those that have the first value
}

const (
	mostImplied   = 1 << 20 // cells of a pair of columns that is looked at
	impliedGroups = 16      // of about equally many rows, that a number of more bins is cut into
	exceptions    = .001    // share of the real rows with the first value that may break it
	leastExcluded = .01     // share of all real rows that would break it, if it told nothing
)

// Implications lists what holds in at least 99.9 % of the real rows that have one value of a column
// and is broken by at least the given share of all synthetic rows: that they do not have some
// values of another column. A value that implies something is one of at least a hundredth of the
// real rows; a number of more than 16 bins counts in as many groups of about equally many rows. The
// rows that break what any value of one column implies of another count together, beyond what
// another real table would break of it by chance; of two columns, the implication that most rows
// break is named. holdout, more real rows, may be nil. Tables of other columns are an error
// that wraps [ErrTables].
func Implications(real, synthetic, holdout *table.Table, share float64) ([]Broken, error) {
	known := []*table.Table{real}
	if holdout != nil {
		known = append(known, holdout)
	}
	columns, err := compatible(append(known, synthetic)...)
	if err != nil {
		return nil, err
	}
	groups, sizes := make([][]int, len(columns)), make([]int, len(columns))
	for i, c := range columns {
		if groups[i], sizes[i] = allColumns(c.size), c.size; len(c.place) > impliedGroups {
			groups[i], sizes[i] = c.even(real.Counts(i), impliedGroups)
		}
	}
	var out []Broken
	for j := range columns {
		for i := range j {
			worst := Broken{Total: Number(share)}
			for _, p := range [][2]int{{i, j}, {j, i}} {
				if sizes[i]*sizes[j] > mostImplied {
					continue
				}
				pair := implied{columns[p[0]], columns[p[1]], groups[p[0]], groups[p[1]],
					contingency(p[0], p[1], groups, sizes, known...),
					contingency(p[0], p[1], groups, sizes, synthetic)}
				b := pair.broken(synthetic.Rows())
				if b.Total > worst.Total || b.Total == worst.Total && worst.First == "" {
					worst = b
				}
			}
			if worst.First != "" {
				out = append(out, worst)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Broken) int { return cmp.Compare(b.Total, a.Total) })
	return out, nil
}

// implied is the rows of two tables by the groups of two columns.
type implied struct {
	from, to             column
	fromGroups, toGroups []int // of each code
	real, synthetic      [][]int64
}

// broken is what most synthetic rows break; its Total is that of the values of which each by itself
// is no chance or, if all values together are none, of all that imply something. All are looked at:
// those that seem to imply something are chosen by the real rows, which by chance have none.
func (p implied) broken(rows int) (out Broken) {
	var of, in int64            // real and synthetic rows of all values
	var expected, broke float64 // synthetic rows of what few real ones have: by chance, and here
	var breaking, worst Number  // shares of the synthetic rows that break what is implied
	all, total := make([]int64, len(p.real[0])), int64(0)
	for _, group := range p.real {
		for to, n := range group {
			all[to] += n
			total += n
		}
	}
	for g, real := range p.real {
		n, most, excluded := sum(real), int64(0), int64(0)
		if n < max(20, total/100) {
			continue
		}
		below := func(t int64) (sum int64) {
			for _, x := range real {
				if x <= t {
					sum += x
				}
			}
			return sum
		}
		for spare := int64(exceptions * float64(n)); most < spare && below(most+1) <= spare; most++ {
		}
		found := slices.Clone(p.synthetic[g])
		for to, x := range real {
			if all[to] == 0 {
				found[to] = 0 // the column says what no real cell has
			}
			if x <= most {
				excluded += all[to]
			}
		}
		ofThese, chance, top := unseen(real, found, most, 1)
		m := sum(found)
		of, in = of+n, in+m
		expected, broke = expected+chance*float64(m), broke+ofThese*float64(m)
		if float64(excluded) < leastExcluded*float64(total) {
			continue
		}
		share := Number(ofThese * float64(m) / float64(rows))
		breaking += share
		sure := share
		if ofThese > chance && differ(chance, float64(n), ofThese, float64(m)) {
			out.Total += share
			sure++ // is named before all others
		}
		if sure > worst {
			worst = sure
			values := named(top, " or ", func(g int) string { return p.to.between(p.toGroups, g) })
			out = Broken{p.from.name, p.from.between(p.fromGroups, g), p.to.name, values, share,
				out.Total, Number(ofThese)}
		}
	}
	if m := float64(in); broke > expected && differ(expected/m, float64(of), broke/m, m) {
		out.Total = breaking
	}
	return out
}

// between names a group of codes.
func (c column) between(groups []int, g int) string {
	lo := slices.Index(groups, g)
	hi := len(groups) - 1
	for groups[hi] != g {
		hi--
	}
	least, greatest := 0., 0.
	if c.numeric() && hi < c.values {
		least, _ = c.codec.Bin(uint16(lo))
		_, greatest = c.codec.Bin(uint16(hi))
	}
	if least == greatest {
		return c.codec.Label(uint16(lo))
	}
	short := func(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }
	return c.codec.Show(least, short) + " – " + c.codec.Show(greatest, short)
}

func sum(x []int64) (total int64) {
	for _, n := range x {
		total += n
	}
	return total
}
