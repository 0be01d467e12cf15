package text

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/data/engine"
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
)

// elsewhere is a table of two columns in an engine that counts it as a task of Spark does.
// asked is told of the kinds of its questions, and change of its answers.
func elsewhere(
	t *testing.T, rows [][]string, asked *[]string, change func([]int64) []int64,
) *Table {
	s := &schema.Schema{Lenient: true}
	for _, name := range []string{"a", "b"} {
		s.Columns = append(s.Columns, schema.Column{Name: name})
	}
	var columns []table.TextColumn
	for i := range s.Columns {
		var cells []string
		for _, row := range rows {
			cells = append(cells, row[i])
		}
		one := stattest.Must(textTable(cells, nil, 1, nil).load(context.Background(), free))
		columns = append(columns, one.Columns[0])
	}
	keys := engine.NewKeys([]byte("nonce"), 2)
	answer := func(q engine.Question) ([]int64, error) {
		*asked = append(*asked, q.Kind)
		var of []engine.Text
		if err := json.Unmarshal(q.Of, &of); err != nil {
			return nil, err
		}
		out, listed := []int64{int64(len(rows))}, []int64(nil)
		for _, ask := range of {
			c, numbers := columns[ask.Column], make([]int64, ask.Length(q.Kind))
			for i, n := range c.Counts() {
				text := []byte(c.Texts[i])
				cell := keys.Cell(ask.Column, text)
				switch at, ok := ask.Magnitudes.Of(text); {
				case q.Kind == engine.Classes:
					numbers[schema.Classify(text)] += n
				case q.Kind == engine.Values && ok:
					numbers[at] += n
				case q.Kind == engine.Values && ask.Listed:
					listed = append(listed, cell, n)
				case q.Kind == engine.Spelled && slices.Contains(ask.Cells, cell):
					at := slices.Index(ask.Cells, cell)
					engine.PutText(numbers[at*engine.TextCells:][:engine.TextCells], text)
				}
			}
			out = append(out, numbers...)
		}
		if out = append(out, listed...); change != nil {
			out = change(out)
		}
		return out, nil
	}
	return FromEngine(s, []int{0, 1}, engine.Source{Ask: answer}.Sealed())
}

func openFar(t *testing.T, tab *Table) (*Session, error) {
	return Open(context.Background(), tab, privacy.Options{Method: "test",
		Budget: accountant.Budget{Epsilon: 1e12, Delta: 1e-3},
		Plan:   append(gaussian(tiny, 9), selectionEvents(relations[0], farTexts)[1:]...)})
}

var farTexts = Selection{Sigma: tiny, Delta: 1e-9}

// TestFar: with noise that rounds to nothing, what is bought of texts that are elsewhere is what is
// bought of the same ones here, in one question for the classes, one for what the cells hold, and
// one for the texts that were released.
func TestFar(t *testing.T) {
	var rows [][]string
	for i := range 40 {
		rows = append(rows, []string{[]string{"17", "x", "y\xff", "", "-3"}[i%5], "b"})
	}
	rows = append(rows, []string{"alone", "2020-01-01"})
	var asked []string
	far, err := openFar(t, elsewhere(t, rows, &asked, nil))
	if err != nil || !slices.Equal(asked, []string{engine.Classes}) {
		t.Fatal(asked, err)
	}
	var cells []string
	for _, row := range rows {
		cells = append(cells, row[0])
	}
	here := stattest.Must(openFar(t, textTable(cells, nil, 1, nil)))
	m := schema.Magnitudes{Kind: schema.Integer, PerPower: 2}
	for _, s := range []*Session{far, here} {
		stattest.Must(s.Kinds(0, tiny))
	}
	bought := func(s *Session) (counts []int64, found []Found) {
		kinds, err := s.Kinds(0, tiny)
		stattest.Check(t, err)
		counts, found, err = ask(s, 0, m, farTexts)
		stattest.Check(t, err)
		return append(kinds, counts...), found
	}
	farCounts, farFound := bought(far)
	counts, found := bought(here)
	if !slices.Equal(farCounts, counts) || !reflect.DeepEqual(farFound, found) || len(found) != 3 {
		t.Errorf("elsewhere %v %v, here %v %v", farCounts, farFound, counts, found)
	}
	if want := []string{engine.Classes, engine.Values, engine.Spelled}; !slices.Equal(asked, want) {
		t.Errorf("asked %v, want %v", asked, want)
	}
	stattest.Wraps(t, stattest.Err(far.As(t.Context(), schema.One(&schema.Schema{}))),
		privacy.ErrElsewhere,
		"it goes over to a schema")
}

// TestFarIsOneTable: answers that do not belong together end the run.
func TestFarIsOneTable(t *testing.T) {
	rows := [][]string{{"x", "b"}, {"x", "b"}, {"x", "b"}}
	for name, change := range map[string]func([]int64) []int64{
		"a row more":           func(a []int64) []int64 { a[0]++; return a },
		"a number less":        func(a []int64) []int64 { return a[:len(a)-1] },
		"a text of no column":  func(a []int64) []int64 { a[len(a)-2] = -1; return a },
		"a text of no row":     func(a []int64) []int64 { a[len(a)-1] = 0; return a },
		"a text that is none":  func(a []int64) []int64 { a[2]++; return a },
		"a text that is gone":  func(a []int64) []int64 { clear(a[1:]); return a },
		"a text nobody wanted": func(a []int64) []int64 { return append(a, engine.FirstKey, 1) },
	} {
		var asked []string
		n := 0
		tab := elsewhere(t, rows, &asked, func(a []int64) []int64 {
			if n++; n == 1 || len(a) > 9 != (name == "a text that is none" ||
				name == "a text that is gone" || name == "a text nobody wanted" && n == 3) {
				return a
			}
			return change(a)
		})
		s := stattest.Must(openFar(t, tab))
		if _, _, err := ask(s, 0, schema.Magnitudes{}, farTexts); !errors.Is(err,
			engine.ErrCounts) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
