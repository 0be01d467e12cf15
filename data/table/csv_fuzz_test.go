package table

import (
	"bytes"
	"encoding/csv"
	"slices"
	"testing"
)

// records reads CSV with the tokenizer, in blocks of the given size: of each line its cells.
func records(in []byte, block int) (lines [][]byte, rows [][]string) {
	split := &splitter{r: bytes.NewReader(in), block: block, most: lineCells * (1 << 20)}
	z := tokenizer{comma: ','}
	for {
		c, err := split.next(nil)
		if err != nil {
			return lines, rows
		}
		for line := range bytes.Lines(c.buf) {
			line = bytes.TrimSuffix(line, []byte{'\n'})
			z.line, z.pos = bytes.TrimSuffix(line, []byte{'\r'}), 0
			var row []string
			for last := false; !last; {
				var cell []byte
				cell, last = z.next()
				row = append(row, string(cell))
			}
			lines, rows = append(lines, bytes.Clone(line)), append(rows, row)
		}
	}
}

// FuzzCSV compares with encoding/csv, line by line, where that takes a line. Blocks of any size
// give the same.
func FuzzCSV(f *testing.F) {
	for _, in := range []string{
		"a,b\n1,2\n",
		"a,\"b\"\r\n\"1\n\",\"\"\"2\"\r\n\n", "\"", "a\"b", "\"a\"b", "a\rb", "\r", "\r\n",
		",", "\"\"", "a\n\r", "\"a\r\nb\"\r",
		"\x00", "\xff", "é,\"é\"\n", "\"a\"\r\r\n", "a\r\r\n", "\"\r\"", "\n\n,\n",
	} {
		f.Add([]byte(in))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		lines, ours := records(in, blockSize)
		for _, block := range []int{1, 5, 17} {
			if _, again := records(in, block); !slices.EqualFunc(ours, again, slices.Equal) {
				t.Fatalf("%q in blocks of %d: %q; in one: %q", in, block, again, ours)
			}
		}
		for i, line := range lines {
			theirs, err := csv.NewReader(bytes.NewReader(line)).Read()
			if err == nil && !slices.Equal(ours[i], theirs) {
				t.Fatalf("%q: read as %q; encoding/csv: %q", line, ours[i], theirs)
			}
		}
	})
}
