package workload

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/decoy-dp/decoy/internal/yamlfile"
	"github.com/decoy-dp/decoy/table"
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

// token is a word or a sign of a condition.
type token struct {
	text   string
	at     int  // character, from 1
	quoted bool // a word, whatever it says
	sign   bool
}

func (t token) keyword(k string) bool {
	return !t.quoted && !t.sign && strings.EqualFold(t.text, k)
}
func (t token) is(sign string) bool { return t.sign && t.text == sign }

// tokens cuts a condition into words and signs; the last is an empty sign.
func tokens(text string) ([]token, error) {
	var out []token
	if !utf8.ValidString(text) {
		return nil, fmt.Errorf("is not UTF-8")
	}
	r := []rune(text)
	for i := 0; i < len(r); {
		at := i + 1
		switch c := r[i]; {
		case strings.ContainsRune(" \t\r\n", c):
			i++
		case c == '\'' || c == '"' || c == '`':
			var word []rune
			for i++; ; i++ {
				if i >= len(r) {
					return nil, fmt.Errorf("character %d: the quote %c is not closed", at, c)
				}
				if r[i] == c {
					if i+1 < len(r) && r[i+1] == c {
						i++
					} else {
						i++
						break
					}
				}
				word = append(word, r[i])
			}
			out = append(out, token{text: string(word), at: at, quoted: true})
		case strings.ContainsRune("(),", c):
			out = append(out, token{text: string(c), at: at, sign: true})
			i++
		case strings.ContainsRune("=!<>", c):
			sign := string(c)
			if i+1 < len(r) && r[i+1] == '=' {
				sign += "="
			}
			if sign == "!" {
				return nil, fmt.Errorf("character %d: ! stands alone; write not or !=", at)
			}
			out = append(out, token{text: sign, at: at, sign: true})
			i += len(sign)
		default:
			from := i
			for i < len(r) && !strings.ContainsRune(" \t\r\n'\"`(),=!<>", r[i]) {
				i++
			}
			out = append(out, token{text: string(r[from:i]), at: at})
		}
	}
	return append(out, token{at: len(r) + 1, sign: true}), nil
}

// conditionParser reads one condition by recursive descent.
type conditionParser struct {
	columns func(name string) (column, error)
	left    []token
	depth   int
}

// condition reads a whole condition.
func condition(text string, columns func(string) (column, error)) (table.Expr, error) {
	list, err := tokens(text)
	if err != nil {
		return nil, err
	}
	p := &conditionParser{columns: columns, left: list}
	x, err := p.any()
	if err != nil {
		return nil, err
	}
	if !p.left[0].is("") {
		return nil, p.expected("and, or, or the end")
	}
	return x, nil
}

func (p *conditionParser) next() token {
	t := p.left[0]
	if len(p.left) > 1 {
		p.left = p.left[1:]
	}
	return t
}

// take takes the next token if it is this sign or keyword.
func (p *conditionParser) take(text string) bool {
	if t := p.left[0]; t.keyword(text) || text != "" && t.is(text) {
		p.next()
		return true
	}
	return false
}

// example shows how a condition is written.
const example = "conditions are written as age >= 70 and sex = 'F'"

func (p *conditionParser) expected(what string) error {
	t := p.left[0]
	if t.is("") {
		return fmt.Errorf("character %d: ends where %s should follow (%s)", t.at, what, example)
	}
	return fmt.Errorf("character %d: %s where %s should be (%s)", t.at, yamlfile.Quote(t.text), what, example)
}

func (p *conditionParser) any() (table.Expr, error) {
	x, err := p.all()
	parts := table.Or{x}
	for err == nil && p.take("or") {
		x, err = p.all()
		parts = append(parts, x)
	}
	if len(parts) == 1 {
		return parts[0], err
	}
	return parts, err
}

func (p *conditionParser) all() (table.Expr, error) {
	x, err := p.one()
	parts := table.And{x}
	for err == nil && p.take("and") {
		x, err = p.one()
		parts = append(parts, x)
	}
	if len(parts) == 1 {
		return parts[0], err
	}
	return parts, err
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
func (p *conditionParser) word(what string) (token, error) {
	t := p.left[0]
	if t.sign {
		return t, p.expected(what)
	}
	if !t.quoted {
		for _, k := range []string{"and", "or", "not", "in", "is"} {
			if t.keyword(k) {
				return t, p.expected(what + " (a keyword needs quotes)")
			}
		}
	}
	return p.next(), nil
}

func (p *conditionParser) comparison() (table.Expr, error) {
	name, err := p.word("a column")
	if err != nil {
		return nil, err
	}
	col, err := p.columns(name.text)
	if err != nil {
		return nil, fmt.Errorf("character %d: %w", name.at, err)
	}
	at := p.left[0].at
	wrap := func(x table.Condition, err error, negated bool) (table.Expr, error) {
		if err != nil {
			return nil, fmt.Errorf("character %d: %w", at, err)
		}
		if negated {
			return table.Not{Of: x}, nil
		}
		return x, nil
	}
	if p.take("is") {
		negated := p.take("not")
		if !p.take("missing") {
			return nil, p.expected("missing")
		}
		x, err := col.missing()
		return wrap(x, err, negated)
	}
	if negated := p.take("not"); negated || p.left[0].keyword("in") {
		if !p.take("in") {
			return nil, p.expected("in")
		}
		texts, err := p.values()
		if err != nil {
			return nil, err
		}
		x, err := col.equals(texts)
		return wrap(x, err, negated)
	}
	op := p.left[0]
	switch op.text {
	case "=", "==", "!=", "<", "<=", ">", ">=":
	default:
		op.sign = false
	}
	if !op.sign {
		return nil, p.expected("a comparison such as =, <, in or is missing")
	}
	p.next()
	equality, begins := strings.HasSuffix(op.text, "=") && op.text[0] != '<' && op.text[0] != '>', ""
	if t := p.left[0]; equality && t.sign && t.text != "" && strings.Contains("<=>=", t.text) {
		begins = p.next().text
	}
	v, err := p.word("a value")
	if err != nil {
		return nil, err
	}
	if equality {
		x, err := col.equals([]string{begins + v.text})
		return wrap(x, err, op.text == "!=")
	}
	x, err := col.compare(op.text, v.text)
	return wrap(x, err, false)
}

// values reads a list in parentheses.
func (p *conditionParser) values() ([]string, error) {
	if !p.take("(") {
		return nil, p.expected("(")
	}
	var out []string
	for {
		v, err := p.word("a value")
		if err != nil {
			return nil, err
		}
		out = append(out, v.text)
		if p.take(")") {
			return out, nil
		}
		if !p.take(",") {
			return nil, p.expected(", or )")
		}
	}
}
