package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

// patients draws rows as text: age, weight (which goes with height), height, lactate (skewed), ward
// and whether they died (which goes with age and lactate).
func patients(n int, seed uint64) [][]string {
	u := rand.New(rand.NewPCG(seed, 7))
	var out [][]string
	for range n {
		age := 18 + int(72*math.Sqrt(u.Float64()))
		z := u.NormFloat64()
		height := 172 + 9*z
		weight := 78 + 14*(.8*z+.6*u.NormFloat64())
		lactate := math.Exp(.5 + .7*u.NormFloat64())
		ward := []string{"medical", "surgical", "other"}[u.IntN(3)]
		died := "no"
		if u.Float64() < .02+.6*math.Pow(float64(age-18)/72, 4)+.05*max(0, lactate-1) {
			died = "yes"
		}
		out = append(out, []string{fmt.Sprint(age),
			fmt.Sprintf("%.1f", min(149, max(31, weight))),
			fmt.Sprintf("%.1f", min(219, max(121, height))),
			fmt.Sprintf("%.2f", min(29, lactate)), ward, died})
	}
	return out
}

var patientNames = []string{"age", "weight", "height", "lactate", "ward", "died"}

func patientSchema() *schema.Schema {
	return &schema.Schema{Columns: []schema.Column{
		{Name: "age", Kind: schema.Integer, Min: 18, Max: 90},
		{Name: "weight", Kind: schema.Real, Min: 30, Max: 150, Bins: 24, Missing: []string{""},
			OnInvalid: schema.Clamp},
		{Name: "height", Kind: schema.Real, Min: 120, Max: 220, Bins: 25},
		{Name: "lactate", Kind: schema.Real, Min: 0, Max: 30, Bins: 30, OnInvalid: schema.Clamp},
		{Name: "ward", Kind: schema.Categorical, Categories: []string{"medical", "surgical",
			"other"}, OnInvalid: schema.Other, Other: "other"},
		{Name: "died", Kind: schema.Categorical, Categories: []string{"no", "yes"}},
	}}
}

// tableFrom reads rows of text as a file would be.
func tableFrom(t *testing.T, s *schema.Schema, rows [][]string) Table {
	t.Helper()
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	codecs := stattest.Must(s.Codecs())
	cols := make([]table.Codes, len(codecs))
	for k, c := range codecs {
		cols[k] = table.NewCodes(c.Size(), len(rows))
		for i, row := range rows {
			code := stattest.Must(c.EncodeText([]byte(row[k])))
			cols[k].Set(i, code)
		}
	}
	coded := stattest.Must(table.FromColumns(s, cols, nil))
	v := stattest.Must(eval.NewValues(s, patientNames, slices.Values(rows)))
	return Table{Rows: coded, Values: v}
}

// shuffle permutes columns of the rows, each by itself.
func shuffle(rows [][]string, columns ...int) {
	u := rand.New(rand.NewPCG(11, 0))
	for _, k := range columns {
		for i := range rows {
			j := i + u.IntN(len(rows)-i)
			rows[i][k], rows[j][k] = rows[j][k], rows[i][k]
		}
	}
}

// change rewrites the numbers of a column.
func change(rows [][]string, column int, f func(i int, x float64) float64) {
	for i, row := range rows {
		var x float64
		fmt.Sscan(row[column], &x)
		row[column] = fmt.Sprintf("%.2f", f(i, x))
	}
}

// TestVerdictsSeeDamage damages a synthetic table, or the schema, that is good in every respect:
// the synthetic rows are another sample of the same population. One verdict must change each time,
// and say why.
func TestVerdictsSeeDamage(t *testing.T) {
	const n = 2000
	const columns, associations, rare, copies = 0, 1, 3, 4
	for _, tt := range []struct {
		name   string
		schema func(*schema.Schema)
		damage func(synthetic, train [][]string)
		which  int
		most   status // the best verdict that is right
		says   string
	}{
		{"none", nil, nil, -1, good, ""},
		{"a column clamped to a third of its range", nil, func(s, _ [][]string) {
			change(s, 1, func(_ int, x float64) float64 { return min(90, max(50, x)) })
		}, columns, mixed, "weight:"},
		{"a skewed column clamped to the lowest third", nil, func(s, _ [][]string) {
			change(s, 3, func(_ int, x float64) float64 { return min(2, x) })
		}, columns, mixed, "lactate:"},
		{"a column shifted", nil, func(s, _ [][]string) {
			change(s, 1, func(_ int, x float64) float64 { return min(150, x+6) })
		}, columns, mixed, "mean is 77.3 in the real table and 84.2 here"},
		{"an absurd bound", func(s *schema.Schema) { s.Columns[3].Max = 1e12 },
			func(s, _ [][]string) {
				change(s, 3, func(i int, x float64) float64 {
					if i%1000 == 0 {
						return 3e11
					}
					return x
				})
			}, columns, poor, "standard deviation"},
		{"a bound bought too low", func(s *schema.Schema) { s.Columns[3].Max = 2 },
			func(s, _ [][]string) {
				change(s, 3, func(_ int, x float64) float64 { return min(2, x) })
			}, columns, poor, "above its bound of 2"},
		{"a category that is read as another", func(s *schema.Schema) {
			s.Columns[4].Categories = []string{"medical", "other"}
		}, func(s, _ [][]string) {
			for _, row := range s {
				if row[4] == "surgical" {
					row[4] = "other"
				}
			}
		}, columns, poor, `it does not have "surgical"`},
		{"an association removed", nil, func(s, _ [][]string) { shuffle(s, 2) },
			associations, mixed, "weight and height: .78 in the real table"},
		{"a column permuted", nil, func(s, _ [][]string) { shuffle(s, 0) },
			associations, mixed, "age and died"},
		{"a class lost", nil, func(s, _ [][]string) {
			for _, row := range s {
				row[5] = "no"
			}
		}, rare, poor, "0 % of the synthetic rows"},
		{"a class lost, told from its column", nil, func(s, _ [][]string) {
			for _, row := range s {
				row[5] = "no"
			}
		}, columns, mixed, "Lost: yes (28"},
		{"5 % of the rows copied", nil, func(s, train [][]string) {
			for i := range s[:n/20] {
				s[i] = train[i]
			}
		}, copies, mixed, "sign of copying"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := patientSchema()
			if tt.schema != nil {
				tt.schema(s)
			}
			train, holdout, synthetic := patients(n, 1), patients(n, 2), patients(n, 3)
			if tt.damage != nil {
				tt.damage(synthetic, train)
			}
			o := Options{Near: 500}
			if tt.which < 0 || tt.which == rare {
				o.Target = "died"
			}
			r := compute(t, Tables{Train: tableFrom(t, s, train), Holdout: tableFrom(t, s, holdout),
				Synthetic: tableFrom(t, s, synthetic)}, o)
			for i, f := range r.Summary {
				switch {
				case tt.which < 0 && f.Status != good:
					t.Errorf("an honest table: %+v", f)
				case i == tt.which && (rank(f.Status) > rank(tt.most) ||
					!strings.Contains(f.Answer, tt.says)):
					t.Errorf("%s, want %s and %q: %s", f.Status, tt.most, tt.says, f.Answer)
				}
			}
		})
	}
}
