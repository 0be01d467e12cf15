package workload

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/model/marginal"
)

var check = stattest.Check

const people = `
decoy: 1
columns:
  - {name: sex, kind: categorical, categories: [F, M]}
  - {name: age, kind: integer, min: 0, max: 99, bins: 10, missing: ["?"]}
  - {name: kids, kind: integer, min: 0, max: 5}
  - {name: pay, kind: real, min: 0, max: 10, bins: 5}
  - {name: born, kind: date, min: 2000-01-01, max: 2000-12-31,
    edges: [2000-01-01, 2000-03-01, 2000-07-01, 2000-12-31]}
  - {name: is working, kind: boolean}
`

func peopleSchema(t testing.TB) *schema.Schema {
	t.Helper()
	s := stattest.Must(schema.Parse([]byte(people)))
	return s
}

// cases are lists of texts from testdata, the last of each being what is to come of the others.
func cases(t *testing.T, name string) [][]string {
	t.Helper()
	text := stattest.Must(os.ReadFile("testdata/cases.yaml"))
	var lists map[string][][]string
	check(t, yaml.Unmarshal(text, &lists))
	if len(lists[name]) == 0 {
		t.Fatalf("no cases %s", name)
	}
	return lists[name]
}

// file is a workload file of these entries.
func file(entries ...string) []byte {
	return []byte("decoy_workload: 1\nqueries:\n  - " + strings.Join(entries, "\n  - ") + "\n")
}

// allowed is a condition as text: the codes that a single-column condition allows, 1 and 0.
func allowed(t *testing.T, x table.Expr, c, size int) string {
	var b strings.Builder
	for code := range size {
		if table.Holds(x, func(col int) uint16 {
			if col != c {
				t.Fatalf("touches column %d", col)
			}
			return uint16(code)
		}) {
			b.WriteByte('1')
		} else {
			b.WriteByte('0')
		}
	}
	return b.String()
}

// TestComparisons: which codes a comparison allows; the last code of age is missing.
func TestComparisons(t *testing.T) {
	s := peopleSchema(t)
	for _, tt := range cases(t, "comparisons") {
		where, want := tt[0], tt[1]
		w, err := Parse(file("where: |\n      "+where), s)
		if err != nil {
			t.Errorf("%s: %v", where, err)
			continue
		}
		it := w.Items()[0]
		c := it.Columns()[0]
		if got := allowed(t, it.Where, c, s.Sizes()[c]); got != want {
			t.Errorf("%s: codes %s, want %s", where, got, want)
		}
	}
}

// TestPrecedence: not before and before or.
func TestPrecedence(t *testing.T) {
	w := stattest.Must(Parse(file("where: kids = 0 or not sex = F and kids = 1"), peopleSchema(t)))
	for kids := range uint16(3) {
		for sex := range uint16(2) {
			got := table.Holds(w.Items()[0].Where,
				func(c int) uint16 { return []uint16{sex, 0, kids}[c] })
			if want := kids == 0 || sex != 0 && kids == 1; got != want {
				t.Errorf("kids %d, sex %d: %v", kids, sex, got)
			}
		}
	}
}

func TestParseEntries(t *testing.T) {
	s := peopleSchema(t)
	for _, tt := range cases(t, "read") {
		w, err := Parse(file(tt[0]), s)
		if err != nil {
			t.Errorf("%s: %v", tt[0], err)
			continue
		}
		if fmt.Sprint(len(w.Items())) != tt[1] || w.Items()[0].Name != tt[2] {
			t.Errorf("%s: %d items, the first is %q", tt[0], len(w.Items()), w.Items()[0].Name)
		}
	}
	w := stattest.Must(Parse(file("where: age >= 20 and age < 40", "{prefix: kids, weight: 3}"),
		s))
	if got := allowed(t, w.Items()[0].Where, 1, 11); got != "00110000000" {
		t.Errorf("range allows %s", got)
	}
	if w.Items()[0].Weight != 1 || w.Items()[5].Weight != 3 {
		t.Errorf("weights %v and %v", w.Items()[0].Weight, w.Items()[5].Weight)
	}
}

// TestParseErrors: each mistake is reported with its line and what is wrong.
func TestParseErrors(t *testing.T) {
	s := peopleSchema(t)
	refused := [][]string{{string(file("where: " + strings.Repeat("not ", 101) + "sex = F")),
		"nested more than"}}
	for _, tt := range cases(t, "entries") {
		refused = append(refused, []string{string(file(tt[:len(tt)-1]...)), tt[len(tt)-1]})
	}
	for _, tt := range append(refused, cases(t, "files")...) {
		text, want := tt[0], tt[1]
		_, err := Parse([]byte(text), s)
		if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
	stattest.Wraps(t, stattest.Err(Parse(make([]byte, maxFile+1), s)), ErrInvalid, "long file")
	_, err := Parse(file(strings.Repeat("prefix: x\n  - ", 40)+"prefix: y"), s)
	if n := strings.Count(err.Error(), "\n"); n != maxProblems {
		t.Errorf("%d lines of problems", n)
	}
}

func TestNewRefuses(t *testing.T) {
	s := peopleSchema(t)
	for name, items := range map[string][]Item{
		"empty":          nil,
		"neither":        {{}},
		"both":           {{Cols: []int{0}, Where: table.And{}}},
		"column":         {{Cols: []int{6}}},
		"column twice":   {{Cols: []int{1, 1}}},
		"weight":         {{Cols: []int{1}, Weight: -1}},
		"NaN":            {{Cols: []int{1}, Weight: math.NaN()}},
		"condition":      {{Where: table.Condition{Column: 0, Allow: make([]bool, 3)}}},
		"too many items": make([]Item, maxItems+1),
	} {
		stattest.Wraps(t, stattest.Err(New(s, items)), ErrInvalid, "%s", name)
	}
}

func TestMarginals(t *testing.T) {
	s := peopleSchema(t) // 2, 11, 6, 5, 3, 2 codes
	if got := len(Marginals(s, 2, 0)); got != 15 {
		t.Errorf("%d pairs", got)
	}
	for _, it := range Marginals(s, 3, 60) {
		n := 1
		for _, c := range it.Cols {
			n *= s.Sizes()[c]
		}
		if n > 60 {
			t.Errorf("%v has %d cells", it.Cols, n)
		}
	}
	if got := Marginals(s, 9, 0); len(got) != 0 {
		t.Errorf("degree 9: %v", got)
	}
	if got := Marginals(s, 0, 0); len(got) != 0 {
		t.Errorf("degree 0: %v", got)
	}
}

// mixed is a workload with every kind of item.
func mixed(t testing.TB, s *schema.Schema) *Workload {
	t.Helper()
	w := stattest.Must(Parse(file("marginal: [kids, sex]", "marginals: all columns",
		"marginals: all triples", "prefix: age", "prefix: pay",
		"where: sex = F and kids > 2", "where: sex = F or kids > 2 or pay < 4 or born < 2000-03-01",
		"where: not (age is missing or age < 50 and kids = 0) and `is working` = true and pay >= 2",
		"where: (age < 20 or age >= 80) and (sex = M or kids = 0 and kids = 1)",
		"where: sex in (F, M)", "where: kids < 0"), s))
	return w
}

func randomTable(t testing.TB, s *schema.Schema, n int) *table.Table {
	t.Helper()
	u := rand.New(rand.NewPCG(5, 6))
	var cols []table.Codes
	for _, size := range s.Sizes() {
		c := table.NewCodes(size, n)
		for r := range n {
			c.Set(r, uint16(min(u.IntN(size), u.IntN(size))))
		}
		cols = append(cols, c)
	}
	tab := stattest.Must(table.FromColumns(s, cols, nil))
	return tab
}

func close(a, b Answers, tolerance float64) error {
	for i := range a {
		if len(a[i]) != len(b[i]) {
			return fmt.Errorf("item %d: %d and %d numbers", i, len(a[i]), len(b[i]))
		}
		for k := range a[i] {
			if !(math.Abs(a[i][k]-b[i][k]) <= tolerance) {
				return fmt.Errorf("item %d, cell %d: %v and %v", i, k, a[i][k], b[i][k])
			}
		}
	}
	return nil
}

// TestThreeWaysToAnswer: rows, the dense table of all columns and a model that holds exactly that
// table agree.
func TestThreeWaysToAnswer(t *testing.T) {
	s := peopleSchema(t)
	w := mixed(t, s)
	tab := randomTable(t, s, 3000)
	rows := stattest.Must(w.OnTable(tab))
	all := []int{0, 1, 2, 3, 4, 5}
	var full []float64
	for _, n := range tab.Counts(all...) {
		full = append(full, float64(n))
	}
	var items []Item
	dense := make(Answers, len(w.Items()))
	for i := range w.Items() {
		it := w.Items()[i]
		if !it.IsCount() {
			it.Cols = slices.Sorted(slices.Values(it.Cols))
		}
		items = append(items, it)
		n := stattest.Must(w.cells(i))
		dense[i] = make([]float64, n)
	}
	d := stattest.Must(NewDense(s.Sizes(), all, items))
	for range 2 { // twice: buffers are used again
		d.AnswersTo(dense, full)
	}
	ordered := slices.Clone(rows)
	for i := range w.Items() {
		// its columns are in another order
		if it := w.Items()[i]; !it.IsCount() && !slices.IsSorted(it.Cols) {
			ordered[i], dense[i] = nil, nil
		}
	}
	stattest.Passes(t, close(ordered, dense, 1e-6), "rows and dense")
	m := stattest.Must(marginal.FromFactors(s.Sizes(), [][]int{all}, [][]float64{full}, 3000))
	model := stattest.Must(w.OnModel(m, marginal.NoGroups(s.Sizes())))
	stattest.Passes(t, close(rows, model, 1e-6), "rows and model")
}

// TestOnGroupedModel compares answers of a model with merged codes with a large sample of its rows:
// null: each count is binomial; 100 000 rows, limit 5.5 standard deviations and a half row, a
// false-alarm rate below 1e-6 an answer.
func TestOnGroupedModel(t *testing.T) {
	s := peopleSchema(t)
	w := mixed(t, s)
	sizes := s.Sizes()
	var oneWay, ms []marginal.Measurement
	for c, n := range sizes {
		m := marginal.Measurement{Cols: []int{c}, Sigma: 20, Counts: make([]float64, n)}
		for i := range m.Counts {
			m.Counts[i] = 1000 / float64(1+i*i*i)
		}
		oneWay = append(oneWay, m)
	}
	g := stattest.Must(marginal.NewGrouping(sizes, oneWay, 2))
	for _, m := range oneWay {
		ms = append(ms, g.GroupMeasurement(m))
	}
	for _, cols := range [][]int{{0, 1}, {1, 2}, {2, 3}, {0, 4}} {
		n := g.Sizes()[cols[0]] * g.Sizes()[cols[1]]
		m := marginal.Measurement{Cols: cols, Sigma: 20, Counts: make([]float64, n)}
		for i := range m.Counts {
			m.Counts[i] = float64(1200 / (1 + i%5))
		}
		ms = append(ms, m)
	}
	model, err := marginal.Fit(context.Background(), g.Sizes(), ms, marginal.Options{Total: 100000})
	check(t, err)
	got := stattest.Must(w.OnModel(model, g))
	u := rand.New(rand.NewPCG(7, 8))
	raw := model.Sample(100000, u)
	g.Expand(raw, u)
	var cols []table.Codes
	for c, codes := range raw {
		col := table.NewCodes(sizes[c], len(codes))
		for r, code := range codes {
			col.Set(r, code)
		}
		cols = append(cols, col)
	}
	tab := stattest.Must(table.FromColumns(s, cols, nil))
	sampled := stattest.Must(w.OnTable(tab))
	for i := range got {
		for k, x := range got[i] {
			if d := math.Abs(x - sampled[i][k]); d > .5+5.5*math.Sqrt(x*(1-x/100000)+1) {
				t.Errorf("%s, cell %d: expected %v, sampled %v", w.Items()[i].Name,
					k, x, sampled[i][k])
			}
		}
	}
}

// TestExpandRefuses: a condition of too many products is refused with the limit, not tried.
func TestExpandRefuses(t *testing.T) {
	s := &schema.Schema{}
	var sizes []int
	var cliques [][]int
	var tables [][]float64
	parts := table.And{}
	for i := range 28 {
		s.Columns = append(s.Columns, schema.Column{Name: fmt.Sprint(i), Kind: schema.Boolean})
		sizes, cliques, tables = append(sizes, 2), append(cliques, []int{i}),
			append(tables, []float64{1, 1})
		if i%2 == 1 {
			yes := []bool{false, true}
			parts = append(parts, table.Or{table.Condition{Column: i - 1, Allow: yes},
				table.Condition{Column: i, Allow: yes}})
		}
	}
	m := stattest.Must(marginal.FromFactors(sizes, cliques, tables, 1000))
	for _, n := range []int{10, 14} {
		w := stattest.Must(New(s, []Item{{Where: parts[:n]}}))
		got, err := w.OnModel(m, marginal.NoGroups(sizes))
		switch {
		case n == 14 && !errors.Is(err, ErrTooLarge):
			t.Errorf("2^14 products: %v", err)
		case n == 10 && (err != nil || math.Abs(got[0][0]-1000*math.Pow(.75, 10)) > 1e-9):
			t.Errorf("2^10 products: %v, %v", got, err)
		}
	}
}

// TestRuns compares the runs with the definition, on random conditions and orders of columns.
func TestRuns(t *testing.T) {
	u := rand.New(rand.NewPCG(11, 12))
	sizes := []int{3, 4, 2, 5}
	var draw func(depth int) table.Expr
	draw = func(depth int) table.Expr {
		switch k := u.IntN(5); {
		case depth == 0 || k < 2:
			c := u.IntN(4)
			allow := make([]bool, sizes[c])
			for i := range allow {
				allow[i] = u.IntN(2) == 0
			}
			return table.Condition{Column: c, Allow: allow}
		case k == 2:
			return table.Not{Of: draw(depth - 1)}
		case k == 3:
			return table.And{draw(depth - 1), draw(depth - 1)}
		}
		return table.Or{draw(depth - 1), draw(depth - 1), draw(depth - 1)}
	}
	for range 300 {
		x, cols := draw(4), u.Perm(4)
		list := Runs(x, sizes, cols)
		holds := make([]bool, 120)
		last := int32(-1)
		for _, r := range list {
			if r.Lo <= last || r.Hi <= r.Lo {
				t.Fatalf("runs %v", list)
			}
			for i := r.Lo; i < r.Hi; i++ {
				holds[i] = true
			}
			last = r.Hi
		}
		for i := range holds {
			codes, left := make([]uint16, 4), i
			for k := 3; k >= 0; k-- {
				codes[cols[k]] = uint16(left % sizes[cols[k]])
				left /= sizes[cols[k]]
			}
			if want := table.Holds(x, func(c int) uint16 { return codes[c] }); want != holds[i] {
				t.Fatalf("cell %d: %v", i, holds[i])
			}
		}
	}
}

func TestDenseRefuses(t *testing.T) {
	sizes := []int{2, 3, 4}
	for name, it := range map[string]Item{
		"column of a count":    {Where: table.Condition{Column: 2, Allow: make([]bool, 4)}},
		"column of a marginal": {Cols: []int{2}},
		"order":                {Cols: []int{1, 0}},
	} {
		stattest.Wraps(t, stattest.Err(NewDense(sizes, []int{0, 1}, []Item{it})), ErrInvalid, "%s", name)
	}
	stattest.Wraps(t, stattest.Err(NewDense([]int{60000, 60000}, []int{0, 1}, nil)), ErrTooLarge,
		"too large")
}

func TestCellsAsCounts(t *testing.T) {
	s := peopleSchema(t)
	tab := randomTable(t, s, 500)
	marginal := stattest.Must(New(s, []Item{{Cols: []int{3, 0}}}))
	items := stattest.Must(marginal.Items()[0].Counts(s.Sizes(), 10))
	w := stattest.Must(New(s, items))
	cells, _ := marginal.OnTable(tab)
	counts, _ := w.OnTable(tab)
	for i := range counts {
		if counts[i][0] != cells[0][i] {
			t.Errorf("cell %d: %v, the marginal has %v", i, counts[i][0], cells[0][i])
		}
	}
	stattest.Wraps(t, stattest.Err(marginal.Items()[0].Counts(s.Sizes(), 9)), ErrTooLarge,
		"10 cells, limit 9")
	if one, err := items[0].Counts(s.Sizes(), 0); err != nil || len(one) != 1 {
		t.Errorf("a count as counts: %v, %v", one, err)
	}
}

// TestSignsInValues: behind = and != a value may begin with < or >.
func TestSignsInValues(t *testing.T) {
	s := &schema.Schema{Columns: []schema.Column{
		{Name: "income", Kind: schema.Categorical, Categories: []string{"<=50K", ">50K"}}}}
	for text, want := range map[string][]bool{
		"income=>50K": {false, true}, "income = <=50K": {true, false}, "income!=>50K": {true, false},
		"income == '>50K'": {false, true}, "income > 50K": nil, "income = <= >50K": nil,
		"income <= >50K": nil, "income=>": nil,
	} {
		items, err := Conditions(s, text)
		if want == nil {
			stattest.Wraps(t, err, ErrInvalid, "%s", text)
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		for code, want := range want {
			holds := items[0].Where
			not, negated := holds.(table.Not)
			if negated {
				holds = not.Of
			}
			if got, ok := holds.(table.Condition); !ok || got.Allow[code] == negated == want {
				t.Errorf("%s: %v, want %v", text, items[0].Where, want)
			}
		}
	}
}

func TestConditions(t *testing.T) {
	s := peopleSchema(t)
	items, err := Conditions(s, "sex = F", "kids > 2")
	if err != nil || len(items) != 2 || items[1].Name != "kids > 2" {
		t.Fatal(items, err)
	}
	if _, err := Conditions(s, "sex = F", "kids > many"); !errors.Is(err, ErrInvalid) ||
		!strings.Contains(err.Error(), "kids > many") {
		t.Errorf("error %v", err)
	}
}

func TestLabels(t *testing.T) {
	w := mixed(t, peopleSchema(t))
	if got := w.Label(0, 7); got != "3, M" {
		t.Errorf("cell 7 of kids, sex is %q", got)
	}
	if got, err := w.cells(0); got != 12 || err != nil {
		t.Errorf("%d cells, %v", got, err)
	}
}

// FuzzParse: no panic, and what is accepted has items that fit the schema and answer without a
// panic.
func FuzzParse(f *testing.F) {
	for _, e := range []string{"marginals: all pairs", "prefix: age", "prefix: pay",
		"{marginal: [kids, sex], weight: 2, name: x}",
		"where: not (sex = F or age is missing) and kids in (1, '2') or born < 2000-03-01"} {
		f.Add(file(e))
	}
	s := peopleSchema(f)
	tab := randomTable(f, s, 50)
	f.Fuzz(func(t *testing.T, data []byte) {
		w, err := Parse(data, s)
		if err != nil {
			if !errors.Is(err, ErrInvalid) {
				t.Errorf("%v does not wrap ErrInvalid", err)
			}
			return
		}
		if len(w.Items()) < 300 {
			stattest.Passes(t, stattest.Err(w.OnTable(tab)), "")
		}
	})
}
