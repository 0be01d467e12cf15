package schema

import (
	"bytes"
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
)

// Class is what a cell of a column of unknown kind looks like: the place of its form in the table.
// Every cell has exactly one class, which depends on its text alone.
type Class uint16

// Classes is the number of classes.
func Classes() int { return len(forms()) }

// Classify gives the class of a cell.
func Classify(text []byte) Class {
	c := cell{text: text}
	for i := range table[:classText] {
		if table[i].has(&c) {
			return Class(i)
		}
	}
	if class, ok := generated().of(text); ok {
		return class
	}
	for i := classText + 1; i < len(table); i++ {
		if table[i].has(&c) {
			return Class(i)
		}
	}
	return Class(classText)
}

// ClassNamed is the class of a name such as "whole" or "date 02.01.2006", as tests have it. It
// panics for one that there is not.
func ClassNamed(name string) Class {
	i := slices.IndexFunc(forms(), func(f form) bool { return f.name == name })
	if i < 0 {
		panic("schema: no class " + name)
	}
	return Class(i)
}

// Look is what cells of a class look like.
type Look struct {
	Kind   Kind   // Real for numbers that are not whole; 0: they mean missing,
	Token  string // being this text
	Format string // if it is not that of the kind
	Code   bool   // like a code: of a diagnosis, of a place
	Rare   bool   // one of very many
	// what its cells are in a column with others of that: the first of which there are
	Else []Written
}

// Looks is what cells of the class look like.
func (c Class) Looks() Look {
	f := &forms()[c]
	if f.kind == 0 {
		return Look{Token: f.name}
	}
	return Look{Kind: f.kind, Format: f.kind.facts().unlessUsual(f.format), Code: f.code,
		Rare: f.rare, Else: f.otherwise}
}

// Words says what cells of the class look like, for people: "dates such as DD.MM.YYYY".
func (c Class) Words() string {
	switch f := &forms()[c]; {
	case c == Class(classText):
		return "short texts, few of them alike (names, ids?)"
	case f.kind.Numeric() && f.key == nil && f.format == "":
		return "plain numbers"
	case f.kind.Numeric():
		return "numbers such as " + f.format
	case f.kind.Ordered():
		return f.kind.facts().name + "s such as " + spelled(f.format)
	case f.padded() != "":
		return "digits with zeros before them, such as " + f.padded()
	case f.code:
		return "codes of letters and digits"
	default:
		return f.name
	}
}

// Written is how the cells of a column are written.
type Written struct {
	Kind   Kind
	Format string // "" is that of the kind
}

// Layouts is the format of a column of days or instants that are written in several ways, of which
// the first is how cells are written.
func Layouts(ways []Written) string {
	return strings.Join(each(ways, func(w Written) string {
		return cmp.Or(w.Format, w.Kind.facts().format)
	}), parting)
}

// Family is classes that a column may have beside each other.
type Family struct {
	Kind    Kind
	Format  string // reads them all; "" is that of the kind, here as in:
	Classes []Class
	Formats []string // of each class
	Rivals  []int    // other families that have one of the classes, by their places in the list
}

// Written is how a column is written whose cells have classes of the family, given the rows that
// have one of some classes: in the format of most, or in the one with the fewest zeros before
// numbers that some cells need. Of formats that differ in a language or an
// offset it is the one that most of the cells name which name any: a month such as Nov is English
// too. stray is the share of the rows below which a class is not looked at.
func (f *Family) Written(mass func(...Class) float64, stray float64) (format string, rows float64) {
	var layouts, tags votes[string]
	wide := 0.0
	for i, c := range f.Classes {
		n := mass(c)
		if rows += n; n == 0 {
			continue
		}
		layout, tag := tagged(f.Formats[i])
		if tag != "" {
			tags.add(tag, n)
		}
		if layout == f.Format {
			wide += n
		} else {
			layouts.add(layout, n)
		}
	}
	layout, most := layouts.most()
	if most == 0 || wide > stray*rows { // instants are read in any
		layout = f.Format
	}
	full := func(l string) int { return len(cmp.Or(l, f.Kind.facts().format)) }
	for _, l := range layouts.what { // 10.11.2022 is written with zeros and without
		if f.Format != "" && layouts.rows[l] > stray*rows && full(l) < full(layout) {
			layout = l
		}
	}
	if rows == 0 {
		layout = f.Formats[0]
	}
	if tag, n := tags.most(); n > stray*rows && layout != "" {
		return withTag(layout, tag), rows
	}
	return layout, rows
}

// Families are all families: texts; truth values; numbers, in whatever format; and by the format
// that reads them dates and times. A class may be in two of them, such as 05/04/2006, the second of
// which is for columns that have more cells of its other classes. The list is the callers' to read.
func Families() []Family { return families().all }

// FamiliesOf are the families that have a class, by their places in the list.
func FamiliesOf(c Class) []int { return families().of[c] }

// familyList is all families, and the places of those that have each class.
type familyList struct {
	all []Family
	of  map[Class][]int
}

var families = sync.OnceValue(newFamilies)

func newFamilies() familyList {
	var out []Family
	owners := map[Class][]int{}
	for i := range forms() {
		f := &forms()[i]
		readings := []reading{f.reading}
		switch {
		case f.kind == 0:
			continue
		case f.also.format != "":
			readings = append(readings, f.also)
		}
		for _, r := range readings {
			own := f.kind.facts()
			format := own.unlessUsual(cmp.Or(r.wider, r.format))
			if own.numeric {
				format = ""
			}
			at := slices.IndexFunc(out, func(x Family) bool {
				return x.Format == format && (x.Kind == f.kind || x.Kind.Numeric() && own.numeric)
			})
			if at < 0 {
				at, out = len(out), append(out, Family{Kind: f.kind, Format: format})
			}
			x := &out[at]
			x.Classes = append(x.Classes, Class(i))
			x.Formats = append(x.Formats, own.unlessUsual(r.format))
			owners[Class(i)] = append(owners[Class(i)], at)
		}
	}
	for _, of := range owners {
		for _, a := range of {
			for _, b := range of {
				if a != b && !slices.Contains(out[a].Rivals, b) {
					out[a].Rivals = append(out[a].Rivals, b)
				}
			}
		}
	}
	return familyList{out, owners}
}

// digitsOf is how many digits a number of an unknown column has behind its point, trailing zeros
// left out; false for what is none: postal codes, telephone numbers, and what no column can hold.
func digitsOf(cell []byte) (n int, ok bool) {
	x, ok := parseNumber(cell)
	digits := bytes.TrimPrefix(cell, []byte("-"))
	switch {
	case !ok || math.Abs(x) > maxReal, digits[0] == '+',
		len(digits) > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9':
		return 0, false
	case bytes.ContainsAny(cell, "eE"):
		return manyDigits, true
	}
	_, behind, _ := bytes.Cut(digits, []byte("."))
	n = len(bytes.TrimRight(behind, "0"))
	if n == 0 && math.Abs(x) > maxWhole {
		return manyDigits, true
	}
	return min(n, manyDigits), true
}

// votes are rows by what their cells have, in the order in which it is listed.
type votes[K comparable] struct {
	what []K
	rows map[K]float64
}

// add adds rows.
func (v *votes[K]) add(what K, rows float64) {
	if v.rows == nil {
		v.rows = map[K]float64{}
	}
	if _, known := v.rows[what]; !known {
		v.what = append(v.what, what)
	}
	v.rows[what] += rows
}

// most is what has most rows, of those with equally many the first that was added.
func (v *votes[K]) most() (what K, rows float64) {
	for _, x := range v.what {
		if n := v.rows[x]; n > rows {
			what, rows = x, n
		}
	}
	return what, rows
}

// numberVotes are those of a column of numbers.
type numberVotes struct {
	all                                float64
	affixes                            votes[affix]
	signs, groups, points, open, names votes[string] // names: formats that are in the table
}

// count counts the votes of classes, in their order.
func (v *numberVotes) count(rows map[Class]float64) {
	for _, c := range slices.Sorted(maps.Keys(rows)) {
		n := rows[c]
		f := &forms()[c]
		v.all += n
		switch k := f.key; {
		case k != nil:
			v.affixes.add(affix{k.prefix, k.suffix}, n)
			v.signs.add(k.sign, n)
			v.groups.add(k.group, n)
			v.points.add(k.point, n)
			v.open.add(k.open, n)
			continue
		case f.format != "":
			v.names.add(f.format, n)
			if f.takes != nil { // 4.0
				v.points.add(".", n)
			}
		case f.digits == len("234"):
			v.open.add(".", n)
		case f.digits > 0:
			v.points.add(".", n)
		}
		v.affixes.add(affix{}, n)
	}
}

// marks are those that most have. Cells without an affix have the one of others.
func (v *numberVotes) marks() (m marks) {
	a, _ := v.affixes.most()
	m.prefix, m.suffix, m.point = a.prefix, a.suffix, "."
	points, groups := v.points.rows, v.groups.rows
	if points[","] > points["."] || points["."] == 0 && groups["."] > 0 {
		m.point = ","
	}
	most := 0.0
	for _, g := range groupMarks[1:] {
		n := groups[g] + v.open.rows[g]
		if g != m.point && n > most && (groups[g] > 0 || g == "," || points[m.point] > 0) {
			m.group, most = g, n
		}
	}
	if v.signs.rows["()"]+v.signs.rows["-"] > 0 {
		m.sign = "()"
		if v.signs.rows["-"] > v.signs.rows["()"] {
			m.sign = "-"
		}
	} else if 4*v.signs.rows["+"] > v.all {
		m.sign = "+"
	}
	return m
}

// NumberFormat is how the numbers of a column are written.
type NumberFormat struct {
	Format string // "" for plain numbers
	marks  marks
}

// Numbers chooses how numbers are written whose classes have so many rows, of which only what
// stands out is named: as most of them are.
func Numbers(rows map[Class]float64) NumberFormat {
	var v numberVotes
	v.count(rows)
	n := NumberFormat{marks: v.marks()}
	if n.Format = n.marks.String(); n.Format == plainNumbers {
		n.Format = ""
	}
	if name, most := v.names.most(); 2*most > v.all {
		n.Format = name
	}
	return n
}

// Digits is how many digits behind the point the cells of a class have, at most manyDigits; −1 for
// those with another currency or unit, which are not read.
func (n NumberFormat) Digits(c Class) int {
	f := &forms()[c]
	switch k := f.key; {
	case k == nil && f.digits == len("234") && n.marks.group == ".":
		return 0
	case k == nil:
		return f.digits
	case strings.Trim(k.prefix+k.suffix, blanks) != "" &&
		(k.prefix != n.marks.prefix || k.suffix != n.marks.suffix):
		return -1
	case k.open == "":
		return k.digits
	case k.open == n.marks.point:
		return len("234")
	}
	return 0
}
