package table

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
)

// TestReadLinked: two keys have one number exactly if their ids are equal in every column, in any
// order of the columns in the files and in every format: cut elsewhere they are others. An id of
// which a part is empty is nobody's. Cells that are no text are empty.
func TestReadLinked(t *testing.T) {
	l := stattest.Must(schema.ParseLinked([]byte(`decoy: 1
unit: [ward, no]
tables:
  - name: patients
    columns: [{name: sex, kind: categorical, categories: [f, m]}]
  - {name: visits, parent: patients, key: [w, n], id: visit, order: {by: day, rows: 3},
     columns: [{name: day, kind: integer, min: 0, max: 9}]}
  - {name: drugs, parent: visits, key: visit, order: {by: nr, rows: 3},
     columns: [{name: nr, kind: integer, min: 0, max: 9}]}
`))).ForPrivate()
	const none = Nobody
	texts := []string{
		"sex,no,ward\nf,1,a\nf,1,b\nm,,a\nf, 1,a \nm,b1,\nm,b,1\nf,1\xff,a\nf,11,a\nf,1,a1\n",
		"w,n,day,visit\na,1,0,x\nb,1,0,x\n1,b,0,y\na1,,0,\nc,1,0,z\n",
		"visit,nr\nx,0\n y,1\n,2\nq,3\n",
	}
	var paths []string
	for i, text := range texts {
		paths = append(paths, filepath.Join(t.TempDir(), l.Tables[i].Name+".csv"))
		if err := os.WriteFile(paths[i], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	check := func() {
		t.Helper()
		begun := 0
		got := stattest.Must(ReadLinked(t.Context(), l, paths, func() error { begun++; return nil }))
		if begun != 1 {
			t.Errorf("it began %d times", begun)
		}
		for i, want := range [][2][]uint32{
			{{0, 1, none, 0, none, 2, none, 3, 4}, nil},
			{{0, 0, 1, none, 2}, {0, 1, 2, none, 5}},
			{nil, {0, 1, none, 3}},
		} {
			if !slices.Equal(got[i].ID, want[0]) || !slices.Equal(got[i].Key, want[1]) {
				t.Errorf("table %d: ids %v of %v, want %v", i, got[i].ID, got[i].Key, want)
			}
		}
	}
	check()
	for i := range paths[1:] { // of texts, as a database would write them
		names := []string{"w", "n", "visit"}
		cells := [][]string{{"a", "b", "1", "a1", "c"}, {"1", "1", "b", "", "1"},
			{"x", "x", "y", "", "z"}}
		if i == 1 {
			names, cells = []string{"visit"}, [][]string{{"x", " y", "", "q"}}
		}
		s := &schema.Schema{Columns: []schema.Column{{Name: l.Tables[i+1].Order.By,
			Kind: schema.Integer, Max: 9}}}
		codes := []Codes{NewCodes(10, len(cells[0]))}
		for c, name := range names {
			distinct := slices.Compact(slices.Sorted(slices.Values(cells[c])))
			s.Columns = append(s.Columns, schema.Column{Name: name, Kind: schema.Categorical,
				Categories: distinct})
			codes = append(codes, NewCodes(len(distinct), len(cells[c])))
			for row, cell := range cells[c] {
				codes[c+1].Set(row, uint16(slices.Index(distinct, cell)))
			}
		}
		tab := stattest.Must(FromColumns(s, codes, nil))
		paths[i+1] = fileOf(t, ".parquet", written(t, Parquet, tab))
	}
	check()
}
