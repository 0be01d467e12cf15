package table

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
)

func packed(t testing.TB, parts ...string) []byte {
	var b bytes.Buffer
	for _, part := range parts {
		w := gzip.NewWriter(&b)
		stattest.Must(io.WriteString(w, part))
		stattest.Check(t, w.Close())
	}
	return b.Bytes()
}

// A packed file is read as its text is, in one piece or several, and what is written is read back.
func TestPacked(t *testing.T) {
	s := relatedOf(t)
	want := stattest.Must(rereadFile(t, ".csv", []byte(relatedHead+relatedRow+relatedRow), s))
	got, err := rereadFile(t, ".csv.gz", packed(t, relatedHead+relatedRow, relatedRow), s)
	if err != nil || !cmp.Equal(got.cols, want.cols) {
		t.Error(err)
	}
	rows := repaired(t, randomRows(t, s, 500))
	plain := stattest.Must(rereadFile(t, ".csv", written(t, CSV, rows), s))
	for name, form := range map[string]Format{".CSV.gz": CSV | Gzip, ".tsv.gz": CSV | Tabs | Gzip} {
		got, err := rereadFile(t, name, written(t, form, rows), s)
		if err != nil || !cmp.Equal(got.cols, plain.cols) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLenientPackedNeighbours is TestLenientNeighbours for packed files.
func TestLenientPackedNeighbours(t *testing.T) {
	for _, unit := range []bool{false, true} {
		s, rows := lenientSchema(unit, true), lenientRows(unit)
		read := func(rows []string) *Table {
			data := packed(t, lenientFile(s, rows))
			u := stattest.Must(unpack(bytes.NewReader(data), int64(len(data))))
			out, _, err := ReadCSV(context.Background(), u, -1, s,
				ReadOptions{maxCell: 32, block: 1 << 12})
			if err != nil {
				t.Fatalf("%q: %v", rows, err)
			}
			return out
		}
		good := read(rows)
		for i, bad := range badRows(s) {
			at := []int{0, 2, len(rows)}[i%3]
			with := read(slices.Insert(slices.Clone(rows), at, "\x01"+bad))
			stattest.Passes(t, checkNeighbour(good, with, at, 1+strings.Count(bad, "\n")),
				"unit %t, %.40q at %d", unit, bad, at)
		}
	}
}

// A damaged packed file is an error, wherever it is cut; it is never taken for a shorter one.
func TestPackedDamage(t *testing.T) {
	s := relatedOf(t, "decoy: 1", "decoy: 1\nlenient: true")
	data := packed(t, relatedHead+strings.Repeat(relatedRow, 50))
	for n := range data {
		_, err := rereadFile(t, ".csv.gz", data[:n], s)
		if err == nil && n > 0 || err != nil && strings.Contains(err.Error(), "female") {
			t.Fatalf("cut at %d of %d: %v", n, len(data), err)
		}
	}
	stattest.Wraps(t, stattest.Err(rereadFile(t, ".csv.gz", []byte(relatedHead), s)), errDamagedPack,
		"a plain file")
	u, err := unpack(io.MultiReader(bytes.NewReader(data[:40]),
		iotest.ErrReader(&fs.PathError{Err: io.ErrClosedPipe})), 100)
	for b := make([]byte, 10); err == nil; {
		_, err = u.Read(b)
	}
	stattest.Wraps(t, err, io.ErrClosedPipe, "an error of reading")
}

// lines are n empty lines.
type lines struct{ n int64 }

func (z *lines) Read(p []byte) (int, error) {
	if z.n <= 0 {
		return 0, io.EOF
	}
	for i := range p {
		p[i] = '\n'
	}
	z.n -= int64(len(p))
	return len(p), nil
}

// A small file that holds far more than its length lets expect is refused before it takes memory or
// time.
func TestPackedBomb(t *testing.T) {
	u := &unpacked{text: &lines{1 << 40}, left: atLeast(maxBytes, 1000)}
	n, err := io.Copy(io.Discard, u)
	if !errors.Is(err, errPackedBomb) || n > maxBytes+1000*maxRatio {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// FuzzUnpack: whatever a packed file holds, reading ends in a text or an error, which says nothing
// of the text.
func FuzzUnpack(f *testing.F) {
	f.Add(packed(f, relatedHead+relatedRow))
	f.Fuzz(func(t *testing.T, data []byte) {
		u, err := unpack(bytes.NewReader(data), int64(len(data)))
		if err == nil {
			u.left = min(u.left, 1<<24)
			_, err = io.Copy(io.Discard, u)
		}
		if err != nil && err != errDamagedPack && err != errPackedBomb {
			t.Fatal(err)
		}
	})
}

// The separator of a file is that of the schema, or a tab where its name says so.
func TestSeparator(t *testing.T) {
	s := &schema.Schema{CSV: schema.CSV{Comma: ';'}, Columns: []schema.Column{
		{Name: "a", Kind: schema.Boolean}, {Name: "b", Kind: schema.Boolean}}}
	for text, want := range map[string]map[string]bool{
		"a;b\ntrue;false\n":   {".csv": true, ".tsv": false},
		"a\tb\ntrue\tfalse\n": {".csv": false, ".tsv": true},
		"a,b\ntrue,false\n":   {".csv": false, ".tsv": false},
	} {
		for ending, reads := range want {
			_, err := rereadFile(t, ending, []byte(text), s)
			if (err == nil) != reads {
				t.Errorf("%q in a file %s: %v", text, ending, err)
			}
		}
	}
}

// An archive holds one table, whatever else is in it, of any format that has a name.
func TestArchive(t *testing.T) {
	const in = "a,b\nx,\"1\n2\"\n"
	want := [][]string{{"a", "b"}, {"x", "1\n2"}}
	book := string(bookOf(t, [][]any{{"a", "b"}, {"x", "1\n2"}}, nil))
	for name, files := range map[string]map[string]string{
		"alone":          {"t.csv": in},
		"in a folder":    {"a/": "", "a/b/": "", "a/b/T.CSV": in, "a/read.me": "x"},
		"of a Mac":       {"t.csv": in, "__MACOSX/._t.csv": "x", "__MACOSX/t.csv": "x", ".t.csv": "x"},
		"tabs":           {"t.tsv": "a\tb\nx\t\"1\n2\"\n"},
		"packed twice":   {"t.csv.gz": string(packed(t, in))},
		"JSON lines":     {"t.jsonl": `{"a":"x","b":"1\n2"}`},
		"a spreadsheet":  {"t.xlsx": book},
		"a path that is": {"../../etc/t.csv": in},
		"of Windows":     {`a\t.csv`: in, `C:\x\y.txt`: "x"},
		"beside another": {"t.csv": in, "more.zip": "PK"},
	} {
		got, err := cellsOf(t, ".csv.zip", archive(t, files), schema.CSV{}, 0)
		if err != nil || !cmp.Equal(got, want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for ext, format := range map[string]Format{".parquet": Parquet, ".arrow": Arrow} {
		rows := repaired(t, randomRows(t, relatedOf(t), 50))
		files := map[string]string{"t" + ext: string(written(t, format, rows))}
		got, err := rereadFile(t, ".zip", archive(t, files), relatedOf(t))
		if err != nil || got.Rows() != 50 {
			t.Errorf("%s: %v", ext, err)
		}
	}
	csv := archive(t, map[string]string{"t.csv": in})
	locked := bytes.Clone(csv)
	flags := bytes.Index(locked, []byte("PK\x01\x02")) + 8
	locked[flags] |= 1
	for _, tt := range []struct {
		name string
		data []byte
		want error
	}{
		{"none", archive(t, map[string]string{"t.txt": in}), errNoTable},
		{"empty", archive(t, nil), errNoTable},
		{"two", archive(t, map[string]string{"t.csv": in, "u.xlsx": ""}), errTables},
		{"an archive in it", archive(t, map[string]string{"t.zip": string(csv)}), errNoTable},
		{"no archive", []byte(in), errZip},
		{"cut", csv[:len(csv)-10], errZip},
		{"a password", locked, errZipped},
		{"a workbook that is none", archive(t, map[string]string{"t.xlsx": in}), errWorkbook},
	} {
		err := stattest.Err(cellsOf(t, ".zip", tt.data, schema.CSV{}, 0))
		stattest.Wraps(t, err, tt.want, "%s", tt.name)
		stattest.Wraps(t, err, schema.ErrSchema, "%s", tt.name)
	}
	for n := range csv {
		stattest.Fails(t, stattest.Err(cellsOf(t, ".zip", csv[:n], schema.CSV{}, 0)), "cut at %d", n)
	}
	damaged := bytes.Replace(csv, []byte("PK\x07\x08"), []byte("PK\x07\x08x"), 1)
	copy(damaged[30:], "\xff\xff\xff\xff\xff\xff")
	stattest.Fails(t, stattest.Err(cellsOf(t, ".zip", damaged, schema.CSV{}, 0)), "damaged")
}

// What is unpacked into memory is no more than an archive of its length can hold, nor than is said.
func TestArchiveBomb(t *testing.T) {
	for _, tt := range []struct {
		said uint64
		want error
	}{{1 << 31, errPackedBomb}, {1 << 40, errPackedBomb}, {200 << 20, errPackedBomb},
		{3, errDamagedPack}, {100, errDamagedPack}} {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		f := stattest.Must(w.CreateRaw(&zip.FileHeader{Name: "t.xlsx", UncompressedSize64: tt.said,
			CompressedSize64: 5}))
		stattest.Must(io.WriteString(f, "hello"))
		stattest.Check(t, w.Close())
		stattest.Wraps(t, stattest.Err(cellsOf(t, ".zip", b.Bytes(), schema.CSV{}, 0)), tt.want, "%d",
			tt.said)
	}
}

// FuzzArchive: whatever an archive holds, reading ends in cells or in an error.
func FuzzArchive(f *testing.F) {
	f.Add(archive(f, map[string]string{"t.csv": "a,b\n1,2\n"}))
	f.Add(archive(f, map[string]string{"t.jsonl": `{"a":1}`, "u/": ""}))
	f.Add(archive(f, map[string]string{"t.xlsx": string(bookOf(f, [][]any{{"a", "b"}, {1, 2}}, nil))}))
	f.Fuzz(func(t *testing.T, data []byte) { cellsOf(t, ".zip", data, schema.CSV{}, 2) })
}
