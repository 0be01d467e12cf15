package sql

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/decoy-dp/decoy/data/engine"
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/datasets"
	"github.com/decoy-dp/decoy/internal/stattest"
)

// hostile are columns, and the classes of an engine's types that they are read from.
var hostile = []struct {
	column  string
	classes []class
}{
	{"kind: integer, min: 0, max: 90, bins: 7", []class{whole, real, text}},
	{`kind: integer, min: -5, max: 5, missing: ["", "1e306", "?"]`, []class{whole, real, text}},
	{`kind: integer, min: -7, max: 92, bins: 20, missing: ["", "-9"]`, []class{whole, real, text}},
	{"kind: integer, edges: [-3, 2, 7, 40]", []class{whole, real, text}},
	{`kind: integer, min: 1, max: 9007199254740991, bins: {count: 9, spacing: log}, on_invalid: clamp`,
		[]class{whole, real, text}},
	{`kind: real, min: 0.1, max: 0.9, bins: 24, missing: ["", "-9"]`, []class{real, text}},
	{"kind: real, min: -1e300, max: 1e300, bins: 5", []class{real, text}},
	{"kind: real, edges: [-0.3, 0, 0.1, 0.30000000000000004, 7]", []class{real, text}},
	{"kind: date, min: 1999-12-31, max: 2020-03-01, bins: 11", []class{date, text}},
	{`kind: date, format: DD.MM.YYYY, min: 31.12.1999, max: 01.03.2020, bins: 11, missing: [""]`,
		[]class{date, text}},
	{`kind: timestamp, min: 2020-01-01T00:00:00Z, max: 2020-01-03T00:00:00Z, bins: 5, missing: [""]`,
		[]class{moment}},
	{`kind: categorical, categories: [a, "A", "it's", "a\\b", ä, "3", "-4", "007", "true", "a "]`,
		[]class{text, whole, truth}},
	{`kind: categorical, categories: [a, "3", z], missing: ["", "?", "5"], on_invalid: clamp`,
		[]class{text, whole}},
	{`kind: categorical, categories: [a, "3", z], other: z, on_invalid: other`, []class{text, whole}},
	{"kind: boolean", []class{text, whole, truth}},
	{`kind: boolean, categories: ["no", "yes"], missing: ["0"]`, []class{text, whole, truth}},
}

// hostileTexts are texts that engines read in ways of their own.
var hostileTexts = []string{
	"", " ", "?", "a", "A", "a ", " a", "b", "z", "it's", `a\b`, "ä", "Ä", "a\u0308", "3",
	"03", "+3", "3.", ".5", "-.5", "-4", "007", "5", "7", "0", "1", "2", "-9", "-9.0",
	"true", "TRUE", "t", "T", "F", "f", "false", "yes", "Yes", "no", "NO", "1e3", "1E+2",
	"1e999", "-1e999", "1e-999", "0e999", "1e306", "1e308", "1.7976931348623159e308",
	"2e-324", "5e-324", "-0", "-0.0", "0.1", "0.10000000000000001", "0.30000000000000004",
	"2.5", "-2.5", "0.49999999999999994", "90.5", "9007199254740993", "1_000", "1,5", " 1",
	"1 ", "1\n", "0x10", "1d", "1f", "NaN", "nan", "inf", "Infinity", "-Infinity", "+", ".",
	"e5", "1e", "<5", "> 5", "≥0.5", "90+", "< 0.1", "<", "1999-12-31", "2000-02-29",
	"2001-02-29", "2000-2-9", "2020-03-01", "2020-03-02", "≤2001-02-03", "2000-13-01",
	"2000-00-10", "29.02.2000", "29.02.2001", "1.2.2001", "01.13.2000", ">01.02.2001", "01-02-2001",
	"01.02.2001 ", "2000-01-00", "0000-01-01", "2000-01-01T00:00:00Z", "infinity", "now",
	"today", "２", "\t", "nul", strings.Repeat("1", 128), strings.Repeat("1", 129),
	"0." + strings.Repeat("0", 120) + "1e120"}

// cell is a value of a column: what is cast to its type, and its code.
type cell struct {
	literal string
	code    uint16
}

// hostileCells are hostile cells of a class.
func hostileCells(codec *schema.Codec, of class) (cells []cell) {
	add := func(literal string, code uint16, _ error) { cells = append(cells, cell{literal, code}) }
	if of == text {
		for _, t := range hostileTexts {
			code, err := codec.EncodeText([]byte(t))
			add(t, code, err)
		}
		return cells
	}
	points := []float64{0, 1, -1, 2, 3, -4, 5, 7, -9, 100, 1000, 0.49999999999999994, 2.5, -2.5}
	if of == real {
		points = append(points, math.Copysign(0, -1), 5e-324, math.NaN(), math.Inf(1), math.Inf(-1))
	}
	points = append(points, 1e301, -1e301, math.MaxFloat64)
	if codec.Column().Kind.Ordered() {
		for i := range codec.Values() {
			for _, x := range slices.Collect(edges(codec.Bin(uint16(i)))) {
				points = append(points, x, math.Nextafter(x, math.Inf(1)), math.Nextafter(x, math.Inf(-1)),
					x+1, x-1, x+.5, x-.5, x*1.7)
			}
		}
	}
	for _, x := range points {
		day := time.Unix(0, 0).UTC().AddDate(0, 0, int(min(max(x, -7e5), 2.9e6)))
		at := time.UnixMicro(int64(min(max(x, -6e16), 2e17))).UTC()
		n := int64(min(max(x, math.MinInt64), 1<<62))
		if n == 1<<62 {
			n = math.MaxInt64
		}
		v, as, literal := schema.Value{Int: n, Float: x}, schema.StoredInt, strconv.FormatInt(n, 10)
		switch of {
		case real:
			as, literal = schema.StoredFloat, strconv.FormatFloat(x, 'g', -1, 64)
			literal = strings.Replace(literal, "Inf", "Infinity", 1)
		case truth:
			v.Int, as, literal = n&1, schema.StoredBool, strconv.FormatBool(n&1 == 1)
		case date:
			v.Int, as, literal = day.Unix()/86400, schema.StoredDays, day.Format("2006-01-02")
		case moment:
			v.Int, as = at.UnixMicro(), schema.StoredMicros
			literal = at.Format("2006-01-02 15:04:05.000000")
		}
		code, err := codec.EncodeValue(as, v)
		add(strings.TrimPrefix(literal, "+"), code, err)
	}
	return cells
}

// edges are the two ends of a bin.
func edges(lo, hi float64) iter.Seq[float64] { return slices.Values([]float64{lo, hi}) }

// check has an engine count hostile cells, which the statements bring along, and says which have
// another code than in a file. checked is how many there were.
func (t *relation) check(
	ctx context.Context, ask session,
) (wrong []string, checked int, err error) {
	kinds := map[class]string{whole: t.whole, real: t.real, text: t.text,
		truth: "BOOLEAN", date: "DATE", moment: "TIMESTAMP"}
	for _, h := range hostile {
		for _, class := range h.classes {
			s, err := schema.Parse([]byte("decoy: 1\ncolumns: [{name: v, " + h.column + "}]\n"))
			if err != nil {
				return nil, 0, err
			}
			bad, n, err := t.compare(ctx, ask, s.ForPrivate(), class, kinds[class])
			if err != nil {
				return nil, 0, fmt.Errorf("%s as %s: %w", h.column, kinds[class], err)
			}
			wrong, checked = append(wrong, bad...), checked+n
		}
	}
	return wrong, checked, nil
}

// compare counts the cells of a column by their number and code.
func (t *relation) compare(
	ctx context.Context, ask session, of *schema.Schema, class class, kind string,
) (wrong []string, checked int, err error) {
	rows, err := of.RowCodec()
	if err != nil {
		return nil, 0, err
	}
	codec := rows.Codecs()[0]
	cells := hostileCells(codec, class)
	null, _ := codec.EncodeMissing() // as a codec without a missing code reads it
	selects := []string{fmt.Sprintf("SELECT %d AS i, CAST(NULL AS %s) AS v", len(cells), kind)}
	for i, c := range cells {
		selects = append(selects, fmt.Sprintf("SELECT %d, CAST(%s AS %s)", i, t.literal(c.literal), kind))
	}
	cells = append(cells, cell{"NULL", null})
	of.Columns = append(of.Columns, schema.Column{Name: "i", Kind: schema.Integer,
		Max: float64(len(cells) - 1), Bins: len(cells)})
	from := relation{dialect: t.dialect, from: "(" + strings.Join(selects, " UNION ALL ") + ") t",
		types: map[string]string{}}
	for name, c := range t.classes {
		if c == whole {
			from.types["i"] = name
		}
		if c == class && name != "timestamp_ns" {
			from.types["v"] = name
		}
	}
	q, err := from.ask(of, engine.AskSets([][]int{{0, 1}}, of.Sizes()), "")
	if err != nil {
		return nil, 0, err
	}
	found, err := Cells(ctx, ask, q.text)
	if err != nil {
		return nil, 0, err
	}
	counts, err := q.answer(found)
	for at, n := range counts {
		if at == 0 {
			continue
		}
		code, c := (at-1)/len(cells), cells[(at-1)%len(cells)]
		if is := int(c.code) == code; is != (n == 1) || n > 1 {
			wrong = append(wrong, fmt.Sprintf("%q as %s of %s: %d rows of code %d", c.literal, kind,
				of.Columns[0].Kind, n, code))
		}
	}
	return wrong, len(cells), err
}

func checkCells(t *testing.T, source string) {
	t.Helper()
	at, s, end, err := open(context.Background(), source)
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	wrong, checked, err := at.check(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range wrong {
		if i < 40 {
			t.Error(w)
		}
	}
	t.Logf("%d cells, %d wrong", checked, len(wrong))
}

// duckdb runs statements on a database, or says why the test does not run.
func duckdb(t *testing.T, statements ...string) (file string) {
	t.Helper()
	path, err := exec.LookPath("duckdb")
	if err != nil {
		t.Skip("not run: the program duckdb is not on the PATH")
	}
	file = filepath.Join(t.TempDir(), "it's.db")
	cmd := exec.Command(path, "-init", os.DevNull, "-bail", file, strings.Join(statements, "; "))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return file
}

func TestDuckDB(t *testing.T) {
	file := duckdb(t, "CREATE TABLE t AS SELECT 1 AS v")
	t.Run("cells", func(t *testing.T) { checkCells(t, "duckdb:"+file+"?table=t") })
	t.Run("tables", func(t *testing.T) {
		for _, name := range []string{"icu-mortality", "icu-readmission"} {
			d, err := datasets.Get(name)
			of, schemaErr := d.Schema()
			dir := t.TempDir()
			path := t.TempDir() + "/t.csv"
			if err := errors.Join(err, schemaErr, os.WriteFile(path, d.CSV(), 0o600)); err != nil {
				t.Fatal(err)
			}
			// as texts, and in the types that DuckDB finds, in two files of a folder
			all := fmt.Sprintf("SELECT COALESCE(COLUMNS(*), '') FROM read_csv('%s', "+
				"all_varchar = true)", path)
			typed := fmt.Sprintf("FROM read_csv('%s')", path)
			db := duckdb(t, "CREATE SCHEMA s; CREATE TABLE s.texts AS "+all,
				fmt.Sprintf("COPY (SELECT * %s) TO '%s/typed.parquet' (FORMAT parquet)", typed, dir))
			if err := os.Mkdir(dir+"/more", 0o700); err != nil {
				t.Fatal(err)
			}
			rows := stattest.Must(csv.NewReader(bytes.NewReader(d.CSV())).ReadAll())
			var units []string
			at := slices.Index(rows[0], of.Unit)
			for _, row := range rows[1:] {
				units = append(units, row[max(at, 0)])
			}
			sources := map[string]string{"duckdb:" + db + "?table=s.texts": path,
				"duckdb:" + dir + "/typed.parquet": dir + "/typed.parquet"}
			for source, path := range sources {
				tab := read(t, path, of)
				var stay []int
				if of.Unit != "" {
					stay = bounded(tab, units, of.MaxRowsPerUnit)
				}
				got, err := countAll(source, of)
				if err != nil {
					t.Fatal(err)
				}
				for i, want := range local(t, tab, stay) {
					if !slices.Equal(got[i], want) {
						t.Errorf("%s: %v has other counts", source, pairs(of)[i])
					}
				}
			}
			if err := os.Rename(dir+"/typed.parquet", dir+"/more/1.parquet"); err != nil {
				t.Fatal(err)
			}
			if got, err := countAll("duckdb:"+dir, of); err != nil || len(got) == 0 {
				t.Error(err)
			}
		}
	})
	t.Run("units", func(t *testing.T) {
		file := duckdb(t, "CREATE TABLE t AS SELECT i // 4 AS id, i % 2 = 0 AS v FROM range(10) r(i)")
		of := parse(t, "unit: id\nmax_rows_per_unit: 3\ncolumns: [{name: v, kind: boolean}]\n")
		text, _ := of.YAML()
		got, err := Count(context.Background(), engine.Request{Source: "duckdb:" + file + "?table=t",
			Schema: string(text), Question: engine.AskUnits([]int{1, 2, 3})})
		if err != nil || !slices.Equal(got, []int64{3, 0, 1, 0, 2}) {
			t.Errorf("%v, %v", got, err)
		}
	})
	t.Run("types", func(t *testing.T) {
		file := duckdb(t, "CREATE TYPE mood AS ENUM ('sad', 'a')", "CREATE TABLE t AS SELECT "+
			"CAST('a' AS mood) AS e, TIMESTAMP_NS '2020-01-01 00:00:00.000001999' AS ns, "+
			"TIMESTAMPTZ '2020-01-01 01:00:00+02' AS z, 7::HUGEINT AS h, 7::UBIGINT AS ub, "+
			"CAST('00000000-0000-0000-0000-000000000007' AS UUID) AS u, TRUE AS b, 1.5::FLOAT AS f",
			"CREATE TABLE c (v VARCHAR COLLATE NOCASE)", "INSERT INTO c VALUES ('A')")
		for column, want := range map[string]string{
			"{name: e, kind: categorical, categories: [a, sad]}": "[1 0]",
			"{name: ns, kind: timestamp, " +
				"min: 2020-01-01T00:00:00Z, max: 2020-01-01T00:00:01Z, bins: 2}": "[1 0]",
			"{name: z, kind: timestamp, " +
				"min: 2019-12-31T22:59:59Z, max: 2019-12-31T23:00:00Z, bins: 1}": "[1]",
			"{name: h, kind: integer, min: 6, max: 7}":                                            "[0 1]",
			"{name: ub, kind: integer, min: 6, max: 7}":                                           "[0 1]",
			"{name: u, kind: categorical, categories: [x, 00000000-0000-0000-0000-000000000007]}": "[0 1]",
			"{name: b, kind: boolean}":                                                            "[0 1]",
			"{name: f, kind: real, edges: [0, 1.5, 2]}":                                           "[0 1]",
			"{name: v, kind: categorical, categories: [a, A]}":                                    "[0 1]",
		} {
			table := map[bool]string{true: "c", false: "t"}[strings.HasPrefix(column, "{name: v")]
			got, err := countAll("duckdb:"+file+"?table="+table, parse(t, "columns: ["+column+"]\n"))
			if err != nil || fmt.Sprint(got) != "["+want+"]" {
				t.Errorf("%s: %v, %v, want %s", column, got, err, want)
			}
		}
	})
	t.Run("refused", func(t *testing.T) {
		of := parse(t, "columns: [{name: v, kind: integer, min: 0, max: 9}]\n")
		file := duckdb(t, "CREATE TABLE t AS SELECT [1, 2] AS v", "CREATE TABLE u AS SELECT 1 AS w",
			"CREATE VIEW broken AS SELECT CAST(v AS INTEGER) AS v FROM (VALUES ('zzsecretzz')) x(v)")
		for source, want := range map[string]string{
			"duckdb:" + file + "?table=t":      `column "v" is of type INTEGER[]`,
			"duckdb:" + file + "?table=u":      `no column "v"`,
			"duckdb:" + file + "?table=none":   "Table with name none does not exist",
			"duckdb:" + file + "?table=a.b.c":  "is not the name of a table",
			"duckdb:" + file + "?table=broken": "the statement has failed",
			"duckdb:" + file:                   "say ?table=TABLE",
			"duckdb:postgres:dbname=x":         "of this machine",
			"duckdb:s3://key:zzsecretzz@b/t":   "of this machine",
			"duckdb:" + file + "?tab=t":        "this is not duckdb:FILE",
			"duckdb:/no/such.db?table=t":       "no such file",
			"duckdb:/no/such/*.parquet":        "no such file",
		} {
			got, err := countAll(source, of)
			if err == nil || !strings.Contains(err.Error(), want) ||
				strings.Contains(err.Error(), "zzsecretzz") {
				t.Errorf("%s: %v, %v, want %q", source, got, err, want)
			}
		}
	})
}

// TestDuckDBMacros: a statement is of the system's functions, views are of their database's.
func TestDuckDBMacros(t *testing.T) {
	file := duckdb(t, "CREATE MACRO mod(a, b) AS 0", "CREATE MACRO trim(a, b) AS 'x'",
		"CREATE MACRO plus(a) AS a + 1", "CREATE TABLE t AS SELECT ' ' || (i // 4) AS id, i % 4 AS v "+
			"FROM range(12) r(i)", "CREATE SCHEMA s", "CREATE VIEW s.w AS SELECT id, plus(v) AS v, "+
			"mod(v, 3) AS z FROM t", `CREATE VIEW own AS FROM "it's".main.t`)
	of := parse(t, "unit: id\nmax_rows_per_unit: 2\n"+
		"columns: [{name: v, kind: integer, min: 0, max: 4}]\n")
	plain := duckdb(t, "CREATE TABLE t AS SELECT ' ' || (i // 4) AS id, i % 4 AS v "+
		"FROM range(12) r(i)")
	want := stattest.Must(countAll("duckdb:"+plain+"?table=t", of))
	for _, table := range []string{"t", "main.t", "own"} {
		got, err := countAll("duckdb:"+file+"?table="+table, of)
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, %v, want %v", table, got, err, want)
		}
	}
	of = parse(t, "columns: [{name: v, kind: integer, min: 0, max: 4}, {name: z, kind: boolean, "+
		"categories: [\"0\", \"1\"]}]\n")
	got, err := countAll("duckdb:"+file+"?table=s.w", of)
	if err != nil || fmt.Sprint(got[:1], got[2]) != "[[0 3 3 3 3]] [12 0]" {
		t.Errorf("a view of macros: %v, %v", got, err)
	}
}

// TestSystemFirst is the same by what DuckDB is started with, where it is not on this machine. One
// that is too old is refused in words.
func TestSystemFirst(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	const system = `AS "main_db" (READ_ONLY); SET search_path = 'system.main,"main_db".main'`
	for version, want := range map[string]string{"v1.5.0": system, "v2.0.1 (x)": system,
		"v1.4.4 (Andium)": "1.5 or later; on the PATH is v1.4.4 (Andium)", "v0.10.2": "is v0.10.2",
		"what?": "1.5 or later"} {
		script := []byte("#!/bin/sh\n[ $1 = --version ] && echo '" + version + "' && exit\n" +
			"echo \"IO Error: $*\" >&2\nexit 1\n")
		err := errors.Join(os.WriteFile(dir+"/duckdb", script, 0o700),
			os.WriteFile(dir+"/main.db", nil, 0o600))
		if err != nil {
			t.Fatal(err)
		}
		err = check("duckdb:"+dir+"/main.db?table=t", parse(t, "columns: [{name: v, kind: boolean}]\n"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", version, err, want)
		}
	}
}

// TestDuckDBTexts: a view that DuckDB could only plan by reading rows of texts is refused unread.
func TestDuckDBTexts(t *testing.T) {
	csv, other := t.TempDir()+"/zzsecretzz.csv", t.TempDir()+"/v.parquet"
	if err := os.WriteFile(csv, []byte("v\n1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	file := duckdb(t, "COPY (SELECT 1 AS v) TO '"+other+"' (FORMAT parquet)",
		"CREATE VIEW plain AS FROM READ_CSV('"+csv+"')", "CREATE VIEW bare AS FROM '"+csv+"'",
		"CREATE MACRO files() AS TABLE FROM read_text('"+csv+"')",
		"CREATE VIEW macro AS SELECT 1 AS v FROM files()", "CREATE TABLE copied AS FROM plain",
		"CREATE VIEW columns AS SELECT v, v AS read_at FROM read_parquet('"+other+"')",
		"CREATE VIEW named AS SELECT length(file) AS v FROM glob('"+csv+"')",
		"CREATE VIEW asked AS FROM query('SELECT 1 AS v')", `CREATE VIEW "x AS y" AS FROM copied`,
		"CREATE VIEW scalar AS SELECT (SELECT count(*) FROM read_blob('"+csv+"')) AS v",
		"CREATE MACRO most() AS (SELECT max(length(content)) FROM read_text('"+csv+"'))",
		"CREATE VIEW counted AS SELECT most() AS v", `CREATE VIEW "q""t" AS FROM PLAIN`,
		"CREATE MACRO numbers(n) AS TABLE FROM range(n) x(v)",
		"CREATE VIEW plainly AS\nWITH x AS (FROM numbers(3)) SELECT v FROM x, unnest([1, 2]) u(w)",
		"CREATE VIEW file AS FROM '"+other+"'", "COPY (SELECT 1 AS v) TO '"+csv+`"".x.csv'`,
		`CREATE VIEW quoted AS FROM '`+csv+`"".x.csv'`, `CREATE VIEW over AS FROM "q""t"`,
		// names of functions, a name that ends a statement, and one that JSON escapes
		"CREATE MACRO mod(a, b) AS (SELECT count(*) FROM read_csv('"+csv+"'))",
		"CREATE VIEW shadowed AS SELECT mod(1, 2) AS v", `CREATE VIEW "a\b" AS FROM plain`,
		"CREATE MACRO generate_series(a) AS TABLE FROM read_csv('"+csv+"')",
		"CREATE VIEW series AS FROM generate_series(1)", `CREATE VIEW slash AS FROM "a\b"`,
		`CREATE VIEW "v AS SELECT 1 AS v --" AS FROM plain`)
	if err := os.Remove(csv); err != nil {
		t.Fatal(err)
	}
	of := parse(t, "columns: [{name: v, kind: integer, min: 0, max: 3}]\n")
	for i, table := range []string{"copied", "columns", "plainly", "file", "x AS y", "plain", "bare",
		"over", "macro", "named", "asked", "scalar", "counted", "quoted", "shadowed", "series", "slash",
		"v AS SELECT 1 AS v --"} {
		err := check("duckdb:"+file+"?table="+table, of)
		if i < 5 && err != nil || i >= 5 && !errors.Is(err, errTexts) {
			t.Errorf("%s: %v", table, err)
		}
	}
}

// TestBlocks: counts of blocks give those of all sets, of tables of random sizes.
func TestBlocks(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		sizes := make([]int, 2+random.IntN(12))
		for i := range sizes {
			sizes[i] = 1 + random.IntN(40)
		}
		var sets [][]int
		for i := range sizes {
			sets = append(sets, []int{i})
			for j := i + 1; j < len(sizes); j++ {
				if sets = append(sets, []int{i, j}); random.IntN(9) == 0 && j+1 < len(sizes) {
					sets = append(sets, []int{i, j, j + 1})
				}
			}
		}
		b := blocksOf(sets, sizes, 1<<15)
		cells, want := map[int64]int64{}, []int64{30}
		rows := make([][]int, 30)
		for r := range rows {
			for _, n := range sizes {
				rows[r] = append(rows[r], random.IntN(n))
			}
			for i, block := range b.columns {
				at := 0
				for _, c := range block {
					at = at*sizes[c] + rows[r][c]
				}
				cells[int64(b.first[i]+at)]++
			}
		}
		for _, set := range sets {
			counts := make([]int64, engine.CellsOf(set, sizes))
			for _, row := range rows {
				at := 0
				for _, c := range set {
					at = at*sizes[c] + row[c]
				}
				counts[at]++
			}
			want = append(want, counts...)
		}
		if got, err := b.answer(cells); err != nil || !slices.Equal(got, want) {
			t.Fatalf("%v: %v", sizes, err)
		}
		if len(b.columns) >= len(sets) && len(sizes) > 3 {
			t.Errorf("%d blocks for %d sets of %v", len(b.columns), len(sets), sizes)
		}
		cells[0]++ // one block has a row more
		if _, err := b.answer(cells); len(b.columns) > 1 && !errors.Is(err, engine.ErrCounts) {
			t.Error("counts of two tables are one")
		}
		cells[0]--
		cells[int64(b.first[len(b.columns)])]++
		if _, err := b.answer(cells); !errors.Is(err, engine.ErrCounts) {
			t.Error("a cell of no block is taken")
		}
	}
}

var write = flag.Bool("write", false, "write testdata anew")

// TestStatements holds the statements of all dialects to those in testdata, which engines have run:
// so that where there is no engine a change is seen, too.
func TestStatements(t *testing.T) {
	of := parse(t, "unit: id\nmax_rows_per_unit: 2\ncolumns:\n"+
		"  - {name: n, kind: integer, min: 0, max: 3, missing: [\"\"]}\n"+
		"  - {name: w, kind: categorical, categories: [\"it's\", b]}\n"+
		"  - {name: x, kind: real, edges: [0, 0.5, 2]}\n")
	var got strings.Builder
	for _, d := range []*dialect{postgreSQL, duckDB, spark} {
		types := map[string]string{}
		for name, c := range map[string]class{"id": whole, "n": text, "w": text, "x": real} {
			for kind, is := range d.classes {
				if is == c && (types[name] == "" || kind < types[name]) {
					types[name] = kind
				}
			}
		}
		at := &relation{dialect: d, from: d.name("s") + "." + d.name("t"), types: types}
		for _, q := range []engine.Question{engine.AskSets([][]int{{0}, {0, 1}, {1, 2}}, of.Sizes()),
			engine.AskUnits([]int{1, 2})} {
			fmt.Fprintln(&got, strings.ReplaceAll(stattest.Must(at.ask(of, q, "00ff")).text,
				"FROM (", "\nFROM ("))
		}
	}
	const file = "testdata/statements.sql"
	if *write {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if string(stattest.Must(os.ReadFile(file))) != got.String() {
		t.Errorf("other statements than in %s: where they are right, -args -write:\n%s", file,
			got.String())
	}
}
