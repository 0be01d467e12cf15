package sql

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/decoy-dp/decoy/data/engine"
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
)

// typed are columns of types that engines read in ways of their own. "long" is a text of 1 MiB and
// a byte.
var typed = []struct {
	postgres, duckdb, column string
	cells                    []string
}{
	{"float4", "FLOAT", "kind: real, edges: [0, 0.1, 0.7, 0.9, 1e30]",
		[]string{"0.7", "0.1", "0.9", "0.30000001", "1e30", "1e38", "-1e-45", "16777217"}},
	{"numeric", "DECIMAL(38, 18)", `kind: real, min: 0, max: 1, bins: 10, missing: [""], on_invalid: clamp`,
		[]string{"0.7", "0.1", "0.30000000000000004", "-1", "1", "99999999999999999999"}},
	{"numeric", "", `kind: real, min: -2, max: 1, bins: 10, missing: [""], on_invalid: clamp`,
		[]string{"1e2000", "-1e2000", "1e-1500", "1e300", "-1e100", "NaN"}},
	{"numeric", "UBIGINT", `kind: categorical, categories: ["18446744073709551615", "7", "07"]`,
		[]string{"18446744073709551615", "9223372036854775808", "7"}},
	{"numeric", "HUGEINT", "kind: integer, min: 6, max: 9007199254740991, bins: 9, on_invalid: clamp",
		[]string{"7", "9007199254740993", "-170141183460469231731687303715884105728"}},
	{"numeric", "DECIMAL(9, 2)", `kind: categorical, categories: ["1.50", "1.5", "2"]`,
		[]string{"1.50", "2.00", "2"}},
	{"date", "DATE", `kind: date, min: 1999-12-31, max: 2020-03-01, bins: 5, missing: [""], on_invalid: clamp`,
		[]string{"0044-03-15 BC", "0001-01-01", "9999-12-31", "10000-01-01", "infinity", "2000-02-29"}},
	{"timestamp", "TIMESTAMP", "kind: timestamp, min: 1999-12-31T00:00:00Z, " +
		`max: 2020-03-01T00:00:00Z, bins: 5, missing: [""], on_invalid: clamp`,
		[]string{"0044-03-15 00:00:00 BC", "0001-01-01 00:00:00", "12000-01-01 00:00:00", "-infinity",
			"2000-02-29 12:00:00.5"}},
	{"", "TIMESTAMP_NS", "kind: timestamp, " +
		"edges: [1960-01-01T00:00:00Z, 1970-01-01T00:00:00Z, 1980-01-01T00:00:00Z]",
		[]string{"1969-12-31 23:59:59.999999999", "1969-12-31 23:59:59.999998001",
			"1970-01-01 00:00:00.000000001"}},
	{"text", "VARCHAR", `kind: categorical, categories: [a, z], missing: [""], other: z, on_invalid: other`,
		[]string{"long", "a", "b"}},
	{"text", "VARCHAR", `kind: real, min: 0, max: 9, bins: 3, missing: [""], on_invalid: clamp`,
		[]string{"long", "3", "0.7", "1e999"}},
	{"bool", "BOOLEAN", `kind: categorical, categories: ["true", f]`, []string{"true", "false"}},
	{"int8", "UINTEGER", `kind: categorical, categories: ["7", "07"]`, []string{"7", "4294967295"}},
}

// sameAsCSV compares the counts of a column with those of a CSV file of its cells.
func sameAsCSV(
	t *testing.T, kind, column string, cells []string,
	source func(values string) (address string, texts []string),
) {
	t.Helper()
	var values []string
	for _, c := range append(slices.Clone(cells), "") {
		v := "'" + c + "'"
		if c == "" {
			v = "NULL"
		} else if c == "long" {
			v = "repeat('1', 1048577)"
		}
		values = append(values, "(CAST("+v+" AS "+kind+"))")
	}
	address, texts := source(strings.Join(values, ", "))
	var file bytes.Buffer
	w := csv.NewWriter(&file)
	w.Write([]string{"v", "w"})
	for _, c := range texts {
		w.Write([]string{c, "1"})
	}
	w.Flush()
	path := t.TempDir() + "/v.csv"
	if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	of := parse(t, "columns: [{name: v, "+column+"}]\n").ForPrivate()
	want := local(t, read(t, path, of), nil)
	got, err := countAll(address, of)
	if err != nil || !slices.Equal(got[0], want[0]) {
		t.Errorf("%s as %s: %v, %v, of the file %v", kind, column, got, err, want)
	}
}

func TestDuckDBTypes(t *testing.T) {
	for _, c := range typed {
		if c.duckdb == "" {
			continue
		}
		sameAsCSV(t, c.duckdb, c.column, c.cells, func(values string) (string, []string) {
			before := strings.NewReplacer(" 00:00:00 BC'", " (BC) 00:00:00'", " BC'", " (BC)'")
			values = before.Replace(values)
			file := duckdb(t, "CREATE TABLE t AS SELECT * FROM (VALUES "+values+") t(v)")
			out := stattest.Must(exec.Command("duckdb", "-init", os.DevNull, "-csv", "-noheader", file,
				"SELECT COALESCE(CAST(v AS VARCHAR), ''), 1 FROM t").Output())
			var texts []string
			for _, row := range stattest.Must(csv.NewReader(bytes.NewReader(out)).ReadAll()) {
				texts = append(texts, row[0])
			}
			return "duckdb:" + file + "?table=t", texts
		})
	}
}

func (s *postgres) types(t *testing.T) {
	for _, c := range typed {
		if c.postgres == "" {
			continue
		}
		sameAsCSV(t, c.postgres, c.column, c.cells, func(values string) (string, []string) {
			s.exec(t, "DROP TABLE IF EXISTS typed",
				"CREATE TABLE typed AS SELECT * FROM (VALUES "+values+") t(v)")
			var texts []string
			const query = "SELECT v::text FROM typed"
			r := s.conn.ExecParams(context.Background(), query, nil, nil, nil, nil).Read()
			for _, row := range r.Rows {
				texts = append(texts, string(row[0]))
			}
			return s.source("typed"), texts
		})
	}
}

// TestWide: a question about all pairs of many columns is planned, in few blocks.
func TestWide(t *testing.T) {
	sizes := make([]int, 300)
	var sets [][]int
	for i := range sizes {
		sizes[i] = 12
		for j := range i {
			sets = append(sets, []int{j, i})
		}
	}
	b := blocksOf(sets, sizes, 1<<15)
	// six pairs a block is what four columns have at most
	if n := len(b.columns); n > len(sets)/3 {
		t.Errorf("%d blocks for %d pairs", n, len(sets))
	}
	t.Logf("%d blocks", len(b.columns))
}

// check asks whether a table can be counted.
func check(source string, of *schema.Schema) error {
	text, err := of.YAML()
	if err == nil {
		_, err = Count(context.Background(), engine.Request{Source: source, Schema: string(text),
			Question: engine.AskSets(pairs(of), of.Sizes()), Check: true})
	}
	return err
}

// TestFolders: what may not be part of a table of Parquet is refused before a row is read.
func TestFolders(t *testing.T) {
	duckdb(t, "SELECT 1") // without which no case is run, whatever their order
	of := parse(t, "columns: [{name: v, kind: integer, min: 0, max: 3}]\n")
	for name, c := range map[string]struct {
		files map[string]string // names and what DuckDB writes in them; "" is nothing
		want  string
	}{
		"two":      {map[string]string{"a.parquet": "1 AS v", "k=1/b.PARQUET": "2 AS v, 3 AS w"}, `"w"`},
		"good":     {map[string]string{"a.parquet": "1 AS v", "k=1/b.PARQUET": "2 AS v"}, ""},
		"marks":    {map[string]string{"a.parquet": "1 AS v", "_SUCCESS": "", ".a.parquet.crc": ""}, ""},
		"types":    {map[string]string{"a.parquet": "1 AS v", "b.parquet": "2.5 AS v"}, "in another"},
		"begun":    {map[string]string{"a.parquet": "1 AS v", "_temporary/b.parquet": "2 AS v"}, "_temp"},
		"hidden":   {map[string]string{"a.parquet": "1 AS v", ".b.parquet": "2 AS v"}, ".b.parquet"},
		"other":    {map[string]string{"a.parquet": "1 AS v", "b.csv": ""}, "b.csv"},
		"pattern":  {map[string]string{"a[1].parquet": ""}, "patterns"},
		"nothing":  {map[string]string{"_SUCCESS": ""}, "no Parquet file"},
		"damaged":  {map[string]string{"a.parquet": ""}, errFailed.Error()},
		"misspelt": {map[string]string{"a.parquet": "1 AS V"}, `no column "v"; did you mean "V"?`},
	} {
		dir := t.TempDir()
		for file, of := range c.files {
			os.MkdirAll(dir+"/"+file[:max(0, strings.LastIndex(file, "/"))], 0o700)
			err := os.WriteFile(dir+"/"+file, nil, 0o600)
			if of != "" {
				duckdb(t, "COPY (SELECT "+of+") TO '"+dir+"/"+file+"' (FORMAT parquet)")
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		err := check("duckdb:"+dir, of)
		if c.want == "" && err != nil ||
			c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if c.want == "" {
			if err := os.Symlink(dir+"/a.parquet", dir+"/z.parquet"); err != nil {
				t.Fatal(err)
			}
			if err := check("duckdb:"+dir, of); err == nil || !strings.Contains(err.Error(), "a link") {
				t.Errorf("%s: a link: %v", name, err)
			}
			if err := check("duckdb:"+dir+"/z.parquet", of); err != nil { // which is named by its owner
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// TestFailures: what fails over rows alone fails once it is paid, with one sentence for all rows;
// what is public fails before.
func TestFailures(t *testing.T) {
	s := startServer(t)
	s.exec(t, "CREATE TABLE t AS SELECT 'zz' AS v, 1 AS other", "CREATE ROLE analyst LOGIN",
		"GRANT SELECT (v) ON t TO analyst", "CREATE VIEW words AS SELECT v::int AS v FROM t",
		"CREATE VIEW zeros AS SELECT 1 / (length(v) - 2) AS v FROM t",
		"CREATE VIEW slow AS SELECT length(v) AS v FROM t, LATERAL pg_sleep(.3)",
		"CREATE FUNCTION planned() RETURNS int IMMUTABLE LANGUAGE plpgsql AS "+
			"'BEGIN RETURN v::int FROM public.t; END'",
		"CREATE FUNCTION raised() RETURNS int STABLE LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION USING "+
			"ERRCODE = ''42703'', MESSAGE = (SELECT v FROM public.t); END'",
		"CREATE VIEW plans AS SELECT planned() AS v", "CREATE VIEW raises AS SELECT raised() AS v",
		"CREATE TABLE mine (v int)", "INSERT INTO mine VALUES (1)",
		"ALTER TABLE mine ENABLE ROW LEVEL SECURITY", "GRANT SELECT ON mine TO analyst",
		"CREATE TABLE floats AS SELECT 16777215::real AS v",
		"CREATE MATERIALIZED VIEW empty AS SELECT 1 AS v WITH NO DATA")
	of := parse(t, "columns: [{name: v, kind: integer, min: 0, max: 3}]\n")
	for _, table := range []string{"words", "zeros", "plans", "raises"} {
		err := check(s.source(table), of)
		if _, counted := s.count(table, of); err != nil || counted != errFailed {
			t.Errorf("%s: %v, then %v", table, err, counted)
		}
	}
	err := check(s.source("empty"), of)
	if err == nil || !strings.Contains(err.Error(), "view without data") {
		t.Errorf("WITH NO DATA: %v", err)
	}
	hidden := strings.Replace(s.source("mine"), "decoy@", "analyst@", 1)
	if err := check(hidden, of); err == nil || !strings.Contains(err.Error(), "row-level security") {
		t.Errorf("rows that the user may not see: %v", err)
	}
	digits := parse(t, "columns: [{name: v, kind: real, edges: [0, 16777215, 16777216, 17000000]}]\n")
	got, err := countAll(s.source("floats")+"&extra_float_digits=-3", digits)
	if err != nil || fmt.Sprint(got) != "[[0 1 0]]" {
		t.Errorf("a float of other digits than the role's: %v, %v", got, err)
	}
	_, ask, end, err := open(context.Background(), s.source("t")+"&client_connection_check_interval=0")
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	err = ask(context.Background(), "SHOW client_connection_check_interval", func(row []string) error {
		if row[0] != "5s" {
			t.Errorf("the server looks every %s whether decoy is there", row[0])
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if got, err := countAll(s.source("slow")+"&statement_timeout=100", of); err != nil {
		t.Errorf("a limit of time ends what is paid for: %v, %v", got, err)
	}
	// who may read the columns that are asked for needs no others
	mine := strings.Replace(s.source("t"), "decoy@", "analyst@", 1)
	words := parse(t, "columns: [{name: v, kind: categorical, categories: [zz]}]\n")
	if got, err := countAll(mine, words); err != nil || check(mine, words) != nil {
		t.Errorf("%v, %v, %v", got, err, check(mine, words))
	}
	other := parse(t, "columns: [{name: other, kind: integer, min: 0, max: 3}]\n")
	err = check(mine, other)
	if err == nil || !strings.Contains(err.Error(), "or it may not be read") {
		t.Error(err)
	}
}

// TestParquetTexts: what is no UTF-8 in Parquet, which DuckDB does not read, fails as all else.
func TestParquetTexts(t *testing.T) {
	dir := t.TempDir()
	duckdb(t, "COPY (SELECT 'zsecretz' AS v) TO '"+dir+"/v.parquet' (FORMAT parquet, COMPRESSION "+
		"uncompressed)")
	file := stattest.Must(os.ReadFile(dir + "/v.parquet"))
	file = bytes.ReplaceAll(file, []byte("zsecretz"), []byte("zsecret\xff"))
	if err := os.WriteFile(dir+"/v.parquet", file, 0o600); err != nil {
		t.Fatal(err)
	}
	of := parse(t, "columns: [{name: v, kind: categorical, categories: [a]}]\n")
	err := check("duckdb:"+dir, of)
	if _, counted := countAll("duckdb:"+dir, of); err != nil || counted != errFailed {
		t.Errorf("%v, then %v", err, counted)
	}
}

// TestKilled: DuckDB ends with its statement, and with the program that started it.
func TestKilled(t *testing.T) {
	file := duckdb(t, "CREATE VIEW slow AS SELECT 1 AS v FROM range(10000000) a, range(10000000) b")
	source := "duckdb:" + file + "?table=slow"
	of := parse(t, "columns: [{name: v, kind: integer, min: 0, max: 3}]\n")
	text, _ := of.YAML()
	request := engine.Request{Source: source, Schema: string(text),
		Question: engine.AskSets([][]int{{0}}, of.Sizes())}
	if os.Getenv("DECOY_TEST_COUNT") != "" { // the program that is killed, below
		request.Source = os.Getenv("DECOY_TEST_COUNT")
		Count(context.Background(), request)
		return
	}
	running := func() bool { // not of a pattern of its own
		out, _ := exec.Command("pgrep", "-f", "ATTACH.*"+strings.TrimSuffix(file, "it's.db")).Output()
		return len(out) > 0
	}
	wait := func(want bool) {
		t.Helper()
		for end := time.Now().Add(time.Minute); running() != want; time.Sleep(30 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("DuckDB runs: %v", !want)
			}
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() {
		_, err := Count(ctx, request)
		ended <- err
	}()
	time.Sleep(time.Second) // the table is described
	wait(true)
	cancel()
	if err := <-ended; err != context.Canceled {
		t.Error(err)
	}
	wait(false)
	cmd := exec.Command(os.Args[0], "-test.run", "^TestKilled$")
	cmd.Env = append(os.Environ(), "DECOY_TEST_COUNT="+source)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second)
	wait(true)
	cmd.Process.Kill()
	cmd.Wait()
	wait(false)
}
