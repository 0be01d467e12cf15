package release

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/model/marginal"
)

const clinicYAML = `decoy: 1
unit: patient
tables:
  - name: patients
    columns:
      - {name: sex, kind: categorical, categories: [F, M]}
      - {name: patient, kind: id, pattern: "P####"}
      - {name: age, kind: integer, min: 0, max: 99, bins: 5}
  - name: visits
    parent: patients
    key: patient
    id: [patient, visit]
    order: {by: day, rows: 6}
    remember: [diagnosis]
    columns:
      - {name: day, kind: date, min: 2020-01-01, max: 2022-12-31, bins: 12}
      - {name: diagnosis, kind: categorical, categories: [a, b, c]}
      - {name: until, kind: integer, after: day, min: 0, max: 9, bins: 10}
    rules:
      - {when: {diagnosis: c}, then: {until: {to: 1}}}
  - name: doses
    parent: patients
    key: patient
    order: {by: mg, rows: 4}
    columns:
      - {name: mg, kind: real, min: 0, max: 1000, bins: 3, decimals: 1}
      - {name: route, kind: categorical, categories: [oral, iv], missing: [""]}
  - name: drugs
    parent: visits
    key: [patient, no]
    order: {by: nr, rows: 3}
    columns: [{name: nr, kind: integer, min: 0, max: 9, bins: 5}]
`

// linkedModel is a model of linked tables that nothing was fitted to: factor gives the weights of
// pairs of columns of a view, by their names, and 1 elsewhere.
func linkedModel(
	t testing.TB, yaml string, units float64, factor func(view, a, b string, i, j int) float64,
) *Model {
	t.Helper()
	l := stattest.Must(schema.ParseLinked([]byte(yaml)))
	views := stattest.Must(schema.Views(l))
	p := &Linked{Schema: l}
	for _, v := range views {
		sizes, names := v.Schema.Sizes(), v.Schema.Names()
		var sets [][]int
		var tables [][]float64
		for a := range sizes {
			for b := a; b < len(sizes); b++ {
				w := make([]float64, sizes[a]*sizes[b])
				plain := a != b
				for k := range w {
					w[k] = factor(v.Name, names[a], names[b], k/sizes[b], k%sizes[b])
					plain = plain && w[k] == 1
				}
				if !plain {
					sets, tables = append(sets, []int{a, b}), append(tables, w)
				}
				if a == b {
					one := make([]float64, sizes[a])
					for k := range one {
						one[k] = w[k*sizes[a]+k]
					}
					sets[len(sets)-1], tables[len(tables)-1] = []int{a}, one
				}
			}
		}
		m := stattest.Must(marginal.FromFactors(sizes, sets, tables, units*schema.Full))
		p.Views = append(p.Views, &Marginal{Model: m, Grouping: marginal.NoGroups(sizes)})
	}
	if err := p.of(l); err != nil {
		t.Fatal(err)
	}
	m := &Model{schema: l.Tables[0].Schema, params: p}
	m.raw = stattest.Must(p.MarshalBinary())
	return m
}

// writtenCells are the cells of tables as they are written.
func writtenCells(t testing.TB, tables []*table.Table) (out [][][]string) {
	t.Helper()
	for _, one := range tables {
		var b bytes.Buffer
		w := stattest.Must(table.NewWriter(&b, table.CSV, one.Schema(), ValueRand(1),
			table.WriterOptions{}))
		if err := w.Write(one); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		out = append(out, stattest.Must(csv.NewReader(&b).ReadAll()))
	}
	return out
}

func even(_, _, _ string, _, _ int) float64 { return 1 }

// TestSampleLinked: every row has a unit, no id is there twice, and the rows of a unit are
// together, in order, and keep rules, whatever the model says: many of its steps are ruled out by
// the past.
func TestSampleLinked(t *testing.T) {
	const units = 400
	m := linkedModel(t, clinicYAML, units, even)
	tables := stattest.Must(m.Params().(*Linked).Draw(t.Context(), units, 7))
	again := stattest.Must(m.Params().(*Linked).Draw(t.Context(), units, 7))
	other := stattest.Must(m.Params().(*Linked).Draw(t.Context(), units, 8))
	cells := writtenCells(t, tables)
	for i, same := range writtenCells(t, again) {
		if !slices.EqualFunc(same, cells[i], slices.Equal) {
			t.Errorf("table %d: another one with the same seed", i)
		}
	}
	if slices.EqualFunc(writtenCells(t, other)[1], cells[1], slices.Equal) {
		t.Error("the same visits with another seed")
	}
	heads := []string{"sex,patient,age", "patient,visit,day,diagnosis,until", "patient,mg,route",
		"patient,no,nr"}
	ids, visits := map[string]bool{}, map[string]bool{}
	for i, rows := range cells {
		if got := strings.Join(rows[0], ","); got != heads[i] || len(rows) < units {
			t.Errorf("%d rows of %s, want more of %s", len(rows), got, heads[i])
		}
		key, before, count := slices.Index(rows[0], "patient"), "", 0
		ended := map[string]bool{}
		for k, row := range rows[1:] {
			id, known := row[key], ids
			if i == 1 {
				if visit := row[0] + row[1]; visits[visit] {
					t.Errorf("the visit %s is there twice", visit)
				}
				visits[row[0]+row[1]] = true
			} else if i == 3 {
				id, known = row[0]+row[1], visits
			}
			if i == 0 {
				if ids[id] {
					t.Errorf("%s is there twice", id)
				}
				ids[id] = true
				continue
			}
			if !known[id] || ended[id] {
				t.Fatalf("table %d: %s is nobody, or not together", i, id)
			}
			if count++; id != before {
				ended[before], before, count = true, id, 1
			}
			switch {
			case count > []int{0, 6, 4, 3}[i]:
				t.Errorf("table %d: %s has too many rows", i, id)
			case i == 1 && row[3] == "c" && days(t, row[4])-days(t, row[2]) > 1:
				t.Errorf("the rule is broken: %v", row)
			case count > 1 && order(t, i, row) < order(t, i, rows[k]):
				t.Errorf("table %d: %v comes after %v", i, row, rows[k])
			}
		}
	}
	if len(ids) != units {
		t.Errorf("%d units, want %d", len(ids), units)
	}
	for _, n := range []int{0, MostUnits + 1} {
		if _, err := m.Params().(*Linked).Draw(t.Context(), n, 1); err == nil {
			t.Errorf("%d units are drawn", n)
		}
	}
	ended, stop := context.WithCancel(t.Context())
	stop()
	if _, err := m.Params().(*Linked).Draw(ended, units, 1); err != context.Canceled {
		t.Errorf("interrupted: %v", err)
	}
}

// order is where a row of a child table is in its order.
func order(t *testing.T, i int, row []string) float64 {
	if i == 1 {
		return days(t, row[2])
	}
	return stattest.Must(strconv.ParseFloat(row[i-i/2], 64))
}

func days(t *testing.T, date string) float64 {
	at, err := time.Parse(time.DateOnly, date)
	if err != nil {
		t.Fatal(err)
	}
	return at.Sub(time.Time{}).Hours() / 24
}

// TestSampleLinkedFollows. Null: numbers of rows have the law of the view of the units given its
// columns, and each diagnosis that of the steps given the one before and what was seen, for all
// steps together, and numbers of drugs that of the view of visits given the diagnosis; false-alarm
// rate 1e-6 each. Children that do not look at their parent, or at the row before, are rejected.
func TestSampleLinkedFollows(t *testing.T) {
	const units = 4000
	prescribed := [3][4]float64{{4, 1, 1, 1}, {1, 1, 1, 7}, {1, 3, 3, 1}}
	stay := [3][3]float64{{8, 1, 1}, {1, 6, 3}, {2, 2, 2}}
	m := linkedModel(t, clinicYAML, units, func(view, a, b string, i, j int) float64 {
		switch {
		case a == "before.diagnosis" && b == "next.diagnosis":
			return stay[i][j]
		case a == "visits.diagnosis" && b == "drugs.rows":
			return prescribed[i][j]
		case a == "sex" && b == "visits.rows" && i == 1:
			return []float64{9, 1, 1, 4, 1, 1, 1}[j]
		case a == "patients.sex" && b == "next.diagnosis" && i == 0 && j == 2,
			a == "visits.rows" && b == "visits.day" && (i == 0) != (j == 12),
			a == "visits.rows" && b == "place" && (i == 0) != (j == 6):
			return .01
		case a == "before.day" && b == "next.day" && j < i, a == b && a == "gap" && i > 3:
			return 1e-9
		}
		return 1
	})
	tables := stattest.Must(m.Params().(*Linked).Draw(t.Context(), units, 3))
	sex, of := tables[0].Column(0), tables[1].Units()
	rows := make([]int, units)
	for _, r := range of {
		rows[r]++
	}
	var byRows [2][7]int64
	var next [2][3][3]int64
	for r, n := range rows {
		byRows[sex.At(r)][n]++
	}
	diagnosis := tables[1].Column(1)
	drugs := make([]int, len(of))
	for _, visit := range tables[3].Units() {
		drugs[visit]++
	}
	var byDiagnosis [3][4]int64
	for visit, n := range drugs {
		byDiagnosis[diagnosis.At(visit)][n]++
	}
	chance := make([]float64, 14)
	p := m.params.(*Linked)
	views := stattest.Must(schema.Views(p.Schema))
	own, u := p.Schema.Tables[1], rand.New(rand.NewPCG(8, 1))
	// of no rows: steps that are not steered, as the pairs of this model do not follow from its steps
	rules := stattest.Must(own.Schema.RowCodec())
	all := newAllRows(p.Views[0], views[0], 0, nil, rules, u)
	s := stattest.Must(newSteps(p.Views[1], views[1], own, nil, all, rules, u))
	for i := range of {
		if i > 0 && of[i] == of[i-1] {
			continue
		}
		first := []uint16{tables[1].Column(0).At(i), diagnosis.At(i)}
		history := s.history([]uint16{sex.At(int(of[i]))}, rows[of[i]], first)
		for k := 1; k < len(history); k++ {
			next[sex.At(int(of[i]))][history[k-1][1]][history[k][1]]++
		}
	}
	if err := p.Views[0].Model.MarginalTo(chance, []int{0, views[1].Rows}); err != nil {
		t.Fatal(err)
	}
	check := func(what string, counts []int64, p []float64) bool {
		sum := 0.0
		for _, x := range p {
			sum += x
		}
		for k := range p {
			p[k] /= sum
		}
		_, _, ok := stattest.ChiSquare(counts, p)
		if !ok && what != "" {
			t.Errorf("%s: %v, want %v", what, counts, p)
		}
		return ok
	}
	// rows are drawn together, nearer to the model than independent ones
	check("rows of F", byRows[0][:], slices.Clone(chance[:7]))
	check("rows of M", byRows[1][:], slices.Clone(chance[7:]))
	if check("", byRows[1][:], slices.Clone(chance[:7])) {
		t.Error("numbers of rows do not follow the sex")
	}
	for i := range byDiagnosis {
		check("drugs", byDiagnosis[i][:], slices.Clone(prescribed[i][:]))
		if check("", byDiagnosis[i][:], []float64{1, 1, 1, 1}) {
			t.Error("drugs do not follow the diagnosis")
		}
	}
	for s := range next {
		for before := range next[s] {
			want := slices.Clone(stay[before][:])
			if s == 0 {
				want[2] *= .01
			}
			check("next", next[s][before][:], want)
			if before == 0 && check("", next[s][before][:], []float64{1, 1, 1}) {
				t.Error("rows do not follow the row before")
			}
		}
	}
}

// TestLinkedParameters: what is written is read back, and bytes that are cut or longer are refused.
func TestLinkedParameters(t *testing.T) {
	m := linkedModel(t, clinicYAML, 9, even)
	got, err := decodeParams(kindLinked, m.raw)
	if err != nil {
		t.Fatal(err)
	}
	p := got.(*Linked)
	if err := p.of(m.Tables()); err != nil {
		t.Fatal(err)
	}
	if again := stattest.Must(p.MarshalBinary()); !bytes.Equal(again, m.raw) || p.Total() != 9 ||
		!slices.Equal(p.Sizes(), []int{2, 5}) || len(p.Describe()) != 8 || len(p.Sample(3, rand.New(
		rand.NewPCG(1, 2)))) != 2 {
		t.Error("the parameters are not what was written")
	}
	for _, raw := range [][]byte{nil, m.raw[:len(m.raw)-1], append(m.raw[:len(m.raw):len(m.raw)], 0),
		{0, 0, 0, 0}, {255, 255, 255, 255}} {
		if _, err := decodeParams(kindLinked, raw); err == nil {
			t.Errorf("%d bytes are parameters", len(raw))
		}
	}
	p.Views = p.Views[:2]
	if p.of(m.Tables()) == nil {
		t.Error("a view is missing, and nobody noticed")
	}
	p.Views = append(p.Views, p.Views[1])
	if p.of(m.Tables()) == nil || !errors.Is(p.of(schema.One(m.Schema())), ErrFormat) {
		t.Error("a view has the sizes of another one, or the schema is of one table")
	}
}
