package stats

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/model/marginal"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/ledger"
	"github.com/decoy-dp/decoy/privacy/mech/randomized"
)

// survey has columns of 2, 3 and 8 codes.
const survey = `decoy: 1
columns:
  - {name: smokes, kind: boolean}
  - {name: ward, kind: categorical, categories: [a, b, c]}
  - {name: age, kind: integer, min: 0, max: 79, bins: 8}
`

func formOf(t testing.TB, yaml string, epsilon float64) *Form {
	t.Helper()
	s := stattest.Must(schema.Parse([]byte(yaml)))
	f := stattest.Must(NewForm(s, epsilon))
	return f
}

// respondents are n rows: who is over 40 smokes, others do not, but for 10 %; the ward has nothing
// to do with either.
func respondents(t testing.TB, f *Form, n int) *table.Table {
	t.Helper()
	yaml := string(stattest.Must(f.schema.YAML()))
	return tableOf(yaml, n, 1, 0, func(u *rand.Rand) []int {
		age := u.IntN(8)
		return []int{when((age >= 4) != (u.Float64() < .1)), u.IntN(3), age}
	})
}

func answered(t testing.TB, f *Form, tab *table.Table, row int) Answer {
	t.Helper()
	one := privacy.FromTable(tab.Select([]int{row}))
	a, _, err := f.Answer(context.Background(), one, Run[Answer]{})
	check(t, err)
	return a
}

// wideColumns are so many of 64 codes, the text of a schema.
func wideColumns(n int) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, "  - {name: c%d, kind: integer, min: 0, max: 63}\n", i)
	}
	return out.String()
}

// TestRows: a table of another number of rows than one is refused.
func TestRows(t *testing.T) {
	f := formOf(t, survey, 1)
	tab := respondents(t, f, 3)
	for _, rows := range [][]int{nil, {0, 1}} {
		_, s, err := f.Answer(context.Background(), privacy.FromTable(tab.Select(rows)), Run[Answer]{})
		if s == nil || !errors.Is(err, schema.ErrSchema) {
			t.Errorf("%d rows: session %v, %v", len(rows), s, err)
		}
	}
}

// TestForms: what cannot be asked is refused, and any change of what is asked has another name.
func TestForms(t *testing.T) {
	for name, tt := range map[string]struct {
		yaml    string
		epsilon float64
		want    error
	}{
		"an id": {strings.Replace(survey, "columns:", "unit: id\nmax_rows_per_unit: 1\ncolumns:", 1),
			1, ErrForm},
		"bought bins": {strings.Replace(survey, "bins: 8", "bins: {dp: 4, share: 0.1}", 1), 1,
			ErrForm},
		"many codes": {strings.Replace(survey, "max: 79, bins: 8", "max: 49999, bins: 5000", 1), 1,
			ErrForm},
		"many cells": {"decoy: 1\ncolumns:\n" + wideColumns(129), 1, ErrForm},
		"ε = 0":      {survey, 0, accountant.ErrBudgetRange},
		"ε = NaN":    {survey, math.NaN(), accountant.ErrBudgetRange},
	} {
		s, err := schema.Parse([]byte(tt.yaml))
		if err != nil {
			t.Fatal(name, err)
		}
		stattest.Wraps(t, stattest.Err(NewForm(s, tt.epsilon)), tt.want, "%s", name)
	}
	wide := strings.Replace(survey, "max: 79, bins: 8", "max: 39999, bins: 4000", 1)
	if f := formOf(t, wide, 1); len(f.lists[1]) != 1 {
		t.Errorf("pairs %v, want that of few cells", f.lists[1])
	}
	formOf(t, "decoy: 1\ncolumns:\n"+wideColumns(128), 1)
	if f := formOf(t, "decoy: 1\ncolumns: [{name: x, kind: boolean}]\n", 1); len(f.lists) != 1 {
		t.Errorf("one column has lists %v", f.lists)
	}
	id := formOf(t, survey, 1).id()
	if formOf(t, survey, 1).id() != id || formOf(t, survey, 1.1).id() == id ||
		formOf(t, strings.Replace(survey, "ward", "unit_", 1), 1).id() == id {
		t.Errorf("the name %s is not that of schema and epsilon", id)
	}
}

// TestAnswersAreRead: a file of answers, under many headers or with line ends of Windows, is
// counted as the answers themselves are; and each of their lines is read as it was written.
func TestAnswersAreRead(t *testing.T) {
	f := formOf(t, survey, .5)
	tab := respondents(t, f, 300)
	direct, want := f.NewTally(), bytes.Buffer{}
	for i := range tab.Rows() {
		a := answered(t, f, tab, i)
		check(t, direct.Add(a))
		stattest.Must(a.WriteTo(&want))
	}
	for name, text := range map[string]string{
		"many headers": want.String(),
		"no header":    strings.ReplaceAll(want.String(), "form,columns,cells\n", ""),
		"Windows":      strings.ReplaceAll(want.String(), "\n", "\r\n"),
	} {
		read, err := f.Read(strings.NewReader(text))
		if err != nil || read.Answers != 300 {
			t.Fatalf("%s: %v", name, err)
		}
		for key, c := range direct.counts {
			got := read.counts[key]
			if got.asked != c.asked {
				t.Errorf("%s: question %s is asked %d times, want %d", name, key, got.asked, c.asked)
			}
			for i := range c.named {
				if got.named[i] != c.named[i] {
					t.Errorf("%s: question %s, cell %d", name, key, i)
				}
			}
		}
	}
}

// TestNoAnswers: what is no answer to the form is refused with its line, and without its text.
func TestNoAnswers(t *testing.T) {
	f := formOf(t, survey, .5) // pairs of 6, 16 and 24 cells, the last two not direct
	id, good := f.id(), f.id()+",1,1\n"
	for name, text := range map[string]string{
		"another form":      "0123456789abcdef,1,1",
		"no form":           ",1,1",
		"two fields":        id + ",1",
		"four fields":       id + ",1,1,1",
		"a quote":           id + `,1,"1`,
		"no column":         id + ",,1",
		"column 0":          id + ",0,1",
		"column 4":          id + ",4,1",
		"three columns":     id + ",1 2 3,1",
		"columns in turn":   id + ",2 1,1",
		"a text":            id + ",1,secret",
		"two cells":         id + ",1,0 1",
		"no cell":           id + ",1,",
		"a cell too many":   id + ",1,2",
		"a negative cell":   id + ",2 3,-1",
		"cells in turn":     id + ",2 3,4 2",
		"a cell twice":      id + ",2 3,4 4",
		"a cell out of set": id + ",2 3,4 24",
		"a huge number":     id + ",2 3,99999999999999999999",
		"a plus":            id + ",1,+1",
		"a leading zero":    id + ",01,1",
		"a no-break space":  id + ",2 3,1\u00a02",
		"a quoted newline":  id + ",2 3,\"1\n2\"",
		"two spaces":        id + ",2 3,1  2",
		"an endless line":   strings.Repeat("x", maxLine),
	} {
		_, err := f.Read(strings.NewReader(good + text + "\n"))
		if !errors.Is(err, errAnswers) || !strings.Contains(err.Error(), "line 2:") ||
			strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, empty := range []string{"", "form,columns,cells\n", "\n\n"} {
		stattest.Wraps(t, stattest.Err(f.Read(strings.NewReader(empty))), errAnswers, "%q", empty)
	}
}

// FuzzAnswers: whatever is in a file, it is read or refused.
func FuzzAnswers(f *testing.F) {
	form := formOf(f, survey, .5)
	f.Add(form.id() + ",1 2,3\n")
	f.Add("form,columns,cells\n" + form.id() + ",2 3,0 5 7\n")
	f.Fuzz(func(t *testing.T, text string) {
		tally, err := form.Read(strings.NewReader(text))
		if err == nil && (tally.Answers == 0 || len(tally.measurements()) == 0) {
			t.Error("no answer, and no error")
		}
	})
}

// TestMeasurementsVary. Null: the estimate of an empty cell is unbiased, and has the variance that
// the formulas say, n²·q(1 − q)/(m(p − q)²); 2,000 surveys of 10 answers about one question each.
// The variance of a sample variance is σ⁴·(2 + κ)/2000 with the excess κ of a binomial below .7:
// 4.9 of its standard deviations are 18 %, false-alarm rate 1e-6. A variance that is 30 % too small
// or 45 % too large must be rejected.
func TestMeasurementsVary(t *testing.T) {
	const surveys, m, first = 2000, 10, 1000
	cases := []struct {
		epsilon float64
		cols    []int
		want    float64 // m times the variance of a share
	}{
		{math.Log(3), []int{0}, .75}, {math.Log(3), []int{1, 2}, 3}, {1, []int{2}, 0},
		{2, []int{1, 2}, 0},
	}
	if !*long {
		cases = cases[:2]
	}
	for _, tt := range cases {
		f := formOf(t, survey, tt.epsilon)
		k := f.cells(tt.cols)
		if x := math.Exp(tt.epsilon); tt.want == 0 && randomized.Direct(k, tt.epsilon) {
			tt.want = (float64(k) - 2 + x) / ((x - 1) * (x - 1))
		} else if tt.want == 0 {
			tt.want = 4 * x / ((x - 1) * (x - 1))
		}
		f.lists = [][][]int{{tt.cols}}
		s := stattest.Must(privacy.Open(context.Background(),
			privacy.FromTable(respondents(t, f, 1)), privacy.Options{Adjacency: accountant.ReplaceOne,
				Budget: accountant.Budget{Epsilon: 1e12}, Plan: accountant.Composition{{
					Event: accountant.Laplace{Epsilon: tt.epsilon}, Count: surveys*m + first}}}))
		ask := func(answers int) marginal.Measurement {
			tally := f.NewTally()
			for range answers {
				reply, err := randomized.Answer(s, f.lists, tt.epsilon)
				if err == nil {
					err = tally.Add(Answer{Reply: reply, form: f})
				}
				check(t, err)
			}
			return tally.measurements()[0]
		}
		// The row's cell is by far the one that most of 1,000 answers name.
		counts := ask(first).Counts
		empty := slices.Index(counts, slices.Min(counts))
		mean, squares, own := 0.0, 0.0, 0.0
		for range surveys {
			got := ask(m)
			share := got.Counts[empty] / m
			mean += share / surveys
			squares += share * share / surveys
			own += got.Sigma * got.Sigma / (m * m) / surveys
		}
		variance := squares - mean*mean
		for factor, want := range map[float64]bool{.7: false, 1: true, 1.45: false} {
			if got := math.Abs(m*variance/(factor*tt.want)-1) < .18; got != want {
				t.Errorf("ε = %v, %d cells: %d times the variance is %v; %v times %v is accepted: %v",
					tt.epsilon, k, m, m*variance, factor, tt.want, got)
			}
		}
		if limit := 4.9 * math.Sqrt(variance/surveys); math.Abs(mean) > limit {
			t.Errorf("ε = %v, %d cells: the mean of an empty cell is %v, over %v", tt.epsilon, k, mean,
				limit)
		}
		if least := tt.want / m; own < least || own > 3*least {
			t.Errorf("ε = %v, %d cells: a measurement says variance %v, an empty cell has %v", tt.epsilon,
				k, own, least)
		}
	}
}

// TestTally: a model of 4,000 answers at ε = 3 has the association of the rows, states a local
// claim and no ledger, and comes back from its file; the claim of a file that was changed does not
// hold.
func TestTally(t *testing.T) {
	f := formOf(t, survey, 3)
	tab := respondents(t, f, 4000)
	tally := f.NewTally()
	for i := range tab.Rows() {
		check(t, tally.Add(answered(t, f, tab, i)))
	}
	m := stattest.Must(tally.Fit(context.Background(), "t 1", nil))
	var file bytes.Buffer
	check(t, m.Write(&file))
	m = stattest.Must(release.Read(bytes.NewReader(file.Bytes()), int64(file.Len())))
	if v, err := m.Verify(nil); err != nil || v.Claim != f.Claim() || m.Rows != 4000 {
		t.Errorf("%v, %v rows: %v", v.Claim, m.Rows, err)
	}
	const want = "(ε = 3, δ = 0)-local differential privacy under replacing one row"
	if got := m.Claim.String(); got != want {
		t.Errorf("claim %q, want %q", got, want)
	}
	p := m.Params().(*release.Marginal)
	drawn := p.Sample(20000, rand.New(rand.NewPCG(3, 4)))
	agree := 0
	for i := range drawn[0] {
		if (drawn[2][i] >= 4) == (drawn[0][i] == 1) {
			agree++
		}
	}
	// 90 % of the rows agree, and half would if the columns were independent; of the pair 670
	// answers or so speak, with a standard deviation of .05 for a half of the cells
	if share := float64(agree) / 20000; share < .7 {
		t.Errorf("%v of the synthetic rows agree, .9 of the true ones", share)
	}
	for name, change := range map[string]func(*release.Manifest){
		"not local":   func(m *release.Manifest) { m.Claim.Local = false },
		"add-remove":  func(m *release.Manifest) { m.Claim.Adjacency = accountant.AddRemove },
		"a δ":         func(m *release.Manifest) { m.Claim.Delta = 1e-9 },
		"no ε":        func(m *release.Manifest) { m.Claim.Epsilon = 0 },
		"people":      func(m *release.Manifest) { m.Claim.People = release.Disjoint },
		"a unit":      func(m *release.Manifest) { m.Claim.Unit, m.Claim.MaxRowsPerUnit = "id", 1 },
		"another way": func(m *release.Manifest) { m.Method = "mst" },
		"a ledger":    func(m *release.Manifest) { m.Ledger = make([]ledger.Entry, 3) },
		"schema":      func(m *release.Manifest) { m.SchemaSHA256 = "" },
		"declared":    func(m *release.Manifest) { m.DeclaredYAML = survey },
	} {
		forged := *m
		change(&forged.Manifest)
		forged.Outputs = stattest.Must(ledger.HashOutputs(forged.Manifest, nil)) // sealed anew
		err := stattest.Err(forged.Verify(accountant.Pricer(nil)))
		stattest.Wraps(t, err, release.ErrClaim, "%s", name)
		// another check may refuse it, too, by chance of how the model was forged
		if forged.Claim.Local && !strings.Contains(fmt.Sprint(err), "a local claim is of") {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := release.Join([]*release.Model{m, m}, release.JoinOptions{
		Names: []string{"a", "b"}, People: release.Disjoint})
	stattest.Wraps(t, err, release.ErrJoin, "joined")
}

// TestTallyOfFew: one answer is enough for a model, whatever it is about.
func TestTallyOfFew(t *testing.T) {
	f := formOf(t, survey, .1)
	tab := respondents(t, f, 20)
	for i := range tab.Rows() {
		tally := f.NewTally()
		check(t, tally.Add(answered(t, f, tab, i)))
		if m, err := tally.Fit(context.Background(), "t", nil); err != nil || m.Rows != 1 {
			t.Errorf("answer %d: %v", i, err)
		}
	}
}

// TestOneAnswer: a respondent's ledger pays for one answer to a form, whatever the output; a row
// that is not there has answered nothing.
func TestOneAnswer(t *testing.T) {
	f, other := formOf(t, survey, 1), formOf(t, survey, 2)
	tab := respondents(t, f, 1)
	l := ledger.NewFile(filepath.Join(t.TempDir(), "ledger"))
	ask := func(f *Form, rows *privacy.Rows) (Answer, error) {
		a, _, err := f.Answer(context.Background(), rows,
			Run[Answer]{Options: privacy.Options{Ledger: l}})
		return a, err
	}
	gone := privacy.File(filepath.Join(t.TempDir(), "gone.csv"), f.schema)
	for range 2 {
		if _, err := ask(f, gone); err == nil || errors.Is(err, privacy.ErrRun) {
			t.Errorf("no row: %v", err)
		}
	}
	stattest.Passes(t, stattest.Err(ask(f, privacy.FromTable(tab))), "the first answer")
	if _, err := ask(other, gone); err == nil || errors.Is(err, privacy.ErrRun) {
		t.Errorf("no row: %v", err)
	}
	for range 2 {
		if a, err := ask(f, privacy.FromTable(tab)); !errors.Is(err, privacy.ErrRun) || a.Named != nil {
			t.Errorf("a second answer: %v, %v", a, err)
		}
	}
	stattest.Passes(t, stattest.Err(ask(other, privacy.FromTable(tab))), "another form")
	read, err := l.Read()
	if err != nil || read.Spent() != (accountant.Budget{Epsilon: 3}) {
		t.Errorf("spent %v, want 3: %v", read.Spent(), err)
	}
}
