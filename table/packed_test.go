package table

import (
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
	"github.com/klauspost/compress/zstd"

	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/schema"
)

func packed(t testing.TB, f Format, parts ...string) []byte {
	var b bytes.Buffer
	for _, part := range parts {
		w := stattest.Must(packer(f, &b))
		if _, err := io.WriteString(w, part); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// A packed file is read as its text is, in one piece or several, and what is written is read back.
func TestPacked(t *testing.T) {
	s := relatedOf(t)
	want := stattest.Must(rereadFile(t, ".csv", []byte(relatedHead+relatedRow+relatedRow), s))
	for ext, f := range map[string]Format{".gz": Gzip, ".zst": Zstd} {
		got, err := rereadFile(t, ".csv"+ext, packed(t, f, relatedHead+relatedRow, relatedRow), s)
		if err != nil || !cmp.Equal(got.cols, want.cols) {
			t.Errorf("%s: %v", ext, err)
		}
		rows := repaired(t, randomRows(t, s, 500))
		plain := stattest.Must(rereadFile(t, ".csv", written(t, CSV, rows), s))
		for name, form := range map[string]Format{".CSV" + ext: CSV | f, ".tsv" + ext: CSV | Tabs | f} {
			got, err := rereadFile(t, name, written(t, form, rows), s)
			if err != nil || !cmp.Equal(got.cols, plain.cols) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// TestLenientPackedNeighbours is TestLenientNeighbours for packed files.
func TestLenientPackedNeighbours(t *testing.T) {
	for _, f := range []Format{Gzip, Zstd} {
		for _, unit := range []bool{false, true} {
			s, rows := lenientSchema(unit, true), lenientRows(unit)
			read := func(rows []string) *Table {
				data := packed(t, f, lenientFile(s, rows))
				u, err := unpack(f, bytes.NewReader(data), int64(len(data)))
				if err != nil {
					t.Fatal(err)
				}
				defer u.close()
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
				if err := checkNeighbour(good, with, at, 1+strings.Count(bad, "\n")); err != nil {
					t.Errorf("%v, unit %t, %.40q at %d: %v", f, unit, bad, at, err)
				}
			}
		}
	}
}

// A damaged packed file is an error, wherever it is cut; it is never taken for a shorter one.
func TestPackedDamage(t *testing.T) {
	s := relatedOf(t, "decoy: 1", "decoy: 1\nlenient: true")
	for ext, f := range map[string]Format{".csv.gz": Gzip, ".csv.zst": Zstd} {
		data := packed(t, f, relatedHead+strings.Repeat(relatedRow, 50))
		for n := range data {
			_, err := rereadFile(t, ext, data[:n], s)
			if err == nil && n > 0 || err != nil && strings.Contains(err.Error(), "female") {
				t.Fatalf("%s: cut at %d of %d: %v", ext, n, len(data), err)
			}
		}
		if _, err := rereadFile(t, ext, []byte(relatedHead), s); !errors.Is(err, errDamagedPack) {
			t.Errorf("%s: a plain file: %v", ext, err)
		}
		u, err := unpack(f, io.MultiReader(bytes.NewReader(data[:40]),
			iotest.ErrReader(&fs.PathError{Err: io.ErrClosedPipe})), 100)
		for b := make([]byte, 10); err == nil; {
			_, err = u.Read(b)
		}
		if !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("%s: an error of reading: %v", ext, err)
		}
	}
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
// time, and so is one whose decoder would have to look far back.
func TestPackedBomb(t *testing.T) {
	u := &unpacked{text: &lines{1 << 40}, left: atLeast(maxBytes, 1000), close: func() {}}
	n, err := io.Copy(io.Discard, u)
	if !errors.Is(err, errPackedBomb) || n > maxBytes+1000*maxRatio {
		t.Errorf("%d bytes, %v", n, err)
	}
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b, zstd.WithWindowSize(512<<20), zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	head := append([]byte(nil), 0x28, 0xb5, 0x2f, 0xfd, 0, 0xb8) // a frame with a window of 8 GiB
	w.Close()
	s := &schema.Schema{Columns: []schema.Column{{Name: "a", Kind: schema.Boolean}}}
	if _, err := rereadFile(t, ".csv.zst", append(head, 1, 0, 0), s); !errors.Is(err, errDamagedPack) {
		t.Errorf("a window of 8 GiB: %v", err)
	}
}

// FuzzUnpack: whatever a packed file holds, reading ends in a text or an error, which says nothing
// of the text.
func FuzzUnpack(f *testing.F) {
	for _, form := range []Format{Gzip, Zstd} {
		f.Add(form == Zstd, packed(f, form, relatedHead+relatedRow))
	}
	f.Fuzz(func(t *testing.T, z bool, data []byte) {
		form := Gzip
		if z {
			form = Zstd
		}
		u, err := unpack(form, bytes.NewReader(data), int64(len(data)))
		if err == nil {
			u.left = min(u.left, 1<<24)
			_, err = io.Copy(io.Discard, u)
			u.close()
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
