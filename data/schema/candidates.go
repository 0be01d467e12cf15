package schema

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
)

// Known is what is known of a column for which relations are looked for: its kind and name, which
// are public, and where its values are, from public or noised knowledge.
type Known struct {
	Column
	Masses []Mass // in the order of the values
	Factor bool   // it has categories, all numbers ([Column.Factor]): it may be a factor
}

// Mass is a number of rows, with the standard deviation of its noise, whose values are from Lo to
// Hi.
type Mass struct{ Lo, Hi, Rows, Sigma float64 }

// Candidate is a relation that may hold. Named reports whether names and kinds say so, too.
type Candidate struct {
	Made
	Named bool
	gap   float64 // between what the means say and what the relation needs, 1 is the most
}

// The most candidates of each family: each costs as much as another, and what is asked of all pairs
// would cost more than it finds.
const (
	mostOrders      = 12
	mostDifferences = 20
	mostSums        = 50
	mostProducts    = 20
	mostCopies      = 12
	mostSigned      = 24
	mostParts       = 4 // of a sum
	mostSignedParts = 3 // of one with signs
	mostNumbers     = 24
)

const (
	meanSigmas    = 3.0  // by which noise may move a mean
	binShare      = .1   // of the width of the cells, by which the mean in them may be off
	seldomBroken  = .02  // of the rows, by chance: an order that most pairs of values keep anyway
	heaviestValue = .5   // of the rows: with more in one value, relations of it hold by chance
	spreadShare   = .6   // of the product of two spreads, by which a mean of products may be off
	fewValues     = 3    // whole numbers that are flags or grades, of which sums hold by chance
	rangeShare    = 1.5  // by which bounds may be wider than the values
	nearMean      = .1   // of a mean of a difference, by which rounding and outliers may move it
	namedGap      = 3.0  // by so much more, if the name says so
	nearSpread    = .25  // of the spread of a copy
	leastShare    = 1e-3 // of the mean of a sum, that tells it from another
)

// Candidates are the relations of columns that are worth asking for, at most some 150: orders of
// dates or timestamps, their differences, sums of two to four numbers, products of two, copies, and
// sums of which some parts are taken off or negative. Numbers may be written with marks; those of
// two currencies or units are not added. Those come first, in each family, that names and means
// agree with best. They follow from what is given alone.
func Candidates(known []Known) (out []Candidate) {
	var moments, numbers, factors []standing
	for i := range known {
		m := momentsOf(&known[i])
		switch f := known[i].Kind.facts(); {
		case m.rows <= 0 || known[i].After != "":
		case known[i].Factor:
			factors = append(factors, m)
		case f.unit > 0 && f.stored >= StoredDays:
			moments = append(moments, m)
		case f.numeric && !m.flag():
			numbers, factors = append(numbers, m), append(factors, m)
		case f.numeric && m.Max > m.Min:
			factors = append(factors, m)
		}
	}
	out = slices.Concat(best(orders(moments), mostOrders),
		best(differences(moments, numbers), mostDifferences), best(sums(numbers), mostSums),
		best(products(numbers, factors), mostProducts), best(copies(numbers), mostCopies),
		best(copies(moments), mostCopies), best(signedSums(numbers), mostSigned))
	return out
}

// best are the first candidates of a family.
func best(list []Candidate, most int) []Candidate {
	list = slices.DeleteFunc(list, func(c Candidate) bool { return !(c.gap <= 1) })
	slices.SortStableFunc(list, func(a, b Candidate) int {
		if a.Named != b.Named {
			return map[bool]int{true: -1, false: 1}[a.Named]
		}
		return cmp.Compare(a.gap, b.gap)
	})
	return list[:min(len(list), most)]
}

// orders are those of two columns of dates or times in one format, whose values do not keep it
// anyway.
func orders(of []standing) (out []Candidate) {
	for i := range of {
		for j := range of {
			a, b := &of[i], &of[j]
			if i == j || a.Kind != b.Kind || a.Format != b.Format || a.above(b) < seldomBroken {
				continue
			}
			out = append(out, Candidate{Made{Name: b.Name, Kind: NotBefore, Of: []string{a.Name}},
				begins.MatchString(a.Name) && ends.MatchString(b.Name) ||
					deaths.MatchString(b.Name), a.above(b)})
		}
	}
	return out
}

// above is the probability that a value is above one of another column, if they have nothing to do
// with each other.
func (m *standing) above(other *standing) float64 {
	p, all := 0., 0.
	for _, a := range m.Masses {
		for _, b := range other.Masses {
			rows := max(0, a.Rows) * max(0, b.Rows)
			all += rows
			switch {
			case a.Lo > b.Hi:
				p += rows
			case a.Hi >= b.Lo:
				p += rows / 2
			}
		}
	}
	return p / all
}

// The words of names. They decide about nothing but which candidates come first, and are said.
var (
	begins = regexp.MustCompile(`(?i)admi|start|begin|open|from|entry|arriv|order|birth|hire|create|` +
		`check.?in|beginn|von|aufnahme`)
	ends = regexp.MustCompile(`(?i)disch|end|stop|close|until|exit|depart|ship|deliver|leav|resol|` +
		`check.?out|return|ende|bis|entlass`)
	deaths     = regexp.MustCompile(`(?i)death|died|deceased`)
	totals     = regexp.MustCompile(`(?i)total|sum|amount|overall|gross|all|gesamt|summe|brutto`)
	prices     = regexp.MustCompile(`(?i)price|rate|cost|fee|wage|preis|satz`)
	quantities = regexp.MustCompile(`(?i)qty|quant|count|unit|number|hours|days|menge|anzahl|pieces`)
	spanWords  = []*regexp.Regexp{nil, regexp.MustCompile(`(?i)sec`), regexp.MustCompile(`(?i)min`),
		regexp.MustCompile(`(?i)hour|hrs|stunden|_h$`),
		regexp.MustCompile(`(?i)day|los|stay|tage|dauer|duration|length`),
		regexp.MustCompile(`(?i)age|year|yrs|alter|jahre`)}
	// what is left of something, and what is taken off
	leftOvers = [][2]*regexp.Regexp{
		{regexp.MustCompile(`(?i)profit|margin|gain|result|earn|gewinn|ergebnis`),
			regexp.MustCompile(`(?i)cost|expens|spend|cogs|kosten|aufwand`)},
		{regexp.MustCompile(`(?i)total|net|due|pay|sum|gesamt|summe`),
			regexp.MustCompile(`(?i)discount|rebate|coupon|voucher|deduct|reduc|rabatt|skonto`)},
		{regexp.MustCompile(`(?i)net|pay|take`), regexp.MustCompile(`(?i)tax|withh|fee|steuer`)},
		{regexp.MustCompile(`(?i)balance|due|owe|change|rest|remain|saldo|offen`),
			regexp.MustCompile(`(?i)paid|payment|refund|return|credit|bezahlt|settled`)}}
)

// leaves reports whether names say that something is left when another column is taken off.
func leaves(left, off string) bool {
	return slices.ContainsFunc(leftOvers, func(x [2]*regexp.Regexp) bool {
		return x[0].MatchString(left) && x[1].MatchString(off)
	})
}

// takenOff reports whether a name says that a column is taken off others.
func takenOff(name string) bool {
	return slices.ContainsFunc(leftOvers, func(x [2]*regexp.Regexp) bool {
		return x[1].MatchString(name)
	})
}

// differences are those of two columns of dates or times that another column may hold.
func differences(moments, numbers []standing) (out []Candidate) {
	for i := range moments {
		for j := range moments {
			a, b := &moments[i], &moments[j]
			for k := range numbers {
				c := &numbers[k]
				if i == j || c.Min < 0 {
					continue
				}
				for span := inSeconds; span <= inYears; span++ {
					out = append(out, differencesIn(a, b, c, span)...)
				}
			}
		}
	}
	return out
}

// differencesIn are the ways in which c may be the time from a to b in a span.
func differencesIn(a, b, c *standing, span timeSpan) (out []Candidate) {
	unit := span.Micros()
	if min(a.unit, b.unit) > unit { // days have no hours
		return nil
	}
	off := .5 + nearMean*math.Abs(c.mean) + c.off() + (a.off()+b.off())/unit
	gap := math.Abs((b.mean-a.mean)/unit-c.mean) / off
	named := spanWords[span].MatchString(c.Name)
	if named {
		gap /= namedGap
	}
	if gap > 1 {
		return nil
	}
	for digits := c.digits(); digits >= 0; digits-- {
		for _, rounding := range []rounding{nearest, Down} {
			if rounding == nearest && span == inDays && a.unit == unit && b.unit == unit && digits == 0 {
				continue // they are whole
			}
			out = append(out, Candidate{Made{Name: c.Name, Kind: Difference, Of: []string{b.Name, a.Name},
				In: span, Round: rounding, Decimals: digits, Format: c.Format}, named, gap})
		}
		if digits != 1 { // of one digit it is not known whether there is one
			break
		}
	}
	return out
}

// sums are those of two to four numbers that another column may hold.
func sums(numbers []standing) (out []Candidate) {
	if len(numbers) > mostNumbers {
		numbers = numbers[:mostNumbers]
	}
	for k := range numbers {
		c := &numbers[k]
		if c.Min < 0 || c.mean <= 0 {
			continue
		}
		var parts []*standing
		for i := range numbers {
			if p := &numbers[i]; i != k && p.Min >= 0 && p.mark() == c.mark() &&
				p.mean <= c.mean+c.off()+p.off() &&
				p.Max <= rangeShare*c.Max {
				parts = append(parts, p)
			}
		}
		out = append(out, c.sumsOf(parts, nil)...)
	}
	return out
}

// sumsOf are the sums of the chosen parts and of others.
func (m *standing) sumsOf(parts, chosen []*standing) (out []Candidate) {
	for i, p := range parts {
		now := append(slices.Clone(chosen), p)
		mean, off, digits, spread, most := 0., m.off()+leastShare*m.mean, 0, 0., 0.
		var of []string
		for _, x := range now {
			mean, off, of = mean+x.mean, off+x.off(), append(of, x.Name)
			spread, most, digits = spread+x.spread+x.blur, most+x.Max, max(digits, x.digits())
		}
		if mean-off > m.mean {
			continue
		}
		gap := math.Abs(mean-m.mean) / off
		if digits != m.digits() && gap <= 1 { // as many as were seen, which may be other ones
			gap = (1 + gap) / 2
		}
		if len(now) > 1 && m.spread-m.blur <= rangeShare*spread && m.Max <= rangeShare*most {
			out = append(out, Candidate{m.written(Made{Name: m.Name, Kind: madeSum, Of: of}, now...),
				totals.MatchString(m.Name), gap})
		}
		if len(now) < mostParts {
			out = append(out, m.sumsOf(parts[i+1:], now)...)
		}
	}
	return out
}

// products are those of two factors that a number may hold.
func products(numbers, factors []standing) (out []Candidate) {
	numbers = numbers[:min(len(numbers), mostNumbers)]
	factors = factors[:min(len(factors), mostNumbers)]
	for k := range numbers {
		c := &numbers[k]
		for i := range factors {
			for j := range i {
				a, b := &factors[j], &factors[i]
				if a.Name == c.Name || b.Name == c.Name || a.mark() != "" && b.mark() != "" ||
					!a.alike(c) || !b.alike(c) || c.Kind.Whole() && a.digits()+b.digits() > 0 {
					continue
				}
				mean := a.mean * b.mean
				off := spreadShare*a.spread*b.spread + c.off() + math.Abs(a.mean)*b.off() +
					math.Abs(b.mean)*a.off() + leastShare*math.Abs(mean)
				price := func(x, y string) bool {
					return prices.MatchString(x) && quantities.MatchString(y)
				}
				made := Made{Name: c.Name, Kind: madeProduct, Of: []string{a.Name, b.Name}}
				if !c.Kind.Whole() {
					made.Round, made.Decimals = nearest, c.digits()
				}
				made = c.written(made, a, b)
				out = append(out, Candidate{made, price(a.Name, b.Name) || price(b.Name, a.Name),
					math.Abs(mean-c.mean) / off})
			}
		}
	}
	return out
}

// copies are the pairs of columns of one kind that may have the same values, or rounded ones. The
// one that comes later, or has fewer digits, is the copy.
func copies(of []standing) (out []Candidate) {
	for i := range of {
		for j := range of {
			a, b := &of[i], &of[j]
			if a.digits() < b.digits() || a.digits() == b.digits() && i >= j || i == j ||
				a.Kind.facts().unit != b.Kind.facts().unit || !a.Kind.Numeric() && a.Format != b.Format ||
				!a.alike(b) {
				continue
			}
			made := Made{Name: b.Name, Kind: madeCopy, Of: []string{a.Name}}
			if a.digits() > b.digits() {
				made.Round, made.Decimals = nearest, b.digits()
			}
			if a.Kind.Numeric() {
				made = b.written(made, a)
			}
			off := a.off() + b.off() + .5*math.Pow10(-b.digits())*a.unit
			gap := max(math.Abs(a.mean-b.mean)/off,
				math.Abs(a.spread-b.spread)/(nearSpread*max(a.spread, b.spread)+off+a.blur+b.blur))
			out = append(out, Candidate{made, strings.Contains(b.Name, a.Name), gap})
		}
	}
	return out
}

// signedSums are those of two or three numbers, some of which are taken off or negative, that
// another column may hold. Of the columns of one such sum, which may be solved for each, one is
// made: that whose name says so, or else the last.
func signedSums(numbers []standing) (out []Candidate) {
	if len(numbers) > mostNumbers {
		numbers = numbers[:mostNumbers]
	}
	at := map[string]int{} // in out, by what is on either side
	for k := range numbers {
		c := &numbers[k]
		var parts []*standing
		for i := range numbers {
			if p := &numbers[i]; i != k && p.mark() == c.mark() {
				parts = append(parts, p)
			}
		}
		for _, x := range c.signedOf(parts, nil, nil) {
			sides := x.sides()
			old, known := at[sides]
			switch {
			case !known:
				at[sides], out = len(out), append(out, x)
			case x.Named || !out[old].Named:
				out[old] = x
			}
		}
	}
	return out
}

// sides names the columns of a sum by what they are on either side of it.
func (c *Candidate) sides() string {
	minus := append(slices.Clone(c.Less), c.Name)
	plus := slices.Clone(c.Of)
	if c.Kind == Difference {
		plus, minus = c.Of[:1], append(slices.Clone(c.Of[1:]), c.Name)
	}
	slices.Sort(minus)
	plus = slices.Sorted(slices.Values(plus))
	sides := []string{fmt.Sprintf("%q", plus), fmt.Sprintf("%q", minus)}
	slices.Sort(sides)
	return strings.Join(sides, " ")
}

// signedOf are the sums of the parts that were chosen, and of others.
func (m *standing) signedOf(parts, plus, minus []*standing) (out []Candidate) {
	n := len(plus) + len(minus)
	if n >= 2 && len(plus) > 0 {
		if c, ok := m.signed(plus, minus); ok {
			out = append(out, c)
		}
	}
	if n == mostSignedParts {
		return out
	}
	for i, p := range parts {
		out = append(out, m.signedOf(parts[i+1:], append(slices.Clone(plus), p), minus)...)
		out = append(out, m.signedOf(parts[i+1:], plus, append(slices.Clone(minus), p))...)
	}
	return out
}

// signed is a sum with signs, unless its parts may all stand in one without ([sums]).
func (m *standing) signed(plus, minus []*standing) (Candidate, bool) {
	c := Candidate{Made: Made{Name: m.Name, Kind: madeSum}}
	mean, off, digits, spread, negative := 0., m.off(), 0, 0., m.Min < 0
	widest, most, bases, unnamed := 0., 0., 0, false
	add := func(list []*standing, sign float64) (names []string) {
		for _, p := range list {
			mean, off, digits = mean+sign*p.mean, off+p.off(), max(digits, p.digits())
			spread, negative = spread+p.spread+p.blur, negative || p.Min < 0
			widest, most = max(widest, p.spread-p.blur), most+max(sign*p.Min, sign*p.Max)
			switch less := sign < 0 || p.Min < 0; {
			case less && !leaves(m.Name, p.Name):
				unnamed = true
			case !less && !takenOff(p.Name):
				bases++
			}
			names = append(names, p.Name)
		}
		return names
	}
	c.Of, c.Less = add(plus, 1), add(minus, -1)
	off += leastShare * math.Abs(m.mean)
	c.Named = !unnamed && bases == 1
	gap := math.Abs(mean-m.mean) / off
	if !negative && (len(plus) == 1 || len(minus) == 0) || !(gap <= 1) ||
		m.spread-m.blur > rangeShare*spread || m.Max > 2*rangeShare*most ||
		2*widest > rangeShare*(spread+m.spread+m.blur) {
		return c, false
	}
	// the less the means are known, and the more parts there are, the more agree by chance
	chance := float64(len(plus)+len(minus)-1) * min(1, off/(m.spread+m.blur))
	if c.gap = (gap + chance) / mostSignedParts; digits != m.digits() {
		c.gap = (1 + c.gap) / 2
	}
	if len(plus) == 1 {
		c.Kind, c.Of, c.Less = Difference, append(c.Of, c.Less...), nil
	}
	c.Made = m.written(c.Made, append(slices.Clone(plus), minus...)...)
	return c, true
}
