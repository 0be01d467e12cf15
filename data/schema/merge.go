package schema

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/decoy-dp/decoy/internal/yamlfile"
)

// Buys lists the columns whose bins are bought with budget (Column.BuyBins), by position.
func (s *Schema) Buys() []int {
	var out []int
	for i := range s.Columns {
		if s.Columns[i].BuyBins > 0 {
			out = append(out, i)
		}
	}
	return out
}

// mostGrid is the most cells of a grid that [Schema.BuyDefaults] chooses: codes, with one to spare.
const mostGrid = maxCodes - 1

// BuyDefaults is [Schema.BuyDefaults] of one table. Linked ones have their bins.
func (l *Linked) BuyDefaults() *Linked {
	if !l.Single() {
		return l
	}
	return One(l.Tables[0].Schema.BuyDefaults())
}

// BuyDefaults gives the schema in which bins of equal width that nobody asked for are bought: those
// of a column with bounds alone, where there are more values than bins. Columns that a rule speaks
// of stay as they are.
func (s *Schema) BuyDefaults() *Schema {
	out := s.Clone()
	ruled := map[string]bool{}
	for _, r := range s.Rules {
		for _, x := range append(slices.Clone(r.When), r.Then...) {
			ruled[x.Column] = true
		}
	}
	for _, i := range s.even() {
		c := &out.Columns[i]
		if ruled[c.Name] {
			continue
		}
		bought := *c
		bought.BuyBins = defaultBins
		bought.Bins = bought.evenBins(mostGrid, mostGrid)
		if c.Decimals > 0 { // each cell holds a number of so many
			bought.Bins = int(min(mostGrid, (c.Max-c.Min)*pow10[c.Decimals]))
		}
		if _, fault := newCodec(bought.filled()); fault == nil {
			*c = bought
		}
	}
	return out
}

// even lists the columns that have bins of equal width because nothing else is said of them.
func (s *Schema) even() (out []int) {
	for i := range s.Columns {
		c := &s.Columns[i]
		if c.Kind.Ordered() && c.Bins == 0 && c.BuyBins == 0 && len(c.Edges) == 0 &&
			c.Spacing == Linear && c.filled().Bins == defaultBins {
			out = append(out, i)
		}
	}
	return out
}

// Bought gives the schema with edges for the columns of [Schema.Buys], in their order: for each,
// the cells of the fine grid that are the first of a bin. The first start is 0, and starts
// increase. The error wraps ErrInvalid.
func (s *Schema) Bought(starts [][]int) (*Schema, error) {
	buys := s.Buys()
	if len(starts) != len(buys) {
		return nil, fmt.Errorf("schema: %w: bins for %d of %d columns", ErrInvalid, len(starts),
			len(buys))
	}
	codecs, err := s.Codecs()
	if err != nil {
		return nil, err
	}
	out := s.filled()
	for k, i := range buys {
		c, codec := out.Columns[i], codecs[i]
		edges := make([]float64, 0, len(starts[k])+1)
		for j, at := range starts[k] {
			if at < 0 || at >= codec.bins.count() || j == 0 && at != 0 || j > 0 && at <= starts[k][j-1] {
				return nil, fmt.Errorf("schema: %w: column %s: bins must start at increasing cells, from 0",
					ErrInvalid, yamlfile.Quote(c.Name))
			}
			edges = append(edges, codec.bins.lower[at])
		}
		out.Columns[i] = c.withEdges(append(edges, c.Max))
	}
	return out, out.Validate()
}

// Grid gives the number of cells of the fine grid of a numeric column, the missing code not
// counted, and how many of them can be the first of a bin that is bought: all but the last if that
// holds a single value.
func (c *Codec) Grid() (cells, starts int) {
	if c.bins == nil {
		return 0, 0
	}
	cells = c.bins.count()
	starts = cells
	if c.bins.lower[cells-1] == c.bins.max {
		starts--
	}
	return cells, max(starts, 1)
}

// Groups says how a coarser schema sees the codes of s: for each column nil if the two columns are
// the same, else the code of to for each code of s. The error, which wraps ErrInvalid, is for
// schemas that differ in anything but the edges of columns that s says are bought.
func (s *Schema) Groups(to *Schema) ([][]uint16, error) {
	fine, err := s.Codecs()
	if err != nil {
		return nil, err
	}
	coarse, err := to.Codecs()
	if err != nil {
		return nil, err
	}
	differ := func(format string, args ...any) ([][]uint16, error) {
		return nil, fmt.Errorf("schema: %w: not a coarser form of the other: "+format,
			append([]any{ErrInvalid}, args...)...)
	}
	from, into := s.filled(), to.filled()
	columns, bought := from.Columns, into.Columns
	if from.Columns, into.Columns = nil, nil; len(columns) != len(bought) ||
		!reflect.DeepEqual(from, into) {
		return differ("unit, lenient, CSV form, the number of columns, made ones and rules must agree")
	}
	out := make([][]uint16, len(fine))
	for i, c := range columns {
		edges := bought[i].Edges
		if c.BuyBins > 0 && bought[i].BuyBins == 0 {
			if len(edges) > c.BuyBins+1 {
				return differ("column %s has %d edges for %d bins at most", yamlfile.Quote(c.Name), len(edges),
					c.BuyBins)
			}
			next := 0
			for _, x := range fine[i].bins.lower {
				if next < len(edges)-1 && x == edges[next] {
					next++
				}
				out[i] = append(out[i], uint16(max(next-1, 0)))
			}
			if next != len(edges)-1 {
				return differ("column %s: an edge is not on the grid", yamlfile.Quote(c.Name))
			}
			if fine[i].values < fine[i].size {
				out[i] = append(out[i], uint16(coarse[i].values))
			}
			c = c.withEdges(edges).filled()
		}
		if !reflect.DeepEqual(c, bought[i]) {
			return differ("column %s", yamlfile.Quote(c.Name))
		}
	}
	return out, nil
}

// withEdges is the column with edges that were bought.
func (c Column) withEdges(edges []float64) Column {
	c.Edges, c.Bins, c.Spacing, c.BuyBins, c.BuyShare = edges, 0, Linear, 0, 0
	return c
}
