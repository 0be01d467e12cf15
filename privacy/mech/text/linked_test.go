package text

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/ledger"
)

// person is a unit: its rows in the table of the units, and in the other.
type person struct{ units, rows string } // a byte a row

// linkedOf is tables of people on disk; without parents, of their rows alone.
func linkedOf(t testing.TB, people []person, parents bool) *Table {
	t.Helper()
	texts := map[string][]byte{"units": []byte("id,sex\n,f\n"),
		"rows": []byte("what,who\nx,\ny, \n")}
	for i, p := range people {
		for _, c := range p.units {
			texts["units"] = fmt.Appendf(texts["units"], "%d,%c\n", i, c)
		}
		for _, c := range p.rows {
			texts["rows"] = fmt.Appendf(texts["rows"], "%c, %d\n", c, i)
		}
	}
	dir := t.TempDir()
	file := func(name string, o Options) *Table {
		path := filepath.Join(dir, name+".csv")
		if err := os.WriteFile(path, texts[name], 0o600); err != nil {
			t.Fatal(err)
		}
		o.MaxRowsPerUnit = 1
		return stattest.Must(File(path, o))
	}
	var units *Table
	if parents {
		units = file("units", Options{Names: []string{"id", "sex"}, Unit: "id"})
	}
	return stattest.Must(Linked(units, file("rows", Options{Names: []string{"what", "who"},
		Unit: "who"})))
}

// textsOf is [linkedOf] without files.
func textsOf(people []person, parents bool) *Table {
	cells, ids := [2][]string{}, [2][]uint32{{}, {}}
	for i, p := range people {
		for k, rows := range []string{p.units, p.rows} {
			for _, c := range rows {
				cells[k], ids[k] = append(cells[k], string(c)), append(ids[k], uint32(i))
			}
		}
	}
	var units *Table
	if parents {
		units = textTable(cells[0], ids[0], 1, nil)
	}
	return stattest.Must(Linked(units, textTable(cells[1], ids[1], 1, nil)))
}

// askedOf are the classes of each column of linked tables, with next to no noise; with texts.
func askedOf(t testing.TB, tab *Table, texts bool) (out []map[string]int64) {
	t.Helper()
	s := openText(t, tab, accountant.AddRemove, accountant.Composition{
		{Event: accountant.GDPFilter{Mu: 1e5}, Count: 1},
		{Event: accountant.Approx{Delta: 1e-9}, Count: 9}})
	for i := range tab.parts {
		own := s.Of(1).Of(i) // which is as that of s
		for c := range own.Names() {
			kinds := stattest.Must(own.Kinds(c, tiny))
			counts := map[string]int64{}
			for class, n := range kinds {
				counts[fmt.Sprint("class ", class)] = n
			}
			if out = append(out, counts); !texts {
				continue
			}
			for _, f := range stattest.Must(own.Values([]Question{{Column: c, Texts: true}},
				Selection{Sigma: tiny, Delta: 1e-9}))[0].Texts {
				counts[f.Text] = f.Rows
			}
		}
	}
	return out
}

// kindsOfPeople are all rows that a unit may have: up to two in the table of the units, up to three
// in the other.
func kindsOfPeople() (out []person) {
	for _, units := range []string{"", "f", "1", "ff", "f1"} {
		for _, rows := range []string{"", "x", "7", "xx", "x7", "xxx", "x77", "777"} {
			out = append(out, person{units, rows})
		}
	}
	return out
}

// TestSmallLinkedTexts: of linked tables of up to two units, a unit more moves the classes of each
// column by one row, whatever rows it has; another unit in its place by √2. The others have rows
// that are alike, since which of them counts is drawn: 3 pairs of them, or 12 with -long. Each
// question is moved as far as is charged.
func TestSmallLinkedTexts(t *testing.T) {
	pairs := 3
	if *long {
		pairs = 12
	}
	all := kindsOfPeople()
	same := slices.DeleteFunc(slices.Clone(all), func(p person) bool {
		return strings.Trim(p.units, "f") != "" && strings.Trim(p.units, "1") != "" ||
			strings.Trim(p.rows, "x") != "" && strings.Trim(p.rows, "7") != ""
	})
	for _, parents := range []bool{true, false} {
		far := map[accountant.Adjacency][]float64{}
		check := func(adj accountant.Adjacency, a, b []map[string]int64) {
			_, l2 := 0., math.Nextafter(1, 2)
			if adj == accountant.ReplaceOne {
				l2 = math.Sqrt2 * (1 + 1e-12)
			}
			if far[adj] == nil {
				far[adj] = make([]float64, len(a))
			}
			for column := range a {
				sum := 0.
				for cell, n := range a[column] {
					sum += float64((n - b[column][cell]) * (n - b[column][cell]))
				}
				if far[adj][column] = max(far[adj][column], math.Sqrt(sum)); math.Sqrt(sum) > l2 {
					t.Fatalf("column %d moves by %v: %v, %v", column, math.Sqrt(sum), a, b)
				}
			}
		}
		for k := range pairs {
			others := []person{same[(5*k+4)%len(same)], same[(7*k+3)%len(same)]}[:k%3]
			without := askedOf(t, textsOf(others, parents), false)
			last := without
			for i, one := range all {
				with := askedOf(t, textsOf(append(slices.Clone(others), one), parents), false)
				check(accountant.AddRemove, with, without)
				if i > 0 {
					check(accountant.ReplaceOne, with, last)
				}
				last = with
			}
		}
		for column, moved := range far[accountant.AddRemove] {
			if moved != 1 {
				t.Errorf("column %d moves by %v at most, 1 is charged", column, moved)
			}
		}
	}
}

// TestLinkedTextsOfMany: a unit of 10⁵ rows has one of them counted in each column, and its number
// of rows is the text of one row, which is not released.
func TestLinkedTextsOfMany(t *testing.T) {
	people := slices.Repeat([]person{{"f", "xxx"}}, 50)
	people = append(people, person{"m", strings.Repeat("y", 1e5)})
	for _, parents := range []bool{true, false} {
		got := askedOf(t, linkedOf(t, people, parents), true)
		what, rows := got[len(got)-2], got[len(got)-1]
		if what["x"] != 50 || what["y"] != 0 || rows["3"] != 50 || rows["100000"] != 0 {
			t.Errorf("texts %v, numbers of rows %v", what, rows)
		}
		if text := fmt.Sprint("class ", int(schema.ClassNamed("text"))); what[text] != 51 {
			t.Errorf("%d rows are counted, of 51 units", what[text])
		}
	}
	first := 0 // which of three rows counts: the first one third of the time
	const runs = 300
	for range runs {
		got := askedOf(t, textsOf([]person{{"f", "x77"}}, false), false)[0]
		text, whole := got[fmt.Sprint("class ", int(schema.ClassNamed("text")))],
			got[fmt.Sprint("class ", int(schema.ClassNamed("whole")))]
		if first += int(text); text+whole != 1 {
			t.Fatalf("%d and %d rows are counted, of one unit", text, whole)
		}
	}
	if z := (float64(first) - runs/3.) / math.Sqrt(runs*2./9); math.Abs(z) > 4.9 { // 1e-6
		t.Errorf("the first row counts %d times of %d", first, runs)
	}
}

// TestAsLinked: a run on linked texts goes over to views of whole tables, once, and is continued
// through it.
func TestAsLinked(t *testing.T) {
	dir := t.TempDir()
	people := append(slices.Repeat([]person{{"f", "010"}}, 30), person{"", "00"}, person{"mm", ""})
	yaml := `decoy: 1
unit: id
tables:
  - name: units
    columns: [{name: sex, kind: categorical, categories: [f, m], on_invalid: refuse}]
  - name: rows
    parent: units
    key: who
    order: {by: what, rows: 3}
    columns: [{name: what, kind: integer, min: 0, max: 1, on_invalid: clamp}]
`
	l := stattest.Must(schema.ParseLinked([]byte(yaml)))
	tab := linkedOf(t, people, true)
	o := privacy.Options{Budget: wide, Ledger: ledger.NewFile(filepath.Join(dir, "l")),
		Journal: filepath.Join(dir, "j"),
		Plan:    accountant.Composition{{Event: accountant.GDPFilter{Mu: 1e5}, Count: 1}}}
	for _, resume := range []bool{false, true} {
		o.Resume = resume
		s := stattest.Must(Open(t.Context(), tab, o))
		stattest.Must(s.Of(1).Kinds(0, tiny))
		for name, change := range map[string]func(l *schema.Linked){
			"one table":    func(l *schema.Linked) { l.Tables = l.Tables[:1] },
			"another key":  func(l *schema.Linked) { l.Tables[1].Schema.Unit = "id" },
			"another unit": func(l *schema.Linked) { l.Tables[0].Schema.Unit = "who" },
		} {
			other := stattest.Must(schema.ParseLinked([]byte(yaml)))
			change(other)
			stattest.Wraps(t, stattest.Err(s.As(t.Context(), other)), schema.ErrInvalid, "%s", name)
		}
		alone := schema.One(l.ForPrivate().Tables[0].Schema)
		stattest.Wraps(t, stattest.Err(s.As(t.Context(), alone)), schema.ErrInvalid,
			"rows of linked tables one by one")
		of := s.Of(1)
		coded := stattest.Must(s.As(t.Context(), l))
		view := stattest.Must(coded.View("units"))
		counts, err := view.Measure(privacy.Marginal{Cols: []int{0, 1}}, tiny*schema.Full)
		for i, n := range counts {
			counts[i] = (n + schema.Full/2) / schema.Full
		}
		if want := []int64{0, 0, 0, 30, 1, 0, 0, 0}; err != nil || !slices.Equal(counts, want) {
			t.Errorf("units by their rows: %v, %v, want %v", counts, err, want)
		}
		stattest.Fails(t, stattest.Err(of.Kinds(0, tiny)), "the texts are still there")
		stattest.Fails(t, stattest.Err(s.As(t.Context(), l)), "it goes over twice")
		if !resume {
			coded.Finish(errors.New("killed"), nil)
		} else if err := s.Finish(nil, nil); err != nil {
			t.Error(err)
		}
	}
	one := openText(t, textTable([]string{"x"}, nil, 1, nil), accountant.AddRemove, o.Plan)
	stattest.Wraps(t, stattest.Err(one.As(t.Context(), l)), schema.ErrInvalid, "one table")
	named := stattest.Must(File("t.csv", Options{Names: []string{"rows", "rows "}, Unit: "rows",
		MaxRowsPerUnit: 1}))
	if got := strings.Join(stattest.Must(Linked(nil, named)).names, "|"); got != "rows |rows  " {
		t.Errorf("numbers of rows have the name of another column, or of the unit: %q", got)
	}
	stattest.Wraps(t, stattest.Err(Linked(textTable(nil, []uint32{}, 2, nil), tab)), schema.ErrInvalid,
		"units of two rows")
}
