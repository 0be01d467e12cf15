package infer

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

// categories makes a column of the texts that were found, the most frequent first, sigma being the
// noise of each; nil if there are none. Other texts have a category if they stand out and may be
// more than a few: in a lenient schema without one they are read as the most frequent text.
func categories(
	name string, found []text.Found, v *judged, limit int, threshold int64, sigma float64,
) *schema.Column {
	c := &schema.Column{Name: name, Kind: schema.Categorical, Missing: v.missing}
	found = slices.DeleteFunc(slices.Clone(found), func(f text.Found) bool { return f.Text == "" })
	left, noise := v.values, math.Hypot(sigma*math.Sqrt(float64(len(found))), v.noise)
	slices.SortStableFunc(found, func(a, b text.Found) int { return cmp.Compare(b.Rows, a.Rows) })
	if limit <= 0 {
		limit = 1000
	}
	dropped := max(0, len(found)-limit)
	for i, f := range found {
		if left -= float64(f.Rows); i < limit {
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

// boolean makes a column of the words true and false, spelled as they were found. The word that was
// not found is spelled like the other; with several spellings the schema's default reads them all.
func boolean(name string, found []text.Found, v judged) *schema.Column {
	c := &schema.Column{Name: name, Kind: schema.Boolean, Missing: v.missing}
	if len(v.missing) > 0 {
		c.OnInvalid = schema.Clamp
	}
	words := [2]string{}
	for _, f := range found {
		of := slices.Index([]string{"false", "true"}, strings.ToLower(f.Text))
		if of < 0 {
			continue
		}
		if words[of] != "" {
			return c
		}
		words[of] = f.Text
	}
	for of, other := range words {
		if words[1-of] == "" {
			words[1-of] = alike([]string{"true", "false"}[of], other)
		}
	}
	if words[0] != "" && words[1] != "" && words != [2]string{"false", "true"} {
		c.Categories = words[:]
	}
	return c
}

// alike is a word in the case of another; "" for no case of these.
func alike(word, other string) string {
	for _, to := range []func(string) string{strings.ToLower, strings.ToUpper,
		func(s string) string { return strings.ToUpper(s[:1]) + s[1:] }} {
		if other != "" && to(strings.ToLower(other)) == other {
			return to(word)
		}
	}
	return ""
}
