package table

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
)

// rowsOf are the rows of a text without a header, in blocks of the given size.
func rowsOf(text string, rule recordRule, block int) (rows []string) {
	split := &splitter{r: strings.NewReader(text), block: block, most: 1 << 10, rule: rule}
	p := csvParser{layout: &layout{header: !rule.marked}, rule: rule}
	for c, err := split.next(nil); err == nil; c, err = split.next(nil) {
		for rest := c.buf; len(rest) > 0; {
			var row []byte
			row, rest, _ = p.next(rest, true)
			rows = append(rows, string(bytes.TrimSuffix(row, []byte{'\r'})))
		}
	}
	return rows
}

// TestRecords: which lines are one row.
func TestRecords(t *testing.T) {
	rule := recordRule{comma: ',', cells: 3, bytes: 40, lines: 4}
	long := strings.Repeat("z", 33)
	for _, c := range []struct {
		text string
		want []string
	}{
		{"1,\"a\nb\",2\n3,c,4\n", []string{"1,\"a\nb\",2", "3,c,4"}},
		{"1,\"a\r\nb\",2\r\n3,c,4\r\n", []string{"1,\"a\r\nb\",2", "3,c,4"}},
		{"1,2,\"a\n\n\n\"\n3,c,4\n", []string{"1,2,\"a\n\n\n\"", "3,c,4"}},
		// five lines, one that no quote closes, no separator behind a quote, too few cells
		{"1,2,\"a\n\n\n\n\"\n", []string{"1,2,\"a", "", "", "", "\""}},
		{"1,2,\"a\nb", []string{"1,2,\"a", "b"}},
		{"1,\"a\nb\"c,2\n", []string{"1,\"a", "b\"c,2"}},
		{"1,\"a\nb\"\n", []string{"1,\"a", "b\""}},
		// an empty cell more, one more
		{"1,\"a\nb\",2,\n", []string{"1,\"a\nb\",2,"}},
		{"1,\"a\nb\",2,3\n", []string{"1,\"a", "b\",2,3"}},
		{"\"a\nb\",\"c\nd\",\"\"\"e\n\"\"\"",
			[]string{"\"a\nb\",\"c\nd\",\"\"\"e\n\"\"\""}},
		// quotes in a cell of no quotes
		{"1,5\"\",\"a\nb\"\n", []string{"1,5\"\",\"a", "b\""}},
		// a cell may begin with a line end or a separator, but not the first
		{"1,\"\na\",2\n", []string{"1,\"\na\",2"}},
		{"1,\",a\nb\",2\n", []string{"1,\",a\nb\",2"}},
		{"\"\na\",1,2\n", []string{"\"", "a\",1,2"}},
		{"\",a\nb\",1,2\n", []string{"\",a", "b\",1,2"}},
		// nor may one of several lines end with a separator, and quotes behind it
		{"1,\"a\nb,\",2\n", []string{"1,\"a", "b,\",2"}},
		{"1,\"a\nb,\"\"\",2\n", []string{"1,\"a", "b,\"\"\",2"}},
		// 40 bytes, and 41
		{"1,\"" + long + "\n\",2\n", []string{"1,\"" + long + "\n\",2"}},
		{"1,\"" + long + "z\n\",2\n4", []string{"1,\"" + long + "z", "\",2", "4"}},
	} {
		for _, block := range []int{1, 2, 7, 1 << 10} {
			if got := rowsOf(c.text, rule, block); !slices.Equal(got, c.want) {
				t.Errorf("%q in blocks of %d: %q, want %q", c.text, block, got, c.want)
			}
		}
	}
}

// TestQuotedLineEnds: a table with line ends in its cells has its rows, with each number of
// workers, whatever the blocks, under a strict schema, too, and so do texts.
func TestQuotedLineEnds(t *testing.T) {
	var text strings.Builder
	w := csv.NewWriter(&text)
	stattest.Check(t, w.Write([]string{"note", "stars"}))
	var want []uint8
	for i := range 300 {
		note := []string{"fine", "a\nb", "said \"no\"\nand left\n", "\n\n", "x,y\n,\nz"}[i%5]
		if i%5 == 3 {
			note = "n" + note
		}
		stattest.Check(t, w.Write([]string{note, fmt.Sprint(i % 7)}))
		want = append(want, uint8(i%7))
	}
	w.Flush()
	s := &schema.Schema{Columns: []schema.Column{{Name: "stars", Kind: schema.Integer, Max: 6}}}
	for _, s.Lenient = range []bool{true, false} {
		for _, block := range []int{1, 3, 100, 1000, blockSize} {
			for workers := range 4 {
				o := ReadOptions{workers: 1 + workers, maxCell: 64}
				rows, err := readText(text.String(), s, o, block)
				if err != nil || !slices.Equal(rows.Column(0).U8, want) {
					t.Fatalf("blocks of %d, %d workers: %v", block, 1+workers, err)
				}
			}
		}
	}
	f := &opened{format: CSV, text: strings.NewReader(text.String()), size: -1}
	texts := stattest.Must(f.texts(t.Context(), ScanOptions{Lenient: true, Columns: 2}, -1))
	c := texts.Columns[0]
	if len(c.Cells) != 300 || c.Texts[c.Cells[2]] != "said \"no\"\nand left\n" {
		t.Errorf("%d rows of texts: %q", len(c.Cells), c.Texts)
	}
}

// FuzzRecords holds [recordRule] to docs/claims/records.md, for any text and any line or record
// that comes into it.
func FuzzRecords(f *testing.F) {
	f.Add("1,\"a\nb\",2\n3,c,4\n", "5,\"\n\n\",6", uint8(1))
	f.Add("\",p\n\",q\n\",p\n\",q\n", "\",p", uint8(0))
	f.Add("\"\nx\",y,\"z\n\"\nx\",y,\"z\n\"\n", "\"", uint8(2))
	f.Add("1,2,\"n\nf,\"\n5\",y,z\n", "\"\"\"\n\"\",", uint8(1))
	f.Fuzz(func(t *testing.T, text, more string, at uint8) {
		if len(text)+len(more) > 1<<10 {
			t.Skip("a line that is too long loses bytes")
		}
		rule := recordRule{comma: ',', cells: 1 + int(at>>6), bytes: 60, lines: 4, marked: at&32 > 0}
		text, more = strings.TrimSuffix(text, "\n"), strings.TrimSuffix(more, "\n")
		rows := rowsOf(text+"\n", rule, 1<<10)
		for _, block := range []int{1, 5, 17} {
			if again := rowsOf(text+"\n", rule, block); !slices.Equal(again, rows) {
				t.Fatalf("%q in blocks of %d: %q; in one: %q", text, block, again, rows)
			}
		}
		checkApart(t, text, rule)
		lines := strings.SplitAfter(text+"\n", "\n")
		lines = lines[:len(lines)-1]
		starts := []int{} // lines before each row, and after the last
		for line, i := 0, 0; i <= len(rows); i++ {
			if starts = append(starts, line); i < len(rows) {
				line += 1 + strings.Count(rows[i], "\n")
			}
		}
		n := int(at&31) % len(starts)
		with := rowsOf(strings.Join(slices.Insert(slices.Clone(lines), starts[n], more+"\n"), ""),
			rule, 1<<10)
		record, _ := rule.length([]byte(more+"\n"), true)
		switch {
		case record == len(strings.TrimSuffix(more, "\r")):
			if !slices.Equal(slices.Delete(slices.Clone(with), n, n+1), rows) {
				t.Fatalf("%q and the record %q: %q for %q", text, more, with, rows)
			}
		case !strings.Contains(more, "\n"):
			same := 0 // rows at the start and at the end that are as they were
			for same < min(len(rows), len(with)) && rows[same] == with[same] {
				same++
			}
			end := 0
			for end < min(len(rows), len(with))-same && rows[len(rows)-1-end] == with[len(with)-1-end] {
				end++
			}
			if changed := len(rows) - same - end; changed > rule.lines-1 || len(with)-same-end > 1 &&
				len(with) != len(rows)+1 {
				t.Fatalf("%q and the line %q: %q for %q", text, more, with, rows)
			}
		}
	})
}

// checkApart reports where a line of a record begins another.
func checkApart(t *testing.T, text string, rule recordRule) {
	t.Helper()
	free := 0 // the end of the last record
	for at := 0; at < len(text); {
		if n, _ := rule.length([]byte(text[at:]), true); n > 0 {
			if at < free {
				t.Fatalf("%q: a record begins in another, at byte %d", text, at)
			}
			free = at + n
		}
		n := strings.IndexByte(text[at:], '\n')
		if n < 0 {
			break
		}
		at += n + 1
	}
}
