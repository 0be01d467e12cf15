package yamlfile

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Text gives the text of a scalar as it is written.
func Text(n *yaml.Node) (string, error) {
	switch {
	case n.Kind != yaml.ScalarNode:
		return "", fmt.Errorf("must be a text, not %s", Kind(n))
	case n.Value == "" && !quoted(n) && n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) == 0:
		return "", errors.New("has no value; the empty text is written \"\"")
	}
	return n.Value, nil
}

// String is [Text] for what is no text of a table: null and ~ are no values.
func String(n *yaml.Node) (string, error) {
	text, err := Text(n)
	if err == nil && null(n) {
		err = fmt.Errorf("has no value (%s); leave the key out, or put the text in quotes", text)
	}
	return text, err
}

// Truth gives the value of true or false.
func Truth(n *yaml.Node) (bool, error) {
	text, err := Text(n)
	if err != nil || text != "true" && text != "false" {
		return false, errors.New("must be true or false")
	}
	return text == "true", nil
}

// number gives the value of a scalar that is no text in quotes. What names the kind of number.
func number[T any](
	n *yaml.Node, what string, parse func(text string) (T, error),
) (x T, err error) {
	if n.Kind != yaml.ScalarNode {
		return x, fmt.Errorf("must be %s, not %s", what, Kind(n))
	}
	text, err := Text(n)
	if err == nil && quoted(n) {
		return x, fmt.Errorf("must be a number, not the text %s", Quote(text))
	}
	if err != nil {
		return x, err
	}
	if x, err = parse(text); err != nil || !Decimal(text) {
		return *new(T), fmt.Errorf("must be %s, not %s%s", what, Quote(text), instead(text))
	}
	return x, nil
}

// Whole gives the value of a whole number of so many bits.
func Whole(n *yaml.Node, bits int) (int64, error) {
	return number(n, "a whole number", func(text string) (int64, error) {
		return strconv.ParseInt(text, 10, bits)
	})
}

// Natural gives the value of a whole number that is not negative.
func Natural(n *yaml.Node) (uint64, error) {
	return number(n, fmt.Sprintf("a whole number from 0 to %d", uint64(math.MaxUint64)),
		func(text string) (uint64, error) { return strconv.ParseUint(text, 10, 64) })
}

// Number gives the value of a number, ±Inf for one that is too large.
func Number(n *yaml.Node) (float64, error) {
	return number(n, "a number", func(text string) (float64, error) {
		x, _ := strconv.ParseFloat(text, 64) // an error but for the form is one of range
		return x, nil
	})
}

var decimal = regexp.MustCompile(`^[-+]?(\.[0-9]+|(0|[1-9][0-9]*)(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)

// digits finds numbers in other forms.
var digits = regexp.MustCompile(`^[-+]?[0-9][0-9a-fA-FoOxX_]*$`)

// Decimal reports whether text is a number that all programs read alike: 010 is eight to some, and
// 1_0 ten.
func Decimal(text string) bool { return decimal.MatchString(text) }

// instead says what may have been meant by a text that is no number.
func instead(text string) string {
	switch point := strings.Replace(text, ",", ".", 1); {
	case point != text && Decimal(point):
		return ": a decimal point is meant, " + point
	case digits.MatchString(text) && !Decimal(text):
		return ": write it in decimal digits, without leading zeros and underscores"
	}
	return ""
}

// Any gives a value whose kind the file decides: an int or float64, a bool, a text, or a list of
// these.
func Any(n *yaml.Node) (any, error) {
	if n.Kind == yaml.SequenceNode {
		list := make([]any, len(n.Content))
		for i, item := range n.Content {
			if item.Kind != yaml.ScalarNode {
				return nil, fmt.Errorf("must be a value or a list of values, not a list of %s", Kind(item))
			}
			var err error
			if list[i], err = Any(item); err != nil {
				return nil, err
			}
		}
		return list, nil
	}
	if n.Kind != yaml.ScalarNode {
		return nil, fmt.Errorf("must be one value, not %s", Kind(n))
	}
	if x, err := Truth(n); err == nil {
		return x, nil
	}
	text, err := String(n)
	switch {
	case err != nil || n.Style != 0:
		return text, err
	case Decimal(text):
		if x, err := strconv.Atoi(text); err == nil {
			return x, nil
		}
		return Number(n)
	case n.ShortTag() == "!!int" || n.ShortTag() == "!!float":
		return nil, fmt.Errorf("%s is a number to some programs: write it in decimal digits, or in "+
			"quotes if it is a text", Quote(text))
	}
	return text, nil
}

func quoted(n *yaml.Node) bool {
	return n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0
}

// Kind says what a node is, for an error.
func Kind(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "keys and values"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Value == "":
		return "an empty value"
	}
	return Quote(n.Value)
}

// Quote quotes a text of a file, shortened so that a message stays readable.
func Quote(text string) string {
	const most = 60
	if r := []rune(text[:min(len(text), 8*most)]); len(r) > most {
		return strconv.Quote(string(r[:most]) + "…")
	}
	return strconv.Quote(text)
}
