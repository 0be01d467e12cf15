package table

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
)

// plainFile is a Parquet file of one column of texts.
func plainFile(cells []string) []byte {
	var page []byte
	for _, cell := range cells {
		page = append(binary.LittleEndian.AppendUint32(page, uint32(len(cell))), cell...)
	}
	n := int64(len(cells))
	return hostile(chunkSpec{6, 0, n, dataPage(0, n, int64(len(page)), page)})
}

// lenientTexts are schemas of a file of one column of texts, a: codes, or the unit.
func lenientTexts() map[string]*schema.Schema {
	codes := oneColumn("a", schema.Integer, 0, 9)
	codes.Lenient, codes.Columns[0].Missing = true, nil
	units := oneColumn("b", schema.Boolean, 0, 0)
	units.Lenient, units.Columns[0].OnInvalid = true, schema.Clamp
	units.Unit, units.MaxRowsPerUnit = "a", 1
	return map[string]*schema.Schema{"codes": codes, "units": units}
}

// checkBadTexts reads good cells, and with each of some bad ones among them, of at most 32 bytes.
func checkBadTexts(
	t *testing.T, name string, s *schema.Schema, cells []string, read func(cells []string) *Table,
) {
	good := read(cells)
	for _, cell := range []string{"", "\x00", "x\x00", "\xff", "a\xc3", "text", "10", "-1", "1.5",
		"NaN", strings.Repeat("1", 33), strings.Repeat("é", 20)} {
		for _, at := range []int{0, 2, len(cells)} {
			with := read(slices.Insert(slices.Clone(cells), at, cell))
			stattest.Passes(t, checkNeighbour(good, with, at, 1), "%s, %q at %d", name, cell, at)
			id := checkText([]byte(cell)) == nil && cell != "" && len(cell) <= 32
			if want := good.Rows() + 1; s.Unit != "" && !id {
				if with.Rows() != good.Rows() {
					t.Errorf("%s: %q is a unit", name, cell)
				}
			} else if with.Rows() != want {
				t.Errorf("%s: %q: %d rows, want %d", name, cell, with.Rows(), want)
			}
		}
	}
}

// lenientKind is a lenient schema of one column of a kind, of which few cells are.
func lenientKind(name string, kind schema.Kind) *schema.Schema {
	s := oneColumn(name, kind, 0, 1)
	s.Lenient, s.Columns[0].Missing = true, nil
	switch kind {
	case schema.Categorical:
		s.Columns[0].Categories = []string{"no such text"}
		fallthrough
	case schema.Boolean:
		s.Columns[0].Max = 0
	case schema.Timestamp:
		s.Columns[0].Max = 1e6
	}
	return s
}

// TestLenientParquetNeighbours: a bad text changes no other row, in a column of
// codes or of units.
func TestLenientParquetNeighbours(t *testing.T) {
	for name, s := range lenientTexts() {
		checkBadTexts(t, name, s, []string{"1", "9", "1", "3"}, func(cells []string) *Table {
			tab, err := parquetOf(plainFile(cells), s, ReadOptions{maxCell: 32})
			if err != nil {
				t.Fatalf("%s, %q: %v", name, cells, err)
			}
			return tab
		})
	}
}

// unfitting reports whether values of a type can be none of a schema's only column, so that its
// file is refused.
func unfitting(s *schema.Schema, l *leaf) bool {
	return stattest.Must(s.Codecs())[0].Fits(storedAs[l.form]) != nil
}

// TestLenientParquetTypes: no value of any type, null or not, is an error in a
// column of any kind that can hold it, or as a unit.
func TestLenientParquetTypes(t *testing.T) {
	refused := 0
	for name, data := range testFiles(t) {
		p, err := openTyped(t.Context(), inParquet(bytes.NewReader(data)))
		stattest.Check(t, err)
		rows := 0
		for _, g := range p.runs.(*parquetFile).groups {
			rows += int(g.rows)
		}
		for _, f := range p.columns {
			if f.err != nil {
				continue
			}
			for kind := schema.Categorical; kind <= schema.Timestamp; kind++ {
				s := lenientKind(f.name, kind)
				tab, err := parquetOf(data, s, ReadOptions{})
				if unfitting(s, f.leaf) {
					stattest.Wraps(t, err, schema.ErrSchema, "%s, %s as %v is not refused", name, f.name, kind)
				} else if err != nil || tab.Rows() != rows {
					t.Errorf("%s, %s as %v: %v", name, f.name, kind, err)
				}
				s.Lenient = false
				if _, err := parquetOf(data, s, ReadOptions{}); errors.Is(err, schema.ErrSchema) {
					refused++
				}
			}
			s := oneColumn("none", schema.Boolean, 0, 0)
			s.Lenient, s.Columns[0].OnInvalid = true, schema.Clamp
			s.Unit, s.MaxRowsPerUnit = f.name, 1
			stattest.Passes(t, stattest.Err(parquetOf(data, s, ReadOptions{})),
				"%s, %s as the unit", name, f.name)
			err = inParquet(bytes.NewReader(data)).scan(
				ScanOptions{Lenient: true, Columns: len(p.columns)},
				func([]string, []string) error { return nil })
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if refused < 100 {
		t.Errorf("a strict schema refuses %d: too few for a test", refused)
	}
}
