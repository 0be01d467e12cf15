package table

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strings"
	"testing"
)

// records reads CSV with the tokenizer, in blocks of the given size.
func records(in []byte, block int) (rows [][]string, err error) {
	split := &splitter{r: bytes.NewReader(in), block: block, most: maxRecord(1 << 20), strict: true}
	z := newTokenizer(',', 1<<20, true)
	for {
		c, err := split.next(nil)
		if err != nil {
			return rows, nil
		}
		z.dirty = !isText(c.buf)
		for rest := c.buf; len(rest) > 0; {
			var record []byte
			record, rest = z.cut(rest)
			if z.open(record); len(z.record) == 0 {
				continue
			}
			var row []string
			for last := false; !last; {
				var cell []byte
				if cell, last, err = z.next(); err != nil {
					return nil, err
				}
				row = append(row, string(cell))
			}
			rows = append(rows, row)
		}
	}
}

// FuzzCSV compares with encoding/csv on what both accept: there they differ
// only in CRLF inside of a quoted cell, which that package turns into LF, and
// which is kept here. Where only one accepts, the other must have a reason.
// Blocks of any size give the same.
func FuzzCSV(f *testing.F) {
	for _, in := range []string{
		"a,b\n1,2\n", "a,\"b\"\r\n\"1\n\",\"\"\"2\"\r\n\n", "\"", "a\"b", "\"a\"b", "a\rb", "\r", "\r\n",
		",", "\"\"", "a\n\r", "\"a\r\nb\"\r",
		"\x00", "\xff", "é,\"é\"\n", "\"a\"\r\r\n", "a\r\r\n", "\"\r\"", "\n\n,\n",
	} {
		f.Add([]byte(in))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		ours, err := records(in, blockSize)
		for _, block := range []int{1, 5, 17} {
			again, err2 := records(in, block)
			if (err == nil) != (err2 == nil) || !slices.EqualFunc(ours, again, slices.Equal) {
				t.Fatalf("%q in blocks of %d: %q, %v; in one: %q, %v", in, block, again, err2, ours, err)
			}
		}
		r := csv.NewReader(bytes.NewReader(in))
		r.FieldsPerRecord = -1
		theirs, err2 := r.ReadAll()
		if err != nil {
			switch {
			case err2 != nil, err == errNUL, err == errUTF8, err == errBareReturn:
			case err == errAfterQuote && bytes.Contains(in, []byte("\"\r")):
			default:
				t.Fatalf("%q: %v; encoding/csv reads %q", in, err, theirs)
			}
			return
		}
		if err2 != nil {
			t.Fatalf("%q: read as %q; encoding/csv: %v", in, ours, err2)
		}
		for _, row := range ours {
			for i := range row {
				row[i] = strings.ReplaceAll(row[i], "\r\n", "\n")
			}
		}
		if !slices.EqualFunc(ours, theirs, slices.Equal) {
			t.Fatalf("%q: read as %q; encoding/csv: %q", in, ours, theirs)
		}
	})
}
