package eval

import (
	"cmp"
	"slices"

	"github.com/decoy-dp/decoy/table"
)

// Combination is a value of each of two columns that no real row has together.
type Combination struct {
	First       string `json:"first"` // columns, in schema order
	Second      string `json:"second"`
	FirstValue  string `json:"first_value"` // as the schema writes it
	SecondValue string `json:"second_value"`
	Share       Number `json:"share"` // of the synthetic rows
}

const (
	fewInvented   = 10      // least rows, synthetic ones and expected real ones
	mostInvention = 1 << 20 // cells of a pair of columns that is looked at
)

// Invented lists the combinations of two values that at least the given share of the synthetic rows
// have and no real row, the most frequent first: perhaps they cannot be. Each value by itself
// occurs in the real table, which is large enough to have ten rows of the combination at that
// rate, so that chance leaves them out with a probability of e⁻¹⁰ at most. holdout, more real
// rows, may be nil. Tables of other columns are an error that wraps [ErrTables].
func Invented(real, synthetic, holdout *table.Table, share float64) ([]Combination, error) {
	tables := []*table.Table{real, synthetic}
	if holdout != nil {
		tables = append(tables, holdout)
	}
	columns, err := compatible(tables...)
	if err != nil {
		return nil, err
	}
	one := make([][]int64, len(columns))
	for i := range columns {
		one[i] = countOf(real, i)
	}
	var out []Combination
	for j := range columns {
		for i := range j {
			if columns[i].size*columns[j].size > mostInvention {
				continue
			}
			seen := countOf(real, i, j)
			if holdout != nil {
				for cell, n := range countOf(holdout, i, j) {
					seen[cell] += n
				}
			}
			for cell, n := range countOf(synthetic, i, j) {
				rate := float64(n) / float64(synthetic.Rows())
				a, b := cell/columns[j].size, cell%columns[j].size
				if seen[cell] == 0 && one[i][a] > 0 && one[j][b] > 0 && n >= fewInvented &&
					rate >= share && rate*float64(real.Rows()) >= fewInvented {
					out = append(out, Combination{columns[i].name, columns[j].name,
						columns[i].codec.Label(uint16(a)), columns[j].codec.Label(uint16(b)), Number(rate)})
				}
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Combination) int { return cmp.Compare(b.Share, a.Share) })
	return out, nil
}
