package workload

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/yamlfile"
)

// The language of conditions:
//
//	any        = all { "or" all }
//	all        = one { "and" one }
//	one        = "not" one | "(" any ")" | comparison
//	comparison = column ( "=" | "==" | "!=" | "<" | "<=" | ">" | ">=" ) value
//	           | column [ "not" ] "in" "(" value { "," value } ")"
//	           | column "is" [ "not" ] "missing"
//
// A word needs no quotes unless it has spaces or one of ( ) , = ! < > ' " ` in it or is a keyword;
// a quote inside quotes is doubled. Behind = and != a value may begin with < or >: income=>50K.

// maxNesting bounds the recursion of the parser.
const maxNesting = 100

var keywords = []string{"and", "or", "not", "in", "is"}

// token is a word or a sign of a condition.
type token struct {
	text   string
	at     int  // character, from 1
	quoted bool // a word, whatever it says
	sign   bool
}

// is reports whether a token is this sign or keyword.
func (t token) is(text string) bool {
	return !t.quoted && (t.sign && t.text == text || !t.sign && strings.EqualFold(t.text, text))
}

// pieces are white space, words in quotes, signs, words, and a quote that is not closed.
var pieces = regexp.MustCompile("[ \t\r\n]+|'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`(?:[^`]|``)*`|[(),]|" +
	"[=!<>]=?|[^ \t\r\n'\"`(),=!<>]+|['\"`]")

// tokens cuts a condition into words and signs; the last is an empty sign.
func tokens(text string) (out []token, err error) {
	if !utf8.ValidString(text) {
		return nil, fmt.Errorf("is not UTF-8")
	}
	at := 1
	for _, piece := range pieces.FindAllString(text, -1) {
		t := token{text: piece, at: at}
		at += utf8.RuneCountInString(piece)
		switch first := piece[:1]; {
		case strings.Contains(" \t\r\n", first):
			continue
		case strings.Contains("'\"`", first) && len(piece) == 1:
			return nil, fmt.Errorf("character %d: the quote %s is not closed", t.at, piece)
		case strings.Contains("'\"`", first):
			t.text, t.quoted = strings.ReplaceAll(piece[1:len(piece)-1], first+first, first), true
		case piece == "!":
			return nil, fmt.Errorf("character %d: ! stands alone; write not or !=", t.at)
		default:
			t.sign = strings.Contains("(),=!<>", first)
		}
		out = append(out, t)
	}
	return append(out, token{at: at, sign: true}), nil
}

// conditionParser reads one condition by recursive descent.
type conditionParser struct {
	*reading
	left  []token
	depth int
}

// where reads a whole condition.
func (r *reading) where(text string) (table.Expr, error) {
	list, err := tokens(text)
	if err != nil {
		return nil, err
	}
	p := &conditionParser{reading: r, left: list}
	x, err := p.any()
	if err == nil && !p.left[0].is("") {
		return nil, p.expected("and, or, or the end")
	}
	return x, err
}

// take takes the next token if it is this sign or keyword.
func (p *conditionParser) take(text string) bool {
	is := p.left[0].is(text)
	if is {
		p.left = p.left[1:]
	}
	return is
}

// example shows how a condition is written.
const example = "conditions are written as age >= 70 and sex = 'F'"

func (p *conditionParser) expected(what string) error {
	t := p.left[0]
	if t.is("") {
		return fmt.Errorf("character %d: ends where %s should follow (%s)", t.at, what, example)
	}
	return fmt.Errorf("character %d: %s where %s should be (%s)", t.at, yamlfile.Quote(t.text), what,
		example)
}

func (p *conditionParser) any() (table.Expr, error) {
	return p.several("or", p.all, func(parts []table.Expr) table.Expr { return table.Or(parts) })
}

func (p *conditionParser) all() (table.Expr, error) {
	return p.several("and", p.one, func(parts []table.Expr) table.Expr { return table.And(parts) })
}

// several joins what stands on both sides of a keyword that may be there again and again.
func (p *conditionParser) several(
	between string, read func() (table.Expr, error), join func([]table.Expr) table.Expr,
) (table.Expr, error) {
	x, err := read()
	parts := []table.Expr{x}
	for err == nil && p.take(between) {
		x, err = read()
		parts = append(parts, x)
	}
	if len(parts) == 1 {
		return x, err
	}
	return join(parts), err
}

func (p *conditionParser) one() (table.Expr, error) {
	if p.depth++; p.depth > maxNesting {
		return nil, fmt.Errorf("character %d: nested more than %d deep", p.left[0].at, maxNesting)
	}
	defer func() { p.depth-- }()
	switch {
	case p.take("not"):
		x, err := p.one()
		return table.Not{Of: x}, err
	case p.take("("):
		x, err := p.any()
		if err == nil && !p.take(")") {
			err = p.expected(")")
		}
		return x, err
	}
	return p.comparison()
}

// word takes a word that is not a sign.
func (p *conditionParser) word(what string) (string, error) {
	t := p.left[0]
	switch {
	case t.sign:
		return "", p.expected(what)
	case slices.ContainsFunc(keywords, t.is):
		return "", p.expected(what + " (a keyword needs quotes)")
	}
	p.left = p.left[1:]
	return t.text, nil
}

func (p *conditionParser) comparison() (x table.Expr, err error) {
	at := p.left[0].at
	name, err := p.word("a column")
	if err != nil {
		return nil, err
	}
	col, err := p.column(name)
	if err != nil {
		return nil, fmt.Errorf("character %d: %w", at, err)
	}
	at = p.left[0].at
	negated, compare, err := p.comparedTo(col)
	if err != nil {
		return nil, err
	}
	c, err := compare()
	if err != nil {
		return nil, fmt.Errorf("character %d: %w", at, err)
	}
	if negated {
		return table.Not{Of: c}, nil
	}
	return c, nil
}

// comparedTo reads what a column is compared to.
func (p *conditionParser) comparedTo(col column) (
	negated bool, compare func() (table.Condition, error), err error,
) {
	if p.take("is") {
		if negated = p.take("not"); !p.take("missing") {
			err = p.expected("missing")
		}
		return negated, col.missing, err
	}
	op, texts := "=", []string(nil)
	if negated = p.take("not"); negated || p.left[0].is("in") {
		if !p.take("in") {
			return false, nil, p.expected("in")
		}
		texts, err = p.values()
	} else {
		negated = p.left[0].is("!=")
		op, texts, err = p.value()
	}
	return negated, func() (table.Condition, error) { return col.compare(op, texts...) }, err
}

// value reads a sign and what is behind it: behind = and != a value may begin with < or >.
func (p *conditionParser) value() (op string, texts []string, err error) {
	sign := p.left[0]
	if !sign.sign || sign.text == "" || strings.Contains("(),", sign.text) {
		return "", nil, p.expected("a comparison such as =, <, in or is missing")
	}
	p.left = p.left[1:]
	begins := ""
	if op = sign.text; strings.Contains("==!=", op) {
		op = "="
		if t := p.left[0]; t.sign && t.text != "" && strings.Contains("<=>=", t.text) {
			begins, p.left = t.text, p.left[1:]
		}
	}
	v, err := p.word("a value")
	return op, []string{begins + v}, err
}

// values reads a list in parentheses.
func (p *conditionParser) values() (out []string, err error) {
	if !p.take("(") {
		return nil, p.expected("(")
	}
	for {
		v, err := p.word("a value")
		if err != nil {
			return nil, err
		}
		out = append(out, v)
		if p.take(")") {
			return out, nil
		}
		if !p.take(",") {
			return nil, p.expected(", or )")
		}
	}
}
