package report

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
)

// TestTogether: no table is praised in which more than 3 % of the rows break what real rows keep:
// totals of other parts, dates that are swapped, lengths of stay of other rows. One in which 2 % do
// is, and of one without rules nothing is said.
func TestTogether(t *testing.T) {
	s := stattest.Must(schema.Parse([]byte(`decoy: 1
columns:
  - {name: in, kind: date, min: 2020-01-01, max: 2021-12-31}
  - {name: out, kind: date, min: 2020-01-01, max: 2021-12-31}
  - {name: stay, kind: integer, min: 0, max: 99}
  - {name: bed, kind: real, min: 0, max: 999, decimals: 1}
  - {name: drugs, kind: real, min: 0, max: 999, decimals: 1}
  - {name: total, kind: real, min: 0, max: 1999, decimals: 1}
`)))
	rows := func(seed uint64, damage func(row []string), share float64) Table {
		u := rand.New(rand.NewPCG(seed, 1))
		var out [][]string
		for i := range 2000 {
			from, stay := 1+u.IntN(200), 1+u.IntN(20)
			bed, drugs := float64(1+u.IntN(4000))/10, float64(1+u.IntN(3000))/10
			day := func(n int) string { return fmt.Sprintf("2021-%02d-%02d", 1+n/28, 1+n%28) }
			row := []string{day(from), day(from + stay), "", fmt.Sprintf("%.1f", bed),
				fmt.Sprintf("%.1f", drugs), fmt.Sprintf("%.1f", bed+drugs)}
			dates := stattest.Must(s.Codecs())
			a, _ := dates[0].ParseValue(row[0])
			b, _ := dates[0].ParseValue(row[1])
			if row[2] = fmt.Sprint(b - a); damage != nil && float64(i%100) < 100*share {
				damage(row)
			}
			out = append(out, row)
		}
		return tableFrom(t, s, out)
	}
	verdict := func(train, synthetic Table) finding {
		for _, f := range compute(t, Tables{Train: train, Synthetic: synthetic}, Options{}).Summary {
			if f.Question == togetherQuestion {
				return f
			}
		}
		t.Fatal("it is not asked")
		return finding{}
	}
	train := rows(1, nil, 0)
	for name, damage := range map[string]func(row []string){
		"swapped dates":    func(row []string) { row[0], row[1] = row[1], row[0] },
		"another total":    func(row []string) { row[5] = "700.7" },
		"another stay":     func(row []string) { row[2] = "77" },
		"another day":      func(row []string) { row[1] = "2021-12-28" },
		"no part of a sum": func(row []string) { row[5] = row[3] },
	} {
		for share, want := range map[float64]status{.02: good, .04: mixed, .2: poor} {
			if f := verdict(train, rows(2, damage, share)); f.Status != want ||
				!strings.Contains(f.Answer, "of the synthetic rows") {
				t.Errorf("%s in %v of the rows: %s, want %s: %s", name, share, f.Status, want, f.Answer)
			}
		}
	}
	// a rule of the schema that real rows break is named, whatever else holds
	kept := s.Clone()
	kept.Lenient = true
	kept.Columns[1] = schema.Column{Name: "out", Kind: schema.Integer, After: "in", Max: 99,
		OnInvalid: schema.Clamp}
	all := s
	s = kept
	for share, want := range map[float64]status{.29: poor, .05: mixed, .02: good} {
		swap := func(row []string) { row[0], row[1] = row[1], row[0] }
		f := verdict(rows(1, swap, share), rows(2, nil, 0))
		if f.Status != want || !strings.Contains(f.Answer, "The schema keeps that out is not before in, "+
			"which holds in "+percent(1-share)+" of the real rows only") {
			t.Errorf("broken in %v of the real rows: %s, want %s: %s", share, f.Status, want, f.Answer)
		}
	}
	s = all
	loose := func(row []string) {
		for i := range row {
			row[i] = []string{"2021-05-05", "2021-04-04", "3", "1.5", "7.5", "3.5"}[i]
		}
	}
	if f := verdict(rows(1, loose, .5), rows(2, nil, 0)); f.Status != unknown {
		t.Errorf("without rules: %+v", f)
	}
}
