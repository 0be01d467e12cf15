package schema

import (
	"fmt"
	"slices"

	"github.com/decoy-dp/decoy/internal/yamlfile"
)

// Codec turns the cells of one column into codes and codes into values. The codes count up from 0
// through the categories or bins; the last is "missing" where the column declares missing tokens. A
// Codec is immutable and safe for concurrent use.
type Codec struct {
	column   Column // filled
	facts    *facts
	notation // of an ordered kind
	size     int
	values   int               // the codes of values; a missing cell has the next one, if there is one
	other    int               // the code that takes disallowed cells; -1: none
	words    map[string]uint16 // categories or boolean texts, and missing tokens
	aliases  bool              // the further texts of facts.alias are taken
	lenient  bool              // every cell has a code
	bins     *bins             // ordered kinds
	absent   []float64         // missing tokens of an ordered kind that are values, such as -9
}

// A fault is why a codec cannot be built, and the field that makes it so.
type fault struct {
	key  string
	item int
	text string
}

func faultf(key, format string, args ...any) *fault {
	return &fault{key, -1, fmt.Sprintf(format, args...)}
}

// newCodec makes the codec of a filled column whose fields are right one by one.
func newCodec(c Column) (*Codec, *fault) {
	c.Categories, c.Edges, c.Missing = slices.Clone(c.Categories), slices.Clone(c.Edges),
		slices.Clone(c.Missing)
	codec := &Codec{column: c, facts: c.Kind.facts(), size: c.size(), other: -1}
	codec.words = make(map[string]uint16, len(c.Categories)+len(c.Missing))
	for i, text := range c.Categories {
		codec.words[text] = uint16(i)
		if c.OnInvalid == Other && text == c.Other {
			codec.other = i
		}
	}
	codec.aliases = codec.facts.alias != nil && slices.Equal(c.Categories, codec.facts.pair)
	if c.Kind.Ordered() {
		codec.notation = *codec.facts.notation(c.Format)
		b, fault := newBins(&c)
		if fault != nil {
			return nil, fault
		}
		if c.BuyBins >= b.count() {
			return nil, faultf("bins", "dp: %d bins out of %d cells leave nothing to buy: the grid must "+
				"be finer, or bins: %d will do", c.BuyBins, b.count(), b.count())
		}
		codec.bins = b
	}
	codec.values = codec.size - min(1, len(c.Missing))
	for i, token := range c.Missing {
		if codec.aliases && codec.facts.alias([]byte(token)) >= 0 {
			return nil, &fault{"missing", i, fmt.Sprintf("missing token %s is also a text of true or false",
				yamlfile.Quote(token))}
		}
		if codec.bins != nil && c.After == "" { // whose cells are no numbers of the column
			if x, ok := codec.parse([]byte(token)); ok {
				if codec.bins.allows(x) {
					return nil, &fault{"missing", i,
						fmt.Sprintf("missing token %s is a value between min and max", yamlfile.Quote(token))}
				}
				codec.absent = append(codec.absent, x)
			}
		}
	}
	for _, token := range c.Missing {
		codec.words[token] = uint16(codec.values)
	}
	return codec, nil
}

// Column gives the column with its defaults filled in. Its slices are the
// codec's own: do not change them.
func (c *Codec) Column() Column { return c.column }

// Size is the number of codes, at most 65,536.
func (c *Codec) Size() int { return c.size }

// Values is how many of the codes, from 0 on, stand for values. Behind them is at most one more, of
// a missing cell, if the column declares missing tokens.
func (c *Codec) Values() int { return c.values }

// Bin gives the smallest and the greatest value of a bin of a numeric column: integers, days,
// microseconds or real numbers. For a real bin other than the last, hi is the upper edge, which
// itself is in the next bin. For the other kinds both are in the bin, and equal for a bin of one
// value. In every kind a decoded value has the mean (lo+hi)/2, up to the rounding of what is
// written, but for tails ([Codec.WithTails]). It panics for a code that is no bin.
func (c *Codec) Bin(code uint16) (lo, hi float64) {
	if c.bins == nil || int(code) >= c.bins.count() {
		panic(fmt.Sprintf("schema: code %d is not a bin", code))
	}
	return c.bins.bounds(int(code))
}
