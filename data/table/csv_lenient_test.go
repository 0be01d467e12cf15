package table

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
)

// lenientSchema has a column of each policy. File columns: id, a, n, r, note, of
// which note is of no column, and id is the unit if there is one.
func lenientSchema(unit, header bool) *schema.Schema {
	s := &schema.Schema{Lenient: true, CSV: schema.CSV{NoHeader: !header, Comma: ','},
		Columns: []schema.Column{
			{Name: "a", Kind: schema.Categorical, Categories: []string{"x", "y", `q"`}},
			{Name: "n", Kind: schema.Integer, Min: 1, Max: 5},
			{Name: "r", Kind: schema.Real, Min: 0, Max: 4, Bins: 4, Missing: []string{"NA"}},
			{
				Name: "o", Kind: schema.Categorical, Categories: []string{"p", "rest"}, Missing: []string{""},
				OnInvalid: schema.Other, Other: "rest",
			},
		}}
	if unit {
		s.Unit, s.MaxRowsPerUnit = "id", 2
	}
	return s
}

// lenientRows are good rows; without a unit they lack the first cell.
func lenientRows(unit bool) []string {
	rows := []string{"p1,x,1,0.5,p", "p2,y,2,NA,rest", `p1,"x",3,3,""`, "p3,x,5,2,p", `p4,"q""",4,1,p`}
	if !unit {
		for i, row := range rows {
			_, rows[i], _ = strings.Cut(row, ",")
		}
	}
	return rows
}

// lenientFile is a file of rows; with a header it has a further column.
func lenientFile(s *schema.Schema, rows []string) string {
	if s.CSV.NoHeader {
		return strings.Join(rows, "\n")
	}
	names, tail := "a,n,r,o,note", ",text"
	if s.Unit != "" {
		names = "id," + names
	}
	out := []string{names}
	for _, row := range rows {
		if !strings.HasPrefix(row, "\x01") {
			row += tail
		}
		out = append(out, strings.TrimPrefix(row, "\x01")) // a bad row is there as it is
	}
	return strings.Join(out, "\n")
}

// badRows damages each cell of a good row in each way, and the row as a whole.
func badRows(s *schema.Schema) []string {
	row := strings.Split(lenientRows(s.Unit != "")[0], ",")
	if !s.CSV.NoHeader {
		row = append(row, "text")
	}
	var out []string
	for i := range row {
		for _, damage := range []string{
			"\x00", "x\x00", "\xff", "a\xc3", `"`, `"open`, `"open""`, `a"b`, `"a"b`, `"a" `, "a\rb", "\r",
			`"a` + "\r", " x",
			strings.Repeat("z", 40), `"` + strings.Repeat("z", 40) + `"`, strings.Repeat("1",
				40), "unknown", "99", "-1", "1.5", "NaN", "Inf", "", `""`,
			"two,cells", strings.Repeat("q", 600), `"` + strings.Repeat("q", 1200), "\ufeff",
		} {
			bad := slices.Clone(row)
			bad[i] = damage
			out = append(out, strings.Join(bad, ","))
		}
		out = append(out, strings.Join(slices.Delete(slices.Clone(row), i, i+1), ","))
	}
	return append(out, "", "\r", " ", ",", `"`, `""`, "\x00", "\xff\xfe", strings.Repeat(",", 300),
		strings.Repeat(",", 700),
		strings.Repeat(`"`, 33), "lone", `"two`+"\n"+`lines",1,0.5,p,text`, "\n", "\n\n",
		"\ufeff"+strings.Join(row, ","))
}

// readLenient reads a file in blocks of the given size.
func readLenient(t *testing.T, in string, s *schema.Schema, block int) *Table {
	t.Helper()
	o := ReadOptions{workers: 1 + block%3, maxCell: 32}
	tab, err := readText(in, s, o, block)
	if err != nil {
		t.Fatalf("%q: %v", in, err)
	}
	return tab
}

// checkNeighbour reports where bad has changed anything but added rows of its
// own: with is the table of good and at most most rows more, before good row at.
func checkNeighbour(good, with *Table, at, most int) error {
	extra := with.Rows() - good.Rows()
	if extra < 0 || extra > most {
		return fmt.Errorf("%d rows more, for %d lines", extra, most)
	}
	names := map[uint32]uint32{}
	for row := range good.Rows() {
		now := row
		if row >= at {
			now += extra
		}
		for i := range good.cols {
			if got, want := with.cols[i].At(now), good.cols[i].At(row); got != want {
				return fmt.Errorf("row %d, column %d: code %d, was %d", row, i, got, want)
			}
		}
		if good.units != nil {
			was, is := good.units[row], with.units[now]
			if name, ok := names[was]; ok && name != is {
				return fmt.Errorf("row %d: a unit has come apart", row)
			}
			names[was] = is
		}
	}
	return nil
}

// TestLenientNeighbours: each of some hundred bad rows, at the start, in the
// middle and at the end of a good table, changes no other row, whatever the
// header, the unit and the blocks.
func TestLenientNeighbours(t *testing.T) {
	tried, refused := 0, 0
	for _, header := range []bool{true, false} {
		for _, unit := range []bool{false, true} {
			s := lenientSchema(unit, header)
			strict := *s
			strict.Lenient = false
			rows := lenientRows(unit)
			good := readLenient(t, lenientFile(s, rows), s, 1<<12)
			if good.Rows() != len(rows) {
				t.Fatalf("%d rows", good.Rows())
			}
			for i, bad := range badRows(s) {
				tried++
				lines := 1 + strings.Count(bad, "\n")
				for _, at := range []int{0, 2, len(rows)} {
					in := lenientFile(s, slices.Insert(slices.Clone(rows), at, "\x01"+bad))
					if !header {
						in = lenientFile(s, slices.Insert(slices.Clone(rows), at, bad))
					}
					for _, block := range []int{1, 50, 700, 1 << 12} {
						stattest.Passes(t, checkNeighbour(good, readLenient(t, in, s, block), at, lines),
							"bad row %d %.40q at %d, header %t, unit %t, block %d", i, bad, at, header, unit, block)
					}
					if at == 2 {
						_, err := readText(in, &strict, ReadOptions{maxCell: 32}, 1<<12)
						if err != nil {
							refused++
						}
					}
				}
			}
		}
	}
	if tried < 480 || refused < 360 {
		t.Errorf("%d rows, of which a strict schema refuses %d: too few for a test", tried, refused)
	}
}

// FuzzLenientNeighbours is TestLenientNeighbours for any bytes.
func FuzzLenientNeighbours(f *testing.F) {
	for i, bad := range badRows(lenientSchema(true, true)) {
		f.Add([]byte(bad), uint8(i))
	}
	goods := map[bool]*Table{}
	f.Fuzz(func(t *testing.T, bad []byte, how uint8) {
		unit := how&1 == 1
		s, rows := lenientSchema(unit, false), lenientRows(unit)
		if goods[unit] == nil {
			goods[unit] = readLenient(t, lenientFile(s, rows), s, blockSize)
		}
		at := int(how>>1) % (len(rows) + 1)
		in := lenientFile(s, slices.Insert(slices.Clone(rows), at, string(bad)))
		with := readLenient(t, in, s, 1+int(how))
		if err := checkNeighbour(goods[unit], with, at, 1+bytes.Count(bad, []byte{'\n'})); err != nil {
			t.Fatalf("%q at %d: %v", bad, at, err)
		}
	})
}

// What becomes of a row that a strict schema refuses.
func TestLenientCodes(t *testing.T) {
	for _, tt := range []struct {
		name, row, want string
		unit            bool
	}{
		{"good", "x,2,1,p,t", "x|2|[1, 2)|p;", false},
		{"cells", "z,9,z,z,t", "x|5|(missing)|rest;", false},
		{"no text", "\xff,\x00,\xff,\xff,t", "x|3|(missing)|rest;", false},
		{"fraction and bounds", "y,2.6,-1,p,t", "y|3|(missing)|p;", false},
		{"literal quotes", `q",2,1,p,t`, `q"|2|[1, 2)|p;`, false},
		{"long cell", strings.Repeat("1", 33) + ",2,1," + strings.Repeat("1", 33) + ",t",
			"x|2|[1, 2)|(missing);", false},
		{"few cells", "x,2", "x|3|(missing)|(missing);", false},
		{"many cells", "x,2,1,p,t,u", "x|3|(missing)|(missing);", false},
		{"an empty cell more", "x,2,1,p,t,", "x|2|[1, 2)|p;", false},
		{"long line", strings.Repeat("x", 513), "x|3|(missing)|(missing);", false},
		{"blank line", "", "", false},
		{"open quote", `x,2,1,"p,t`, "x|2|[1, 2)|rest;", false},
		{"ignored", `x,2,1,p,"t` + "\xff\x00\r", "x|2|[1, 2)|p;", false},
		{"unit", "p1,x,2,1,p,t", "x|2|[1, 2)|p|unit 0;", true},
		{"blank unit", ",x,2,1,p,t", "", true},
		{"unit that is no text", "\xff,x,2,1,p,t", "", true},
		{"unit that is long", strings.Repeat("1", 33) + ",x,2,1,p,t", "", true},
		{"unit in a line that cannot be read", "p1,x", "", true},
	} {
		s := lenientSchema(tt.unit, true)
		for _, block := range []int{1, 600, blockSize} {
			in := lenientFile(s, []string{"\x01" + tt.row}) + "\n"
			if got := text(t, readLenient(t, in, s, block)); got != tt.want {
				t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
			}
		}
	}
}

// A header is one line, so that no row has a say in it; without rows there is a
// table of none.
func TestLenientHeader(t *testing.T) {
	s := lenientSchema(false, true)
	for name, in := range map[string]string{"": "a,n,r,o", "line end": "a,n,r,o\r\n",
		"mark": "\ufeffa,n,r,o\n"} {
		if tab := readLenient(t, in, s, blockSize); tab.Rows() != 0 {
			t.Errorf("header alone, %s: %d rows", name, tab.Rows())
		}
	}
	if tab := readLenient(t, "", lenientSchema(false, false), blockSize); tab.Rows() != 0 {
		t.Errorf("nothing, without a header: %d rows", tab.Rows())
	}
	long := "a,n,r,o," + strings.Repeat("b,", 300) + "\n"
	for _, in := range []string{"", "a,n,r,\"o\nx\",1\n", "a,r,o\n", "a,n,r,o,\xff\n", long} {
		for _, block := range []int{1, 50, blockSize} {
			var errs []string
			for _, rows := range []string{"", "x,1,1,p\n", "\"x\",1,1,p\n\xff\n"} {
				_, err := readText(in+rows, s, ReadOptions{maxCell: 32}, block)
				errs = append(errs, fmt.Sprint(err))
			}
			if in != "" && (errs[0] == "<nil>" || len(slices.Compact(errs)) > 1) {
				t.Errorf("header %.30q: %q", in, errs)
			}
		}
	}
}

// A lenient schema reads what a strict one takes, as the strict one does.
func TestLenientReadsWhatStrictDoes(t *testing.T) {
	s := lenientSchema(true, true)
	strict := *s
	strict.Lenient = false
	in := lenientFile(s, lenientRows(true)) + "\r\n\n\n"
	want := stattest.Must(readText(in, &strict, ReadOptions{}, blockSize))
	if got := readLenient(t, in, s, blockSize); text(t, got) != text(t, want) {
		t.Errorf("got %q, want %q", text(t, got), text(t, want))
	}
}

// A line that never ends is passed over in a buffer of bounded size.
func TestLenientBoundsMemory(t *testing.T) {
	for _, block := range []int{10, 5000} {
		line := bytes.Repeat([]byte(`x",`), 1<<20)
		in := "x,1,1,p\n" + string(line) + "\ny,2,1,p\n" + string(line)
		split := &splitter{r: strings.NewReader(in), block: block, most: lineCells * 32}
		var got []string
		for {
			c, err := split.next(nil)
			if err != nil {
				break
			}
			if max := 2*block + 4*lineCells*32; cap(c.buf) > max {
				t.Fatalf("a buffer of %d bytes, more than %d", cap(c.buf), max)
			}
			for i, line := range bytes.Split(bytes.TrimSuffix(c.buf, []byte{'\n'}), []byte{'\n'}) {
				if len(line) > 10 {
					line = []byte(fmt.Sprint(len(line) > lineCells*32))
				}
				got = append(got, fmt.Sprintf("%d %s", c.line+i, line))
			}
		}
		want := []string{"1 x,1,1,p", "2 true", "3 y,2,1,p", "4 true"}
		if !slices.Equal(got, want) {
			t.Errorf("blocks of %d: got %q, want %q", block, got, want)
		}
	}
}

// A line that is too long stays too long wherever buffers end in it, and whatever is trimmed off
// it: else the length of one line would decide what becomes of another.
func TestLongLinesStayLong(t *testing.T) {
	most := lineCells * 2
	for _, start := range []string{"", mark} {
		for before := range 70 {
			for at := most - 4; at < most+4; at++ {
				long := start + strings.Repeat("j", at) + "\r" + strings.Repeat("j", 40)
				in := strings.Repeat("x", before) + "\n" + long + "\ny"
				split := &splitter{r: strings.NewReader(in), block: 8, most: most}
				var got []byte
				for c, err := split.next(nil); err == nil; c, err = split.next(nil) {
					got = append(got, c.buf...)
				}
				lines := bytes.Split(got, []byte{'\n'})
				line := bytes.TrimSuffix(bytes.TrimPrefix(lines[1], []byte(mark)), []byte{'\r'})
				if len(lines) != 3 || len(line) <= most || string(lines[2]) != "y" {
					t.Fatalf("%d bytes, then %d and a carriage return: %q", before, at, lines)
				}
			}
		}
	}
}

// A line is one row, however long it is.
func TestLenientLongLines(t *testing.T) {
	s := lenientSchema(false, true)
	for _, size := range []int{1 << 10, 5 << 20, 15 << 20, 17 << 20} {
		in := lenientFile(s, []string{"x,1,0.5,p", strings.Repeat("x", size), "x,1,0.5,p"})
		tab := stattest.Must(readText(in, s, ReadOptions{}, blockSize))
		if tab.Rows() != 3 {
			t.Errorf("a line of %d bytes: %d rows, want 3", size, tab.Rows())
		}
	}
}

// ScanText, from which a schema is bought, takes rows apart as ReadCSV does.
func TestLenientScan(t *testing.T) {
	for _, header := range []bool{true, false} {
		s := lenientSchema(true, header)
		columns := 5
		if header {
			columns = 6
		}
		for _, bad := range badRows(s) {
			in := lenientFile(s, []string{"p1,x,1,0.5,p", "\x01" + bad})
			if !header {
				in = "p1,x,1,0.5,p\n" + bad
			}
			tab := readLenient(t, in, s, 1<<12)
			o := ScanOptions{CSV: s.CSV, Lenient: true, Columns: columns, maxCell: 32}
			named := 0
			f := &opened{format: CSV, text: strings.NewReader(in), size: -1}
			err := f.scan(o,
				func(_, row []string) error {
					if len(row) != columns {
						t.Errorf("%.40q: %d cells", bad, len(row))
					}
					for _, cell := range row {
						if checkText([]byte(cell)) != nil || len(cell) > 32 {
							t.Errorf("%.40q: cell %q", bad, cell)
						}
					}
					if row[0] != "" {
						named++
					}
					return nil
				})
			if err != nil || named != tab.Rows() {
				t.Errorf("%.40q: %d rows name a unit, %d are read: %v", bad, named, tab.Rows(), err)
			}
		}
	}
}

// In strict files too a line has an end.
func TestLongRecord(t *testing.T) {
	s := lenientSchema(false, true)
	s.Lenient = false
	head := "a,n,r,o,note" + strings.Repeat(",", 40) + "\n"
	for name, in := range map[string]string{
		"row":    head + "x,1,1,p,long" + strings.Repeat(","+strings.Repeat("z", 32), 40) + "\n",
		"header": strings.Repeat("name,", 200) + "\nx\n",
	} {
		for _, block := range []int{1, 100, 600, blockSize} {
			_, err := readText(in, s, ReadOptions{maxCell: 32}, block)
			if err == nil || !strings.Contains(err.Error(), "a line of more than 512 bytes") {
				t.Errorf("%s in blocks of %d: %v", name, block, err)
			}
		}
	}
}
