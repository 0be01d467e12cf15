package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/table"
)

// structure is a simulated table whose columns hang together in ways that pairs of them do not, or
// hardly, show.
type structure struct {
	columns, codes int
	draw           func(row []int, u *rand.Rand)
	// what a row shows of the structure, from 0 to columns: its distribution is compared
	shown func(row []int) int
}

// tailCode is the first code of the long tail of a column of tails.
const tailCode = 16

var structures = map[string]structure{
	// Each third column is the parity of the two before, but for one row in twenty.
	"parity": {12, 2, func(row []int, u *rand.Rand) {
		for c := range row {
			row[c] = u.IntN(2)
			if c%3 == 2 && u.IntN(20) > 0 {
				row[c] = row[c-1] ^ row[c-2]
			}
		}
	}, func(row []int) (n int) {
		for c := 2; c < len(row); c += 3 {
			n += row[c] ^ row[c-1] ^ row[c-2] ^ 1
		}
		return n
	}},
	// Five kinds of rows, each with a code of its own in each column, which four cells of five have.
	"mixture": {10, 8, func(row []int, u *rand.Rand) {
		kind := u.IntN(5)
		for c := range row {
			row[c] = kindCode(kind, c)
			if u.IntN(5) == 0 {
				row[c] = u.IntN(8)
			}
		}
	}, func(row []int) (most int) {
		for kind := range 5 {
			n := 0
			for c, code := range row {
				if code == kindCode(kind, c) {
					n++
				}
			}
			most = max(most, n)
		}
		return most
	}},
	// Codes with shares that fall as 1/(c + 1)^1.5; in one row of fifty all are in the tail.
	"tails": {8, 32, func(row []int, u *rand.Rand) {
		rare := u.IntN(50) == 0
		for c := range row {
			row[c] = min(int(math.Pow(1-u.Float64(), -2))-1, 31)
			if rare {
				row[c] = tailCode + u.IntN(32-tailCode)
			}
		}
	}, func(row []int) (n int) {
		for _, code := range row {
			if code >= tailCode {
				n++
			}
		}
		return n
	}},
}

// kindCode is the code that most rows of a kind of mixture have in a column.
func kindCode(kind, column int) int { return (3*kind + column*(kind+1)) % 8 }

// simulate draws the tables of a comma-separated list, each from a public seed.
func simulate(names string, rows int) ([]testTable, error) {
	var out []testTable
	for _, name := range strings.Split(names, ",") {
		s, ok := structures[name]
		if !ok {
			return nil, fmt.Errorf("-simulated: %q is not parity, mixture or tails", name)
		}
		declared := categorical(slices.Repeat([]int{s.codes}, s.columns)...)
		columns := make([]table.Codes, s.columns)
		for c := range columns {
			columns[c] = table.Codes{U8: make([]uint8, rows)}
		}
		u, row := rand.New(rand.NewPCG(1, 0)), make([]int, s.columns)
		for r := range rows {
			s.draw(row, u)
			for c, code := range row {
				columns[c].U8[r] = uint8(code)
			}
		}
		t := must(table.FromColumns(declared, columns, nil))
		out = append(out, testTable{name: name, train: t, test: t, shown: s.shown})
	}
	return out, nil
}

// shownError is the total variation distance of what the rows of two tables show.
func (t testTable) shownError(syn *table.Table) (distance float64) {
	difference := make([]float64, len(syn.Schema().Columns)+1)
	for of, weight := range map[*table.Table]float64{t.train: 1, syn: -1} {
		row := make([]int, len(of.Schema().Columns))
		for r := range of.Rows() {
			for c := range row {
				row[c] = int(of.Column(c).At(r))
			}
			difference[t.shown(row)] += weight / float64(of.Rows())
		}
	}
	for _, d := range difference {
		distance += math.Abs(d) / 2
	}
	return distance
}
