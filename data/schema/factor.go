package schema

import "strings"

// Factor is the column of numbers that one of categories stands for, if each of these is a number:
// 9.99 and 12.50, or $5 and $10, but not 007. A made column may be made from it. It is false for
// another column, and for one in which a category stands for others.
func (c Column) Factor() (Known, bool) {
	k, _, ok := c.factor()
	return k, ok
}

// factor is Factor, with the number of each category.
func (c *Column) factor() (k Known, values []float64, ok bool) {
	if c.Kind != Categorical || len(c.Categories) == 0 || c.OnInvalid == Other {
		return k, nil, false
	}
	d := NewDrafter([]string{c.Name}) // from what is public
	for _, text := range c.Categories {
		if !strings.ContainsAny(text, "0123456789") {
			return k, nil, false
		}
		d.Add([]string{text})
	}
	numbers, why := d.columns[0].column()
	if why != "" || !numbers.Kind.Numeric() {
		return k, nil, false
	}
	numbers.Missing, numbers.Bins = c.Missing, 1
	codec, err := NewCodec(numbers)
	if err != nil {
		return k, nil, false
	}
	for _, text := range c.Categories {
		x, ok := codec.parse([]byte(text))
		if !ok || padded(text) {
			return k, nil, false
		}
		values = append(values, x)
	}
	return Known{Column: numbers, Factor: true}, values, true
}

// padded reports whether a text is a number with a zero before its digits.
func padded(text string) bool {
	return len(text) > 1 && text[0] == '0' && isDigit(text[1])
}
