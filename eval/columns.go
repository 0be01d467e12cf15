package eval

import (
	"errors"
	"fmt"
	"slices"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
)

// ErrTables is wrapped by every error about tables that cannot be compared or
// measured: other columns, no rows, too few rows.
var ErrTables = errors.New("unsuitable tables")

// ErrColumn is wrapped by every error about a column that the schema does not
// have, or that is not of the kind the metric is for.
var ErrColumn = errors.New("unsuitable column")

// column is what the metrics need to know of one schema column.
type column struct {
	name   string
	codec  *schema.Codec
	size   int      // number of codes, missing included
	values int      // of the codes: the first; behind them may be missing
	texts  []string // categorical and boolean: what the codes mean
	// numeric: the middle of the bin of every code that is one, from 0 to 1 between the bounds; nil
	// otherwise
	place  []float64
	lo, hi float64 // numeric: the public bounds
}

// columnsOf describes the columns of a schema.
func columnsOf(s *schema.Schema) ([]column, error) {
	codecs, err := s.Codecs()
	if err != nil {
		return nil, err
	}
	out := make([]column, len(codecs))
	for i, c := range codecs {
		out[i] = column{name: s.Columns[i].Name, codec: c, size: c.Size(), values: c.Values()}
		if !s.Columns[i].Kind.Ordered() {
			for code := range c.Size() {
				out[i].texts = append(out[i].texts, c.Label(uint16(code)))
			}
			continue
		}
		bins := c.Values()
		out[i].place = make([]float64, bins)
		out[i].lo, _ = c.Bin(0)
		_, out[i].hi = c.Bin(uint16(bins - 1))
		for code := range bins {
			lo, hi := c.Bin(uint16(code))
			if width := out[i].hi - out[i].lo; width > 0 {
				out[i].place[code] = (lo/2 + hi/2 - out[i].lo) / width
			}
		}
	}
	return out, nil
}

func (c column) equal(d column) bool {
	return c.name == d.name && c.size == d.size && c.values == d.values &&
		c.lo == d.lo && c.hi == d.hi && slices.Equal(c.place, d.place) &&
		slices.Equal(c.texts, d.texts)
}

// numeric reports whether the codes have an order and a middle.
func (c column) numeric() bool { return c.place != nil }

// compatible checks that the tables have rows and the same columns, and returns
// the columns. Only what gives codes their meaning is compared: the tables may
// come from schemas with other missing tokens, policies or units.
func compatible(tables ...*table.Table) ([]column, error) {
	first, err := columnsOf(tables[0].Schema())
	if err != nil {
		return nil, err
	}
	for i, t := range tables {
		if t.Rows() == 0 {
			return nil, fmt.Errorf("table %d of %d has no rows: %w", i+1, len(tables), ErrTables)
		}
		if t.Schema() == tables[0].Schema() {
			continue
		}
		other, err := columnsOf(t.Schema())
		if err != nil {
			return nil, err
		}
		if len(other) != len(first) {
			return nil, fmt.Errorf("tables of %d and of %d columns: %w", len(first),
				len(other), ErrTables)
		}
		for k := range first {
			if !first[k].equal(other[k]) {
				return nil, fmt.Errorf("column %d differs between the tables (%q and %q): %w", k+1,
					first[k].name, other[k].name, ErrTables)
			}
		}
	}
	return first, nil
}

// without returns the positions of all columns but the named ones.
func without(s *schema.Schema, names []string) ([]int, error) {
	for _, name := range names {
		if s.Index(name) < 0 {
			return nil, fmt.Errorf("the schema has no column %q: %w", name, ErrColumn)
		}
	}
	out := slices.DeleteFunc(allColumns(len(s.Columns)), func(i int) bool {
		return slices.Contains(names, s.Columns[i].Name)
	})
	if len(out) == 0 {
		return nil, fmt.Errorf("every column is left out: %w", ErrColumn)
	}
	return out, nil
}
