package text

import (
	"cmp"
	"slices"

	"github.com/decoy-dp/decoy/data/engine"
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/privacy"
)

// far is a table of texts that another engine counts. It tells of texts how many rows they have,
// under cells of their own (engine.Keys), and spells those only that are released.
type far struct {
	from  engine.Source
	asked []int // columns
	all   int   // columns of the table, which the cells of texts are divided among
}

// FromEngine is a private table of texts that another engine counts: the columns of s, of which
// those numbers may be asked about.
func FromEngine(s *schema.Schema, asked []int, from engine.Sealed) *Table {
	return &Table{names: s.Names(), unit: s.Unit, k: max(1, s.MaxRowsPerUnit),
		far: &far{from: *engine.Open(from), asked: slices.Clone(asked), all: len(s.Columns)}}
}

// read asks for the classes.
func (f *far) read(begin func() error) error {
	var of []engine.Text
	for _, c := range f.asked {
		of = append(of, engine.Text{Column: c})
	}
	f.from.Begin = engine.AskTexts(engine.Classes, of)
	_, err := f.from.Read(nil, begin)
	return err
}

// classes are those of a column.
func (f *far) classes(column int) ([]int64, error) {
	at, n := slices.Index(f.asked, column), schema.Classes()
	if at < 0 {
		return nil, privacy.ErrElsewhere
	}
	answer, err := f.from.Answer(f.from.Begin)
	if err != nil {
		return nil, err
	}
	return slices.Clone(answer[at*n : (at+1)*n]), nil
}

// values asks about all columns at once.
func (f *far) values(of []Question) ([]exact, error) {
	var ask []engine.Text
	at := map[int]int{}
	for i, w := range of {
		at[w.Column] = i
		ask = append(ask, engine.Text{Column: w.Column, Magnitudes: w.Magnitudes, Listed: w.Texts})
	}
	q := engine.AskTexts(engine.Values, ask)
	answer, err := f.from.Answer(q)
	if err != nil {
		return nil, err
	}
	listed, out := answer[q.Length:], make([]exact, len(of))
	for i, w := range of {
		n := w.Magnitudes.Len()
		out[i].magnitudes, answer = slices.Clone(answer[:n]), answer[n:]
	}
	for ; len(listed) > 0; listed = listed[2:] {
		i, ok := at[engine.KeyColumn(listed[0], f.all)]
		if !ok || !of[i].Texts || listed[1] < 1 {
			return nil, engine.ErrCounts
		}
		out[i].others = append(out[i].others, other{listed[0], listed[1]})
	}
	return out, nil
}

// spelled is how many texts can be asked for: they stand in the query.
const spelled = 4000

// spell asks what texts stand behind the cells of each column, those with the most rows if there
// are too many. It asks for as many cells whatever was drawn: what is too large for the engine is
// so for every draw. Cells of no text fill the question up, one for each column at least.
func (f *far) spell(of []Question, cells [][]other) (map[int64][]byte, error) {
	frequent := slices.Concat(cells...)
	slices.SortFunc(frequent, func(a, b other) int { // not as the engine lists them
		return cmp.Or(cmp.Compare(b.rows, a.rows), cmp.Compare(a.cell, b.cell))
	})
	frequent = frequent[:min(len(frequent), spelled)]
	var ask []engine.Text
	fill, none := spelled-len(frequent), int64(engine.FirstKey)
	for _, w := range of {
		if !w.Texts {
			continue
		}
		one := engine.Text{Column: w.Column}
		for _, c := range frequent {
			if engine.KeyColumn(c.cell, f.all) == w.Column {
				one.Cells = append(one.Cells, c.cell)
			}
		}
		for range 1 + fill {
			none--
			one.Cells = append(one.Cells, none)
		}
		ask, fill = append(ask, one), 0
	}
	answer, err := f.from.Answer(engine.AskTexts(engine.Spelled, ask))
	if err != nil {
		return nil, err
	}
	texts := map[int64][]byte{}
	for _, of := range ask {
		for _, cell := range of.Cells {
			text, ok := engine.TextOf(answer[:engine.TextCells])
			if ok != (cell >= engine.FirstKey) {
				return nil, engine.ErrCounts
			}
			texts[cell], answer = text, answer[engine.TextCells:]
		}
	}
	return texts, nil
}
