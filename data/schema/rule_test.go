package schema

import "testing"

// TestFirstRuleHolds: of two rules that leave a cell no value together the first holds.
func TestFirstRuleHolds(t *testing.T) {
	s, err := Parse([]byte(`decoy: 1
lenient: true
columns:
  - {name: sex, kind: categorical, categories: [f, m]}
  - {name: old, kind: boolean, missing: [""]}
  - {name: ward, kind: categorical, categories: [a, b, c], missing: [""]}
rules:
  - {when: {sex: m}, then: {ward: [b, c]}}
  - {when: {old: true}, then: {ward: a}}
`))
	check(t, err)
	rows, err := s.RowCodec()
	check(t, err)
	for _, tt := range []struct{ from, to []uint16 }{
		{[]uint16{1, 1, 0}, []uint16{1, 1, 1}},
		{[]uint16{1, 1, 2}, []uint16{1, 1, 2}},
		{[]uint16{0, 1, 2}, []uint16{0, 1, 0}},
		{[]uint16{1, 1, 3}, []uint16{1, 1, 3}},
		{[]uint16{0, 0, 2}, []uint16{0, 0, 2}},
	} {
		codes := append([]uint16(nil), tt.from...)
		if _, err := rows.Row(codes, make([]float64, 3)); err != nil || codes[2] != tt.to[2] {
			t.Errorf("%v: %v, %v; want %v", tt.from, codes, err, tt.to)
		}
	}
}
