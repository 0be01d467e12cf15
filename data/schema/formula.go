package schema

import (
	"fmt"
	"math"
	"time"

	"github.com/decoy-dp/decoy/internal/yamlfile"
)

// Span is what the difference of two dates or times is counted in.
type timeSpan uint8

// The spans. Whole years that are rounded down are completed ones, as an age is: from a birthday to
// the next. Others have 365.25 days.
const (
	inSeconds timeSpan = iota + 1
	inMinutes
	inHours
	inDays
	inYears
)

// Rounding says how what numbers give is rounded.
type rounding uint8

// The roundings: to the nearest number of so many decimals, halves away from zero, or down.
const (
	nearest rounding = iota + 1
	Down
)

var (
	spanNames     = names{"span", 1, []string{"seconds", "minutes", "hours", "days", "years"}}
	roundingNames = names{"rounding", 1, []string{"nearest", "down"}}
	spanMicros    = []float64{0, microsPerSecond, microsPerMinute, microsPerHour, microsPerDay,
		365.25 * microsPerDay}
)

// String gives the name of s in a schema file.
func (s timeSpan) String() string { return spanNames.text(uint8(s)) }

// Micros is how many microseconds a span has.
func (s timeSpan) Micros() float64 { return spanMicros[s] }

// formula is what a made number follows from others by.
type formula struct {
	operation madeKind
	numbers   int
	plus      int       // of a sum: so many are added, the others taken off
	units     []float64 // of a difference in a span: microseconds of 1, of both moments
	span      timeSpan
	rounding  rounding
	decimals  int // digits behind the point, asManyDigits or wholeDigits
}

// plain are the codecs of numbers that are written without any marks.
var plain = map[Kind]*Codec{
	Integer: {column: Column{Kind: Integer}, facts: &integerFacts, notation: decimal},
	Real:    {column: Column{Kind: Real}, facts: &realFacts, notation: decimal},
}

// newFormula is that of a made column of columns of these forms, and how what it gives is written,
// or why there is none.
func newFormula(m *Made, forms []numberForm) (f formula, form numberForm, why string) {
	f = formula{operation: m.Kind, numbers: len(forms), plus: len(m.Of), span: m.In, rounding: m.Round}
	switch {
	case m.Decimals < 0 || m.Decimals > mostDecimals:
		why = "decimals must be from 1 to 15"
	case m.Kind == madeRatio && len(forms) != 2:
		why = "a ratio is of two columns"
	case m.Kind == Difference && forms[0].root.facts.unit > 0:
		form, why = f.ofMoments(forms)
	case m.In != 0:
		why = "in is for the difference of two dates or timestamps"
	case m.Kind == madeRatio:
		form = numberForm{plain[Real], asManyDigits}
	default:
		form, why = common(forms, m.Kind)
	}
	if why == "" {
		why = form.fix(m)
	}
	f.decimals = form.decimals
	return f, form, why
}

// fix has a form the decimals that the file says.
func (f *numberForm) fix(m *Made) string {
	switch fixed := m.Round != 0 || m.Decimals > 0; {
	case !fixed:
	case f.root.facts.unit > 0:
		return "dates and times have no decimals"
	case f.root.facts.stored == StoredFloat:
		f.decimals = m.Decimals
	case m.In != 0 && m.Decimals > 0:
		f.root, f.decimals = plain[Real], m.Decimals
	}
	if m.Format == "" {
		return ""
	}
	return f.mark(m.Format)
}

// mark has the numbers of a form written with the marks of a format.
func (f *numberForm) mark(format string) string {
	facts, kind := f.root.facts, f.root.column.Kind
	if !facts.numeric {
		return "dates and times are written as those that they follow from: leave format out"
	}
	if format == plainNumbers {
		f.root = plain[kind]
		return ""
	}
	n := facts.notation(format)
	if n == nil {
		return fmt.Sprintf("kind %s has no format %s", kind, yamlfile.Quote(format))
	}
	f.root = &Codec{column: Column{Kind: kind, Format: format}, facts: facts, notation: *n}
	return ""
}

// mostDecimals are those that a column may have.
const mostDecimals = 15

// ofMoments is the form of a difference in a span.
func (f *formula) ofMoments(forms []numberForm) (form numberForm, why string) {
	if f.span == 0 || len(forms) != 2 {
		return form, "the difference of two dates or timestamps needs in: seconds, minutes, hours, " +
			"days or years"
	}
	for _, of := range forms {
		unit := float64(of.root.facts.unit)
		if unit == 0 {
			return form, "of must name columns that are all numbers, or two dates or timestamps"
		}
		f.units = append(f.units, unit)
	}
	return numberForm{plain[Integer], wholeDigits}, ""
}

// common is how what columns of one kind give is written: as the first of them, with the most
// decimals or, of a product, all of them.
func common(forms []numberForm, kind madeKind) (form numberForm, why string) {
	for k, of := range forms {
		switch {
		case k == 0:
			form = of
		case form.root.facts.format != of.root.facts.format:
			return form, "of must name columns that are all numbers, all dates or all timestamps"
		case of.root.facts.stored != StoredFloat:
		case form.root.facts.stored != StoredFloat:
			form = of
		case of.decimals < 0 || form.decimals < 0:
			form.decimals = asManyDigits
		case kind == madeProduct:
			form.decimals = min(form.decimals+of.decimals, mostDecimals)
		default:
			form.decimals = max(form.decimals, of.decimals)
		}
	}
	if form.root.facts.format != "" && kind != madeMax && kind != madeCopy {
		return form, "dates and times have no " + kind.String()
	}
	return form, ""
}

// number is what the formula gives of the numbers x: NaN if one of them is, or there is none.
func (f *formula) number(x func(k int) float64) float64 {
	out := x(0)
	if f.span != 0 {
		return f.between(out, x(1))
	}
	for k := 1; k < f.numbers; k++ {
		switch v := x(k); f.operation {
		case madeSum:
			if k >= f.plus {
				v = -v
			}
			out += v
		case Difference:
			out -= v
		case madeProduct:
			out = float64(out * v)
		case madeRatio:
			out /= v
		default:
			out = max(out, v)
		}
	}
	if math.IsInf(out, 0) {
		return math.NaN()
	}
	return f.rounded(out)
}

// between is the time from one moment to another, NaN if one of them is.
func (f *formula) between(to, from float64) float64 {
	to, from = to*f.units[0], from*f.units[1]
	if f.span == inYears && f.decimals <= 0 && f.rounding != nearest && !math.IsNaN(to-from) {
		a, b := time.UnixMicro(int64(from)).UTC(), time.UnixMicro(int64(to)).UTC()
		years := b.Year() - a.Year()
		if b.Month() < a.Month() || b.Month() == a.Month() && b.Day() < a.Day() {
			years--
		}
		return float64(years)
	}
	return f.rounded((to - from) / f.span.Micros())
}

// rounded rounds what is not a whole number anyway.
func (f *formula) rounded(x float64) float64 {
	scale := 1.
	switch {
	case f.decimals > 0:
		scale = pow10[f.decimals]
	case f.decimals == asManyDigits:
		return x
	}
	if f.rounding == Down { // up to the noise of binary fractions
		return math.Floor(float64(x*scale)+1e-9) / scale
	}
	return math.Round(float64(x*scale)*(1+1e-15)) / scale
}
