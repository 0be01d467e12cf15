package table

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
)

// schemas draws schemas of every kind, with awkward names, categories and
// missing tokens.
func schemas() *rapid.Generator[*schema.Schema] {
	// no line feed, which no cell of a CSV file that is read here can have
	word := rapid.StringOfN(rapid.RuneFrom([]rune("ab ,;\t\"\r'é\ufeff\u2028#=-0")), 0, 5, -1)
	return rapid.Custom(func(t *rapid.T) *schema.Schema {
		s := &schema.Schema{CSV: schema.CSV{Comma: rapid.SampledFrom([]byte(",;\t|-0")).Draw(t, "comma"),
			NoHeader: rapid.Bool().Draw(t, "no header")}}
		for i := range rapid.IntRange(1, 6).Draw(t, "columns") {
			s.Columns = append(s.Columns, drawColumn(t, fmt.Sprintf("%s%d", word.Draw(t, "name"), i), word))
		}
		return s
	}).Filter(func(s *schema.Schema) bool { return s.Validate() == nil })
}

func drawColumn(t *rapid.T, name string, word *rapid.Generator[string]) schema.Column {
	c := schema.Column{Name: name, Kind: rapid.SampledFrom([]schema.Kind{
		schema.Categorical, schema.Integer, schema.Real, schema.Boolean, schema.Date, schema.Timestamp,
	}).Draw(t, "kind")}
	if rapid.Bool().Draw(t, "may be missing") {
		c.Missing = []string{rapid.SampledFrom([]string{"", "?", "a,b", "NA ", "\"", "-999999"}).Draw(t,
			"missing")}
	}
	whole := func(lo, hi int) {
		c.Min = float64(rapid.IntRange(lo, hi).Draw(t, "min"))
		c.Max = c.Min + float64(rapid.SampledFrom([]int{0, 1, 7, 300, 100_000}).Draw(t, "range"))
		c.Bins = rapid.SampledFrom([]int{0, 0, 1, 2, 300}).Draw(t, "bins")
	}
	switch c.Kind {
	case schema.Categorical:
		n := rapid.SampledFrom([]int{1, 2, 5, 5, 300}).Draw(t, "categories")
		for i := range n {
			text := word.Draw(t, "category")
			if i > 0 || !rapid.Bool().Draw(t, "as it is") {
				text += fmt.Sprint(i)
			}
			c.Categories = append(c.Categories, text)
		}
	case schema.Boolean:
		if rapid.Bool().Draw(t, "own texts") {
			c.Categories = []string{"no,", "\"yes\""}
		}
	case schema.Integer:
		whole(-1000, 1000)
	case schema.Real:
		whole(-1000, 1000)
		c.Max += rapid.SampledFrom([]float64{.001, .5, 1e6}).Draw(t, "more")
	case schema.Date:
		whole(-100_000, 100_000)
		c.Format = rapid.SampledFrom([]string{"", "2 January, 2006", "02/01/2006"}).Draw(t, "format")
	case schema.Timestamp:
		whole(-1000, 1000)
		c.Min, c.Max = c.Min*1e6, c.Max*1e6
	}
	return c
}

// randomCodes makes a table of s without units.
func randomCodes(t testing.TB, s *schema.Schema, rows int, rng *rand.Rand) *Table {
	t.Helper()
	var cols []Codes
	for _, size := range s.Sizes() {
		c := NewCodes(size, rows)
		for i := range rows {
			c.Set(i, uint16(rng.IntN(size)))
		}
		cols = append(cols, c)
	}
	tab := stattest.Must(FromColumns(s, cols, nil))
	return tab
}

func write(t testing.TB, f Format, seed uint64, s *schema.Schema, tables ...*Table) []byte {
	t.Helper()
	var b bytes.Buffer
	w := stattest.Must(NewWriter(&b, f, s, rand.New(rand.NewPCG(seed, 6)), WriterOptions{}))
	for _, tab := range tables {
		stattest.Check(t, w.Write(tab))
	}
	stattest.Check(t, w.Close())
	return b.Bytes()
}

func readBack(f Format, data []byte, s *schema.Schema) (*Table, error) {
	if f == CSV {
		tab, _, err := readCSV(context.Background(), bytes.NewReader(data), -1, s, ReadOptions{}, 100)
		return tab, err
	}
	tab, err := parquetOf(data, s, ReadOptions{})
	return tab, err
}

// same reports whether two tables have the same codes.
func same(a, b *Table) bool {
	if a.Rows() != b.Rows() || len(a.cols) != len(b.cols) {
		return false
	}
	for i := range a.cols {
		if !slices.Equal(a.cols[i].U8, b.cols[i].U8) || !slices.Equal(a.cols[i].U16, b.cols[i].U16) {
			return false
		}
	}
	return true
}

// What is read from what was written is what was written.
func TestRoundTrip(t *testing.T) {
	for _, f := range []Format{CSV, Parquet} {
		rapid.Check(t, func(rt *rapid.T) {
			s := schemas().Draw(rt, "schema")
			seed := rapid.Uint64().Draw(rt, "seed")
			rows := rapid.SampledFrom([]int{0, 1, 2, 50}).Draw(rt, "rows")
			if s.CSV.NoHeader && f == CSV && rows == 0 {
				rows = 1 // such a file is empty
			}
			tab := randomCodes(t, s, rows, rand.New(rand.NewPCG(seed, 2)))
			data := write(t, f, seed, s, tab)
			got, err := readBack(f, data, s)
			if err != nil {
				rt.Fatalf("format %d: %v\n%q", f, err, data)
			}
			if !same(got, tab) {
				rt.Fatalf("format %d: other codes\n%q", f, data)
			}
		})
	}
}

// The same source gives the same values in both formats, and however the rows
// are split.
func TestWriterDrawsInOneOrder(t *testing.T) {
	s := adult()
	tab := randomCodes(t, s, 1000, rand.New(rand.NewPCG(1, 2)))
	rows := make([]int, 1000)
	for i := range rows {
		rows[i] = i
	}
	whole := write(t, CSV, 5, s, tab)
	if parts := write(t, CSV, 5, s, tab.Select(rows[:1]), tab.Select(rows[1:700]), tab.Select(nil),
		tab.Select(rows[700:])); !bytes.Equal(whole, parts) {
		t.Error("the CSV of a split table differs")
	}
	dir := t.TempDir()
	paths := []string{filepath.Join(dir, "a.csv"), filepath.Join(dir, "a.parquet"), filepath.Join(dir,
		"b.parquet")}
	for i, data := range [][]byte{whole, write(t, Parquet, 5, s, tab), write(t, Parquet, 5, s,
		tab.Select(rows[:3]), tab.Select(rows[3:]))} {
		stattest.Check(t, os.WriteFile(paths[i], data, 0o600))
	}
	texts := make([]string, len(paths))
	for i, path := range paths {
		var b strings.Builder
		stattest.Check(t, ScanText(path, ScanOptions{}, func(_, row []string) error {
			fmt.Fprintln(&b, strings.ReplaceAll(strings.Join(row, "|"), "?", ""))
			return nil
		}))
		texts[i] = b.String()
	}
	if texts[0] != texts[1] || texts[1] != texts[2] {
		t.Error("the formats have other values")
	}
}

// A file of several row groups.
func TestParquetBatches(t *testing.T) {
	s := adult()
	tab := randomCodes(t, s, 1003, rand.New(rand.NewPCG(1, 2)))
	var b bytes.Buffer
	w := stattest.Must(NewWriter(&b, Parquet, s, rand.New(rand.NewPCG(3, 4)), WriterOptions{}))
	w.(*typedWriter).maxBatch = 100
	stattest.Check(t, errors.Join(w.Write(tab), w.Write(tab), w.Close()))
	p, err := openTyped(t.Context(), inParquet(bytes.NewReader(b.Bytes())))
	if err != nil || len(p.runs.(*parquetFile).groups) != 21 {
		t.Fatalf("other than 21 row groups, or %v", err)
	}
	rows := make([]int, 2006)
	for i := range rows {
		rows[i] = i % 1003
	}
	got, err := readBack(Parquet, b.Bytes(), s)
	if err != nil || !same(got, tab.Select(rows)) {
		t.Errorf("other codes, or %v", err)
	}
}

// Lists of categories of any length, with many, few and no nulls, over one
// batch of rows and several.
func TestParquetCategories(t *testing.T) {
	for _, missing := range [][]string{nil, {""}} {
		for _, n := range []int{1, 300, 60_000} {
			for _, rows := range []int{1025, batchRows + 7} {
				c := schema.Column{Name: "a", Kind: schema.Categorical, Missing: missing}
				for i := range n {
					c.Categories = append(c.Categories, fmt.Sprintf("a category with a long name, number %d", i))
				}
				s := &schema.Schema{CSV: schema.CSV{Comma: ','}, Columns: []schema.Column{c}}
				tab := randomCodes(t, s, rows, rand.New(rand.NewPCG(1, 2)))
				got, err := readBack(Parquet, write(t, Parquet, 1, s, tab), s)
				if err != nil || !same(got, tab) {
					t.Errorf("%d categories, %d rows, missing %v: other codes, or %v", n, rows, missing, err)
				}
			}
		}
	}
}

func TestCSVQuoting(t *testing.T) {
	s := &schema.Schema{CSV: schema.CSV{Comma: ';'}, Columns: []schema.Column{
		{Name: "a;b", Kind: schema.Categorical, Categories: []string{"", "x,y", "x;y", `"`, "\n", "\r",
			" x", "x ", "\ufeffx", "x y"}},
		{Name: "\ufeffb", Kind: schema.Categorical, Categories: []string{"z"}},
	}}
	rows := make([]uint8, len(s.Columns[0].Categories))
	for i := range rows {
		rows[i] = uint8(i)
	}
	tab, err := FromColumns(s, []Codes{{U8: rows}, NewCodes(1, len(rows))}, nil)
	stattest.Check(t, err)
	want := "\"a;b\";\"\ufeffb\"\n;z\nx,y;z\n\"x;y\";z\n\"\"\"\";z\n\"\n\";z\n\"\r\";z\n\" " +
		"x\";z\n\"x \";z\n\"\ufeffx\";z\nx y;z\n"
	if got := string(write(t, CSV, 1, s, tab)); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	s = &schema.Schema{CSV: schema.CSV{Comma: ','}, Columns: []schema.Column{{Name: "a",
		Kind: schema.Categorical, Categories: []string{"", "x"}}}}
	if tab, err = FromColumns(s, []Codes{{U8: []uint8{0, 1, 0}}}, nil); err != nil {
		t.Fatal(err)
	}
	if got, want := string(write(t, CSV, 1, s, tab)), "a\n\"\"\nx\n\"\"\n"; got != want {
		t.Errorf("one column: got %q, want %q", got, want)
	}
}

// TestSpreadsheetSafe: texts that a spreadsheet would run have an apostrophe
// before them, names and missing tokens too; numbers are as they were.
func TestSpreadsheetSafe(t *testing.T) {
	s := &schema.Schema{CSV: schema.CSV{Comma: ','}, Columns: []schema.Column{
		{Name: "=name", Kind: schema.Categorical, Categories: []string{"=1+1", "+cmd", "-x", "@SUM(A1)",
			"\tx", "\r", "-1", "+5.5e3", "-", "a=b", "-1e999", "-0x1", ""}},
		{Name: "n", Kind: schema.Integer, Min: -3, Max: -3, Missing: []string{"-9=missing"}},
	}}
	rows := len(s.Columns[0].Categories)
	cols := []Codes{NewCodes(rows, rows), NewCodes(2, rows)}
	for i := range rows {
		cols[0].Set(i, uint16(i))
		cols[1].Set(i, uint16(i%2))
	}
	tab := stattest.Must(FromColumns(s, cols, nil))
	want := "'=name,n\n'=1+1,-3\n'+cmd,'-9=missing\n'-x,-3\n" +
		"'@SUM(A1),'-9=missing\n'\tx,-3\n\"'\r\",'-9=missing\n-1,-3\n" +
		"+5.5e3,'-9=missing\n'-,-3\na=b,'-9=missing\n'-1e999,-3\n'-0x1,'-9=missing\n,-3\n"
	var b bytes.Buffer
	w := stattest.Must(NewWriter(&b, CSV, s, rand.New(rand.NewPCG(1, 2)), WriterOptions{Safe: true}))
	stattest.Check(t, errors.Join(w.Write(tab), w.Close()))
	if b.String() != want {
		t.Errorf("got  %q\nwant %q", b.String(), want)
	}
	if plain := string(write(t, CSV, 1, s, tab)); strings.Contains(plain, "'") {
		t.Errorf("not asked for: %q", plain)
	}
}

// full takes n bytes and then no more.
type full struct {
	n   int
	err error
}

func (f *full) Write(p []byte) (int, error) {
	if f.n -= len(p); f.n < 0 {
		return 0, f.err
	}
	return len(p), nil
}

func TestWriterErrors(t *testing.T) {
	s := adult()
	u := rand.New(rand.NewPCG(1, 2))
	tab := randomCodes(t, s, 50_000, u)
	errFull := errors.New("disk full")
	for _, f := range []Format{CSV, Parquet} {
		for _, n := range []int{0, 3, 100, 70_000, 500_000} {
			w, err := NewWriter(&full{n, errFull}, f, s, u, WriterOptions{})
			if err == nil {
				if err = w.Write(tab); err == nil {
					err = w.Close()
				}
			}
			stattest.Wraps(t, err, errFull, "format %d, a disk of %d bytes", f, n)
		}
		w := stattest.Must(NewWriter(&bytes.Buffer{}, f, s, u, WriterOptions{}))
		stattest.Fails(t, w.Write(randomCodes(t, abc(), 3, u)),
			"format %d: a table of another schema was written", f)
		stattest.Passes(t, w.Write(randomCodes(t, adult(), 3, u)),
			"format %d: a table of an equal schema", f)
		stattest.Fails(t, stattest.Err(NewWriter(&bytes.Buffer{}, f, s, nil, WriterOptions{})),
			"format %d: numbers without a source", f)
	}
	stattest.Fails(t, stattest.Err(NewWriter(&bytes.Buffer{}, 0, s, u, WriterOptions{})),
		"no format was accepted")
	bad := abc()
	bad.CSV.Comma = '"'
	stattest.Fails(t, stattest.Err(NewWriter(&bytes.Buffer{}, CSV, bad, u, WriterOptions{})),
		"a quote as the separator was accepted")
	if _, err := NewWriter(&bytes.Buffer{}, CSV, &schema.Schema{CSV: schema.CSV{Comma: ','},
		Columns: []schema.Column{{Name: "a"}}}, u, WriterOptions{}); err == nil {
		t.Error("an invalid schema was accepted")
	}
}

// Columns as texts hold what CSV does, also where a cell follows from others of its row.
func TestTextsAreThoseOfCSV(t *testing.T) {
	s := relatedOf(t)
	in := repaired(t, randomRows(t, s, 50))
	var texts []string
	for _, c := range stattest.Must(s.RowCodec()).Columns() {
		texts = append(texts, c.Name)
	}
	var b bytes.Buffer
	w, err := NewWriter(&b, Arrow, s, rand.New(rand.NewPCG(5, 6)), WriterOptions{Texts: texts})
	stattest.Check(t, err)
	stattest.Check(t, errors.Join(w.Write(in), w.Close()))
	f := stattest.Must(openTyped(t.Context(), inBytes(b.Bytes())))
	got := strings.Join(f.names(), ",") + "\n"
	err = inBytes(b.Bytes()).scan(ScanOptions{}, func(_, row []string) error {
		got += strings.Join(row, ",") + "\n"
		return nil
	})
	want := strings.ReplaceAll(string(written(t, CSV, in)), ",?,", ",,") // missing, which is a null
	if err != nil || got != want {
		t.Errorf("got %v\n%s\nwant\n%s", err, got, want)
	}
}

// Synthetic rows have no units, and a file of them is not read as if they had.
func TestUnitsAreNotWritten(t *testing.T) {
	s := abc()
	s.Unit, s.MaxRowsPerUnit = "id", 1
	tab := randomCodes(t, s, 10, rand.New(rand.NewPCG(1, 2)))
	if tab.Units() != nil {
		t.Error("units out of nowhere")
	}
	for _, f := range []Format{CSV, Parquet} {
		_, err := readBack(f, write(t, f, 1, s, tab), s)
		if err == nil || !strings.HasPrefix(err.Error(),
			`table: the file has no column "id", which holds the privacy unit`) {
			t.Errorf("format %d: got %v", f, err)
		}
	}
}

// adult is a schema of the shape of the census table of that name: 15
// columns, 9 of them categorical.
func adult() *schema.Schema {
	category := func(name string, n, length int) schema.Column {
		c := schema.Column{Name: name, Kind: schema.Categorical}
		for i := range n {
			c.Categories = append(c.Categories, fmt.Sprintf("%s-%0*d", name, length, i))
		}
		return c
	}
	number := func(name string, lo, hi float64, bins int) schema.Column {
		return schema.Column{Name: name, Kind: schema.Integer, Min: lo, Max: hi, Bins: bins}
	}
	s := &schema.Schema{CSV: schema.CSV{Comma: ','}, Columns: []schema.Column{
		number("age", 17, 90, 0), category("work", 8, 2), number("fnlwgt", 10000, 1500000, 32),
		category("edu", 16, 5), number("edu-num", 1, 16, 0), category("marital", 7, 8),
		category("occupation", 14, 3), category("relation", 6, 2), category("race", 5, 1), category("sex",
			2, 2),
		number("gain", 0, 99999, 32), number("loss", 0, 4356, 32), number("hours", 1, 99, 0),
		category("country", 41, 5), category("income", 2, 1),
	}}
	s.Columns[1].Missing = []string{"?"}
	return s
}

// TestInOrder: ids are written with their numbers, and a column with given values, from which
// others follow.
func TestInOrder(t *testing.T) {
	s := &schema.Schema{CSV: schema.CSV{Comma: ','}, Unit: "id", MaxRowsPerUnit: 9,
		Columns: []schema.Column{{Name: "day", Kind: schema.Integer, Min: 0, Max: 99, Bins: 2},
			{Name: "end", Kind: schema.Integer, After: "day", Min: 5, Max: 5}},
		Made: []schema.Made{{Name: "id", Kind: 1, Pattern: "P#"},
			{At: 2, Name: "visit", Kind: 1, Pattern: "V##"}}}
	tab := stattest.Must(FromColumns(s, []Codes{NewCodes(2, 3), NewCodes(1, 3)}, nil))
	tab = tab.InOrder(nil, map[int][]uint32{0: {7, 7, 12}}, 0,
		[]schema.Value{{Int: 3}, {Int: 88}, {Int: 1}})
	want := "id,day,visit,end\nP7,3,V00,8\nP7,88,V01,93\nP12,1,V02,6\n"
	if got := string(write(t, CSV, 1, s, tab)); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
