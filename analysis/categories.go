package analysis

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/privacy/text"
	"github.com/decoy-dp/decoy/schema"
)

// remain is how far the cells that hold none of the texts that were found must stand out, in
// standard deviations of their number, to have a category.
const remain = 1.5

// mostCategories is how many categories a column has, the most frequent ones.
const mostCategories = 1000

// categories makes a column of the texts that were found, the most frequent first, sigma being the
// noise of each; nil if there are none. Other texts have a category if they stand out and may be
// more than a few: in a lenient schema without one they are read as the most frequent text.
func categories(
	name string, found []text.Found, v *judged, threshold int64, sigma float64,
) *schema.Column {
	c := &schema.Column{Name: name, Kind: schema.Categorical, Missing: v.missing}
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
		v.note = fmt.Sprintf("left out: no text is in about %d rows or more (names, ids, free text?)",
			threshold)
		v.sayCommas()
		return nil
	}
	if dropped == 0 && !v.target && (left <= remain*noise || left+2*noise <= fine*v.values) {
		return c
	}
	c.OnInvalid, c.Other = schema.Other, "(other)"
	for slices.Contains(c.Categories, c.Other) {
		c.Other = "(" + c.Other + ")"
	}
	c.Categories = append(c.Categories, c.Other)
	if dropped > 0 {
		v.say("the %d least frequent of the texts that were found are %s, too", dropped, c.Other)
	}
	return c
}

// spellings of false and true. Where one of a pair was found, the other is public.
var spellings = [][]string{{"False", "True"}, {"FALSE", "TRUE"}}

// boolean makes a column of the words true and false, spelled as they were found; with several
// spellings the schema's default reads them all.
func boolean(name string, found []text.Found, v judged) *schema.Column {
	c := &schema.Column{Name: name, Kind: schema.Boolean, Missing: v.missing}
	if len(v.missing) > 0 {
		c.OnInvalid = schema.Clamp
	}
	words := map[string]bool{}
	for _, f := range found {
		if lower := strings.ToLower(f.Text); lower == "false" || lower == "true" {
			words[f.Text] = true
		}
	}
	for _, pair := range spellings {
		own := 0
		for _, word := range pair {
			if words[word] {
				own++
			}
		}
		if own > 0 && own == len(words) {
			c.Categories = pair
		}
	}
	return c
}
