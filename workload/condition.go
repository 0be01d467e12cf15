package workload

import (
	"github.com/decoy-dp/decoy/schema"
)

// Conditions are the counts of the given conditions, written as under the key where of a workload
// file, each named by its text. One comparison may also be written without quotes, as [Where] reads
// it: income=>50K. An error says which text it is about and wraps ErrInvalid.
func Conditions(s *schema.Schema, texts ...string) ([]Item, error) {
	codecs, err := s.Codecs()
	if err != nil {
		return nil, err
	}
	p := &fileParser{schema: s, codecs: codecs}
	var out []Item
	for _, text := range texts {
		x, err := condition(text, p.column)
		if err != nil {
			if one, plain := Where(s, text); plain == nil {
				x, err = one, nil
			}
		}
		if err != nil {
			return nil, &conditionError{text: quote(text) + ": " + err.Error()}
		}
		out = append(out, Item{Name: text, Where: x, Weight: 1})
	}
	return out, nil
}

type conditionError struct{ text string }

func (e *conditionError) Error() string { return "workload: " + e.text }
func (e *conditionError) Unwrap() error { return ErrInvalid }
