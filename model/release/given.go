package release

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/model/workload"
)

var (
	// ErrNotExact is wrapped by the refusal of what only graphical models can be asked.
	ErrNotExact = errors.New("only a graphical model (kind marginal) can be asked for that")
	// ErrImpossible is wrapped by the refusal of a condition that holds for no row, or hardly any.
	ErrImpossible = errors.New("no row of the model satisfies the condition")
)

// maxTried is how many rows are drawn until one satisfies a condition; up to 8 times as many are
// drawn for a block of those that do.
const maxTried = 1 << 23

// Given is a model under a condition on its rows.
type Given struct {
	model      *Model
	rows, fine *schema.RowCodec // of the model, and with the bins that the condition cuts
	where      workload.Item
}

// Given returns the model of the rows for which the condition of a count holds: rows are drawn as
// [Model.Sample] draws them, and those for which it does not hold are left out. Of a bin that the
// condition cuts, values are drawn as they are for the bin. It is post-processing and costs no
// budget.
func (m *Model) Given(where workload.Item) (*Given, error) {
	rows, err := m.rowCodec()
	if err != nil {
		return nil, err
	}
	where = where.Drawn(rows.Codecs())
	cut := map[int]*schema.Codec{}
	for c, f := range where.Fine {
		cut[c] = f.Codec
	}
	return &Given{m, rows, rows.Refined(cut), where}, nil
}

// draw draws n rows of codes that keep the rules of the schema and satisfy the condition, if there
// is one.
func (g *Given) draw(ctx context.Context, n int, u *rand.Rand) ([][]uint16, error) {
	some := func(n int) [][]uint16 {
		codes := g.model.params.Sample(n, u)
		g.rows.Repair(codes, u)
		return codes
	}
	if g.where.Where == nil {
		return some(n), nil
	}
	out := make([][]uint16, len(g.model.params.Sizes()))
	cut := slices.Sorted(maps.Keys(g.where.Fine))
	for tried, size := 0, n; len(out[0]) < n; size = min(2*size, blockRows) {
		if tried += size; tried > maxTried*min(8, 1+len(out[0])) {
			return nil, fmt.Errorf("of %d rows that were drawn, %d satisfy the condition: ask for "+
				"fewer rows, or for more frequent ones: %w", tried-size, len(out[0]), ErrImpossible)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		codes := some(size)
		for _, c := range cut {
			refine(codes[c], g.where.Fine[c], u)
		}
		for _, r := range shuffled(size, u) { // any of them is as likely to be left over at the end
			if len(out[0]) < n && table.Holds(g.where.Where, func(c int) uint16 { return codes[c][r] }) {
				for c := range out {
					out[c] = append(out[c], codes[c][r])
				}
			}
		}
	}
	return out, nil
}

// refine turns the codes of rows into finer ones, by their shares.
func refine(codes []uint16, f workload.Fine, u *rand.Rand) {
	of := map[uint16][]int{} // the finer codes of each code
	for i, code := range f.Of {
		if f.Share[i] > 0 {
			of[code] = append(of[code], i)
		}
	}
	for r, code := range codes {
		finer, v := of[code], u.Float64()
		for k, i := range finer {
			if v -= f.Share[i]; v < 0 || k == len(finer)-1 {
				codes[r] = uint16(i)
				break
			}
		}
	}
}
