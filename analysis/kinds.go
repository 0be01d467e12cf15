package analysis

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"

	"github.com/decoy-dp/decoy/privacy/text"
	"github.com/decoy-dp/decoy/schema"
)

// The rule for kinds. A count stands out of the noise at clear standard deviations: over the some
// 500 cells of a table of 20 columns a count of zero does so once in 60 runs.
const (
	clear   = 4.0
	sure    = 4.5 // of a token that means missing: of eight, one does so in 3 columns of 100,000
	counted = 3.0 // of a class that counts towards the number of rows
	// of texts among numbers none of which is frequent, and of dates, numbers or truth values among
	// others of these: fewer are strays, for wide tables have thousands of classes
	hidden     = 5.0
	doubt      = 2.5   // of texts among numbers, that some are looked for; of what is uncertain
	stray      = 0.02  // of the cells, below which those of another kind become missing
	fractional = 0.002 // of numbers that are not whole, below which a column is whole
	fine       = 0.01  // of numbers with more digits, below which they are rounded
	mostWhole  = 0.5   // of numbers, some with two digits: of measured ones 1 in 100 is whole
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
	beyond   noisy       // of them those that the bounds cut off
	astray   bool        // some of those may be missing instead
	texts    float64     // cells of an ordered kind that are texts
	seeks    bool        // texts may be frequent
	target   bool        // what is not found keeps a code
	format   string      // of dates and timestamps; "" is that of the kind
	mixed    bool        // of an ordered kind, unless its texts are more than a token or two
	commas   float64     // cells that look like numbers with a decimal comma, if they are many
	doubt    string      // what its owner should know of its values before rows are used
	number   schema.Kind // of texts that may be codes: what they are if they are numbers; or 0
	foreign  bool        // there may be cells of another look than most
	declared schema.Kind // by a person
	taken    []string    // texts that are read as missing
	note     string
}

// verdict applies the rule to the noisy classes of a column. rows is the noisy number of rows with
// its noise rowsNoise, sigma the noise of one class. Only what stands out is looked at, so that the
// noise of the many classes that are empty does not drown the one that is not.
func verdict(name string, classes []float64, rows, rowsNoise, sigma float64) judged {
	// rows of the classes that stand out, alone or else together
	mass := func(cs ...schema.Class) float64 {
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
	v := tokensOf(classes, sigma)
	values := math.Max(0, rows-v.missed.rows)
	v.values, v.noise = values, math.Hypot(rowsNoise, v.missed.sigma)
	broken := mass(fractions...)
	first := schema.ClassDaySlash // of day and month; both in one column are texts
	if month := schema.ClassMonthSlash; classes[month]+classes[month+short] >
		classes[first]+classes[first+short] {
		first = month
	}
	var kinds []standingKind
	for _, family := range [][]schema.Class{
		{schema.ClassText, schema.ClassComma, schema.ClassCode, schema.ClassPadded},
		{schema.ClassBoolean}, {schema.ClassDate},
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
	v.texts = classes[schema.ClassText] + classes[schema.ClassComma] + classes[schema.ClassCode] +
		classes[schema.ClassPadded]
	if commas := mass(schema.ClassComma); commas > stray*all {
		v.commas = commas
		v.say("about %.0f cells look like numbers with a decimal comma, which are not read as "+
			"numbers: write points into the table", commas)
	}
	v.seeks = !v.kind.Ordered() || v.kind.Stored() == schema.StoredDays || v.texts > doubt*sigma
	standout := 0
	for _, n := range classes[schema.ClassWhole:] {
		if n > clear*sigma {
			standout++
		}
	}
	v.foreign = standout > 1
	coded := max(classes[schema.ClassCode], classes[schema.ClassPadded]) >
		max(hidden*sigma, fractional*all)
	switch others := all - best.rows; {
	case v.kind == schema.Integer && (coded || codeName.MatchString(name) || NamesID(name)):
		v.kind, v.seeks = schema.Categorical, true
		if !coded && broken <= fractional*values && !NamesID(name) { // ids, of which none is frequent
			v.number = schema.Integer
		}
	case others <= stray*all:
	case v.kind.Ordered() && others == kinds[0].rows:
		v.mixed = true
	default: // several kinds
		v.kind, v.seeks = schema.Categorical, true
	}
	if v.kind == schema.Integer {
		most := slices.Max(classes[fractions[0] : schema.ClassReal+1])
		if most > (clear-doubt/2)*sigma && most < (clear+doubt)*sigma {
			v.say("whole numbers or fractions (about %.0f cells, ±%.0f): uncertain", most, sigma)
		}
		if broken > fractional*values {
			v.kind = schema.Real
			v.decimals = decimals(values, mass)
			if v.decimals > 1 && mass(schema.ClassWhole) > mostWhole*values { // as codes of diagnoses
				v.kind, v.number = schema.Categorical, schema.Real
			}
		}
	}
	if v.kind == schema.Categorical {
		v.list()
	}
	if v.missed.rows > 0 {
		v.say("about %.0f cells are missing", v.missed.rows)
	}
	return v
}

// fractions are the classes of numbers that are not whole.
var fractions = []schema.Class{schema.ClassDecimals1, schema.ClassDecimals1 + 1,
	schema.ClassDecimals1 + 2, schema.ClassDecimals1 + 3, schema.ClassDecimals1 + 4,
	schema.ClassDecimals1 + 5, schema.ClassReal}

// tokensOf is what the tokens that mean missing say, the most frequent first.
func tokensOf(classes []float64, sigma float64) (v judged) {
	rows := map[string]float64{}
	for c, n := range classes {
		text, ok := schema.Class(c).MissingToken()
		if ok {
			v.unseen = v.unseen.add(n, sigma)
		}
		if ok && n > sure*sigma {
			v.missing, v.missed, rows[text] = append(v.missing, text), v.missed.add(n, sigma), n
			if text == "" {
				v.empty = noisy{n, sigma}
			}
		}
	}
	slices.SortStableFunc(v.missing, func(a, b string) int { return cmp.Compare(rows[b], rows[a]) })
	return v
}

// idName is the name of a column that tells people apart: it ends in a word for that, or is one.
var idName = regexp.MustCompile(`(?i)(^|[^\pL])(id|identifier|mrn|pid|ssn|nhs|uuid|guid|subject|` +
	`encounter|(patient|subject|person|case|user|customer|nhs|patienten|pat|fall)` +
	`[^\pL]?(id|nr|no|number|nummer)|record[^\pL]?number)[^\pL]*$|(?-i:\p{Ll}I[Dd])$`)

// sharedName is the name of a column of codes, of which many people share one: admission_type_id.
var sharedName = regexp.MustCompile(`(?i)(type|kind|class|category|code|status|source|reason|group|` +
	`level|state|country|region|city|disposition|dep(t|artment)|ward|unit|site|hospital|store|product)` +
	`[^\pL]?(id|nr|no|number)[^\pL]*$`)

// NamesID reports whether a name, which is public, is that of a column that tells people apart.
func NamesID(name string) bool { return idName.MatchString(name) && !sharedName.MatchString(name) }

// codeName is the name, which is public, of a column of codes: numbers in it are these.
var codeName = regexp.MustCompile(`(?i)(^|[^\pL\d])(codes?|zip|zipcode|postal|postalcode|postcode|plz|` +
	`icd(9|10)?|diag|dx|cpt|drg|atc|ndc|loinc|fips|naics|mcc|id)([^\pL\d]|$)`)

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
	var k standingKind
	k.kind, k.format = family[0].Looks()
	most := 0.0
	for _, c := range family {
		n := mass(c)
		k.rows += n
		switch _, format := c.Looks(); {
		case k.kind == schema.Timestamp && n > most && format != "":
			k.format, most = format, n
		case k.kind == schema.Timestamp && format == "" && n > stray*k.rows:
			k.format = "" // it is the last
		case n > 0 && c >= schema.ClassShortDates && c < schema.ClassComma:
			_, k.format = (family[0] + short).Looks()
		}
	}
	return k
}

// short leads from a class of dates to that of the same dates without zeros before small numbers.
const short = schema.ClassShortDates - schema.ClassDaySlash

// list makes texts of a column, of which only the empty one means missing.
func (v *judged) list() {
	v.kind, v.format, v.mixed, v.missing, v.taken = schema.Categorical, "", false, nil, nil
	v.values, v.missed, v.beyond = v.values+v.missed.rows-v.empty.rows, v.empty, noisy{}
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
	case len(found) > tokensAtMost, len(found) != 1 && v.texts >= several*v.values,
		left >= several*v.values, len(found) > 0 && left > max(noise, v.texts/2):
		v.list()
		v.say("numbers and other texts, read as texts: it may be uncertain")
		return false
	case left > max(noise, stray*v.values):
		v.say("about %.0f cells are other texts, none of them frequent, and read as missing "+
			"(90+ or <0.1 as its number): it may be uncertain", left)
		if len(v.missing)+len(found) == 0 {
			v.missing, v.missed = []string{"(other)"}, v.missed.add(v.texts, classSigma)
		}
	}
	slices.SortStableFunc(found, func(a, b text.Found) int { return cmp.Compare(b.Rows, a.Rows) })
	for _, f := range found {
		if !slices.Contains(v.missing, f.Text) {
			v.missing, v.taken = append(v.missing, f.Text), append(v.taken, f.Text)
			v.missed = v.missed.add(float64(f.Rows), sigma)
			v.values -= float64(f.Rows)
		}
	}
	if len(found) > 0 {
		v.say("the texts among its values (%q and the like) mean missing", found[0].Text)
	}
	return true
}

// cut says how many cells the bounds cut off, as far as counts tell, if they are many; else "".
func (v *judged) cut() string {
	n := v.beyond
	if n.rows <= max(stray*v.values, surely*n.sigma) {
		return ""
	}
	return fmt.Sprintf("about %.0f %% of its cells (±%.0f %%) are moved to its bounds%s", 100*n.rows/
		v.values, math.Ceil(100*n.sigma/v.values), map[bool]string{true: ", or missing"}[v.astray])
}

// say adds to the note of the column. What holds for all columns is said once, in the file.
func (v *judged) say(format string, args ...any) {
	if v.note != "" {
		v.note += "; "
	}
	v.note += fmt.Sprintf(format, args...)
}

// decimals is the number of digits that all but few of the numbers have at most; 0: more than six.
func decimals(values float64, mass func(...schema.Class) float64) int {
	for d := 1; d < len(fractions); d++ {
		if mass(fractions[d:]...) <= fine*values {
			return d
		}
	}
	return 0
}
