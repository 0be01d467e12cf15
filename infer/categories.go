package infer

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/privacy/mech/text"
)

// otherSigmas is how far the cells that hold none of the texts that were found must stand out, in
// standard deviations of their number, to have a category.
const otherSigmas = 2.0

// mostCategories is how many categories a column has, the most frequent ones.
const mostCategories = 1000

// categories makes a column of the texts that were found, the most frequent first, sigma being the
// noise of each; nil if there are none. Other texts have a category if they stand out and may be
// more than a few: in a lenient schema without one they are read as the most frequent text.
func categories(
	name string, found []text.Found, v *verdict, threshold int64, sigma float64,
) *schema.Column {
	texts := schema.TextColumn(name)
	c := &texts
	c.Missing = v.missing
	found = slices.DeleteFunc(slices.Clone(found), func(f text.Found) bool { return f.Text == "" })
	left, noise := v.values, math.Hypot(sigma*math.Sqrt(float64(len(found))), v.noise)
	slices.SortStableFunc(found, func(a, b text.Found) int { return cmp.Compare(b.Rows, a.Rows) })
	dropped := max(0, len(found)-mostCategories)
	for i, f := range found {
		if left -= float64(f.Rows); i < mostCategories {
			c.Categories = append(c.Categories, f.Text)
		}
	}
	if len(c.Categories) == 0 {
		v.note = strings.TrimSuffix(fmt.Sprintf("left out: no text is in about %d rows or more; its "+
			"cells look like %s; %s", threshold, v.looks, v.note), "; ")
		return nil
	}
	few := left <= otherSigmas*noise || left+2*noise <= negligibleShare*v.values
	if other := complement(name, c.Categories); other != "" && !v.severalLooks &&
		left <= float64(threshold)+2*noise {
		c.Categories = append(c.Categories, other)
		v.addNote("%q was not found, and is public: the complement of %q", other, c.Categories[0])
		few = true
	}
	if dropped == 0 && few {
		return c
	}
	c.OnInvalid, c.Other = schema.Other, "(other)"
	for slices.Contains(c.Categories, c.Other) {
		c.Other = "(" + c.Other + ")"
	}
	c.Categories = append(c.Categories, c.Other)
	if dropped > 0 {
		v.addNote("the %d least frequent of the texts that were found are %s, too", dropped, c.Other)
	}
	return c
}

// complements of texts that are the complement of each other, in any case. f is false, but of a
// sex.
var complements = [][2]string{{"f", "m"}, {"f", "t"}, {"no", "yes"}, {"n", "y"}, {"0", "1"},
	{"false", "true"}, {"female", "male"}}

// complement is the text that a column has beside the one that was found, written as that is; ""
// if it is not public.
func complement(name string, found []string) string {
	sex := strings.Contains(strings.ToLower(name), "sex") ||
		strings.Contains(strings.ToLower(name), "gender")
	for i, pair := range complements {
		for k, text := range pair {
			if len(found) != 1 || !strings.EqualFold(text, found[0]) || i == 0 && text == "f" && !sex {
				continue
			}
			switch other := pair[1-k]; found[0] {
			case strings.ToUpper(found[0]):
				return strings.ToUpper(other)
			case text:
				return other
			default:
				return strings.ToUpper(other[:1]) + other[1:]
			}
		}
	}
	return ""
}

// spellings of false and true. Where one of a pair was found, the other is public.
var spellings = [][]string{{"False", "True"}, {"FALSE", "TRUE"}}

// boolean makes a column of the words true and false, spelled as they were found; with several
// spellings the schema's default reads them all.
func boolean(name string, found []text.Found, v verdict) *schema.Column {
	c := &schema.Column{Name: name, Kind: schema.Boolean, Missing: v.missing}
	if len(v.missing) > 0 {
		c.OnInvalid = schema.Clamp
	}
	var words []string
	for _, f := range found {
		if lower := strings.ToLower(f.Text); lower == "false" || lower == "true" {
			words = append(words, f.Text)
		}
	}
	for _, pair := range spellings {
		if strange := func(word string) bool { return !slices.Contains(pair, word) }; len(words) > 0 &&
			!slices.ContainsFunc(words, strange) {
			c.Categories = pair
		}
	}
	return c
}

// idName is the name of a column that tells people apart: it ends in a word for that, or is one.
var idName = regexp.MustCompile(`(?i)(^|[^\pL])(id|identifier|mrn|pid|ssn|nhs|uuid|guid|subject|` +
	`encounter|(patient|subject|person|case|user|customer|nhs|patienten|pat|fall)` +
	`[^\pL]?(id|nr|no|number|nummer)|record[^\pL]?number)[^\pL]*$|(?-i:\p{Ll}I[Dd])$`)

// sharedName is the name of a column of codes. Many people share one, as of admission_type_id.
var sharedName = regexp.MustCompile(`(?i)(type|kind|class|category|code|status|source|reason|` +
	`group|level|state|country|region|city|disposition|dep(t|artment)|ward|unit|site|hospital|` +
	`store|product)` +
	`[^\pL]?(id|nr|no|number)[^\pL]*$`)

// NamesID reports whether a name, which is public, is that of a column that tells people apart.
func NamesID(name string) bool { return idName.MatchString(name) && !sharedName.MatchString(name) }

// codeName is the name, which is public, of a column of codes: numbers in it are these.
var codeName = regexp.MustCompile(`(?i)(^|[^\pL\d])(codes?|status|zip|zipcode|postal|` +
	`postalcode|postcode|plz|` +
	`icd(9|10)?|diag|dx|cpt|drg|atc|ndc|loinc|fips|naics|mcc|id)([^\pL\d]|$)`)
