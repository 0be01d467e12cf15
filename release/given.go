package release

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/decoy-dp/decoy/marginal"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
	"github.com/decoy-dp/decoy/workload"
)

var (
	// ErrNotExact is wrapped by the refusal of a condition on a model that can only be sampled.
	ErrNotExact = errors.New(
		"only a graphical model (kind marginal) takes a condition; sample it " +
			"and drop rows instead")
	// ErrImpossible is wrapped by the refusal of a condition that holds for no row of the model.
	ErrImpossible = marginal.ErrImpossible
)

// Given is a model under a condition on its rows.
type Given struct {
	model    *Model
	codec    *schema.RowCodec // of the rows that it draws
	where    workload.Item
	products []given
	rows     float64
}

// given is one of the disjoint products of a condition.
type given struct {
	allow  map[int][]bool    // the codes, finer ones in the columns of Fine
	shares map[int][]float64 // of the model's codes
	rows   float64           // expected
}

// Given returns the model of the rows for which the condition of a count holds, exactly: rows are
// not drawn and thrown away, so that a rare condition costs no more than a frequent one. Of a bin
// that the condition cuts it takes the share that values drawn for the bin have. That rows keep the
// rules of the schema is part of the condition. It is post-processing and costs no budget.
//
// Errors: a model of another kind (ErrNotExact); a condition for no row of the model
// (ErrImpossible), or one that is not a sum of at most 4096 products (workload.ErrTooLarge).
func (m *Model) Given(where workload.Item) (*Given, error) {
	p, ok := m.params.(*Marginal)
	if !ok {
		return nil, fmt.Errorf("release: a condition on a model of kind %s: %w", m.params.Kind(),
			ErrNotExact)
	}
	codec, err := m.rowCodec()
	if err != nil {
		return nil, err
	}
	where = where.Drawn(codec.Codecs())
	where.Where = withRules(where, codec)
	fine := map[int]*schema.Codec{}
	for c, f := range where.Fine {
		fine[c] = f.Codec
	}
	g := &Given{model: m, codec: codec.Refined(fine), where: where}
	err = where.Products(p.Sizes(), func(allow map[int][]bool, shares map[int][]float64) {
		rows := p.Model.Expect(p.weights(shares))
		g.products = append(g.products, given{allow: allow, shares: shares, rows: rows})
		g.rows += rows
	})
	if err != nil {
		return nil, fmt.Errorf("release: %w", err)
	}
	if !(g.rows > 1e-9) { // far below what any noise leaves certain
		return nil, fmt.Errorf("release: %w", ErrImpossible)
	}
	return g, nil
}

// withRules adds to a condition that a row keeps the rules of the schema.
func withRules(where workload.Item, rows *schema.RowCodec) table.Expr {
	all := func(sets []schema.CodeSet) table.And {
		var out table.And
		for _, set := range sets {
			allow := set.Allow
			if f, cut := where.Fine[set.Column]; cut {
				allow = make([]bool, len(f.Of))
				for i, code := range f.Of {
					allow[i] = set.Allow[code]
				}
			}
			out = append(out, table.Condition{Column: set.Column, Allow: allow})
		}
		return out
	}
	parts := table.And{where.Where}
	rows.RuleCodes(func(when, then []schema.CodeSet) {
		parts = append(parts, table.Or{table.Not{Of: all(when)}, all(then)})
	})
	return parts
}

func (p *Marginal) weights(shares map[int][]float64) map[int][]float64 {
	out := make(map[int][]float64, len(shares))
	for c, x := range shares {
		out[c] = p.Grouping.Weights(c, x)
	}
	return out
}

// Rows is the expected number of rows of the private table that satisfy the condition, as the model
// has it; above 0.
func (g *Given) Rows() float64 { return g.rows }

// Sample draws n ≥ 1 rows that satisfy the condition, as [Model.Sample] does. The products of the
// condition get their expected numbers of rows, rounded up or down without bias.
func (g *Given) Sample(
	ctx context.Context, n int, seed uint64, emit func(*table.Table) error,
) error {
	return g.model.sample(ctx, n, seed, g.codec, g.draw, emit)
}

func (g *Given) draw(n int, u *rand.Rand) ([][]uint16, error) {
	p := g.model.params.(*Marginal)
	out := make([][]uint16, len(p.Sizes()))
	v, sum, done := u.Float64(), 0.0, 0
	for i, q := range g.products {
		sum += q.rows
		upto := min(int(float64(sum/g.rows*float64(n))+v), n)
		if i == len(g.products)-1 {
			upto = n
		}
		if upto == done {
			continue
		}
		m, err := p.Model.Given(p.weights(q.shares))
		if err != nil {
			return nil, fmt.Errorf("release: %w", err)
		}
		rows := (&Marginal{Model: m, Grouping: p.Grouping.Given(q.shares)}).Sample(upto-done, u)
		for c, f := range g.where.Fine {
			refine(rows[c], f, q.allow[c], u)
		}
		for c := range out {
			out[c] = append(out[c], rows[c]...)
		}
		done = upto
	}
	for r := range n { // the tables of a damaged file may contradict each other
		if !table.Holds(g.where.Where, func(c int) uint16 { return out[c][r] }) {
			return nil, fmt.Errorf("release: the model contradicts itself about the condition: %w",
				ErrFormat)
		}
	}
	return out, nil
}

// refine turns the codes of rows into finer ones that are allowed (nil: all), by their shares.
func refine(codes []uint16, f workload.Fine, allow []bool, u *rand.Rand) {
	of := map[uint16][]int{} // the finer codes of each code that are allowed, those of a share
	total := map[uint16]float64{}
	for i, code := range f.Of {
		if f.Share[i] > 0 && (allow == nil || allow[i]) {
			of[code], total[code] = append(of[code], i), total[code]+f.Share[i]
		}
	}
	for r, code := range codes {
		finer := of[code]
		v := float64(u.Float64() * total[code])
		for k, i := range finer {
			if v -= f.Share[i]; v < 0 || k == len(finer)-1 {
				codes[r] = uint16(i)
				break
			}
		}
	}
}
