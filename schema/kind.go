package schema

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
)

// kinds has the facts of every kind.
var kinds = []*facts{
	{}, Categorical: &categoricalFacts, Integer: &integerFacts, Real: &realFacts,
	Boolean: &booleanFacts, Date: &dateFacts, Timestamp: &timestampFacts,
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

	// of a kind whose cells are numbers, which fall into bins
	parse func(format string, cell []byte) (x float64, ok bool) // in or out of bounds
	// how a value is written; nil: as a number is or, of a kind with a unit, in the format
	show        func(x float64) string
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
	wholeKeys    = append([]string{"after"}, binKeys...)
	realKeys     = append([]string{"decimals"}, wholeKeys...)
)

// Ordered reports whether cells of this kind are numbers, or days or times, which fall into bins:
// the codes of the others have no order.
func (k Kind) Ordered() bool { return k.facts().parse != nil }

// Stored says what the values of a column of this kind are; of an unknown kind, texts.
func (k Kind) Stored() Stored { return k.facts().stored }

// facts are empty for a kind that there is not.
func (k Kind) facts() *facts {
	if int(k) >= len(kinds) {
		return kinds[0]
	}
	return kinds[k]
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
	if f.unit == 0 {
		if f.stored == StoredInt {
			return 1, true
		}
		return 0, true
	}
next:
	for _, step := range f.steps {
		for _, v := range append([]int64{int64(least), int64(most)}, f.probes...) {
			x := float64(v - mod(v, step))
			if got, ok := f.parse(format, []byte(f.write(format, x))); !ok || got != x {
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
