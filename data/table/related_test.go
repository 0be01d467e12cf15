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
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
)

// relatedSchema has every relation that cells of a row can have.
const relatedSchema = `
decoy: 1
columns:
  - {name: id, kind: id, pattern: "P####"}
  - {name: discharged, kind: integer, after: admitted, min: 0, max: 30, missing: ["", never]}
  - {name: admitted, kind: date, format: DD/MM/YYYY, min: 01/01/2020, max: 31/12/2021, missing: ["?"]}
  - {name: seen, kind: integer, after: entered, min: 1, max: 7200, bins: 10} # minutes
  - {name: entered, kind: timestamp, format: "2006-01-02 15:04", min: 2020-01-01 00:00,
     max: 2020-12-31 23:59}
  - {name: sex, kind: categorical, categories: [female, male]}
  - {name: pregnant, kind: boolean, categories: [no, yes], missing: [""]}
  - {name: age, kind: integer, min: 0, max: 99, bins: 20}
  - {name: married, kind: boolean}
  - {name: state, kind: lookup, of: zip, map: {"02139": MA, "02140": MA, "10001": NY}}
  - {name: zip, kind: categorical, categories: ["02139", "02140", "10001"]}
  - {name: low, kind: real, min: 0.5, max: 2, bins: 4, decimals: 1}
  - {name: high, kind: real, after: low, min: 0.1, max: 1.3, bins: 4, decimals: 2}
  - {name: n, kind: integer, min: -4, max: 5}
  - {name: total, kind: sum, of: [low, high, n]}
  - {name: most, kind: max, of: [high, n]}
rules:
  - {when: {sex: male}, then: {pregnant: no}}
  - {when: {age: {below: 15}}, then: {pregnant: no, married: "false"}}
  - {when: {married: "true"}, then: {n: {from: 0, to: 3}}}
`

func relatedOf(t testing.TB, edits ...string) *schema.Schema {
	s := stattest.Must(schema.Parse([]byte(strings.NewReplacer(edits...).Replace(relatedSchema))))
	return s
}

const (
	relatedHead = "id,discharged,admitted,seen,entered,sex,pregnant,age,married,state,zip,low,high," +
		"n,total,most\n"
	relatedRow = "x,03/01/2020,01/01/2020,2020-03-01 13:00,2020-03-01 12:30,female,yes,33,true,MA," +
		"02139,1.1,1.62,3,5.72,3\n"
)

// randomRows are rows of codes, with no regard to rules.
func randomRows(t testing.TB, s *schema.Schema, n int) *Table {
	return randomCodes(t, s, n, rand.New(rand.NewPCG(1, 2)))
}

// repaired keeps the rules, as release does before it hands rows out.
func repaired(t testing.TB, in *Table) *Table {
	rows := stattest.Must(in.schema.RowCodec())
	codes := make([][]uint16, len(in.cols))
	for i, c := range in.cols {
		for r := range in.rows {
			codes[i] = append(codes[i], c.At(r))
		}
	}
	rows.Repair(codes, rand.New(rand.NewPCG(3, 4)))
	var cols []Codes
	for i, size := range in.sizes {
		c := NewCodes(size, in.rows)
		for r, code := range codes[i] {
			c.Set(r, code)
		}
		cols = append(cols, c)
	}
	out := stattest.Must(FromColumns(in.schema, cols, nil))
	return out
}

// written is a file of one table.
func written(t testing.TB, f Format, in *Table) []byte { return write(t, f, 5, in.schema, in) }

// fileOf writes a file, and gives its path.
func fileOf(t testing.TB, ext string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "t"+ext)
	stattest.Check(t, os.WriteFile(path, data, 0o600))
	return path
}

func rereadFile(t testing.TB, ext string, data []byte, s *schema.Schema) (*Table, error) {
	out, _, err := Read(context.Background(), fileOf(t, ext, data), s, ReadOptions{})
	return out, err
}

// What is written keeps every constraint, in cells and not in codes only, and is read back, by a
// schema that refuses any row that breaks one, as it was; in every format.
func TestRelatedRoundTrip(t *testing.T) {
	s := relatedOf(t)
	rows := repaired(t, randomRows(t, s, 3000))
	var csv *Table
	for ext, f := range map[string]Format{".csv": CSV, ".parquet": Parquet, ".arrow": Arrow} {
		data := written(t, f, rows)
		if f == CSV {
			checkRelatedText(t, string(data))
		}
		back, err := rereadFile(t, ext, data, s)
		if err != nil {
			t.Fatal(ext, err)
		}
		// A difference to what is missing cannot be told from one that is missing itself.
		for i, c := range rows.cols {
			for r := range rows.rows {
				got, want := back.cols[i].At(r), c.At(r)
				if s.Columns[i].Name == "discharged" && got == 31 {
					continue
				}
				if got != want {
					t.Fatalf("%s: row %d of %s: code %d, want %d", ext, r, s.Columns[i].Name, got, want)
				}
			}
		}
		if csv != nil && !cmp.Equal(csv.cols, back.cols) {
			t.Error("the formats differ")
		}
		csv = back
	}
}

// checkRelatedText checks the cells of a written file without the code that wrote them.
func checkRelatedText(t *testing.T, text string) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if lines[0]+"\n" != relatedHead {
		t.Fatal(lines[0])
	}
	for i, line := range lines[1:] {
		c := strings.Split(line, ",")
		bad := c[0] != fmt.Sprintf("P%04d", i)
		if c[1] != "" {
			from, err1 := time.Parse("02/01/2006", c[2])
			to, err2 := time.Parse("02/01/2006", c[1])
			bad = bad || err1 != nil || err2 != nil || to.Before(from)
		}
		bad = bad || c[2] == "?" && c[1] != "" || c[3] < c[4] || len(c[3]) != len(c[4])
		bad = bad || c[5] == "male" && c[6] == "yes" || c[9] != map[bool]string{true: "NY",
			false: "MA"}[c[10] == "10001"]
		var age, n int
		var low, high, total, most float64
		if _, err := fmt.Sscan(strings.Join(append(c[11:16:16], c[7]), " "), &low, &high, &n, &total,
			&most, &age); err != nil {
			t.Fatal(err, line)
		}
		bad = bad || age < 15 && (c[6] == "yes" || c[8] == "true") ||
			c[8] == "true" && (n < 0 || n > 3) || high < low+.1-1e-9 || most != max(high, float64(n)) ||
			max(total-low-high-float64(n), low+high+float64(n)-total) > 1e-9
		if bad {
			t.Fatalf("line %d: %s", i+2, line)
		}
	}
}

// A row that breaks a constraint is refused with its place, or mended by a rule of that row alone.
func TestRelatedRefusesOrMends(t *testing.T) {
	for name, tt := range map[string]struct {
		old, new string
		column   string // named by the error
		clamped  map[string]string
	}{
		"before": {"03/01/2020,01", "03/01/2019,01", "discharged",
			map[string]string{"discharged": "0"}},
		"long after": {"03/01/2020,01", "03/01/2021,01", "discharged",
			map[string]string{"discharged": "30"}},
		"seen before": {"13:00", "12:29", "seen", map[string]string{"seen": "[1, 721)"}},
		"no date": {"03/01/2020,01", "x,01", "discharged",
			map[string]string{"discharged": "(missing)"}},
		"male": {"female", "male", "pregnant", map[string]string{"pregnant": "no",
			"sex": "male"}},
		"young": {",33,", ",3,", "pregnant", map[string]string{"age": "[0, 5)", "pregnant": "no",
			"married": "false"}},
		"range":        {",3,5.72,3", ",-2,0.72,1.62", "n", map[string]string{"n": "0"}},
		"below":        {"1.62", "1.0", "high", map[string]string{"high": "[0.1, 0.4)"}},
		"other state":  {"MA", "NY", "", map[string]string{}},
		"no number":    {"5.72,3", "x,3", "", map[string]string{}},
		"admitted not": {",01/01/2020,", ",?,", "", map[string]string{"discharged": "(missing)"}},
	} {
		t.Run(name, func(t *testing.T) {
			bad := strings.Replace(relatedRow, tt.old, tt.new, 1)
			if bad == relatedRow {
				t.Fatal("nothing is replaced")
			}
			file := []byte(relatedHead + relatedRow + bad + relatedRow)
			s := relatedOf(t)
			_, err := rereadFile(t, ".csv", file, s)
			if tt.column == "" {
				stattest.Check(t, err)
			} else if want := fmt.Sprintf("line 3, column %d (%q)", 1+strings.Count(strings.Split(
				","+relatedHead, ","+tt.column)[0], ","), tt.column); !errors.Is(err, schema.ErrSchema) ||
				!strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
			for i := range s.Columns {
				if s.Columns[i].Kind.Ordered() || len(s.Columns[i].Missing) > 0 {
					s.Columns[i].OnInvalid = schema.Clamp
				}
			}
			for _, lenient := range []bool{false, true} {
				if s.Lenient = lenient; !lenient && name == "young" {
					continue // married refuses
				}
				got := stattest.Must(rereadFile(t, ".csv", file, s))
				codecs, _ := s.Codecs()
				for i, c := range codecs {
					before, after := c.Label(got.cols[i].At(0)), c.Label(got.cols[i].At(1))
					want, ok := tt.clamped[c.Column().Name]
					if ok && after != want || !ok && tt.column != "" && after != before {
						t.Errorf("lenient %v: %s is %s, want %q", lenient, c.Column().Name, after, want)
					}
					if c.Label(got.cols[i].At(2)) != before {
						t.Errorf("the row behind is changed: %s", c.Column().Name)
					}
				}
			}
		})
	}
}

// A rule about a column that the file lacks holds in its row alone: whatever rows are before a row,
// it is read as if it were alone, in every format.
func TestRelatedAbsent(t *testing.T) {
	parse := func(text string) *schema.Schema {
		s := stattest.Must(schema.Parse([]byte("decoy: 1\nlenient: true\ncolumns:\n" +
			"  - {name: sex, kind: categorical, categories: [f, m]}\n" +
			"  - {name: n, kind: integer, min: 0, max: 9}\n" + text)))
		return s
	}
	file := parse("")
	s := parse(`  - {name: o, kind: categorical, categories: [p, rest], on_invalid: other, other: rest}
rules:
  - {when: {sex: m}, then: {o: p}}
  - {when: {o: p}, then: {n: {from: 0, to: 3}}}
`)
	for ext, f := range map[string]Format{".csv": CSV, ".parquet": Parquet, ".arrow": Arrow} {
		read := func(sex ...uint8) *Table {
			n := []uint8{9, 9, 9}[:len(sex)]
			in := stattest.Must(FromColumns(file, []Codes{{U8: sex}, {U8: n}}, nil))
			out, err := rereadFile(t, ext, written(t, f, in), s)
			if err != nil {
				t.Fatal(ext, err)
			}
			return out
		}
		good := read(0, 0)
		if got := text(t, good); got != "f|9|rest;f|9|rest;" {
			t.Fatal(ext, got)
		}
		for at := range 3 {
			stattest.Passes(t, checkNeighbour(good, read(slices.Insert([]uint8{0, 0}, at, 1)...), at, 1),
				"%s, a row at %d", ext, at)
		}
	}
}

// A row of a lenient file, whatever is in it, is no error, and changes no other row: the rows of a
// file with it are those of the file without it, and at most one more, which is what it is alone.
func FuzzRelatedNeighbours(f *testing.F) {
	for _, row := range []string{relatedRow, "", ",,,,,,,,,,,,,,,\n", strings.Replace(relatedRow, "MA",
		`"M`, 1), strings.Replace(relatedRow, "1.62", "1e999", 1), strings.Repeat("9", 400), "\xff,\x00",
		strings.Replace(relatedRow, "2020", "0000", 9), strings.Replace(relatedRow, "1.1", "-0", 1)} {
		f.Add([]byte(row))
	}
	s := relatedOf(f, "decoy: 1", "decoy: 1\nlenient: true")
	read := func(t testing.TB, rows string) *Table {
		out, err := readText(relatedHead+rows, s, ReadOptions{}, blockSize)
		if err != nil {
			t.Fatalf("%q: %v", rows, err)
		}
		return out
	}
	plain := read(f, relatedRow+relatedRow)
	f.Fuzz(func(t *testing.T, row []byte) {
		row = bytes.ReplaceAll(row, []byte{'\n'}, nil)
		line := string(row) + "\n"
		alone := read(t, line)
		if alone.rows > 1 {
			t.Fatalf("%q: %d rows", row, alone.rows)
		}
		got := read(t, relatedRow+line+relatedRow)
		if err := checkNeighbour(plain, got, 1, alone.rows); err != nil {
			t.Fatalf("%q: %v", row, err)
		}
		for i := range plain.cols {
			if alone.rows == 1 && got.cols[i].At(1) != alone.cols[i].At(0) {
				t.Fatalf("%q is read in another way behind another row", row)
			}
		}
	})
}
