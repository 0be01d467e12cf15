package schema

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// marks are what stands around and between the digits of numbers: $1,234.50, 1.234,5 €, (4.8%).
type marks struct {
	// "": - before negative numbers; "-": behind them; "()": around them; "+": + before others
	sign           string
	prefix, suffix string // of a currency or a unit, with the blank to the digits
	group          string // between groups of three digits before the fraction; "": none
	point          string // before the fraction: a point or a comma; "": it is not known
}

// The marks that are read. Units and currencies are public lists: what else stands beside digits
// may be a name.
var (
	groupMarks = []string{"", ",", ".", " ", "'", "\u00a0", "\u202f", "’"}
	pointMarks = []string{".", ","}
	signs      = []string{"", "+", "()", "-"}
	currencies = []string{"$", "€", "£", "¥", "US$", "R$", "CHF", "USD", "EUR", "GBP", "kr",
		"zł", "Kč", "₹", "₽", "SEK", "NOK", "DKK", "PLN", "Fr.", "#"}
	units = []string{"%", "‰", "kg", "g", "mg", "µg", "lbs", "cm", "mm", "m", "km", "ft", "ml",
		"l", "L", "h", "min", "s", "ms", "°C", "°F", "mmHg", "bpm", "kcal", "kWh", "mg/dL", "mmol/L", "k",
		"x", "GB", "MB", "days", "years", "yrs", "hours", "weeks", "months"}
)

// affix is what stands before and behind the digits.
type affix struct{ prefix, suffix string }

// affixes are all that are read; the first is none.
var affixes = func() []affix {
	out := []affix{{}, {suffix: " "}, {prefix: " "}}
	for _, c := range currencies {
		out = append(out, affix{prefix: c}, affix{prefix: c + " "}, affix{suffix: c},
			affix{suffix: " " + c})
	}
	for _, u := range units {
		out = append(out, affix{suffix: u}, affix{suffix: " " + u})
	}
	return out
}()

// prefixes and suffixes are those of affixes, for texts that are read.
var prefixes, suffixes = func() (p, s map[string]bool) {
	p, s = map[string]bool{}, map[string]bool{}
	for _, a := range affixes {
		p[a.prefix], s[a.suffix] = true, true
	}
	return p, s
}()

// String is the format that names the marks: how 1234.5 is written, or −1234.5 where that has
// parentheses.
func (m marks) String() string {
	text := m.prefix + "1" + m.group + "234" + m.point + "5" + m.suffix
	switch m.sign {
	case "+":
		text = "+" + text
	case "()":
		text = "(" + text + ")"
	case "-":
		text += "-"
	}
	return text
}

// marksOf are the marks that a format names; false for a text that is no such format.
func marksOf(format string) (m marks, ok bool) {
	text := format
	if rest, signed := strings.CutPrefix(text, "+"); signed {
		m.sign, text = "+", rest
	} else if strings.HasPrefix(text, "(") && strings.HasSuffix(text, ")") {
		m.sign, text = "()", text[1:len(text)-1]
	} else if rest, behind := strings.CutSuffix(text, "-"); behind {
		m.sign, text = "-", rest
	}
	first, last := strings.IndexByte(text, '1'), strings.LastIndexByte(text, '5')
	if first < 0 || last < first {
		return m, false
	}
	m.prefix, m.suffix = text[:first], text[last+1:]
	group, point, found := strings.Cut(text[first+1:last], "234")
	m.group, m.point = group, point
	return m, found && m.String() == format && slices.Contains(groupMarks, group) &&
		slices.Contains(pointMarks, point) && group != point && slices.Contains(affixes,
		affix{m.prefix, m.suffix})
}

// Measured reports whether a format has a currency or a unit, as no code has.
func Measured(format string) bool {
	m, _ := marksOf(format)
	return strings.Trim(m.prefix+m.suffix, blanks) != ""
}

// scanned is a number as it stands in a text.
type scanned struct {
	marks
	// the only mark, which may be before a fraction of three digits or before a group; "": none
	open   string
	digits int // of the fraction, trailing zeros left out
	whole  []byte
	rest   []byte // of the digits, the fraction
	minus  bool
}

const blanks = " \u00a0\u202f\t"

// scan reads digits with marks; false for what is none, or has an exponent.
func scan(text []byte) (n scanned, ok bool) {
	if len(text) < 2 || len(text) > 48 {
		return n, false
	}
	if text[0] == '(' && text[len(text)-1] == ')' {
		n.sign, n.minus, text = "()", true, text[1:len(text)-1]
	} else {
		text = n.takeSign(text)
	}
	if text = n.takeAffix(text); text == nil || !n.takeDigits(text) {
		return n, false
	}
	n.digits = len(bytes.TrimRight(n.rest, "0"))
	// +491701234 is a telephone's
	return n, n.sign != "+" || n.point+n.group+n.prefix+n.suffix != "" || len(n.whole) <= mostPlus
}

// mostPlus are the most digits of a whole number behind a plus sign: a telephone's has more.
const mostPlus = 5

// takeSign takes a sign off the beginning of a text.
func (n *scanned) takeSign(text []byte) []byte {
	if rest, found := bytes.CutPrefix(text, []byte("+")); found {
		n.sign = "+"
		return rest
	}
	for _, minus := range []string{"-", "−"} {
		if rest, found := bytes.CutPrefix(text, []byte(minus)); found {
			n.minus = true
			return rest
		}
	}
	return text
}

// takeAffix takes what is before and behind the digits off a text, and a sign that is between; nil
// if it is no affix. Blanks are one, as many as it takes to stand in line.
func (n *scanned) takeAffix(text []byte) []byte {
	const digits = "0123456789"
	first, last := bytes.IndexAny(text, digits), bytes.LastIndexAny(text, digits)
	if first < 0 {
		return nil
	}
	before, within, behind := text[:first], text[first:last+1], string(text[last+1:])
	if m := len(before); m > 0 && !prefixes[string(before)] {
		switch {
		case before[m-1] == '.', before[m-1] == ',': // .5
			before, within = before[:m-1], text[first-1:last+1]
		case before[m-1] == '-' && !n.minus: // $-5
			before, n.minus = before[:m-1], true
		}
	}
	if behind == "-" && !n.minus {
		behind, n.minus, n.sign = "", true, "-"
	}
	n.prefix, n.suffix = plainBlanks(string(before)), plainBlanks(behind)
	if n.prefix == " " && n.suffix == " " {
		n.prefix = ""
	}
	if !prefixes[n.prefix] || !suffixes[n.suffix] || n.prefix != "" && n.suffix != "" {
		return nil
	}
	return within
}

// plainBlanks is an affix with plain blanks; of nothing but blanks a single one.
func plainBlanks(text string) string {
	if text == "" {
		return ""
	}
	inner := strings.Trim(text, blanks)
	switch at := strings.Index(text, inner); {
	case inner == "":
		return " "
	case len(text) == len(inner):
	case at == 0:
		return inner + " "
	default:
		return " " + inner
	}
	return text
}

// takeDigits reads digits and the marks between them; false if these are no groups of three, or
// more than one mark before a fraction.
func (n *scanned) takeDigits(text []byte) bool {
	runs, between := runsOf(text)
	k := len(between)
	if k > 0 && slices.Contains(pointMarks, between[k-1]) && (k == 1 || between[k-1] != between[0]) {
		n.point, n.rest, runs, between = between[k-1], runs[k], runs[:k], between[:k-1]
	}
	n.whole = slices.Concat(runs...)
	if len(n.whole) > 1 && n.whole[0] == '0' {
		return false // 007
	}
	if len(between) > 0 {
		n.group = between[0]
	}
	for i, mark := range between {
		if mark != n.group || len(runs[i+1]) != 3 {
			return false
		}
	}
	grouped := len(runs[0]) >= 1 && len(runs[0]) <= 3 && runs[0][0] != '0'
	if n.group == "" && len(n.rest) == 3 && grouped {
		n.open = n.point
	}
	return n.group == "" || grouped && slices.Contains(groupMarks, n.group)
}

// runsOf are the runs of digits of a text, and the characters between them, one each.
func runsOf(text []byte) (runs [][]byte, between []string) {
	for {
		end := bytes.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' })
		if end < 0 {
			return append(runs, text), between
		}
		_, size := utf8.DecodeRune(text[end:])
		runs, between = append(runs, text[:end]), append(between, string(text[end:end+size]))
		text = text[end+size:]
	}
}

// written is the notation of numbers with marks.
func (m marks) written() *notation {
	return &notation{parse: m.parse, print: m.print, sql: func(SQL, string) string { return "" }}
}

// parse reads each number that has the affix or none, with any marks between its digits: where one
// mark may be either, as in 1,234, it is what the format says or, if that has no such mark, between
// groups.
func (m marks) parse(cell []byte) (float64, bool) {
	x, plain := parseNumber(cell)
	if plain && (m.point == "." && m.group != "." || len(cell) == 1) {
		return x, true
	}
	n, ok := scan(cell)
	if !ok || strings.Trim(n.prefix+n.suffix, blanks) != "" &&
		(n.prefix != m.prefix || n.suffix != m.suffix) {
		return 0, false
	}
	text := make([]byte, 0, 48)
	if n.minus {
		text = append(text, '-')
	}
	text = append(text, n.whole...)
	if n.open == "" || n.open == m.point {
		text = append(text, '.')
	}
	return parseNumber(append(text, n.rest...))
}

// print appends a number.
func (m marks) print(dst []byte, v Value, digits int) []byte {
	var plain [32]byte
	text := printNumber(plain[:0], v, digits)
	if bytes.IndexByte(text, 'e') >= 0 {
		text = strconv.AppendFloat(plain[:0], v.Float, 'f', -1, 64)
	}
	text, minus := bytes.CutPrefix(text, []byte("-"))
	before, behind := "", ""
	switch {
	case minus && m.sign == "()":
		before, behind = "(", ")"
	case minus && m.sign == "-":
		behind = "-"
	case minus:
		before = "-"
	case m.sign == "+":
		before = "+"
	}
	dst = append(append(dst, before...), m.prefix...)
	whole, rest, broken := bytes.Cut(text, []byte("."))
	for i, b := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			dst = append(dst, m.group...)
		}
		dst = append(dst, b)
	}
	if broken {
		dst = append(append(dst, m.point...), rest...)
	}
	return append(append(dst, m.suffix...), behind...)
}

// numbers is the notation of numbers in a format; nil for a text that is no such format.
func numbers(format string) *notation {
	if isPadding(format) {
		return padding(format)
	}
	if zeros, ok := strings.CutPrefix(format, "1234."); ok && (zeros == "0" || zeros == "00") {
		return pointed("." + zeros)
	}
	if m, ok := marksOf(format); ok {
		return m.written()
	}
	return nil
}

// key is what the class of a number with marks depends on.
type key struct {
	marks
	open   string
	digits int // at most mostDigits
}

// mostDigits are so many or more behind the mark.
const mostDigits = 4

// affixDigits is that of numbers with a unit or a currency.
const affixDigits = 2

// key is that of a number: beside an affix it tells fewer marks apart, so that the classes of all
// affixes are not too many.
func (n *scanned) key() key {
	k := key{n.marks, n.open, min(n.digits, mostDigits)}
	if n.open != "" {
		k.point, k.digits = "", 0
	}
	if n.prefix+n.suffix != "" {
		if k.sign != "()" {
			k.sign = ""
		}
		k.digits = min(k.digits, affixDigits)
		if k.group != "" {
			if k.point != "" {
				k.digits = affixDigits
			}
			if strings.Contains(blanks, k.group) {
				k.group = " "
			}
		}
	}
	return k
}

// withMarks are the forms of numbers with marks, each of one key.
func withMarks() (out []form) {
	for _, a := range affixes {
		for _, sign := range signs {
			own := a != affix{}
			if own && sign != "" && (sign != "()" || a.prefix != "$") {
				continue
			}
			for _, group := range groupMarks {
				if (own || sign != "") && (len(group) > 1 || group == "'" && !swiss(a)) {
					continue
				}
				for _, k := range (marks{sign, a.prefix, a.suffix, group, ""}).keys() {
					out = append(out, k.form())
				}
			}
		}
	}
	return out
}

// swiss reports whether an affix is that of a currency whose thousands have apostrophes.
func swiss(a affix) bool {
	return strings.Contains(a.prefix+a.suffix, "CHF") || strings.Contains(a.prefix+a.suffix, "Fr.")
}

// keys are those of numbers with marks, whatever is before the fraction. Those of plain numbers
// have forms in the table.
func (m marks) keys() (out []key) {
	own, most := m.prefix+m.suffix != "", mostDigits
	if own {
		most = affixDigits
	}
	decorated := own || m.sign != ""
	if decorated || m.group != "" {
		out = append(out, key{m, "", 0})
	}
	for _, p := range pointMarks {
		if m.group == "" && (decorated || p != ".") {
			out = append(out, key{m, p, 0})
		}
		for d := range most + 1 {
			with := m
			with.point = p
			if p != m.group && (decorated || m.group != "" || p != ".") &&
				(m.group == "" || !own || d == affixDigits) {
				out = append(out, key{with, "", d})
			}
		}
	}
	return out
}

// form is the form of a key.
func (k key) form() form {
	m := k.marks
	if m.point == "" {
		m.point = "."
		if m.group == "." {
			m.point = ","
		}
	}
	f := form{name: "number " + m.String(), kind: Real, digits: k.digits, key: &k, rare: true,
		reading: reading{format: m.String()}}
	switch {
	case k.open != "":
		f.name += " open " + k.open
	case k.point == "":
		f.name, f.kind = f.name+" whole", Integer
	default:
		f.name += " " + strconv.Itoa(k.digits)
	}
	return f
}
