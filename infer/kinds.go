package infer

import (
	"cmp"
	"fmt"
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/privacy/mech/text"
	"gonum.org/v1/gonum/stat/distuv"
	"math"
	"slices"
	"strings"
)

// The rule for kinds. A count stands out of the noise at clearSigmas standard deviations: over the
// some 500 cells of a table of 20 columns a count of zero does so once in 60 runs.
const (
	clearSigmas   = 4.0
	tokenSigmas   = 4.5 // of a token that means missing: of eight, one does so in 3 columns of 100,000
	countedSigmas = 3.0 // of a class that counts towards the number of rows
	// of texts among numbers none of which is frequent, and of dates, numbers or truth values among
	// others of these: fewer are strays, for wide tables have thousands of classes
	hiddenSigmas    = 5.0
	rareSigmas      = 5.5   // of one of the thousands of classes that few columns have
	otherwiseShare  = 0.03  // of both, above which cells of another kind claim what may be theirs
	doubtSigmas     = 2.5   // of texts among numbers, that some are looked for; of what is uncertain
	strayShare      = 0.02  // of the cells, below which those of another kind become missing
	fractionShare   = 0.002 // of numbers that are not whole, below which a column is whole
	negligibleShare = 0.01  // of numbers with more digits, below which they are rounded
	mostWholeShare  = 0.5   // of numbers, some with two digits: of measured ones 1 in 100 is whole
	// most texts among numbers that are taken for missing, where they are many
	maxTokens    = 4
	severalShare = 0.3 // of the cells, from which these are texts, too
)

// verdict is what the classes of a column say.
type verdict struct {
	kind          schema.Kind // 0: nothing can be said
	missing       []string    // tokens
	empty         noisy       // cells that are empty, if they stand out
	decimals      int         // Real
	missingRows   noisy       // cells that are missing, if they stand out
	unseenMissing noisy       // else those that may be
	values        float64     // cells that are not
	noise         float64     // of their number
	cutOffRows    noisy       // of them those that the bounds cut off
	maybeMissing  bool        // some of those may be missing instead
	texts         float64     // cells of an ordered kind that are texts
	asks          bool        // texts may be frequent
	format        string      // of dates and timestamps; "" is that of the kind
	mixed         bool        // of an ordered kind, unless its texts are more than a token or two
	doubt         string      // what its owner should know of its values before rows are used
	ifNumbers     schema.Kind // of texts that may be codes: what they are if they are numbers; or 0
	ifFormat      string      // and how these are written
	// the kind and the format of numbers with zeros before them, if there are many
	padding      schema.Written
	severalLooks bool        // there may be cells of another look than most
	looks        string      // what most cells look like
	declared     schema.Kind // by a person
	asMissing    []string    // texts that are read as missing
	note         string
}

// classCounts are the noisy classes of a column, each with noise sigma. Only what stands out is
// looked at, so that the noise of the many classes that are empty does not drown the one that is
// not.
type classCounts struct {
	rows  []float64
	sigma float64
}

// mass is the rows of the classes that stand out, alone or else together.
func (c classCounts) mass(classes ...schema.Class) float64 {
	alone, together, usual := 0.0, 0.0, 0.0
	for _, class := range classes {
		n := c.rows[class]
		if !class.Looks().Rare {
			together, usual = together+n, usual+1
		}
		if c.clear(class) {
			alone += n
		}
	}
	if alone == 0 && together > clearSigmas*c.sigma*math.Sqrt(usual) {
		return together
	}
	return alone
}

// clear reports whether a class stands out.
func (c classCounts) clear(class schema.Class) bool {
	n := c.rows[class]
	return n > clearSigmas*c.sigma && (n > rareSigmas*c.sigma || !class.Looks().Rare)
}

// kinds are the kinds that a column may be of, with the cells that have them: texts first, and
// numbers last. Of two families that share classes, as dates do whose day or month comes first, it
// is the one whose classes have more rows.
func (c classCounts) kinds() (kinds []kindCount) {
	families := schema.Families()
	rank := func(k kindCount) int {
		switch {
		case k.kind.Numeric():
			return 3
		case k.kind.Ordered():
			return 2
		}
		return int(k.kind.Stored()) // of a text or a truth value
	}
	rows := func(f schema.Family) (n float64) {
		for _, class := range f.Classes {
			n += c.rows[class]
		}
		return n
	}
	for _, i := range c.seen() {
		f := families[i]
		if !slices.ContainsFunc(f.Rivals, func(j int) bool {
			g := rows(families[j])
			return g > rows(f) || g == rows(f) && j < i
		}) {
			kinds = append(kinds, countKind(f, c.mass))
		}
	}
	slices.SortStableFunc(kinds, func(a, b kindCount) int { return rank(a) - rank(b) })
	c.claim(kinds)
	most := 0
	for i, k := range kinds {
		if k.rows > kinds[most].rows {
			most = i
		}
	}
	for i, k := range kinds { // texts have a rule of their own
		if i > 0 && most > 0 && k.rows < kinds[most].rows && k.rows <= hiddenSigmas*c.sigma {
			kinds[i].rows = 0
		}
		kinds[0].rows, kinds[0].foreign = kinds[0].rows+k.foreign, kinds[0].foreign+k.foreign
	}
	return c.together(kinds)
}

// seen are the families, by their places, that have a class that stands out, and those of usual
// classes, which may do so together.
func (c classCounts) seen() (places []int) {
	usual := true // the rare ones are the last
	for class := range c.rows {
		x := schema.Class(class)
		usual = usual && !x.Looks().Rare
		if usual || c.clear(x) {
			places = append(places, schema.FamiliesOf(x)...)
		}
	}
	slices.Sort(places)
	return slices.Compact(places)
}

// together makes one of the days and of the instants that are written in several layouts: the most
// frequent is written, and all are read. Days among instants are their midnights.
func (c classCounts) together(kinds []kindCount) []kindCount {
	byRows := slices.Clone(kinds)
	slices.SortStableFunc(byRows, func(a, b kindCount) int { return cmp.Compare(b.rows, a.rows) })
	var layouts []schema.Written
	at, kind := -1, schema.Kind(0)
	for _, k := range byRows {
		if k.rows == 0 || k.kind.Stored() != schema.StoredDays && k.kind.Stored() != schema.StoredMicros {
			continue
		}
		layouts = append(layouts, schema.Written{Kind: k.kind, Format: k.format})
		if kind = max(kind, k.kind); at < 0 {
			at = slices.IndexFunc(kinds, func(o kindCount) bool {
				return o.kind == k.kind && o.format == k.format
			})
			continue
		}
		kinds[at].rows += k.rows
		kinds[at].classes = slices.Concat(kinds[at].classes, k.classes)
	}
	if len(layouts) > 1 {
		kinds[at].kind, kinds[at].format = kind, schema.Layouts(layouts)
		kinds = slices.DeleteFunc(kinds, func(k kindCount) bool {
			return k.rows < kinds[at].rows && slices.Contains(layouts, schema.Written{Kind: k.kind,
				Format: k.format})
		})
	}
	return kinds
}

// claim gives cells that may be of another kind to this one where it has others too: 20221025 may
// be a number, and 2:20 a duration.
func (c classCounts) claim(kinds []kindCount) {
	for i := range kinds {
		if !kinds[i].kind.Ordered() { // codes that may be numbers have a rule of their own
			continue
		}
		for _, class := range kinds[i].classes {
			if n := c.mass(class); n > 0 {
				c.claimClass(kinds, i, class, n)
			}
		}
	}
}

// claimClass is claim for the cells of one class of kind i, which the one with most others gets.
func (c classCounts) claimClass(kinds []kindCount, i int, class schema.Class, n float64) {
	to, most := -1, otherwiseShare/(1-otherwiseShare)*n
	for _, a := range class.Looks().Else {
		at := slices.IndexFunc(kinds, func(k kindCount) bool {
			return k.kind == a.Kind && (k.format == a.Format || !a.Kind.Ordered()) ||
				a.Kind.Numeric() && k.kind.Numeric()
		})
		if at < 0 {
			continue
		}
		others := kinds[at].rows
		if !a.Kind.Ordered() { // codes, of this width
			others = c.mass(schema.ClassNamed(a.Format))
		}
		if others > most {
			to, most = at, others
		}
	}
	if to < 0 {
		return
	}
	kinds[i].rows -= n
	kinds[to].rows += n
	if kinds[to].kind.Numeric() {
		kinds[to].whole = append(kinds[to].whole, class)
	}
}

// judge applies the rule to the noisy classes of a column. rows is the noisy number of rows with
// its noise rowsNoise, sigma the noise of one class. Cells that are empty mean missing where they
// are more than empty times that.
func judge(name string, classes []float64, rows, rowsNoise, sigma, empty float64) verdict {
	c := classCounts{classes, sigma}
	v := judgeMissing(classes, sigma, empty)
	v.values, v.noise = max(0, rows-v.missingRows.rows), math.Hypot(rowsNoise, v.missingRows.sigma)
	kinds, all := c.kinds(), 0.0
	for _, k := range kinds {
		all += k.rows
	}
	if all == 0 {
		v.note = fmt.Sprintf(
			"left out: about %.0f cells that are not missing do not stand out of the noise (±%.0f)",
			v.values, sigma)
		return v
	}
	best := kinds[0]
	for _, k := range kinds { // texts among numbers may all mean missing
		if k.kind.Ordered() && k.rows > strayShare*all && !best.kind.Ordered() || k.rows > best.rows {
			best = k
		}
	}
	v.kind, v.format = best.kind, best.format
	coded := v.looksAt(c, kinds[0], all)
	v.asks = !v.kind.Ordered() || v.kind.Stored() == schema.StoredDays || v.texts > doubtSigmas*sigma
	standout := 0
	for class := range classes {
		if x := schema.Class(class); c.clear(x) && x.Looks().Kind != 0 {
			standout++
		}
	}
	v.severalLooks, v.looks = standout > 1, c.words()
	broken := c.mass(slices.Concat(best.fractions...)...)
	v.oneKind(name, coded, broken, all, all-best.rows, kinds[0].rows)
	if v.kind.Whole() {
		v.wholeOrReal(c, best, broken)
	}
	if v.kind.Stored() == schema.StoredText {
		if v.ifNumbers != 0 {
			v.ifFormat = best.format
		}
		v.readAsTexts()
	}
	if v.missingRows.rows > 0 {
		v.addNote("about %.0f cells are missing", v.missingRows.rows)
	}
	return v
}

// words says what most cells of a column look like, and others that are many.
func (c classCounts) words() string {
	var out []schema.Class
	all := 0.0
	for class := range c.rows {
		if x := schema.Class(class); c.clear(x) && x.Looks().Kind != 0 {
			out, all = append(out, x), all+c.rows[x]
		}
	}
	slices.SortStableFunc(out, func(a, b schema.Class) int {
		return cmp.Compare(c.rows[b], c.rows[a])
	})
	text := ""
	for i, x := range out[:min(len(out), mostLooks)] {
		if share := c.rows[x] / all; i == 0 || share > severalShare/2 {
			text += fmt.Sprintf("%s%s (about %.0f %%)", map[bool]string{true: ", "}[i > 0], x.Words(),
				100*share)
		}
	}
	return text
}

// mostLooks is of how many classes a column that is left out is described.
const mostLooks = 3

// looksAt takes the texts of a column into account, out of all its cells, and reports whether many
// look like codes.
func (v *verdict) looksAt(c classCounts, texts kindCount, all float64) (coded bool) {
	codes, padded := 0.0, 0.0
	v.texts = texts.foreign
	for _, class := range texts.classes {
		n := c.rows[class]
		look := class.Looks()
		if !look.Rare || c.clear(class) {
			v.texts += n
		}
		switch {
		case len(look.Else) > 0 && n > padded:
			padded, v.padding = n, look.Else[0]
		case look.Code && len(look.Else) == 0:
			codes = max(codes, n)
		}
	}
	many := max(hiddenSigmas*c.sigma, fractionShare*all)
	if codes > many || padded <= many {
		v.padding = schema.Written{}
	}
	return codes > many || padded > many
}

// oneKind decides whether a column is of the kind that most of its cells have, of all that stand
// out, or of texts. Others are not of it, and so many of them are texts.
func (v *verdict) oneKind(name string, coded bool, broken, all, others, texts float64) {
	switch {
	case v.kind.Whole() && (coded || codeName.MatchString(name) || NamesID(name)):
		// ids, of which none is frequent
		if v.asks = true; !coded && broken <= fractionShare*v.values && !NamesID(name) {
			v.ifNumbers = v.kind
		}
		v.kind = schema.Categorical
		v.mayBePadded()
	case others <= strayShare*all:
		v.mayBePadded()
	case v.kind.Ordered() && math.Abs(others-texts) <= 1e-6*all: // but for rounding
		v.mixed = true
	default: // several kinds
		v.kind, v.asks = schema.Categorical, true
	}
}

// mayBePadded says that codes with zeros before them are numbers if none is frequent.
func (v *verdict) mayBePadded() {
	if v.padding.Kind != 0 && !v.kind.Ordered() {
		v.ifNumbers = v.padding.Kind
	}
}

// wholeOrReal decides whether numbers are whole or have fractions, as so many rows have.
func (v *verdict) wholeOrReal(c classCounts, k kindCount, broken float64) {
	most := 0.0
	for _, class := range slices.Concat(k.fractions...) {
		most = max(most, c.rows[class])
	}
	if most > (clearSigmas-doubtSigmas/2)*c.sigma && most < (clearSigmas+doubtSigmas)*c.sigma {
		v.addNote("whole numbers or fractions (about %.0f cells, ±%.0f): uncertain", most, c.sigma)
	}
	if broken > fractionShare*v.values {
		v.kind = schema.Real
		if strings.HasPrefix(v.format, "1234.0") { // of whole numbers
			v.format = ""
		}
		v.decimals = decimals(v.values, k.fractions, c.mass)
		if v.decimals > 1 && c.mass(k.whole...) > mostWholeShare*v.values &&
			!schema.Measured(k.format) { // as codes of diagnoses
			v.kind, v.ifNumbers = schema.Categorical, schema.Real
		}
	}
}

// inventedShare is the most of the columns with a code for empty cells that are expected to have
// none. A missing cell without a code has some value.
const inventedShare = .02

// leastEmpty is how many times their noise the empty cells of a column are, at least, to mean
// missing. Where none stand out, in any column or in all together, a table has none. Else it is by
// the rule of Benjamini and Hochberg (1995, Journal of the Royal Statistical Society B 57).
func leastEmpty(columns [][]float64, sigma float64) float64 {
	empty, together := schema.ClassNamed(""), 0.0
	ratios := make([]float64, len(columns))
	for i, classes := range columns {
		ratios[i] = classes[empty] / sigma
		together += ratios[i]
	}
	slices.Sort(ratios)
	n := float64(len(ratios))
	if max(ratios[len(ratios)-1], together/math.Sqrt(n)) <= tokenSigmas {
		return tokenSigmas
	}
	for i, ratio := range ratios {
		if ratio > 0 && n*distuv.UnitNormal.Survival(ratio) <= inventedShare*(n-float64(i)) {
			return min(tokenSigmas, math.Nextafter(ratio, 0))
		}
	}
	return tokenSigmas
}

// judgeMissing is what the tokens that mean missing say, the most frequent first.
func judgeMissing(classes []float64, sigma, empty float64) (v verdict) {
	rows := map[string]float64{}
	for c, n := range classes {
		look := schema.Class(c).Looks()
		if look.Rare { // none of the generated ones, which are the last, means missing
			break
		}
		text, ok := look.Token, look.Kind == 0
		if ok {
			v.unseenMissing = v.unseenMissing.plus(n, sigma)
		}
		if ok && (n > tokenSigmas*sigma || text == "" && n > empty*sigma) {
			v.missing, v.missingRows, rows[text] = append(v.missing, text), v.missingRows.plus(n, sigma), n
			if text == "" {
				v.empty = noisy{n, sigma}
			}
		}
	}
	slices.SortStableFunc(v.missing, func(a, b string) int { return cmp.Compare(rows[b], rows[a]) })
	return v
}

// readAsTexts makes texts of a column, of which only the empty one means missing.
func (v *verdict) readAsTexts() {
	v.kind, v.format, v.mixed, v.missing, v.asMissing = schema.Categorical, "", false, nil, nil
	v.values, v.missingRows, v.cutOffRows = v.values+v.missingRows.rows-v.empty.rows, v.empty, noisy{}
	if v.empty.sigma > 0 {
		v.missing = []string{""}
	}
}

// keepKind reports whether a column of an ordered kind keeps it: if it is mixed with texts, these
// are few, and those that are frequent mean missing, given the noise of each text that was found
// and of a class. Tokens that were found are added to what is missing.
func (v *verdict) keepKind(found []text.Found, sigma, classSigma float64) bool {
	left := v.texts
	for _, f := range found {
		left -= float64(f.Rows)
	}
	noise := clearSigmas * math.Hypot(classSigma, sigma*math.Sqrt(float64(len(found))))
	switch {
	case !v.mixed, len(found) == 0 && v.texts < hiddenSigmas*classSigma:
	case len(found) > maxTokens, v.texts >= severalShare*v.values:
		v.readAsTexts()
		v.addNote("numbers and other texts, read as texts: it may be uncertain")
		return false
	case left > max(noise, strayShare*v.values):
		v.addNote("about %.0f cells are other texts, none of them frequent, and read as missing "+
			"(90+ or <0.1 as its number): it may be uncertain", left)
		if len(v.missing)+len(found) == 0 {
			v.missing, v.missingRows = []string{""}, v.missingRows.plus(v.texts, classSigma)
		}
	}
	slices.SortStableFunc(found, func(a, b text.Found) int { return cmp.Compare(b.Rows, a.Rows) })
	for _, f := range found {
		if !slices.Contains(v.missing, f.Text) {
			v.missing, v.asMissing = append(v.missing, f.Text), append(v.asMissing, f.Text)
			v.missingRows = v.missingRows.plus(float64(f.Rows), sigma)
			v.values -= float64(f.Rows)
		}
	}
	if len(found) > 0 {
		v.addNote("the texts among its values (%q and the like) mean missing", found[0].Text)
	}
	return true
}

// addNote adds to the note of the column. What holds for all columns is said once, in the file.
func (v *verdict) addNote(format string, args ...any) {
	if v.note != "" {
		v.note += "; "
	}
	v.note += fmt.Sprintf(format, args...)
}

// decimals is the number of digits that all but few of the numbers have at most; 0: more than six.
func decimals(
	values float64, fractions [][]schema.Class, mass func(...schema.Class) float64,
) int {
	for d := 1; d < len(fractions); d++ {
		if mass(slices.Concat(fractions[d:]...)...) <= negligibleShare*values {
			return d
		}
	}
	return 0
}
