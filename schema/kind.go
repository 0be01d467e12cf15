package schema

// Kind is what the cells of a column are. A new one is a constant at the end of this list, its
// rules in a file of its own, and a line in kinds: no other package asks which kind a column has,
// but what the methods here and those of [Codec] say of it.
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

// kinds has the rules of every kind.
var kinds = [...]rules{
	Categorical: categoricalRules{}, Integer: integerRules{}, Real: realRules{},
	Boolean: booleanRules{}, Date: dateRules{}, Timestamp: timestampRules{},
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

// rules are what a kind decides about its columns.
type rules interface {
	traits() traits
	// encode gives the code of a value that is not a text, nor missing.
	encode(c *Codec, as Stored, v Value) (uint16, error)
	// write appends the text of a value that is not missing.
	write(dst []byte, c *Codec, v Value) []byte
}

// traits are what can be said of a kind in a word.
type traits struct {
	name    string
	stored  Stored
	keys    keys                  // of a column in a file, besides those of every column
	notOne  error                 // for a cell that is no value of the kind
	pair    []string              // the two categories, if none are given
	alias   func(cell []byte) int // reads further texts of this pair; −1 is neither
	format  string                // default layout; "" for a kind whose cells have none
	singles float64               // so many values have a bin each by default, more have defaultBins
}

// orderedRules are the rules of a kind whose cells are numbers, which fall into bins.
type orderedRules interface {
	rules
	// parse reads a cell, in or out of bounds, whole or not.
	parse(format string, cell []byte) (x float64, ok bool)
	// show writes a value as a schema file does.
	show(format string, x float64) string
	// wrong says why x, finite and whole if values are, cannot be a bound; "" if it can.
	wrong(x float64) string
	// step is what the values of the column are multiples of, 0 if they are not whole; false if its
	// format does not tell all of them apart.
	step(c *Column) (step int64, ok bool)
	// The magnitudes of a cell of unknown bounds: see magnitude.go.
	magnitudes(perPower int) int
	magnitude(x float64, perPower int) (cell int, ok bool)
	magnitudeBounds(cell, perPower int) (lo, hi float64)
}

// Keys of the columns of a kind.
const (
	categoryKeys keys = 1<<keyCategories | 1<<keyOther
	binKeys      keys = 1<<keyMin | 1<<keyMax | 1<<keyBins | 1<<keyEdges | 1<<keyBuy | 1<<keyShare
)

// Ordered reports whether cells of this kind are numbers, or days or times, which fall into bins:
// the codes of the others have no order.
func (k Kind) Ordered() bool { return k.ordered() != nil }

// Stored says what the values of a column of this kind are; of an unknown kind, texts.
func (k Kind) Stored() Stored { return k.traits().stored }

// ordered gives the rules of a kind with an order; nil for the others.
func (k Kind) ordered() orderedRules {
	o, _ := k.rules().(orderedRules)
	return o
}

// rules gives nil for a kind that there is not.
func (k Kind) rules() rules {
	if int(k) >= len(kinds) {
		return nil
	}
	return kinds[k]
}

// traits are empty for a kind that there is not.
func (k Kind) traits() traits {
	if r := k.rules(); r != nil {
		return r.traits()
	}
	return traits{}
}

// kindNames are the names in a schema file.
var kindNames = func() names {
	n := names{what: "kind", first: 1}
	for _, r := range kinds[1:] {
		n.texts = append(n.texts, r.traits().name)
	}
	return n
}()

// String gives the name of k in a schema file.
func (k Kind) String() string { return kindNames.text(uint8(k)) }
