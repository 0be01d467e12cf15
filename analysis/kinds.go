package analysis

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/decoy-dp/decoy/privacy/text"
	"github.com/decoy-dp/decoy/schema"
)

// The rule for kinds. A count stands out of the noise at clear standard deviations: over the some
// 500 cells of a table of 20 columns a count of zero does so once in 60 runs.
const (
	clear   = 4.0
	counted = 3.0 // of a class that counts towards the number of rows
	// of texts among numbers none of which is frequent, and of dates, numbers or truth values among
	// others of these: fewer are strays, for wide tables have thousands of classes
	hidden     = 5.0
	doubt      = 2.5   // of fractions, where the noise is more than one in manyNoises of the values:
	manyNoises = 20    // in doubt a number is real
	stray      = 0.02  // of the cells, below which those of another kind become missing
	fractional = 0.002 // of numbers that are not whole, below which a column is whole
	fine       = 0.01  // of numbers with more digits, below which they are rounded
	// most texts among numbers that are taken for missing, where they are many
	tokensAtMost = 2
	several      = 0.3 // of the cells, above which it is one text: what is missing has one code
)

// judged is what the classes of a column say.
type judged struct {
	kind     schema.Kind // 0: nothing can be said
	missing  []string    // tokens
	empty    noisy       // cells that are empty, if they stand out
	decimals int         // Real
	missed   noisy       // cells that are missing, if they stand out
	unseen   noisy       // else those that may be
	values   float64     // cells that are not
	noise    float64     // of their number
	texts    float64     // cells of an ordered kind that are texts
	seeks    bool        // texts may be frequent
	target   bool        // what is not found keeps a code
	format   string      // of dates and timestamps; "" is that of the kind
	mixed    bool        // of an ordered kind, unless its texts are more than a token or two
	commas   float64     // cells that look like numbers with a decimal comma, if they are many
	note     string
}

// verdict applies the rule to the noisy classes of a column. rows is the noisy number of rows with
// its noise rowsNoise, sigma the noise of one class. Only what stands out is looked at, so that the
// noise of the many classes that are empty does not drown the one that is not.
func verdict(classes []float64, rows, rowsNoise, sigma float64) judged {
	// rows of the classes that stand out, alone or else together
	standing := func(clear float64, cs []schema.Class) float64 {
		alone, together := 0.0, 0.0
		for _, c := range cs {
			together += classes[c]
			if n := classes[c]; n > clear*sigma {
				alone += n
			}
		}
		if alone == 0 && together > clear*sigma*math.Sqrt(float64(len(cs))) {
			return together
		}
		return alone
	}
	mass := func(cs ...schema.Class) float64 { return standing(clear, cs) }
	var v judged
	var tokens []schema.Class
	for c := schema.Class(0); c < schema.Classes; c++ {
		text, ok := c.MissingToken()
		limit := clear
		if text == "" { // the commonest token needs less evidence
			limit = doubt
		}
		if ok {
			v.unseen = v.unseen.add(classes[c], sigma)
		}
		if n := classes[c]; ok && n > limit*sigma {
			tokens = append(tokens, c)
			v.missed = v.missed.add(n, sigma)
			if text == "" {
				v.empty = noisy{n, sigma}
			}
		}
	}
	slices.SortStableFunc(tokens, func(a, b schema.Class) int {
		return cmp.Compare(classes[b], classes[a])
	})
	for _, c := range tokens {
		text, _ := c.MissingToken()
		v.missing = append(v.missing, text)
	}
	var fractions []schema.Class
	for c := schema.ClassDecimals1; c <= schema.ClassReal; c++ {
		fractions = append(fractions, c)
	}
	values := math.Max(0, rows-v.missed.rows)
	v.values, v.noise = values, math.Hypot(rowsNoise, v.missed.sigma)
	limit := clear
	if values < manyNoises*sigma {
		limit = doubt
	}
	broken := standing(limit, fractions)
	first := schema.ClassDaySlash // of day and month; both in one column are texts
	if month := schema.ClassMonthSlash; classes[month]+classes[month+short] >
		classes[first]+classes[first+short] {
		first = month
	}
	var kinds []standingKind
	for _, family := range [][]schema.Class{
		{schema.ClassText, schema.ClassComma}, {schema.ClassBoolean}, {schema.ClassDate},
		{first, schema.ClassEitherSlash, first + short, schema.ClassEitherSlash + short},
		{schema.ClassDayDot, schema.ClassDayDot + short},
		{schema.ClassDayDash, schema.ClassDayDash + short},
		{schema.ClassSpaceTime, schema.ClassPlainTime, schema.ClassTimestamp}, {schema.ClassWhole},
	} {
		kinds = append(kinds, standingOf(family, mass))
	}
	kinds[len(kinds)-1].rows += broken
	most := slices.MaxFunc(kinds, func(a, b standingKind) int { return cmp.Compare(a.rows, b.rows) })
	best, all := kinds[0], 0.0
	for i, k := range kinds { // texts have a rule of their own
		texts := k.kind == schema.Categorical || most.kind == schema.Categorical
		if !texts && k.rows < most.rows && k.rows <= hidden*sigma {
			kinds[i].rows = 0
		}
		all += kinds[i].rows
	}
	for _, k := range kinds { // texts among numbers may all mean missing
		if k.kind.Ordered() && k.rows > stray*all && !best.kind.Ordered() || k.rows > best.rows {
			best = k
		}
	}
	if all == 0 {
		v.note = fmt.Sprintf(
			"left out: about %.0f cells that are not missing do not stand out of the noise (±%.0f)",
			values, sigma)
		return v
	}
	v.kind, v.format = best.kind, best.format
	v.texts = classes[schema.ClassText] + classes[schema.ClassComma]
	if commas := mass(schema.ClassComma); commas > stray*all {
		v.commas = commas
		v.sayCommas()
	}
	v.seeks = !v.kind.Ordered() || v.texts > doubt*sigma
	switch others := all - best.rows; {
	case others <= stray*all:
	case v.kind.Ordered() && others == kinds[0].rows:
		v.mixed = true
	default: // several kinds
		v.kind, v.seeks = schema.Categorical, true
	}
	if v.kind == schema.Categorical {
		v.list()
	}
	if v.kind == schema.Integer && broken > fractional*values {
		v.kind = schema.Real
		v.decimals = decimals(fractions, values, mass)
	}
	if v.missed.rows > 0 {
		v.say("about %.0f cells are missing", v.missed.rows)
	}
	return v
}

// standingKind is a kind, and the cells that have it.
type standingKind struct {
	kind   schema.Kind
	rows   float64
	format string // of dates; "" is that of the kind
}

// standingOf is the kind of a family of classes. Its layout is that of the first or, of dates, the
// same without zeros, which reads both, if some have none; of times the one that most have, or that
// of the kind if some say a zone.
func standingOf(family []schema.Class, mass func(...schema.Class) float64) standingKind {
	k := kindOf(family[0], 0)
	most := 0.0
	for _, c := range family {
		n := mass(c)
		k.rows += n
		switch same := kindOf(c, n); {
		case k.kind == schema.Timestamp && n > most && same.format != "":
			k.format, most = same.format, n
		case k.kind == schema.Timestamp && same.format == "" && n > stray*k.rows:
			k.format = "" // it is the last
		case n > 0 && c >= schema.ClassShortDates && c < schema.ClassComma:
			k.format = kindOf(family[0]+short, 0).format
		}
	}
	return k
}

// short leads from a class of dates to that of the same dates without zeros before small numbers.
const short = schema.ClassShortDates - schema.ClassDaySlash

// kindOf is the kind of the cells of a class, numbers being whole until fractions are looked at.
func kindOf(c schema.Class, rows float64) standingKind {
	kind, layout := c.Looks()
	if kind == schema.Real {
		kind = schema.Integer
	}
	return standingKind{kind, rows, layout}
}

// list makes texts of a column, of which only the empty one means missing.
func (v *judged) list() {
	v.kind, v.format, v.mixed, v.missing = schema.Categorical, "", false, nil
	v.values, v.missed = v.values+v.missed.rows-v.empty.rows, v.empty
	if v.empty.sigma > 0 {
		v.missing = []string{""}
	}
}

// token reports whether a column of an ordered kind keeps it: if it is mixed with texts, these are
// one or two tokens that mean missing, given the noise of each text that was found and of a class.
// Tokens that were found are added to what is missing.
func (v *judged) token(found []text.Found, sigma, classSigma float64) bool {
	left := v.texts
	for _, f := range found {
		left -= float64(f.Rows)
	}
	noise := clear * math.Hypot(classSigma, sigma*math.Sqrt(float64(len(found))))
	switch {
	case !v.mixed, len(found) == 0 && v.texts < hidden*classSigma:
	case len(found) == 0, len(found) > 1 && v.texts > several*v.values, len(found) > tokensAtMost,
		left > max(noise, stray*v.values):
		v.list()
		return false
	}
	slices.SortStableFunc(found, func(a, b text.Found) int { return cmp.Compare(b.Rows, a.Rows) })
	for _, f := range found {
		if !slices.Contains(v.missing, f.Text) {
			v.missing = append(v.missing, f.Text)
			v.missed = v.missed.add(float64(f.Rows), sigma)
		}
	}
	if len(found) > 0 {
		v.say("the texts among its values (%q and the like) mean missing", found[0].Text)
	}
	return true
}

// say adds to the note of the column. What holds for all columns is said once, in the file.
func (v *judged) say(format string, args ...any) {
	if v.note != "" {
		v.note += "; "
	}
	v.note += fmt.Sprintf(format, args...)
}

// sayCommas says what to do about decimal commas, if there are many.
func (v *judged) sayCommas() {
	if v.commas > 0 {
		v.say("about %.0f cells look like numbers with a decimal comma, which are not read as "+
			"numbers: write points into the table", v.commas)
	}
}

// decimals is the number of digits that all but few of the numbers have at most; 0: more than six.
func decimals(fractions []schema.Class, values float64, mass func(...schema.Class) float64) int {
	for d := 1; d < len(fractions); d++ {
		if mass(fractions[d:]...) <= fine*values {
			return d
		}
	}
	return 0
}
