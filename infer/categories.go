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

// others is the share of cells that may hold other texts where these do not stand out: more, and
// they have a category in any case.
const others = 0.1

// categories makes a column of the texts that were found, sigma being the noise of each; nil if
// there are none. Other texts have a category unless the counts rule out that they are many: in a
// lenient schema without one they would be read as the first category.
func categories(
	name string, found []text.Found, v judged, limit int, threshold int64, sigma float64,
) (*schema.Column, string) {
	c := &schema.Column{Name: name, Kind: schema.Categorical}
	found = slices.DeleteFunc(slices.Clone(found), func(f text.Found) bool { return f.Text == "" })
	left, noise := v.values, 2*math.Hypot(sigma*math.Sqrt(float64(len(found))), v.noise)
	for _, f := range found {
		left -= float64(f.Rows)
	}
	dropped := max(0, len(found)-limit)
	if dropped > 0 {
		slices.SortStableFunc(found, func(a, b text.Found) int { return cmp.Compare(b.Rows, a.Rows) })
		found = found[:limit]
	}
	for _, f := range found {
		c.Categories = append(c.Categories, f.Text)
	}
	slices.Sort(c.Categories)
	if len(c.Categories) == 0 {
		v.note = fmt.Sprintf("left out: no text is in about %d rows or more (names, ids, free text?)",
			threshold)
		return nil, v.note
	}
	c.Missing = v.missing
	most := fine * v.values
	if left <= noise { // which do not stand out
		most = others * v.values
	}
	if dropped == 0 && !v.target && left+noise <= most {
		return c, v.note
	}
	c.OnInvalid, c.Other = schema.Other, "(other)"
	for slices.Contains(c.Categories, c.Other) {
		c.Other = "(" + c.Other + ")"
	}
	c.Categories = append(c.Categories, c.Other)
	if dropped > 0 {
		v.say("the %d least frequent of the texts that were found are %s, too", dropped, c.Other)
	}
	return c, v.note
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
