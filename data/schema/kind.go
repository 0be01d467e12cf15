package schema

import "strings"

// Kind is what the cells of a column are. A new one is a constant at the end of this list, its
// facts in a file of its own, and a line in kinds: nobody asks which kind a column has, but what
// its facts say.
type Kind uint8

// The kinds. The zero Kind is not valid.
const (
	Categorical Kind = iota + 1 // one of a declared list of texts
	Integer                     // a whole number, |x| < 2^53
	Real                        // a finite number
	Boolean                     // one of two texts
	Date                        // a day, as days since 1970-01-01
	Timestamp                   // an instant, as microseconds since 1970-01-01 UTC
	Time                        // a time of day, in minutes or seconds since midnight
	Duration                    // hours, minutes and seconds, in minutes or seconds
	Period                      // a week, month or quarter, counted from that of 1970-01-01
)

// kinds has the facts of every kind.
var kinds = []*facts{
	{}, Categorical: &categoricalFacts, Integer: &integerFacts, Real: &realFacts,
	Boolean: &booleanFacts, Date: &dateFacts, Timestamp: &timestampFacts,
	Time: &timeFacts, Duration: &durationFacts, Period: &periodFacts,
}

// Stored says what the values of a column are outside of a CSV file, and which field of a [Value]
// holds one.
type Stored uint8

// What values can be.
const (
	StoredText   Stored = iota // Value.Text; such a column takes any value as its text
	StoredBool                 // Value.Int, 0 or 1
	StoredInt                  // Value.Int
	StoredFloat                // Value.Float; bins are half-open: see Codec.Bin
	StoredDays                 // Value.Int, days since 1970-01-01
	StoredMicros               // Value.Int, microseconds since 1970-01-01 UTC
)

// facts are all that a kind decides about its columns.
type facts struct {
	name   string
	stored Stored
	keys   []string // of a column in a file, besides those of every column
	notOne error    // for a cell that is no value of the kind

	// of a kind without an order
	pair  []string              // the two categories, if none are given
	alias func(cell []byte) int // reads further texts of this pair; −1 is neither

	// of a kind whose cells are numbers, days or times, which fall into bins
	numeric bool // the cells are plain numbers
	// how values are read and written in a format for which the table of forms has none; nil: there
	// is no other, and in a schema file values are plain numbers
	layout      func(format string) *notation
	least, most float64 // what can be a bound
	outside     string  // says that something cannot
	singles     float64 // so many values have a bin each by default, more have defaultBins

	// of a kind whose numbers are days or times, in microseconds: 1 is so many
	unit   int64
	format string  // default layout
	steps  []int64 // what all values of a format may be multiples of, finest first
	probes []int64 // values that tell which
}

// Keys of the columns of a kind.
var (
	categoryKeys = []string{"categories", "other"}
	binKeys      = []string{"edges", "min", "max", "bins"}
	momentKeys   = append([]string{"format"}, binKeys...)
	wholeKeys    = append([]string{"after", "format"}, binKeys...)
	realKeys     = append([]string{"decimals"}, wholeKeys...)
)

// Ordered reports whether cells of this kind are numbers, or days or times, which fall into bins:
// the codes of the others have no order.
func (k Kind) Ordered() bool { return k.facts().stored >= StoredInt }

// Numeric reports whether cells of this kind are plain numbers.
func (k Kind) Numeric() bool { return k.facts().numeric }

// Whole reports whether cells of this kind are plain numbers without fractions.
func (k Kind) Whole() bool { return k.Numeric() && k.Stored() == StoredInt }

// Stored says what the values of a column of this kind are; of an unknown kind, texts.
func (k Kind) Stored() Stored { return k.facts().stored }

// facts are empty for a kind that there is not.
func (k Kind) facts() *facts {
	if int(k) >= len(kinds) {
		return kinds[0]
	}
	return kinds[k]
}

// unlessUsual is "" for the format that the kind has anyway.
func (f *facts) unlessUsual(format string) string {
	if format == f.format {
		return ""
	}
	return format
}

// notation is how a column of a kind, with a format, is read and written: as the form that brings a
// notation of its own, or as the kind does. It is nil for a format that the kind does not have, and
// of a kind without an order.
func (f *facts) notation(format string) *notation {
	for i := range table {
		x := &table[i]
		if of := x.kind.facts(); x.notation != nil && x.format == format &&
			(of == f || of.numeric && f.numeric) {
			return x.notation
		}
	}
	switch {
	case f.layout != nil && strings.Contains(format, parting):
		return f.oneOf(strings.Split(format, parting))
	case f.layout != nil:
		return f.layout(format)
	case f.numeric && format == "":
		return &decimal
	case f.numeric:
		return numbers(format)
	}
	return nil
}

// kindNames are the names in a schema file.
var kindNames = func() names {
	n := names{what: "kind", first: 1}
	for _, f := range kinds[1:] {
		n.texts = append(n.texts, f.name)
	}
	return n
}()

// String gives the name of k in a schema file.
func (k Kind) String() string { return kindNames.text(uint8(k)) }

// wrong says why x, finite and whole if values are, cannot be a bound; "" if it can.
func (f *facts) wrong(x float64) string {
	if x < f.least || x > f.most {
		return f.outside
	}
	return ""
}

// step is what the values of a column from min to max are multiples of, 0 if they are not whole;
// false if the format does not tell all of them apart.
func (f *facts) step(format string, least, most float64) (step int64, ok bool) {
	step, ok = f.finest(format, least, most)
	if per := f.perUnit(format); ok && per > 0 {
		step = max(step, int64(gridOf(format)/per))
	}
	return step, ok
}

// finest is step for a format without the grid that it may name.
func (f *facts) finest(format string, least, most float64) (step int64, ok bool) {
	if f.unit == 0 {
		if f.stored == StoredInt {
			return 1, most <= f.greatest(format)
		}
		return 0, true
	}
	n := f.notation(format)
next:
	for _, step := range f.steps {
		for _, v := range append([]int64{int64(least), int64(most)}, f.probes...) {
			v -= mod(v, step)
			text := n.print(nil, Value{Int: v}, wholeDigits)
			if got, ok := n.parse(text); !ok || got != float64(v) {
				continue next
			}
		}
		return step, true
	}
	return 0, false
}

// mod is v modulo m, from 0 to m-1.
func mod(v, m int64) int64 {
	r := v % m
	if r < 0 {
		r += m
	}
	return r
}
