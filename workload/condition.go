package workload

import (
	"github.com/decoy-dp/decoy/internal/yamlfile"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

// Conditions are the counts of the given conditions, written as under the key where of a workload
// file, each named by its text. An error says which text it is about and wraps ErrInvalid.
// A bound may cut a bin: then the item has a [Fine].
func Conditions(s *schema.Schema, texts ...string) ([]Item, error) {
	codecs, err := s.Codecs()
	if err != nil {
		return nil, err
	}
	p := &fileParser{schema: s, codecs: codecs, fine: true}
	var out []Item
	for _, text := range texts {
		x, fine, err := p.within(func(columns func(string) (column, error)) (table.Expr, error) {
			return condition(text, columns)
		})
		if err != nil {
			return nil, &conditionError{text: yamlfile.Quote(text) + ": " + err.Error()}
		}
		out = append(out, Item{Name: text, Where: x, Fine: fine, Weight: 1})
	}
	return out, nil
}

type conditionError struct{ text string }

func (e *conditionError) Error() string { return "workload: " + e.text }
func (e *conditionError) Unwrap() error { return ErrInvalid }
