package text

import (
	"slices"

	"github.com/decoy-dp/decoy/internal/engine"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/schema"
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
		far: &far{from: *engine.Open(from), asked: asked, all: len(s.Columns)}}
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
	at, n := slices.Index(f.asked, column), int(schema.Classes)
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
func (f *far) values(of []Wanted) ([]exact, error) {
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

// spelled is how many texts are asked for at once: they stand in the query.
const spelled = 4000

// spell asks what texts stand behind the cells of each column.
func (f *far) spell(of []Wanted, cells [][]other) (map[int64][]byte, error) {
	texts := map[int64][]byte{}
	var ask []engine.Text
	n := 0
	send := func() error {
		answer, err := f.from.Answer(engine.AskTexts(engine.Spelled, ask))
		if err != nil {
			return err
		}
		for _, of := range ask {
			for _, cell := range of.Cells {
				text, ok := engine.TextOf(answer[:engine.TextCells])
				if !ok {
					return engine.ErrCounts
				}
				texts[cell], answer = text, answer[engine.TextCells:]
			}
		}
		ask, n = nil, 0
		return nil
	}
	for i, w := range of {
		for some := range slices.Chunk(cells[i], spelled) {
			if n += len(some); n > spelled {
				if err := send(); err != nil {
					return nil, err
				}
				n = len(some)
			}
			one := engine.Text{Column: w.Column}
			for _, c := range some {
				one.Cells = append(one.Cells, c.cell)
			}
			ask = append(ask, one)
		}
	}
	if n == 0 {
		return texts, nil
	}
	return texts, send()
}
