package table

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
)

func golden(t *testing.T) [][]string {
	t.Helper()
	f := stattest.Must(os.Open("testdata/types.csv"))
	defer f.Close()
	rows := stattest.Must(csv.NewReader(f).ReadAll())
	return rows
}

// Files of another implementation: every flat type, in every encoding.
func TestParquetTypes(t *testing.T) {
	want := golden(t)
	files, err := filepath.Glob("testdata/types-*.parquet")
	if err != nil || len(files) < 7 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			i := 0
			err := ScanText(path, ScanOptions{}, func(names, row []string) error {
				i++
				for j, name := range names {
					if name != want[0][j] {
						t.Fatalf("column %d is %q, want %q", j+1, name, want[0][j])
					}
					if row[j] != want[i][j] {
						t.Errorf("row %d, %s: got %q, want %q", i, name, row[j], want[i][j])
					}
				}
				return nil
			})
			if err != nil || i != len(want)-1 {
				t.Errorf("%d rows, %v", i, err)
			}
		})
	}
}

// Pages of thousands of values, in runs that end inside of batches.
func TestParquetLongPages(t *testing.T) {
	for _, path := range []string{"testdata/long-dictionary.parquet"} {
		i := 0
		err := ScanText(path, ScanOptions{}, func(_, row []string) error {
			mixed, sparse, flag := 3, "", ""
			if i < 2500 {
				mixed = i * i % 7
			}
			if i%3 != 0 {
				sparse = strconv.Itoa(i % 100)
			}
			if i%11 != 0 {
				flag = strconv.FormatBool(i%1000 < 500)
			}
			want := []string{strconv.Itoa(i / 700), strconv.Itoa(mixed), sparse, "w" + strconv.Itoa(i%300),
				flag}
			if !slices.Equal(row, want) {
				t.Fatalf("%s: row %d: got %q, want %q", path, i+1, row, want)
			}
			i++
			return nil
		})
		if err != nil || i != 5000 {
			t.Errorf("%s: %d rows, %v", path, i, err)
		}
	}
}

// oneColumn is a schema of one column that takes nulls.
func oneColumn(name string, kind schema.Kind, lo, hi float64, categories ...string) *schema.Schema {
	return &schema.Schema{CSV: schema.CSV{Comma: ','}, Columns: []schema.Column{
		{Name: name, Kind: kind, Min: lo, Max: hi, Categories: categories, Missing: []string{"NA"}},
	}}
}

// A Parquet column gives the codes that its text gives, if that is allowed.
func TestReadParquetKinds(t *testing.T) {
	const day = 86400e6
	rows := golden(t)
	tests := []struct {
		column string
		kind   schema.Kind
		lo, hi float64
	}{
		{"dict", schema.Categorical, 0, 0}, {"string", schema.Categorical, 0, 0}, {"fixed",
			schema.Categorical, 0, 0},
		{"fixed", schema.Integer, 0, 9}, {"bool", schema.Boolean, 0, 0}, {"bool", schema.Categorical, 0,
			0},
		{"i8", schema.Integer, -128, 0}, {"i8", schema.Real, -128, 0}, {"i8", schema.Categorical, 0, 0},
		{"u8", schema.Integer, 0, 255}, {"u16", schema.Integer, 0, 1 << 16}, {"u32", schema.Integer, 0,
			1 << 32},
		{"u64", schema.Categorical, 0, 0}, {"i64", schema.Categorical, 0, 0},
		{"f16", schema.Real, -1, 1}, {"f16", schema.Categorical, 0, 0}, {"f32", schema.Real, 0,
			1}, {"f32", schema.Categorical, 0, 0},
		{"f64", schema.Real, -1, 1}, {"f64", schema.Categorical, 0, 0},
		{"d9", schema.Real, -1, 1}, {"d18", schema.Real, -1e7, 1e7}, {"d38", schema.Real, -1e20,
			1e20}, {"d76", schema.Real, -1e41, 1e41},
		{"d76", schema.Categorical, 0, 0}, {"date32", schema.Date, -4000, 30000}, {"date64", schema.Date,
			-4000, 30000},
		{"date32", schema.Timestamp, -4000 * day, 30000 * day}, {"date32", schema.Categorical, 0, 0},
		{"ts_s", schema.Timestamp, -day * 60, 5000 * day}, {"ts_ms", schema.Timestamp, -day * 60,
			5000 * day},
		{"ts_us", schema.Timestamp, -day * 60, 5000 * day}, {"ts_ns", schema.Timestamp, -day * 60,
			5000 * day},
		{"ts_ns", schema.Categorical, 0, 0}, {"full", schema.Integer, 0, 2}, {"full", schema.Categorical,
			0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.column+" "+tt.kind.String(), func(t *testing.T) {
			at := slices.Index(rows[0], tt.column)
			var cells []string
			for _, r := range rows[1:] {
				cells = append(cells, r[at])
			}
			var categories []string
			if tt.kind == schema.Categorical {
				categories = slices.Compact(slices.Sorted(slices.Values(cells)))
				categories = slices.DeleteFunc(categories, func(s string) bool { return s == "" })
			}
			s := oneColumn(tt.column, tt.kind, tt.lo, tt.hi, categories...)
			codec := codecsOf(t, s)[0]
			for _, file := range []string{"dictionary", "v2", "groups", "int96", "integers"} {
				tab := readFile(t, "testdata/types-"+file+".parquet", s)
				for i, cell := range cells {
					if cell == "" {
						cell = "NA"
					}
					if tt.kind == schema.Timestamp && len(cell) == 10 {
						cell += "T00:00:00Z"
					}
					want := stattest.Must(codec.EncodeText([]byte(cell)))
					if got := tab.Column(0).At(i); got != want {
						t.Errorf("%s: row %d: code %d, want %d", file, i+1, got, want)
					}
				}
			}
		})
	}
}

func codecsOf(t *testing.T, s *schema.Schema) []*schema.Codec {
	t.Helper()
	codecs := stattest.Must(s.Codecs())
	return codecs
}

func readFile(t *testing.T, path string, s *schema.Schema) *Table {
	t.Helper()
	tab, _, err := Read(context.Background(), path, s, ReadOptions{})
	stattest.Check(t, err)
	return tab
}

func TestReadParquetUnits(t *testing.T) {
	for column, want := range map[string][]uint32{
		"full": {0, 0, 0, 0, 1, 1, 1, 1, 2},
	} {
		s := oneColumn("i8", schema.Integer, -128, 0)
		s.Unit, s.MaxRowsPerUnit = column, 4
		for _, file := range []string{"dictionary", "groups", "pages"} {
			tab := readFile(t, "testdata/types-"+file+".parquet", s)
			if got := tab.Units(); !slices.Equal(got, want) {
				t.Errorf("%s of %s: got %v, want %v", column, file, got, want)
			}
		}
	}
}

func TestReadParquetErrors(t *testing.T) {
	required := func(name string, kind schema.Kind, lo, hi float64,
		categories ...string) *schema.Schema {
		s := oneColumn(name, kind, lo, hi, categories...)
		s.Columns[0].Missing = nil
		return s
	}
	unit := func(name string) *schema.Schema {
		s := oneColumn("full", schema.Integer, 0, 9)
		s.Unit, s.MaxRowsPerUnit = name, 1
		return s
	}
	two := required("i8", schema.Integer, -128, -125)
	two.Columns = append(two.Columns, required("u8", schema.Integer, 250, 255).Columns[0],
		required("full", schema.Integer, 0, 0).Columns[0])
	tests := []struct {
		name   string
		file   string
		schema *schema.Schema
		want   string
	}{
		{"null", "dictionary", required("i8", schema.Integer, -128, 0),
			`table: row 4, column 7 ("i8"): missing, and the column declares no missing tokens`},
		{"null in the second group", "groups", required("i8", schema.Integer, -128, 0),
			`table: row 4, column 7 ("i8"): missing, and the column declares no missing tokens`},
		{"bounds", "groups", oneColumn("i8", schema.Integer, -128, -122),
			`table: row 8, column 7 ("i8"): outside the declared min and max`},
		{"the first of each column", "dictionary", two, strings.Join([]string{
			`table: row 4, column 7 ("i8"): missing, and the column declares no missing tokens`,
			`table: row 4, column 11 ("u8"): missing, and the column declares no missing tokens`,
			`table: row 5, column 29 ("full"): outside the declared min and max`}, "\n")},
		{"category", "pages", oneColumn("string", schema.Categorical, 0, 0, "text 0", "text 1"),
			`table: row 3, column 2 ("string"): not one of the declared categories`},
		{"type", "dictionary", oneColumn("date32", schema.Integer, 0, 9),
			`table: column 22 ("date32"): no cell of the schema's column can be what the file has ` +
				`(kind: date): change its kind or its categories, or the type in the file`},
		{"true is no yes", "dictionary", oneColumn("bool", schema.Categorical, 0, 0, "yes", "no"),
			`table: column 6 ("bool"): no cell of the schema's column can be what the file has ` +
				`(kind: boolean): change its kind or its categories, or the type in the file`},
		{"null unit", "dictionary", unit("string"),
			`table: row 4, column 2 ("string"): the privacy unit is empty`},
		{"empty unit", "dictionary", unit("binary"),
			`table: row 1, column 4 ("binary"): the privacy unit is empty`},
		{"absent unit", "dictionary", unit("patient"),
			`table: the file has no column "patient", which holds the privacy unit`},
		{"absent column", "dictionary", func() *schema.Schema {
			s := oneColumn("full", schema.Integer, 0, 9)
			s.Columns = append(s.Columns, schema.Column{Name: "other", Kind: schema.Boolean})
			return s
		}(), `table: the file has no column "other"`},
		{"none", "dictionary", oneColumn("other", schema.Integer, 0, 9),
			`table: the file has none of the schema's columns (in a CSV file: is its first line a header, ` +
				`and its separator the schema's csv: {comma: ...}?); capitals count`},
		{"long text", "dictionary", oneColumn("prefix", schema.Categorical, 0, 0, "x"),
			`table: row 1, column 3 ("prefix"): a cell of more than 8 bytes`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, workers := range []int{1, 3} {
				_, _, err := Read(context.Background(), "testdata/types-"+tt.file+".parquet", tt.schema,
					ReadOptions{workers: workers, maxCell: 8})
				if err == nil {
					t.Fatal("no error")
				}
				if got := strings.TrimSuffix(err.Error(), ": "+schema.ErrSchema.Error()); got != tt.want {
					t.Errorf("\n got %s\nwant %s", got, tt.want)
				}
				if !errors.Is(err, schema.ErrSchema) {
					t.Errorf("%v does not wrap schema.ErrSchema", err)
				}
			}
		})
	}
}

func TestReadParquetRefuses(t *testing.T) {
	nested := stattest.Must(os.ReadFile("testdata/refused-nested.parquet"))
	for want, data := range map[string][]byte{
		"table: column 1: a nested Parquet column is not supported: write the file without it": nested,
		"table: column 1 (\"a\"): a Parquet type that is not supported (a time of day, an interval or " +
			"BSON)": hostile(chunkSpec{9, 0, 1, nil}),
	} {
		begin := func() error { t.Error("it begins"); return nil }
		_, err := parquetOf(data, oneColumn("a", schema.Integer, 0, 9), ReadOptions{Begin: begin})
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestReadParquetStopsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	o := ReadOptions{Begin: func() error {
		cancel()
		return nil
	}}
	_, _, err := Read(ctx, "testdata/types-groups.parquet", oneColumn("full", schema.Integer, 0, 9), o)
	stattest.Wraps(t, err, context.Canceled, "")
	if _, _, err = Read(ctx, "testdata/types-groups.parquet", oneColumn("full", schema.Integer, 0, 9),
		o); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// failing is a file whose reads fail once it was read n times.
type failing struct {
	*bytes.Reader
	n   int
	err error
}

func (f *failing) ReadAt(p []byte, off int64) (int, error) {
	if f.n--; f.n < 0 {
		return 0, f.err
	}
	return f.Reader.ReadAt(p, off)
}

func (f *failing) Seek(off int64, whence int) (int64, error) {
	if f.n == 0 {
		return 0, f.err
	}
	return f.Reader.Seek(off, whence)
}

func TestReadParquetOfAFailingFile(t *testing.T) {
	data := stattest.Must(os.ReadFile("testdata/types-groups.parquet"))
	errDisk := errors.New("disk")
	for n := range 6 {
		r := &failing{bytes.NewReader(data), n, errDisk}
		if _, _, err := readParquet(context.Background(), r, oneColumn("full", schema.Integer, 0, 9),
			ReadOptions{workers: 1}); !errors.Is(err, errDisk) {
			t.Errorf("after %d reads: got %v, want the error of the disk", n, err)
		}
	}
}
