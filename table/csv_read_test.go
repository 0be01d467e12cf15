package table

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/decoy-dp/decoy/schema"
)

// abc is a schema of three categorical columns; b may be missing.
func abc() *schema.Schema {
	words := []string{"", "0", "1", "x", "y,z", `q"q`, "two\nlines", "é", "cr\r\nlf", " pad "}
	return &schema.Schema{
		CSV: schema.CSV{Comma: ','},
		Columns: []schema.Column{
			{Name: "a", Kind: schema.Categorical, Categories: words},
			{Name: "b", Kind: schema.Integer, Min: 0, Max: 9, Missing: []string{"?"}},
			{Name: "c", Kind: schema.Categorical, Categories: words},
		},
	}
}

// text writes every row of t as the labels of its codes.
func text(t *testing.T, tab *Table) string {
	t.Helper()
	codecs, err := tab.Schema().Codecs()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for i := range tab.Rows() {
		for j, c := range codecs {
			if j > 0 {
				b.WriteByte('|')
			}
			b.WriteString(c.Label(tab.Column(j).At(i)))
		}
		if tab.Units() != nil {
			fmt.Fprintf(&b, "|unit %d", tab.Units()[i])
		}
		b.WriteByte(';')
	}
	return b.String()
}

// blocks are the sizes of blocks that every CSV is read with.
var blocks = []int{1, 7, 64, blockSize}

func TestReadCSV(t *testing.T) {
	noHeader := func(s *schema.Schema) { s.CSV.NoHeader = true }
	unit := func(s *schema.Schema) { s.Unit, s.MaxRowsPerUnit = "id", 2 }
	tests := []struct {
		name    string
		in      string
		change  []func(*schema.Schema)
		want    string
		ignored []int
	}{
		{"plain", "a,b,c\nx,1,0\n1,2,x\n", nil, "x|1|0;1|2|x;", nil},
		{"no final line end", "a,b,c\nx,1,0", nil, "x|1|0;", nil},
		{"carriage returns", "a,b,c\r\nx,1,0\r\n1,2,x\r\n", nil, "x|1|0;1|2|x;", nil},
		{"final carriage return alone", "a,b,c\r\nx,1,0\r", nil, "x|1|0;", nil},
		{"mixed line ends", "a,b,c\nx,1,0\r\n1,2,x\n", nil, "x|1|0;1|2|x;", nil},
		{"byte-order mark", "\ufeffa,b,c\nx,1,0\n", nil, "x|1|0;", nil},
		{"byte-order mark and quoted header", "\ufeff\"a\",\"b\",c\nx,1,0\n", nil, "x|1|0;", nil},
		{"quoted cells", "a,b,c\n\"x\",\"1\",\"0\"\n", nil, "x|1|0;", nil},
		{"separator in a cell", "a,b,c\n\"y,z\",1,0\n", nil, "y,z|1|0;", nil},
		{"doubled quotes", "a,b,c\n\"q\"\"q\",1,\"q\"\"q\"\n", nil, `q"q|1|q"q;`, nil},
		{"line feed in a cell", "a,b,c\n\"two\nlines\",1,0\nx,2,x\n", nil, "two\nlines|1|0;x|2|x;", nil},
		{"carriage return and line feed in a cell", "a,b,c\n\"cr\r\nlf\",1,0\n", nil, "cr\r\nlf|1|0;",
			nil},
		{"empty cells", "a,b,c\n,1,\n\"\",2,\"\"\n", nil, "|1|;|2|;", nil},
		{"spaces stay", "a,b,c\n pad ,1,0\n", nil, " pad |1|0;", nil},
		{"other letters", "a,b,c\né,1,é\n", nil, "é|1|é;", nil},
		{"missing", "a,b,c\nx,?,0\n", nil, "x|(missing)|0;", nil},
		{"header only", "a,b,c\n", nil, "", nil},
		{"header only, no line end", "a,b,c", nil, "", nil},
		{"blank lines at the end", "a,b,c\nx,1,0\n\n\r\n\n", nil, "x|1|0;", nil},
		{"other order, other columns", "k,c,,b,a,a2\n9,0,9,1,x,9\n", nil, "x|1|0;", []int{1, 3, 6}},
		{"two other columns of one name", "k,a,k,b,c\n9,x,9,1,0\n", nil, "x|1|0;", []int{1, 3}},
		{"semicolons", "a;b;c\nx;1;0\n",
			[]func(*schema.Schema){func(s *schema.Schema) { s.CSV.Comma = ';' }}, "x|1|0;", nil},
		{"tabs", "a\tb\tc\ny,z\t1\t0\n",
			[]func(*schema.Schema){func(s *schema.Schema) { s.CSV.Comma = '\t' }}, "y,z|1|0;", nil},
		{"no header", "x,1,0\n1,2,x\n", []func(*schema.Schema){noHeader}, "x|1|0;1|2|x;", nil},
		{"units", "a,id,b,c\nx,p7,1,0\nx,p3,2,0\nx,p7,3,0\nx,\"p,1\",4,0\n", []func(*schema.Schema){unit},
			"x|1|0|unit 0;x|2|0|unit 1;x|3|0|unit 0;x|4|0|unit 2;", nil},
		{"units without a header", "p7,x,1,0\np3,x,2,0\np7,x,3,0\n", []func(*schema.Schema){unit,
			noHeader},
			"x|1|0|unit 0;x|2|0|unit 1;x|3|0|unit 0;", nil},
		{"absent column becomes missing", "a,c\nx,0\n",
			[]func(*schema.Schema){func(s *schema.Schema) {
				s.Columns[1].OnInvalid = schema.Clamp
			}}, "x|(missing)|0;", nil},
		{"disallowed cell becomes missing", "a,b,c\nx,bad,0\n",
			[]func(*schema.Schema){func(s *schema.Schema) {
				s.Columns[1].OnInvalid = schema.Clamp
			}}, "x|(missing)|0;", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := abc()
			for _, f := range tt.change {
				f(s)
			}
			for _, block := range blocks {
				for _, workers := range []int{1, 3} {
					tab, report, err := readCSV(context.Background(), strings.NewReader(tt.in), -1, s,
						ReadOptions{workers: workers}, block)
					if err != nil {
						t.Fatalf("blocks of %d bytes: %v", block, err)
					}
					if got := text(t, tab); got != tt.want {
						t.Errorf("blocks of %d bytes: got %q, want %q", block, got, tt.want)
					}
					if !slices.Equal(report.Ignored, tt.ignored) {
						t.Errorf("blocks of %d bytes: ignored %v, want %v", block, report.Ignored, tt.ignored)
					}
				}
			}
		})
	}
}

// In a file of one column a blank line is an empty cell where that is allowed,
// as R and others write it, and not a line to be passed over or refused.
func TestReadCSVOneColumn(t *testing.T) {
	s := &schema.Schema{CSV: schema.CSV{Comma: ','}, Columns: []schema.Column{{Name: "a",
		Kind: schema.Categorical, Categories: []string{"x"}, Missing: []string{""}}}}
	tab, _, err := ReadCSV(context.Background(), strings.NewReader("a\nx\n\"\"\nx\n\r\n\nx\n\n"), -1,
		s, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := text(t, tab), "x;(missing);x;(missing);(missing);x;(missing);"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	s.Columns[0].Missing = nil // then it is a blank line
	tab, _, err = ReadCSV(context.Background(), strings.NewReader("a\nx\n\n"), -1, s, ReadOptions{})
	if err != nil || text(t, tab) != "x;" {
		t.Errorf("a blank line at the end: %v", err)
	}
	_, _, err = ReadCSV(context.Background(), strings.NewReader("a\n\nx\n"), -1, s, ReadOptions{})
	if !errors.Is(err, errBlankLine) {
		t.Errorf("a blank line: %v", err)
	}
}

// secret is in every place of the bad files that an error must not repeat.
const secret = "SECRET"

func TestReadCSVErrors(t *testing.T) {
	noHeader := func(s *schema.Schema) { s.CSV.NoHeader = true }
	unit := func(s *schema.Schema) { s.Unit, s.MaxRowsPerUnit = "id", 2 }
	long := strings.Repeat(secret, 100)
	tests := []struct {
		name   string
		in     string
		change []func(*schema.Schema)
		want   string
	}{
		{"empty file", "", nil, "table: the file is empty"},
		{"byte-order mark only", "\ufeff", nil, "table: the file is empty"},
		{"blank first line", "\na,b,c\n", nil, "table: line 1: a blank line before the end of the file"},
		{"blank line", "a,b,c\nx,1,0\n\r\n\nx,1,0\n", nil,
			"table: line 3: a blank line before the end of the file"},
		{"blank line before a bad one", "a,b,c\nx,1,0\n\nSECRET,1,0\n", nil,
			"table: line 3: a blank line before the end of the file"},
		{"category", "a,b,c\nx,1,0\nx,1,SECRET\n", nil,
			`table: line 3, column 3 ("c"): not one of the declared categories`},
		{"number", "a,b,c\nx,SECRET,0\n", nil, `table: line 2, column 2 ("b"): not an integer`},
		{"position in the file", "k,c,b,a\nSECRET,0,SECRET,x\n", nil,
			`table: line 2, column 3 ("b"): not an integer`},
		{"line of a record after a long cell", "a,b,c\n\"two\nlines\",1,0\nx,SECRET,0\n", nil,
			`table: line 4, column 2 ("b"): not an integer`},
		{"line where the record starts", "a,b,c\n\"two\nlines\",SECRET,0\n", nil,
			`table: line 2, column 2 ("b"): not an integer`},
		{"the first of each", "a,b,c\nSECRET,SECRET,0\nSECRET,1,1\nx,1,0,0\nx,SECRET2,0\n", nil,
			`table: line 2, column 1 ("a"): not one of the declared categories` + "\n" +
				`table: line 2, column 2 ("b"): not an integer` + "\n" +
				`table: line 4: more cells than columns`},
		{"more than ten", "a,b,c\n" + typos(11), nil, tenTypos()},
		{"ten, again and again", "a,b,c\n" + strings.Repeat(typos(9), 3), nil,
			strings.Join(strings.Split(tenTypos(), "\n")[:9], "\n")},
		{"few cells", "a,b,c\nSECRET,1\n", nil, "table: line 2: fewer cells than columns"},
		{"many cells", "a,b,c\nSECRET,1,0,1\n", nil, "table: line 2: more cells than columns"},
		{"few cells without a header", "x,1,0\nx,1\n", []func(*schema.Schema){noHeader},
			"table: line 2: fewer cells than columns"},
		{"many cells without a header", "x,1,0,SECRET\n", []func(*schema.Schema){noHeader},
			"table: line 1: more cells than columns"},
		{"quote inside a cell", "a,b,c\nSEC\"RET,1,0\n", nil,
			`table: line 2, column 1 ("a"): a quote inside a cell that does not start with one`},
		{"quote inside a cell of no column", "a,b,c,k\nx,1,0,SEC\"RET\n", nil,
			`table: line 2, column 4: a quote inside a cell that does not start with one`},
		{"text after a quote", "a,b,c\n\"SECRET\"x,1,0\n", nil,
			`table: line 2, column 1 ("a"): a closing quote that neither a separator nor the end of the ` +
				`line follows (quotes inside a quoted cell are doubled)`},
		{"carriage return after a quote", "a,b,c\n\"x\"\r,1,0\n", nil,
			`table: line 2, column 1 ("a"): a closing quote that neither a separator nor the end of the ` +
				`line follows (quotes inside a quoted cell are doubled)`},
		{"open quote", "a,b,c\nx,1,0\n\"two\nlines\",1,\"SECRET\nx,1,0\n", nil,
			`table: line 4, column 3 ("c"): a quoted cell opens here and never closes`},
		{"open quote in the header", "a,b,\"SECRET\nx,1,0\n", nil,
			`table: line 1, column 3: a quoted cell opens here and never closes`},
		{"lone quote at the end", "a,b,c\nx,1,\"", nil,
			`table: line 2, column 3 ("c"): a quoted cell opens here and never closes`},
		{"carriage return inside a cell", "a,b,c\nSEC\rRET,1,0\n", nil,
			`table: line 2, column 1 ("a"): a carriage return that no line feed follows`},
		{"carriage returns for line ends", "a,b,c\rSECRET,1,0\r", nil,
			`table: line 1, column 3: a carriage return that no line feed follows`},
		{"NUL", "a,b,c\nSEC\x00RET,1,0\n", nil,
			`table: line 2, column 1 ("a"): a NUL byte (a CSV file is text in UTF-8, not UTF-16, Excel, ` +
				`Parquet or compressed)`},
		{"NUL in a quoted cell of no column", "a,b,c,k\nx,1,0,\"SEC\x00RET\"\n", nil,
			`table: line 2, column 4: a NUL byte (a CSV file is text in UTF-8, not UTF-16, Excel, Parquet ` +
				`or compressed)`},
		{"NUL in the header", "a,b,c\x00\nx,1,0\n", nil,
			`table: line 1, column 3: a NUL byte (a CSV file is text in UTF-8, not UTF-16, Excel, Parquet ` +
				`or compressed)`},
		{"not UTF-8", "a,b,c\nSEC\xffRET,1,0\n", nil, `table: line 2, column 1 ("a"): ` + errUTF8.Error()},
		{"not UTF-8 in a quoted cell", "a,b,c\n\"\xc3\",1,0\n", nil,
			`table: line 2, column 1 ("a"): ` + errUTF8.Error()},
		{"UTF-16", "\xff\xfea\x00,\x00b\x00\n\x00", nil,
			`table: line 1, column 1: a NUL byte (a CSV file is text in UTF-8, not UTF-16, Excel, Parquet ` +
				`or compressed)`},
		{"long cell", "a,b,c\n" + long + ",1,0\n", nil,
			`table: line 2, column 1 ("a"): a cell of more than 32 bytes`},
		{"long cell at the end", "a,b,c\nx,1," + long, nil,
			`table: line 2, column 3 ("c"): a cell of more than 32 bytes`},
		{"long quoted cell", "a,b,c\nx,1,\"" + long + "\"\n", nil,
			`table: line 2, column 3 ("c"): a quoted cell of more than 32 bytes (or its closing quote is ` +
				`missing)`},
		{"long open cell", "a,b,c\nx,1,\"" + long, nil,
			`table: line 2, column 3 ("c"): a quoted cell of more than 32 bytes (or its closing quote is ` +
				`missing)`},
		{"long name", long + ",b,c\n", nil, `table: line 1, column 1: a cell of more than 32 bytes`},
		{"two columns of one name", "b,a,b,c\n", nil, `table: columns 1 and 3 both have the name "b"`},
		{"two unit columns", "id,a,b,c,id\n", []func(*schema.Schema){unit},
			`table: columns 1 and 5 both have the name "id"`},
		{"absent beside others", "a,SECRET,c\nx,1,0\n", []func(*schema.Schema){
			func(s *schema.Schema) { s.Columns[1].OnInvalid = schema.Clamp }},
			`table: the file has no column "b"`},
		{"absent columns", "b,SECRET\n1,x\n", nil, `table: the file has no column "a", "c"`},
		{"absent unit", "a,b,c\nx,1,0\n", []func(*schema.Schema){unit},
			`table: the file has no column "id", which holds the privacy unit`},
		{"empty unit", "a,b,c,id\nx,1,0,p\nx,1,0,\n", []func(*schema.Schema){unit},
			`table: line 3, column 4 ("id"): the privacy unit is empty`},
		{"no header after all", "SECRET,1,0\nSECRET,1,0\n", nil,
			"table: the file has none of the schema's columns (in a CSV file: is its first line a header, " +
				"and its separator the schema's csv: {comma: ...}?); capitals count"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := abc()
			for _, f := range tt.change {
				f(s)
			}
			for _, block := range blocks {
				for _, workers := range []int{1, 3} {
					_, _, err := readCSV(context.Background(), strings.NewReader(tt.in), -1, s,
						ReadOptions{workers: workers, maxCell: 32}, block)
					if err == nil {
						t.Fatalf("blocks of %d bytes: no error", block)
					}
					got := strings.TrimSuffix(err.Error(), ": "+schema.ErrSchema.Error())
					if got != tt.want {
						t.Errorf("blocks of %d bytes:\n got %s\nwant %s", block, got, tt.want)
					}
					if !errors.Is(err, schema.ErrSchema) {
						t.Errorf("%v does not wrap schema.ErrSchema", err)
					}
					if strings.Contains(err.Error(), secret) {
						t.Errorf("%v repeats the file", err)
					}
				}
			}
		})
	}
}

// The first bad cell is reported whatever the order in which blocks are parsed.
func TestReadCSVReportsTheFirstError(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		var b strings.Builder
		b.WriteString("a,b,c\n")
		line, first := 2, 0
		for range 1 + rng.IntN(300) {
			switch rng.IntN(60) {
			case 0:
				b.WriteString("x,bad,0\n")
				if first == 0 {
					first = line
				}
				line++
			case 1, 2, 3:
				b.WriteString("\"two\nlines\",1,0\n")
				line += 2
			default:
				b.WriteString("x,1,0\n")
				line++
			}
		}
		_, _, err := readCSV(context.Background(), strings.NewReader(b.String()), -1, abc(),
			ReadOptions{workers: 4}, 16+rng.IntN(100))
		got, want := fmt.Sprint(err), fmt.Sprintf("table: line %d, column 2 (\"b\"): not an integer",
			first)
		if first == 0 {
			want = "<nil>"
		}
		if got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
	}
}

// A cell that never ends is not held in memory.
func TestReadCSVBoundsMemory(t *testing.T) {
	for _, start := range []string{"x", `"`, "x,1,0\nx,1,", "x,1,0\nx,1,\"",
		"a,b,c\nx,1,0\n\"x\",1\",\"", "\r", ","} {
		in := &endless{start: "a,b,c\n" + start, rest: 'x'}
		if start == "," {
			in.rest = ','
		}
		_, _, err := ReadCSV(context.Background(), in, -1, abc(), ReadOptions{maxCell: 1000})
		if !errors.Is(err, schema.ErrSchema) {
			t.Errorf("start %q: error %v", start, err)
		}
		if n := in.n.Load(); n > 4*blockSize {
			t.Errorf("start %q: read %d bytes of an endless cell", start, n)
		}
	}
}

// endless is start followed by rest for ever.
type endless struct {
	start string
	rest  byte
	n     atomic.Int64
}

func (e *endless) Read(p []byte) (int, error) {
	at := int(e.n.Load())
	for i := range p {
		p[i] = e.rest
		if at+i < len(e.start) {
			p[i] = e.start[at+i]
		}
	}
	e.n.Add(int64(len(p)))
	return len(p), nil
}

func TestReadCSVLongRecord(t *testing.T) {
	// One record of many blocks, between short ones.
	s := &schema.Schema{CSV: schema.CSV{Comma: ','}, Columns: []schema.Column{{Name: "a",
		Kind: schema.Categorical, Categories: []string{"x", strings.Repeat("long\n", 1000)}}}}
	in := "a\nx\nx\n\"" + s.Columns[0].Categories[1] + "\"\nx\n"
	for _, block := range []int{1, 10, 100, 1000} {
		tab, _, err := readCSV(context.Background(), strings.NewReader(in), -1, s, ReadOptions{}, block)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := tab.Column(0).U8, []uint8{0, 0, 1, 0}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}

func TestReadCSVReaders(t *testing.T) {
	in := "a,b,c\nx,1,0\n1,2,x\n"
	errDisk := errors.New("disk")
	for name, r := range map[string]io.Reader{
		"one byte at a time":  iotest.OneByteReader(strings.NewReader(in)),
		"data with the error": iotest.DataErrReader(strings.NewReader(in)),
		"halves":              iotest.HalfReader(strings.NewReader(in)),
	} {
		tab, _, err := ReadCSV(context.Background(), r, -1, abc(), ReadOptions{})
		if err != nil || tab.Rows() != 2 {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, cut := range map[string]int{"at once": 0, "in the mark": 2, "in the header": 4,
		"in a row": 14} {
		r := io.MultiReader(strings.NewReader(in[:cut]), iotest.ErrReader(errDisk))
		for _, block := range []int{4, blockSize} {
			if _, _,
				err := readCSV(context.Background(), r, -1, abc(), ReadOptions{}, block); !errors.Is(err,
				errDisk) {
				t.Errorf("%s: got %v, want the error of the disk", name, err)
			}
		}
	}
}

// blocked never returns from Read.
type blocked struct{}

func (blocked) Read([]byte) (int, error) { select {} }

func TestReadCSVStopsWhenCancelled(t *testing.T) {
	for name, r := range map[string]io.Reader{
		"at the start":  blocked{},
		"in the header": io.MultiReader(strings.NewReader("a,b"), blocked{}),
		"in the rows":   io.MultiReader(strings.NewReader("a,b,c\nx,1,0\n"), blocked{}),
		"endless rows":  &rows{},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
			defer cancel()
			start := time.Now()
			_, _, err := readCSV(ctx, r, -1, abc(), ReadOptions{}, 4096)
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v", err)
			}
			if d := time.Since(start); d > 2*time.Second {
				t.Errorf("took %v", d)
			}
		})
	}
}

// rows is a valid file without an end.
type rows struct{ n int }

func (r *rows) Read(p []byte) (int, error) {
	line := "a,b,c\n"
	if r.n >= len(line) {
		line = "x,1,0\n"
	}
	n := copy(p, line[r.n%len(line):])
	r.n += n
	return n, nil
}

func TestReadCSVProgress(t *testing.T) {
	in := "a,b,c\n" + strings.Repeat("x,1,0\n", 1000)
	last, calls := 0.0, 0
	o := ReadOptions{Progress: func(f float64) {
		if f < last || f > 1 {
			t.Errorf("progress went from %v to %v", last, f)
		}
		last = f
		calls++
	}}
	if _, _, err := readCSV(context.Background(), strings.NewReader(in), int64(len(in)), abc(), o,
		500); err != nil {
		t.Fatal(err)
	}
	if calls < 10 || last < .99 {
		t.Errorf("%d calls, the last with %v", calls, last)
	}
	o.Progress = func(float64) { t.Error("progress of an input of unknown length") }
	if _, _, err := ReadCSV(context.Background(), strings.NewReader(in), -1, abc(), o); err != nil {
		t.Fatal(err)
	}
}

func TestReadCSVRefusesSeparators(t *testing.T) {
	for _, comma := range []byte{'"', '\r', '\n', 0x80, 0xff} {
		s := abc()
		s.CSV.Comma = comma
		if _, _, err := ReadCSV(context.Background(), strings.NewReader("a,b,c\n"), -1, s,
			ReadOptions{}); err == nil {
			t.Errorf("separator %q was accepted", comma)
		}
		if err := checkComma(comma); err == nil {
			t.Errorf("checkComma accepts %q", comma)
		}
	}
	s := abc()
	s.CSV.Comma = 0
	if _, _, err := ReadCSV(context.Background(), strings.NewReader("a,b,c\n"), -1, s,
		ReadOptions{}); err != nil {
		t.Errorf("the default separator: %v", err)
	}
}

func TestLastRecordEnd(t *testing.T) {
	for in, want := range map[string]int{
		"": 0, "a": 0, "a\n": 2, "a\nb": 2, "\n\n": 2, "\"a\n": 0, "\"a\"\nb": 4,
		"a\n\"b\n": 2, "a\n\"b\nc\nd": 2, "\"a\n\"\n\"\n": 5, "a\n\"\"\"\n\"\n": 8,
	} {
		if got := lastRecordEnd([]byte(in)); got != want {
			t.Errorf("%q: got %d, want %d", in, got, want)
		}
	}
}

func TestReadCSVManyColumns(t *testing.T) {
	in := bytes.Repeat([]byte(","), maxColumns)
	_, _, err := ReadCSV(context.Background(), bytes.NewReader(in), -1, abc(), ReadOptions{})
	if !errors.Is(err, errTooMany) {
		t.Errorf("got %v", err)
	}
}

// typos are rows that each have another typo in the first column.
func typos(n int) (text string) {
	for i := range n {
		text += fmt.Sprintf("SECRET%d,1,0\n", i)
	}
	return text
}

// tenTypos is the error about ten of them, of more.
func tenTypos() (text string) {
	for i := range 10 {
		text += fmt.Sprintf("table: line %d, column 1 (\"a\"): not one of the declared categories\n", i+2)
	}
	return text + "table: these are the first 10; there may be more"
}
