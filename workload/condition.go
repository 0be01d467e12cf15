package workload

import (
	"github.com/decoy-dp/decoy/internal/yamlfile"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

// Conditions are the counts of the given conditions, written as under the key where of a workload
// file, each named by its text. An error says which text it is about and wraps ErrInvalid.
// A bound may cut a bin: then the item has a [Fine].
func Conditions(s *schema.Schema, texts ...string) ([]Item, error) {
	p, err := newReading(s, true)
	if err != nil {
		return nil, err
	}
	var out []Item
	for _, text := range texts {
		it, err := p.condition(text)
		if err != nil {
			return nil, &problem{0, yamlfile.Quote(text) + ": " + err.Error()}
		}
		out = append(out, it)
	}
	return out, nil
}

// condition is the count of a condition.
func (p *reading) condition(text string) (Item, error) {
	it, err := p.within(func(columns func(string) (column, error)) (table.Expr, error) {
		return condition(text, columns)
	})
	it.Name = text
	return it, err
}

// within reads the condition of a count, which may cut bins anywhere if that is allowed: once to
// see where, and once with columns whose bins begin there. Without a cut the item is as any other.
func (p *reading) within(read func(columns func(string) (column, error)) (table.Expr, error)) (
	it Item, err error,
) {
	it.Weight = 1
	if !p.fine {
		it.Where, err = read(p.column)
		return it, err
	}
	cuts := map[int][]float64{}
	it.Where, err = read(func(name string) (column, error) {
		c, err := p.column(name)
		c.cuts = cuts
		return c, err
	})
	if err != nil || len(cuts) == 0 {
		return it, err
	}
	it.Fine = map[int]Fine{}
	it.Where, err = read(func(name string) (column, error) {
		c, err := p.column(name)
		if at := cuts[c.index]; err == nil && at != nil {
			f := fineOf(c.codec, at)
			it.Fine[c.index], c.codec = f, f.Codec
		}
		return c, err
	})
	return it, err
}
