package sql

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/decoy-dp/decoy/data/engine"
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/datasets"
	"github.com/decoy-dp/decoy/internal/stattest"
)

// tables is a folder with adult.csv and others, whose schemas 'decoy datasets export' writes.
var tables = flag.String("tables", "", "also count the CSV files of this folder, each with the "+
	"schema FILE.yaml beside it")

func parse(t *testing.T, text string) *schema.Schema {
	t.Helper()
	s := stattest.Must(schema.Parse([]byte("decoy: 1\n" + text)))
	return s
}

// seed is that of tests.
const seed = "01020304"

// countAll counts all columns and all pairs of a table.
func countAll(source string, of *schema.Schema) (out [][]int64, err error) {
	text, err := of.YAML()
	if err != nil {
		return nil, err
	}
	r := engine.Request{Source: source, Schema: string(text), Nonce: []byte{1, 2, 3, 4},
		Question: engine.AskSets(pairs(of), of.Sizes())}
	answer, err := Count(context.Background(), r)
	if err != nil {
		return nil, err
	}
	rows, answer := answer[0], answer[1:]
	for _, set := range pairs(of) {
		n := engine.CellsOf(set, of.Sizes())
		out, answer = append(out, answer[:n]), answer[n:]
	}
	for _, n := range out[0] {
		rows -= n
	}
	if rows != 0 {
		err = errors.New("another number of rows")
	}
	return out, err
}

// count is countAll of a table of the server.
func (s *postgres) count(table string, of *schema.Schema) ([][]int64, error) {
	return countAll(s.source(table), of)
}

func pairs(s *schema.Schema) (sets [][]int) {
	for i := range s.Columns {
		sets = append(sets, []int{i})
		for j := i + 1; j < len(s.Columns); j++ {
			sets = append(sets, []int{i, j})
		}
	}
	return sets
}

// local are the counts of a file that is read here, of the rows that stay; nil: of all.
func local(t *testing.T, tab *table.Table, stay []int) (out [][]int64) {
	t.Helper()
	if stay != nil {
		tab = tab.Select(stay)
	}
	for _, set := range pairs(tab.Schema()) {
		n := 1
		for _, c := range set {
			n *= tab.Schema().Sizes()[c]
		}
		counts := tab.Counts(set...)
		out = append(out, counts)
	}
	return out
}

func read(t *testing.T, path string, s *schema.Schema) *table.Table {
	t.Helper()
	tab, _, err := table.Read(context.Background(), path, s, table.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// bounded are the rows that stay of units with at most k: every n/k-th in the order of their codes.
func bounded(tab *table.Table, units []string, k int) (stay []int) {
	of := map[string][]int{}
	for at, unit := range units {
		if unit != "" {
			of[unit] = append(of[unit], at)
		}
	}
	key := func(row int) int { // of one word: tests have few columns
		key, size := 0, 1
		for i, n := range tab.Schema().Sizes() {
			c, code := tab.Column(i), 0
			if c.U8 != nil {
				code = int(c.U8[row])
			} else {
				code = int(c.U16[row])
			}
			key, size = key+code*size, size*n
		}
		return key
	}
	for unit, rows := range of {
		slices.SortStableFunc(rows, func(a, b int) int { return key(a) - key(b) })
		sum := sha256.Sum256([]byte(seed + " " + unit))
		start := int(binary.BigEndian.Uint32(sum[:]))
		for p, row := range rows {
			if n := len(rows); n <= k || ((p+1)*k+start)%n < k {
				stay = append(stay, row)
			}
		}
	}
	return stay
}

func TestPostgres(t *testing.T) {
	s := startServer(t)
	dir := t.TempDir()
	load := func(t *testing.T, name string, file []byte, of *schema.Schema) (string, [][]string) {
		t.Helper()
		path := filepath.Join(dir, name+".csv")
		reader := csv.NewReader(bytes.NewReader(file))
		reader.Comma = rune(of.CSV.Separator())
		rows, err := reader.ReadAll()
		if err := errors.Join(err, os.WriteFile(path, file, 0o600)); err != nil {
			t.Fatal(err)
		}
		s.load(t, name, rows, of)
		return path, rows
	}
	same := func(t *testing.T, name string, file []byte, of *schema.Schema) {
		t.Helper()
		path, rows := load(t, name, file, of)
		tab := read(t, path, of)
		var stay []int
		if of.Unit != "" {
			at, units := slices.Index(rows[0], of.Unit), []string{}
			for _, row := range rows[1:] {
				units = append(units, strings.Trim(row[at], schema.IDBlanks))
			}
			stay = bounded(tab, units, of.MaxRowsPerUnit)
		}
		got := stattest.Must(s.count(name, of))
		want := local(t, tab, stay)
		if !slices.EqualFunc(got, want, slices.Equal[[]int64]) {
			t.Errorf("%s: the server's counts are not those of the file", name)
		}
		for i, set := range pairs(of) {
			if len(set) == 1 && !slices.Equal(got[i], want[i]) {
				t.Logf("column %s: %v, want %v", of.Columns[set[0]].Name, got[i], want[i])
			}
		}
	}

	t.Run("codes", func(t *testing.T) {
		s.exec(t, "CREATE TABLE t AS SELECT 1 AS v")
		checkCells(t, s.source("t"))
	})
	t.Run("embedded tables", func(t *testing.T) {
		for _, name := range []string{"icu-mortality", "icu-readmission"} {
			d, err := datasets.Get(name)
			of, schemaErr := d.Schema()
			if err := errors.Join(err, schemaErr); err != nil {
				t.Fatal(err)
			}
			same(t, strings.ReplaceAll(name, "-", "_"), d.CSV(), of)
		}
	})
	t.Run("tables", func(t *testing.T) {
		files, _ := filepath.Glob(*tables + "/*.csv")
		for _, f := range files {
			if of, err := schema.Load(strings.TrimSuffix(f, ".csv") + ".yaml"); err == nil {
				file := stattest.Must(os.ReadFile(f))
				begin := time.Now()
				same(t, "t_"+strings.TrimSuffix(filepath.Base(f), ".csv"), file, of)
				t.Logf("%s: equal, %.1f s in all", filepath.Base(f), time.Since(begin).Seconds())
			}
		}
	})
	t.Run("bounded units", func(t *testing.T) {
		random := rand.New(rand.NewPCG(1, 2))
		var file bytes.Buffer
		file.WriteString("word,id,x,day\n")
		for range 5000 { // of about 140 units, which have from one row to hundreds
			fmt.Fprintf(&file, "%s,%sü%d\t,%g,2020-%02d-01\n",
				[]string{"a", "it's", "\"b,b\""}[random.IntN(3)], []string{"", " ", "\t "}[random.IntN(3)],
				int(random.ExpFloat64()*20), float64(random.IntN(12))/10, random.IntN(12)+1)
		}
		for _, k := range []int{1, 3, 40, 5000} {
			same(t, "bounded", file.Bytes(), parse(t, fmt.Sprintf("unit: id\nmax_rows_per_unit: %d\n"+
				"columns:\n  - {name: word, kind: categorical, categories: [a, \"it's\", \"b,b\"]}\n"+
				"  - {name: x, kind: real, min: 0, max: 1, bins: 10, on_invalid: clamp}\n"+
				"  - {name: day, kind: date, min: 2020-01-01, max: 2020-12-31, bins: 7}\n", k)))
		}
	})
	t.Run("units", func(t *testing.T) {
		columns := "columns: [{name: v, kind: boolean}]\n"
		s.exec(t, "CREATE TABLE ids AS SELECT * FROM (VALUES (NULL, true), ('', true), (E' \\t', true), "+
			"('a', true), (E'\\ta', true), ('b', false)) t(id, v)",
			"CREATE TABLE bad_ids AS SELECT 1.5::float8 AS id, true AS v")
		for _, c := range []struct{ table, schema, want string }{
			{"ids", "unit: id\nmax_rows_per_unit: 1\n", "[[1 1]]"},
			{"ids", "unit: id\nmax_rows_per_unit: 2\n", "[[1 2]]"},
			{"ids", "", "[[1 5]]"},
			{"bad_ids", "unit: id\nmax_rows_per_unit: 2\n", `id column "id"`},
			{"ids", "unit: iD\nmax_rows_per_unit: 2\n", `no column "iD", which holds the privacy unit; did you`},
		} {
			got, err := s.count(c.table, parse(t, c.schema+columns))
			if text := fmt.Sprint(got, err); !strings.Contains(text, c.want) {
				t.Errorf("%s %q: %s, want %s", c.table, c.schema, text, c.want)
			}
		}
	})
	t.Run("types", func(t *testing.T) {
		s.exec(t, "CREATE TYPE mood AS ENUM ('sad', 'a')",
			"CREATE DOMAIN years AS int CHECK (value >= 0)",
			"CREATE DOMAIN old AS years CHECK (value > 60)", "CREATE TABLE types AS SELECT 'a'::mood AS e, "+
				"70::old AS y, 'a'::char(5) AS c, '00000000-0000-0000-0000-000000000007'::uuid AS u, "+
				"1.5::numeric(5, 2) AS n, '2020-01-01 01:00+02'::timestamptz AS z, '2020-01-01'::date AS d")
		for column, want := range map[string]string{
			"{name: e, kind: categorical, categories: [a, sad]}":                                  "[1 0]",
			"{name: y, kind: integer, min: 69, max: 70}":                                          "[0 1]",
			"{name: c, kind: categorical, categories: [a, b]}":                                    "[1 0]",
			"{name: u, kind: categorical, categories: [x, 00000000-0000-0000-0000-000000000007]}": "[0 1]",
			"{name: n, kind: real, edges: [0, 1.5, 2]}":                                           "[0 1]",
			"{name: z, kind: timestamp, " +
				"min: 2019-12-31T22:59:59Z, max: 2019-12-31T23:00:00Z, bins: 1}": "[1]",
			"{name: d, kind: date, min: 2019-12-31, max: 2020-01-01}": "[0 1]",
		} {
			got, err := s.count("types", parse(t, "columns: ["+column+"]\n"))
			if err != nil || fmt.Sprint(got) != "["+want+"]" {
				t.Errorf("%s: %v, %v, want %s", column, got, err, want)
			}
		}
	})
	t.Run("refused", func(t *testing.T) {
		const cell = "zzsecretzz"
		s.exec(t, "CREATE TABLE odd AS SELECT '"+cell+"'::text AS word, 3::int AS n, '{}'::jsonb AS j, "+
			"DATE '2020-01-01' AS day, array[1] AS list",
			"CREATE VIEW broken AS SELECT word::int AS n FROM odd")
		for _, c := range []struct{ table, columns, want string }{
			{"odd", "{name: word, kind: timestamp, min: 2020-01-01, max: 2020-02-01}",
				"of type text, which is not read"},
			{"odd", "{name: j, kind: categorical, categories: [a, b]}", "of type jsonb"},
			{"odd", "{name: list, kind: integer, min: 0, max: 9}", "of type integer[]"},
			{"public/odd", "{name: n, kind: integer, min: 0, max: 9}", "SCHEMA.TABLE"},
			{"odd", "{name: day, kind: integer, min: 0, max: 9}", "of type date"},
			{"odd", "{name: n, kind: date, min: 2020-01-01, max: 2020-02-01}", "of type int4"},
			{"odd", "{name: none, kind: boolean}", `no column "none"`},
			{"none", "{name: none, kind: boolean}", "is not there"},
			{"broken", "{name: n, kind: integer, min: 0, max: 9}", "the statement has failed"},
			{"odd", "{name: n, kind: integer, min: 0, max: 9}, {name: m, kind: integer, after: n, min: 0, " +
				"max: 9}", "after or rules"},
		} {
			got, err := s.count(c.table, parse(t, "columns: ["+c.columns+"]\n"))
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), cell) {
				t.Errorf("%s %s: %v, %v, want %q", c.table, c.columns, got, err, c.want)
			}
		}
		of := parse(t, "columns: [{name: n, kind: integer, min: 0, max: 9}]\n")
		s.exec(t, "CREATE TABLE nothing (n int)", "CREATE TABLE hidden AS SELECT 1 AS n",
			"ALTER TABLE hidden ENABLE ROW LEVEL SECURITY", "CREATE ROLE weak LOGIN",
			"GRANT SELECT ON hidden TO weak")
		if got, err := s.count("nothing", of); err != nil || fmt.Sprint(got) !=
			"[[0 0 0 0 0 0 0 0 0 0]]" {
			t.Errorf("an empty table: %v, %v", got, err)
		}
		text, _ := of.YAML()
		r := engine.Request{Source: strings.Replace(s.source("hidden"), "decoy@", "weak@", 1),
			Schema: string(text), Question: engine.AskSets(pairs(of), of.Sizes())}
		if _, err := Count(context.Background(), r); err == nil {
			t.Error("rows that the user may not see are left out in silence")
		}
		lost := postgres{dir: "/no/such/folder"}
		if _, err := lost.count("t", of); err == nil ||
			!strings.Contains(err.Error(), "no connection") || strings.Contains(err.Error(), "5432") {
			t.Error(err)
		}
	})
	t.Run("cancel", func(t *testing.T) {
		s.exec(t, "CREATE VIEW slow AS SELECT 1 AS n FROM generate_series(1, 100000), "+
			"LATERAL pg_sleep(.01)")
		of := parse(t, "columns: [{name: n, kind: integer, min: 0, max: 9}]\n")
		text, _ := of.YAML()
		running := func() int {
			got := s.conn.ExecParams(context.Background(), "SELECT 1 FROM pg_stat_activity WHERE state = "+
				"'active' AND query LIKE '%unnest(ARRAY%' AND pid <> pg_backend_pid()", nil, nil, nil,
				nil).Read()
			return len(got.Rows)
		}
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			defer cancel()
			for end := time.Now().Add(time.Minute); running() == 0 && time.Now().Before(end); {
				time.Sleep(20 * time.Millisecond)
			}
		}()
		_, err := Count(ctx, engine.Request{Source: s.source("slow"), Schema: string(text),
			Question: engine.AskSets([][]int{{0}}, of.Sizes())})
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		time.Sleep(200 * time.Millisecond)
		if running() != 0 {
			t.Error("the query goes on")
		}
	})
	t.Run("typed", s.types)
	t.Run("fit", func(t *testing.T) { s.fit(t, dir) })
}

// fit: at this epsilon all noise rounds to nothing, and the best is always selected, so that models
// are functions of the counts.
func (s *postgres) fit(t *testing.T, dir string) {
	build := exec.Command("go", "build", "-o", dir+"/decoy", "./cmd/decoy")
	build.Dir = "../../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s.decoy(t, dir, 0, "datasets export icu-readmission --out fit.csv --schema-out fit.yaml")
	of, err := schema.Load(dir + "/fit.yaml")
	file, fileErr := os.Open(dir + "/fit.csv")
	if err := errors.Join(err, fileErr); err != nil {
		t.Fatal(err)
	}
	rows := stattest.Must(csv.NewReader(file).ReadAll())
	s.load(t, "fit", rows, of)
	s.exec(t, "CREATE TABLE half AS SELECT * FROM fit LIMIT 500")
	sampled := func(input string) string {
		s.decoy(t, dir, 0, "fit "+input+" --schema fit.yaml --epsilon 10000 --method mst "+
			"--ledger fit.ledger --model fit.decoy --force")
		s.decoy(t, dir, 0, "verify fit.decoy")
		s.decoy(t, dir, 0, "sample fit.decoy --seed 4 --rows 2000 --out out.csv --force")
		out := stattest.Must(os.ReadFile(dir + "/out.csv"))
		return string(out)
	}
	here := sampled("fit.csv")
	if sampled(s.source("fit")) != here {
		t.Error("the model of a table of the server samples other rows")
	}
	if sampled(s.source("half")) == here {
		t.Error("the model does not depend on the table")
	}
	s.decoy(t, dir, 0, "ledger limit limited.ledger --schema fit.yaml --epsilon 1 --delta 1e-8")
	s.decoy(t, dir, 10, "fit "+s.source("fit")+
		" --schema fit.yaml --epsilon 2 --method mst --ledger limited.ledger --model l.decoy")
	s.exec(t, "UPDATE half SET "+postgreSQL.name(of.Columns[0].Name)+" = NULL")
	s.decoy(t, dir, 0, "fit "+s.source("half")+
		" --schema fit.yaml --epsilon 1 --method mst --ledger half.ledger --model bad.decoy")
	// what is public and wrong costs nothing
	s.exec(t, "CREATE TABLE other AS SELECT 1 AS n", "CREATE ROLE stranger LOGIN")
	for _, source := range []string{s.source("nowhere"), s.source("other"),
		strings.Replace(s.source("half"), "//decoy@", "//stranger@", 1),
		strings.Replace(s.source("half"), "//decoy@", "//nobody_at_all@", 1),
		"postgres://127.0.0.1:1/postgres/half"} {
		code := 1
		if source == s.source("other") {
			code = 12
		}
		s.decoy(t, dir, code, "fit "+source+
			" --schema fit.yaml --epsilon 1 --method mst --ledger free.ledger --model free.decoy")
		if _, err := os.Stat(filepath.Join(dir, "free.ledger")); err == nil {
			t.Fatalf("%s: something is reserved", source)
		}
	}
}
