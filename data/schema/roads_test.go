package schema_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/data/engine"
	"github.com/decoy-dp/decoy/data/engine/sql"
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
)

// TestAFormOnEachRoad: a form that is added to the table alone gives the same codes in CSV, in the
// texts of Parquet and Arrow and as numbers of them, is written into each and asked of engines.
func TestAFormOnEachRoad(t *testing.T) {
	schema.WithGermanNumbers(t)
	s := stattest.Must(schema.Parse([]byte("decoy: 1\ncolumns:\n  - {name: fee, kind: real, " +
		"format: \"1_234,5\", min: 0, max: 4000, bins: 8, decimals: 2, missing: [\"\"]}\n"))).ForPrivate()
	s.CSV.Comma = ';'
	var file bytes.Buffer
	file.WriteString("fee\n")
	r, want := rand.New(rand.NewPCG(1, 2)), []uint8(nil)
	codec := stattest.Must(s.Codecs())[0]
	for range 500 {
		code := uint16(r.IntN(codec.Size()))
		cell := codec.AppendText(nil, codec.Decode(code, r))
		want = append(want, uint8(code))
		if file.Write(cell); len(cell) == 0 {
			file.WriteString(`""`)
		}
		file.WriteByte('\n')
	}
	path := filepath.Join(t.TempDir(), "fees.csv")
	stattest.Check(t, os.WriteFile(path, file.Bytes(), 0o600))
	read := func(path string) *table.Table {
		rows, _, err := table.Read(context.Background(), path, s, table.ReadOptions{})
		stattest.Check(t, err)
		if got := rows.Column(0).U8; !slices.Equal(got, want) {
			t.Errorf("%s has other codes", filepath.Base(path))
		}
		return rows
	}
	rows := read(path)
	for name, texts := range map[string][]string{"a.csv": nil, "a.parquet": nil, "a.arrow": nil,
		"texts.parquet": {"fee"}, "texts.arrow": {"fee"}} {
		out := filepath.Join(t.TempDir(), name)
		f := stattest.Must(os.Create(out))
		format := stattest.Must(table.FormatOf(out))
		w := stattest.Must(table.NewWriter(f, format, s, r, table.WriterOptions{Texts: texts}))
		stattest.Check(t, w.Write(rows))
		stattest.Check(t, w.Close())
		stattest.Check(t, f.Close())
		read(out)
	}
	ask := func(kind string) error {
		return stattest.Err(sql.AskSpark(s, engine.AskSets([][]int{{0}}, s.Sizes()), "", "t",
			map[string]string{"fee": kind}))
	}
	stattest.Passes(t, ask("string"), "its texts are not read in SQL")
	stattest.Passes(t, ask("double"), "its numbers are not read in SQL")
}
