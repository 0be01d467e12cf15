package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/internal/stattest"
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
	stattest.Check(t, s.Validate())
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
	names := patientNames
	if s.Index(names[0]) < 0 {
		names = s.Names()
	}
	v := stattest.Must(eval.NewValues(s, names, slices.Values(rows)))
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

// TestDatesThatEndFirst: a stay whose end is drawn without its beginning has its own sentence.
func TestDatesThatEndFirst(t *testing.T) {
	s := &schema.Schema{Columns: []schema.Column{
		{Name: "came", Kind: schema.Date, Max: 999, Bins: 4},
		{Name: "left", Kind: schema.Date, Max: 1009, Bins: 4}}}
	u := rand.New(rand.NewPCG(5, 6))
	stays := func(n int) (rows [][]string) {
		day := time.Unix(0, 0).UTC()
		for range n {
			came := u.IntN(1000)
			rows = append(rows, []string{day.AddDate(0, 0, came).Format(time.DateOnly),
				day.AddDate(0, 0, came+u.IntN(10)).Format(time.DateOnly)})
		}
		return rows
	}
	broken := stays(1000)
	shuffle(broken, 1)
	for _, rows := range [][][]string{stays(1000), broken} {
		r := compute(t, Tables{Train: tableFrom(t, s, stays(1000)), Synthetic: tableFrom(t, s, rows)},
			Options{})
		said := strings.Contains(r.Summary[1].Answer, "% of the synthetic rows and in 0 % of the real "+
			`ones: "after: came" in the schema`)
		if said != (&rows[0] == &broken[0]) || said == (r.Summary[1].Status == good) {
			t.Errorf("%s: %s", r.Summary[1].Status, r.Summary[1].Answer)
		}
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
		{"the top of a column folded to its bottom, as the schema has it", func(s *schema.Schema) {
			s.Columns[2] = schema.Column{Name: "height", Kind: schema.Categorical,
				OnInvalid: schema.Other, Other: "160.00"}
			for h := 160; h <= 180; h++ {
				s.Columns[2].Categories = append(s.Columns[2].Categories, fmt.Sprintf("%d.00", h))
			}
		}, func(s, train [][]string) {
			for _, rows := range [][][]string{s, train} {
				change(rows, 2, func(_ int, x float64) float64 { return math.Round(max(160, x)) })
			}
			change(s, 2, func(_ int, x float64) float64 {
				if x > 180 {
					return 160
				}
				return x
			})
		}, associations, mixed, "weight and height: .7"},
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
		{"decimalised codes", func(s *schema.Schema) { s.Columns[0].Kind = schema.Real },
			func(s, _ [][]string) {
				change(s, 0, func(i int, x float64) float64 { return min(90, x+float64(i%9)/10) })
			}, columns, mixed, "100 % of the real cells are whole numbers, and 1"},
		{"codes that exist nowhere", func(s *schema.Schema) { s.Columns[0].Max = 99999 },
			func(s, train [][]string) {
				for _, rows := range [][][]string{s, train} {
					change(rows, 0, func(_ int, x float64) float64 { return math.Floor(x) * 1000 })
				}
				change(s, 0, func(i int, x float64) float64 { return x + float64(i%999) })
			}, columns, poor, "have values that no real cell has, such as"},
		{"categories that exist nowhere", nil, func(s, _ [][]string) {
			for i := range s[:100] {
				s[i][4] = "ward 7"
			}
		}, columns, mixed, "5.0 % of its cells have values that no real cell has, such as ward 7"},
		{"a range doubled", func(s *schema.Schema) { s.Columns[0].Max = 240 },
			func(s, _ [][]string) {
				change(s, 0, func(i int, x float64) float64 { return x + float64(i%40/39)*(240-x) })
			}, columns, mixed, "beyond the real ones, which run from 19 to 89, as far as 240"},
		{"missing cells made up", nil, func(s, _ [][]string) {
			for i := range s[:25] {
				s[i][1] = ""
			}
		}, columns, mixed, "weight: 0 % of the real cells are missing, and 1.2 % here"},
		{"a heap moved", nil, func(s, train [][]string) {
			for i := range s[:200] {
				s[i][3], train[i][3] = "4.99", "3"
			}
		}, columns, mixed, "10 % of the real cells are exactly 3, and 0.15 % here"},
		{"a heap made up", nil, func(s, _ [][]string) {
			for i := range s[:200] {
				s[i][3] = "7.5"
			}
		}, columns, mixed, "of the real cells are exactly 7.5, and 10 % here"},
		{"a rare flag lost", nil, func(s, train [][]string) {
			for i, row := range train {
				row[5] = []string{"no", "yes"}[max(0, 1-i%150)]
			}
			for _, row := range s {
				row[5] = "no"
			}
		}, columns, mixed, "lost: yes (0.70 % of the real rows)"},
		{"a rare value inflated", nil, func(s, train [][]string) {
			for i := range train {
				train[i][5] = []string{"no", "yes"}[max(0, 1-i%300)]
				s[i][5] = []string{"no", "yes"}[max(0, 1-i%20)]
			}
		}, columns, mixed, "values of at most .5 % of the real cells each, such as yes"},
		{"dates shifted", func(s *schema.Schema) {
			s.Columns[0] = schema.Column{Name: "age", Kind: schema.Date, Min: 18262, Max: 20088,
				Bins: 60} // 2020 to 2024
		}, func(s, train [][]string) {
			for k, rows := range [][][]string{s, train} {
				for i, row := range rows {
					row[0] = time.Date(2020, 1, 1+i%1000+60*(1-k), 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
				}
			}
		}, columns, mixed, "which run from 2020-01-01 to 2022-09-26, as far as 2022-11-25"},
		{"a constant", nil, func(s, _ [][]string) {
			change(s, 0, func(int, float64) float64 { return 60 })
		}, columns, poor, "age:"},
		{"the outcome permuted", nil, func(s, _ [][]string) { shuffle(s, 5) }, associations, mixed,
			"Hardly goes with any column here, but does so in the real table: age"},
		{"an outcome that stands for others", func(s *schema.Schema) {
			s.Columns[5].Categories = []string{"no", "(other)"}
			s.Columns[5].OnInvalid, s.Columns[5].Other = schema.Other, "(other)"
		}, func(s, _ [][]string) {
			for _, row := range s {
				if row[5] == "yes" {
					row[5] = "(other)"
				}
			}
		}, rare, poor, `stands for what the schema does not have: it does not have "yes"`},
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
			in := Tables{Train: tableFrom(t, s, train), Synthetic: tableFrom(t, s, synthetic)}
			if s.Columns[0].Kind != schema.Date {
				in.Holdout = tableFrom(t, s, holdout)
			}
			r := compute(t, in, o)
			for i, f := range r.Summary {
				switch {
				case tt.which < 0 && f.Status != good && f.Question != togetherQuestion:
					t.Errorf("an honest table: %+v", f)
				case i == tt.which && (rank(f.Status) > rank(tt.most) ||
					!strings.Contains(f.Answer, tt.says)):
					t.Errorf("%s, want %s and %q: %s", f.Status, tt.most, tt.says, f.Answer)
				}
			}
		})
	}
}
