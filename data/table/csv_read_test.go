package table

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
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
	codecs := stattest.Must(tab.Schema().Codecs())
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

// csvChanges are what a case of testdata/csv-cases.txt may say of the schema.
var csvChanges = map[string]func(s *schema.Schema){
	"noheader":  func(s *schema.Schema) { s.CSV.NoHeader = true },
	"unit":      func(s *schema.Schema) { s.Unit, s.MaxRowsPerUnit = "id", 2 },
	"clamp":     func(s *schema.Schema) { s.Columns[1].OnInvalid = schema.Clamp },
	"semicolon": func(s *schema.Schema) { s.CSV.Comma = ';' },
	"tab":       func(s *schema.Schema) { s.CSV.Comma = '\t' },
}

// TestReadCSV reads the cases of a file: of each its name and what is changed of the schema, the
// CSV, and the rows that it is, or, behind exclamation marks, the lines of the error.
func TestReadCSV(t *testing.T) {
	file := stattest.Must(os.ReadFile("testdata/csv-cases.txt"))
	unquote := func(quoted string) string {
		text, err := strconv.Unquote(quoted)
		if err != nil {
			t.Fatalf("%s: %v", quoted, err)
		}
		return text
	}
	for _, paragraph := range strings.Split(strings.TrimSpace(string(file)), "\n\n") {
		lines := strings.Split(paragraph, "\n")
		name, how, _ := strings.Cut(lines[0], " | ")
		t.Run(name, func(t *testing.T) {
			s := abc()
			for _, word := range strings.Fields(how) {
				csvChanges[word](s)
			}
			in := strings.ReplaceAll(unquote(lines[1]), "LONG", strings.Repeat(secret, 50))
			var errs []string
			for _, line := range lines[2:] {
				if quoted, ok := strings.CutPrefix(line, "! "); ok {
					errs = append(errs, unquote(quoted))
				}
			}
			for _, block := range blocks {
				for _, workers := range []int{1, 3} {
					tab, report, err := readCSV(t.Context(), strings.NewReader(in), -1, s,
						ReadOptions{workers: workers, maxCell: 32}, block)
					if errs != nil {
						checkCSVError(t, err, strings.Join(errs, "\n"))
						continue
					}
					if err != nil {
						t.Fatalf("blocks of %d bytes: %v", block, err)
					}
					got := text(t, tab)
					if report.Ignored != nil {
						got += fmt.Sprint(" ignored ", report.Ignored)
					}
					if want := unquote(lines[2]); got != want {
						t.Errorf("blocks of %d bytes: got %q, want %q", block, got, want)
					}
				}
			}
		})
	}
}

// checkCSVError reports what is wrong with an error about a file.
func checkCSVError(t *testing.T, err error, want string) {
	t.Helper()
	if !errors.Is(err, schema.ErrSchema) || strings.Contains(err.Error(), secret) ||
		strings.TrimSuffix(err.Error(), ": "+schema.ErrSchema.Error()) != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}

// readText reads a table from CSV.
// readCSV is ReadCSV with a given size of blocks.
func readCSV(
	ctx context.Context, r io.Reader, size int64, s *schema.Schema, o ReadOptions, block int,
) (*Table, Report, error) {
	o.block = block
	return ReadCSV(ctx, r, size, s, o)
}

func readText(in string, s *schema.Schema, o ReadOptions, block int) (*Table, error) {
	tab, _, err := readCSV(context.Background(), strings.NewReader(in), -1, s, o, block)
	return tab, err
}

// In a file of one column a blank line is an empty cell where that is allowed,
// as R and others write it, and not a line to be passed over.
func TestReadCSVOneColumn(t *testing.T) {
	s := &schema.Schema{CSV: schema.CSV{Comma: ','}, Columns: []schema.Column{{Name: "a",
		Kind: schema.Categorical, Categories: []string{"x"}, Missing: []string{""}}}}
	tab, _, err := ReadCSV(context.Background(), strings.NewReader("a\nx\n\"\"\nx\n\r\n\nx\n\n"), -1,
		s, ReadOptions{})
	stattest.Check(t, err)
	if got, want := text(t, tab), "x;(missing);x;(missing);(missing);x;(missing);"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	s.Columns[0].Missing = nil // then it is a blank line
	tab, err = readText("a\n\nx\n\n", s, ReadOptions{}, blockSize)
	if err != nil || text(t, tab) != "x;" {
		t.Errorf("blank lines: %v", err)
	}
}

// secret is in every place of the bad files that an error must not repeat.
const secret = "SECRET"

// The first ten bad cells are reported whatever the order in which blocks are parsed.
func TestReadCSVReportsTheFirstErrors(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		lines := slices.Repeat([]string{"x,1,0"}, 1+rng.IntN(300))
		for i := range lines {
			if rng.IntN(20) == 0 {
				lines[i] = "x,bad,0"
			}
		}
		_, err := readText("a,b,c\n"+strings.Join(lines, "\n"), abc(), ReadOptions{workers: 4},
			16+rng.IntN(100))
		var want []string
		for i, line := range lines {
			if line == "x,bad,0" && len(want) < 10 {
				want = append(want, fmt.Sprintf("table: line %d, column 2 (\"b\"): not an integer", i+2))
			}
		}
		if got, want := fmt.Sprint(err), strings.Join(want, "\n"); got != cmp.Or(want, "<nil>") {
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
		stattest.Wraps(t, err, schema.ErrSchema, "start %q", start)
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

func TestReadCSVLongLine(t *testing.T) {
	// One line of many blocks, between short ones.
	s := &schema.Schema{CSV: schema.CSV{Comma: ','}, Columns: []schema.Column{{Name: "a",
		Kind: schema.Categorical, Categories: []string{"x", strings.Repeat("long ", 1000)}}}}
	in := "a\nx\nx\n\"" + s.Columns[0].Categories[1] + "\"\nx\n"
	for _, block := range []int{1, 10, 100, 1000} {
		tab := stattest.Must(readText(in, s, ReadOptions{}, block))
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
			_, _, err := readCSV(ctx, r, -1, abc(), ReadOptions{}, 4096) // else it never returns
			stattest.Wraps(t, err, context.DeadlineExceeded, "")
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

func TestReadCSVRefusesSeparators(t *testing.T) {
	for _, comma := range []byte{'"', '\r', '\n', 0x80, 0xff} {
		s := abc()
		s.CSV.Comma = comma
		stattest.Fails(t, stattest.Err(readText("a,b,c\n", s, ReadOptions{}, blockSize)),
			"separator %q was accepted", comma)
		stattest.Fails(t, checkComma(comma), "checkComma accepts %q", comma)
	}
	s := abc()
	s.CSV.Comma = 0
	stattest.Passes(t, stattest.Err(readText("a,b,c\n", s, ReadOptions{}, blockSize)),
		"the default separator")
}

func TestReadCSVManyColumns(t *testing.T) {
	in := bytes.Repeat([]byte(","), maxColumns)
	_, _, err := ReadCSV(context.Background(), bytes.NewReader(in), -1, abc(), ReadOptions{})
	stattest.Wraps(t, err, errTooMany, "")
}
