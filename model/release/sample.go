package release

import (
	"context"
	"fmt"
	"math/bits"
	"math/rand/v2"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/model/workload"
)

// blockRows is how many rows are drawn at a time, at most: it bounds memory, and is part of what a
// seed reproduces.
const blockRows = 1 << 20

// Sample draws n ≥ 1 synthetic rows and hands them to emit in blocks. It is post-processing: it
// costs no budget, however often it is called. The same model, n and seed give the same rows, byte
// for byte, on every platform. Rows keep the rules of the schema: see [schema.RowCodec.Repair].
//
// The order of rows carries nothing: the first of them are a random sample of all. Blocks are drawn
// alike, of one size but for a row, and within a block the order is drawn when the rows are final.
func (m *Model) Sample(
	ctx context.Context, n int, seed uint64, emit func(*table.Table) error,
) error {
	g, err := m.Given(workload.Item{})
	if err != nil {
		return err
	}
	return g.Sample(ctx, n, seed, emit)
}

// rowCodec draws the values of rows: as that of the schema but for the tails that the one-way
// marginals of a graphical model give to the outermost bins ([schema.Codec.WithTails]).
func (m *Model) rowCodec() (*schema.RowCodec, error) {
	rows, err := m.schema.RowCodec()
	if err != nil {
		return nil, err
	}
	tails := map[int]*schema.Codec{}
	parts := m.graphs()
	for c, codec := range rows.Codecs() {
		if len(parts) == 0 || !codec.Column().Kind.Ordered() {
			continue
		}
		over := make([]float64, codec.Size())
		for _, one := range parts {
			p := one.params.(*Marginal)
			groups := make([]float64, p.Grouping.Sizes()[c])
			if err := p.Model.MarginalTo(groups, []int{c}); err != nil {
				return nil, err
			}
			of, shares := p.Grouping.Groups(c), p.Grouping.Shares(c)
			for code := range over {
				if of == nil {
					over[code] += groups[code]
				} else {
					over[code] += float64(shares[code] * groups[of[code]])
				}
			}
		}
		tails[c] = codec.WithTails(over)
	}
	return rows.Refined(tails), nil
}

// Sample draws n ≥ 1 rows that satisfy the condition, by blocks, as [Model.Sample] does. An error
// wraps ErrImpossible if they are too rare to be found.
func (g *Given) Sample(
	ctx context.Context, n int, seed uint64, emit func(*table.Table) error,
) error {
	if n < 1 {
		return fmt.Errorf("rows must be at least 1, got %d", n)
	}
	u := rand.New(rand.NewPCG(seed, seedStream))
	for blocks, left := (n-1)/blockRows+1, n; left > 0; blocks-- {
		if err := ctx.Err(); err != nil {
			return err
		}
		k := left / blocks
		codes, err := g.draw(ctx, k, u)
		if err != nil {
			return err
		}
		cols, order := make([]table.Codes, len(codes)), shuffled(k, u)
		for i, c := range codes {
			cols[i] = table.NewCodes(g.fine.Codecs()[i].Size(), k)
			for r, from := range order {
				cols[i].Set(r, c[from])
			}
		}
		t, err := table.Refined(g.model.schema, g.fine, cols)
		if err != nil {
			return err
		}
		if err := emit(t); err != nil {
			return err
		}
		left -= k
	}
	return nil
}

// Streams of the public generator: rows, and values inside a bin.
const (
	seedStream  = 0x6465636f79 // "decoy"
	valueStream = 0x76616c7565 // "value"
)

// ValueRand is the public generator that draws values inside bins for a seed, to be given to
// table.NewWriter.
func ValueRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, valueStream)) }

// shuffled are the numbers from 0 to n−1 in random order (Fisher, Yates 1938). 64 random bits for
// at most blockRows places leave next to no bias, and are the same on every platform.
func shuffled(n int, u *rand.Rand) []uint32 {
	order := make([]uint32, n)
	for i := range order {
		j, _ := bits.Mul64(u.Uint64(), uint64(i)+1)
		order[i], order[j] = order[j], uint32(i)
	}
	return order
}
