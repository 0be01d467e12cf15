package text

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/data/engine"
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/ledger"
)

// many are texts of that many bytes, each of them in three rows.
func many(n, bytes int) (cells []string) {
	for i := range n {
		text := fmt.Sprintf("%0*d", bytes, i)
		cells = append(cells, text, text, text)
	}
	return cells
}

// journaled is a run with a journal on a table, in a folder.
func journaled(t *testing.T, tab *Table, dir string, resume bool) (*Session, error) {
	t.Helper()
	return Open(context.Background(), tab, privacy.Options{Method: "test", Program: "decoy",
		Budget:  accountant.Budget{Epsilon: 1e12, Delta: 1e-3},
		Plan:    append(gaussian(tiny, 9), selectionEvents(relations[0], farTexts)[1:]...),
		Ledger:  ledger.NewFile(filepath.Join(dir, "l")),
		Journal: filepath.Join(dir, "j"), Resume: resume})
}

// TestRecordIsAsLongWhateverIsDrawn: the journal has as many bytes after a call whether no text was
// released or more than there is room for, so no write can fail for what was drawn. Those that are
// returned are the most frequent, and a run that is continued is given the same ones.
func TestRecordIsAsLongWhateverIsDrawn(t *testing.T) {
	frequent := slices.Repeat([]string{strings.Repeat("z", maxSelected)}, 9)
	length, far := map[string]int64{}, map[string]int64{}
	for name, cells := range map[string][]string{
		"nobody": nil, "one row": {"x"}, "one text": many(1, 1), "no UTF-8": slices.Repeat(
			[]string{"\xff\x00"}, 5),
		"many":      append(many(3000, 40), frequent...),
		"long ones": append(many(2000, maxSelected), frequent...),
	} {
		dir := t.TempDir()
		var before []Found
		for _, resume := range []bool{false, true} {
			s := stattest.Must(journaled(t, textTable(cells, nil, 1, nil), dir, resume))
			_, found, err := ask(s, 0, schema.Magnitudes{}, farTexts)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if len(cells) > 6000 && (len(found) < 300 || len(found) > 2000 || !slices.Contains(found,
				Found{frequent[0], 9})) {
				t.Errorf("%s: %d texts are returned", name, len(found))
			}
			if resume && !slices.Equal(found, before) {
				t.Errorf("%s: the continued run is given %d other texts", name, len(found))
			}
			before, length[name] = found, sizeOf(t, filepath.Join(dir, "j"))
			s.Finish(errors.New("killed"), nil)
		}
		var rows [][]string
		for _, cell := range cells {
			rows = append(rows, []string{cell, "b"})
		}
		dir = t.TempDir()
		var asked []string
		s := stattest.Must(journaled(t, elsewhere(t, rows, &asked, nil), dir, false))
		if _, _, err := ask(s, 0, schema.Magnitudes{}, farTexts); err != nil {
			t.Fatalf("%s, elsewhere: %v", name, err)
		}
		far[name] = sizeOf(t, filepath.Join(dir, "j"))
	}
	for _, of := range []map[string]int64{length, far} {
		for name, n := range of {
			if n != of["nobody"] {
				t.Errorf("%s: %d bytes, of nobody %d", name, n, of["nobody"])
			}
		}
	}
}

// TestWhichTextsDoesNotFollowTheRows: of texts with the same noisy number, those that there is room
// for are the same whatever the order of the rows, which nothing pays for.
func TestWhichTextsDoesNotFollowTheRows(t *testing.T) {
	cells := many(spelled+1000, 4)
	returned := func(far bool) []Found {
		tab := textTable(cells, nil, 1, nil)
		if far {
			var rows [][]string
			for _, cell := range cells {
				rows = append(rows, []string{cell, "b"})
			}
			tab = elsewhere(t, rows, new([]string), nil)
		}
		_, found, err := ask(stattest.Must(openFar(t, tab)), 0, schema.Magnitudes{}, farTexts)
		if err != nil || len(found) < 1000 || len(found) >= spelled {
			t.Fatalf("%d texts, %v", len(found), err)
		}
		return found
	}
	here, there := returned(false), returned(true)
	slices.Reverse(cells)
	if !slices.Equal(here, returned(false)) {
		t.Error("other texts are returned for the rows in another order")
	}
	if !slices.Equal(there, returned(true)) {
		t.Error("other texts are spelled for the rows in another order")
	}
}

func sizeOf(t *testing.T, path string) int64 {
	t.Helper()
	return stattest.Must(os.Stat(path)).Size()
}

// TestQuestionIsAsLongWhateverIsDrawn: another engine is asked for the same number of cells of the
// same columns, in as many bytes, whatever texts are released; of too many, for the most frequent.
func TestQuestionIsAsLongWhateverIsDrawn(t *testing.T) {
	of := []Question{{Column: 0, Texts: true}, {Column: 1}, {Column: 2, Texts: true}}
	keys := engine.NewKeys([]byte("k"), 3)
	cells := func(column, n int) (out []other) {
		for i := range n {
			out = append(out, other{keys.Cell(column, fmt.Append(nil, i)), int64(1 + i)})
		}
		return out
	}
	var first engine.Question
	for i, drawn := range [][][]other{{nil, nil, nil}, {cells(0, 1), nil, nil},
		{nil, nil, cells(2, 700)}, {cells(0, spelled), nil, cells(2, spelled)}} {
		f := &far{all: 3}
		f.from.Ask = func(q engine.Question) ([]int64, error) {
			if i == 0 {
				first = q
			}
			if q.Kind != first.Kind || q.Length != first.Length || len(q.Of) != len(first.Of) {
				t.Errorf("draw %d: a question of %d numbers in %d bytes, the first has %d in %d", i,
					q.Length, len(q.Of), first.Length, len(first.Of))
			}
			answer := make([]int64, 1+q.Length)
			at := 1
			var asked []engine.Text
			stattest.Check(t, json.Unmarshal(q.Of, &asked))
			for _, one := range asked {
				for _, cell := range one.Cells {
					if cell >= engine.FirstKey {
						engine.PutText(answer[at:], fmt.Append(nil, cell))
					}
					at += engine.TextCells
				}
			}
			return answer, nil
		}
		texts := stattest.Must(f.spell(of, drawn))
		for column, list := range drawn {
			for k, c := range list {
				want := fmt.Sprint(c.cell)
				if len(list) == spelled && k < spelled/2 {
					want = "" // there are two columns of these
				}
				if got := string(texts[c.cell]); got != want {
					t.Fatalf("draw %d, column %d, text %d: %q, want %q", i, column, k, got, want)
				}
			}
		}
	}
}

// TestQuestionsAreCopies: what a caller does to his columns after they were paid for changes
// nothing.
func TestQuestionsAreCopies(t *testing.T) {
	column := func(text string) table.TextColumn {
		return table.TextColumn{Texts: []string{text}, Cells: make([]uint32, 50)}
	}
	data := &table.Texts{Columns: []table.TextColumn{column("5"), column("5")}}
	tab := textTable(nil, nil, 1, nil)
	tab.names = []string{"a", "b"}
	s := openText(t, tab, accountant.AddRemove,
		append(gaussian(tiny, 2), selectionEvents(relations[0], farTexts)[1:]...))
	edges := []float64{9, 10}
	of := []Question{{Column: 0, Texts: true},
		{Column: 1, Magnitudes: schema.Magnitudes{Kind: schema.Real, Edges: edges}}}
	s.texts = func() *table.Texts { // while it counts
		of[0], of[1].Texts, edges[0] = Question{Column: 1}, true, 1
		return data
	}
	held, err := s.Values(of, farTexts)
	if err != nil || len(held[0].Texts) != 1 || held[1].Magnitudes[0] != 0 ||
		len(held[1].Texts) != 0 {
		t.Errorf("what is asked of column 0 and of numbers from 9 to 10: %+v, %v", held, err)
	}

	asked := []int{0}
	var got []int
	far := FromEngine(&schema.Schema{Columns: []schema.Column{{Name: "a"}, {Name: "b"}}}, asked,
		engine.Source{Ask: func(q engine.Question) ([]int64, error) {
			got, _ = engine.AskedTexts(q)
			return make([]int64, 1+q.Length), nil
		}}.Sealed())
	asked[0] = 1
	stattest.Must(openFar(t, far))
	if !slices.Equal(got, []int{0}) {
		t.Errorf("the columns %v are asked for", got)
	}
}

// TestRunGoesOnWithItsColumns: a run on a table without a schema is not continued on one whose
// columns have other names, and says which they were.
func TestRunGoesOnWithItsColumns(t *testing.T) {
	dir := t.TempDir()
	named := func(names ...string) *Table {
		tab := textTable(many(5, 3), nil, 1, nil)
		tab.names = names
		return tab
	}
	s := stattest.Must(journaled(t, named("age", "sex"), dir, false))
	stattest.Must(s.Kinds(0, tiny))
	s.Finish(errors.New("killed"), nil)
	for _, names := range [][]string{{"age"}, {"sex", "age"}, {"age", "sex", "x"}, {`age" "sex`}} {
		_, err := journaled(t, named(names...), dir, true)
		if !errors.Is(err, privacy.ErrResume) || !strings.Contains(err.Error(), `["age" "sex"]`) {
			t.Errorf("%q: %v", names, err)
		}
	}
	s = stattest.Must(journaled(t, named("age", "sex"), dir, true))
	stattest.Passes(t, stattest.Err(s.Kinds(0, tiny)), "")
}
