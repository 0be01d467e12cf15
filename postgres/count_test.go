package main

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/decoy-dp/decoy/datasets"
	"github.com/decoy-dp/decoy/internal/engine"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

// tables is a folder with adult.csv and others, whose schemas 'decoy datasets export' writes.
var tables = flag.String("tables", "", "also count the CSV files of this folder, each with the "+
	"schema FILE.yaml beside it")

func parse(t *testing.T, text string) *schema.Schema {
	t.Helper()
	s := stattest.Must(schema.Parse([]byte("decoy: 1\n" + text)))
	return s
}

// count counts all columns and all pairs of a table of the server.
func (s *server) count(table string, of *schema.Schema, key []byte) (out [][]int64, err error) {
	text, err := of.YAML()
	if err != nil {
		return nil, err
	}
	r := engine.Request{Source: s.source(table), Schema: string(text),
		Question: engine.AskSets(pairs(of), of.Sizes())}
	answer, err := countBy(context.Background(), r, key)
	if err != nil {
		return nil, err
	}
	_, cells, err := engine.AskedSets(r.Question, of.Sizes())
	rows, answer := answer[0], answer[1:]
	for _, n := range cells {
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
		counts := make([]int64, n)
		tab.CountTo(counts, set)
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

// bounded are the rows that stay of units with at most k: those of the smallest hashes.
func bounded(tab *table.Table, units []string, k int, key []byte) (stay []int) {
	type row struct {
		at   int
		hash []byte
	}
	twins, of := map[string]int{}, map[string][]row{}
	for at, unit := range units {
		var codes strings.Builder
		for i := range tab.Schema().Columns {
			c := tab.Column(i)
			if c.U8 != nil {
				fmt.Fprintf(&codes, ",%d", c.U8[at])
			} else {
				fmt.Fprintf(&codes, ",%d", c.U16[at])
			}
		}
		text := codes.String() + "," + unit
		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "%d%s", twins[text], text)
		twins[text]++
		of[unit] = append(of[unit], row{at, mac.Sum(nil)})
	}
	for _, rows := range of {
		slices.SortFunc(rows, func(a, b row) int { return bytes.Compare(a.hash, b.hash) })
		for _, r := range rows[:min(k, len(rows))] {
			stay = append(stay, r.at)
		}
	}
	return stay
}

func TestPostgres(t *testing.T) {
	s := startServer(t)
	key := bytes.Repeat([]byte("0123456789abcdef"), 4)
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
			stay = bounded(tab, units, of.MaxRowsPerUnit, key)
		}
		got := stattest.Must(s.count(name, of, key))
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

	t.Run("codes", func(t *testing.T) { s.codes(t) })
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
			{"ids", "unit: no\nmax_rows_per_unit: 2\n", `id column "no"`},
		} {
			got, err := s.count(c.table, parse(t, c.schema+columns), key)
			if text := fmt.Sprint(got, err); !strings.Contains(text, c.want) {
				t.Errorf("%s %q: %s, want %s", c.table, c.schema, text, c.want)
			}
		}
	})
	t.Run("refused", func(t *testing.T) {
		const cell = "zzsecretzz"
		s.exec(t, "CREATE TABLE odd AS SELECT '"+cell+"'::text AS word, 3::int AS n, '{}'::jsonb AS j, "+
			"DATE '2020-01-01' AS day", "CREATE VIEW broken AS SELECT word::int AS n FROM odd")
		for _, c := range []struct{ table, columns, want string }{
			{"odd", "{name: word, kind: integer, min: 0, max: 9}", "of type text, which is not read"},
			{"odd", "{name: j, kind: categorical, categories: [a, b]}", "of type jsonb"},
			{"odd", "{name: day, kind: integer, min: 0, max: 9}", "of type date"},
			{"odd", "{name: n, kind: date, min: 2020-01-01, max: 2020-02-01}", "of type int4"},
			{"odd", "{name: none, kind: boolean}", `no column "none"`},
			{"none", "{name: none, kind: boolean}", "the table is not there"},
			{"broken", "{name: n, kind: integer, min: 0, max: 9}", "SQLSTATE 22P02"},
			{"odd", "{name: n, kind: integer, min: 0, max: 9}, {name: m, kind: integer, after: n, min: 0, " +
				"max: 9}", "after or rules"},
		} {
			got, err := s.count(c.table, parse(t, "columns: ["+c.columns+"]\n"), key)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), cell) {
				t.Errorf("%s %s: %v, %v, want %q", c.table, c.columns, got, err, c.want)
			}
		}
		of := parse(t, "columns: [{name: n, kind: integer, min: 0, max: 9}]\n")
		s.exec(t, "CREATE TABLE nothing (n int)", "CREATE TABLE hidden AS SELECT 1 AS n",
			"ALTER TABLE hidden ENABLE ROW LEVEL SECURITY", "CREATE ROLE weak LOGIN",
			"GRANT SELECT ON hidden TO weak")
		if got, err := s.count("nothing", of, key); err != nil || fmt.Sprint(got) !=
			"[[0 0 0 0 0 0 0 0 0 0]]" {
			t.Errorf("an empty table: %v, %v", got, err)
		}
		text, _ := of.YAML()
		r := engine.Request{Source: strings.Replace(s.source("hidden"), "decoy@", "weak@", 1),
			Schema: string(text), Question: engine.AskSets(pairs(of), of.Sizes())}
		if _, err := countBy(context.Background(), r, key); err == nil {
			t.Error("rows that the user may not see are left out in silence")
		}
		lost := server{dir: "/no/such/folder"}
		if _, err := lost.count("t", of, key); err == nil ||
			!strings.Contains(err.Error(), "no connection") {
			t.Error(err)
		}
	})
	t.Run("cancel", func(t *testing.T) {
		s.exec(t, "CREATE VIEW slow AS SELECT 1 AS n FROM generate_series(1, 100000), "+
			"LATERAL pg_sleep(.01)")
		of := parse(t, "columns: [{name: n, kind: integer, min: 0, max: 9}]\n")
		text, _ := of.YAML()
		running := func() (n int) {
			s.db.QueryRow("SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE " +
				"'%unnest(ARRAY%' AND pid <> pg_backend_pid()").Scan(&n)
			return n
		}
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			defer cancel()
			for end := time.Now().Add(time.Minute); running() == 0 && time.Now().Before(end); {
				time.Sleep(20 * time.Millisecond)
			}
		}()
		_, err := countBy(ctx, engine.Request{Source: s.source("slow"), Schema: string(text),
			Question: engine.AskSets([][]int{{0}}, of.Sizes())}, key)
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		time.Sleep(200 * time.Millisecond)
		if running() != 0 {
			t.Error("the query goes on")
		}
	})
	t.Run("fit", func(t *testing.T) { s.fit(t, dir) })
}

// fit: at this epsilon all noise rounds to nothing, and the best is always selected, so that models
// are functions of the counts.
func (s *server) fit(t *testing.T, dir string) {
	for program, folder := range map[string]string{"decoy": "..", "decoy-postgres": "."} {
		target := map[string]string{"decoy": "./cmd/decoy", "decoy-postgres": "."}[program]
		build := exec.Command("go", "build", "-o", dir+"/"+program, target)
		build.Dir = folder
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	s.decoy(t, dir, 0, "datasets export icu-severity --out fit.csv --schema-out fit.yaml")
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
	s.exec(t, "UPDATE half SET "+name(of.Columns[0].Name)+" = NULL")
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

// codes compares the expressions with the codec itself, at every edge and beside it.
func (s *server) codes(t *testing.T) {
	for _, policy := range []string{"", ", on_invalid: clamp"} {
		for _, missing := range []string{"", `, missing: ["", "-9", "1e306"]`} {
			for _, c := range []struct{ column, kinds string }{
				{"kind: integer, min: 0, max: 90, bins: 7", "int2 int4 int8 float4 float8 numeric"},
				{"kind: integer, min: -5, max: 5", "int2 int8 float8 numeric"},
				{"kind: integer, min: 1, max: 9007199254740991, bins: {count: 9, spacing: log}",
					"int8 float8 numeric"},
				{"kind: real, min: 0.1, max: 0.9, bins: 24", "int4 float4 float8 numeric"},
				{"kind: real, min: 0.1, max: 30, bins: {count: 12, spacing: log}", "int8 float8 numeric"},
				{"kind: real, min: -1e300, max: 1e300, bins: 5", "float8 numeric"},
				{"kind: real, edges: [-0.3, 0, 0.1, 0.30000000000000004, 7]", "float4 float8 numeric"},
				{"kind: date, min: 1999-12-31, max: 2020-03-01, bins: 11", "date"},
				{"kind: timestamp, min: 2020-01-01T00:00:00Z, max: 2020-01-03T00:00:00Z, bins: 5",
					"timestamp timestamptz"},
			} {
				text := "columns: [{name: v, " + c.column + missing + policy + "}]\n"
				if strings.Contains(text, "min: -5") || strings.Contains(text, "min: -1e300") {
					text = strings.Replace(text, `, "-9"`, "", 1) // which is a value
				}
				s.points(t, parse(t, text), strings.Fields(c.kinds))
			}
		}
	}
	for _, c := range []string{
		`kind: categorical, categories: [a, "A", "it's", "a\\b", ä, "3", "-4", "007", "true", "a "]`,
		`kind: categorical, categories: [a, "3", z], missing: ["", "?", "5"], on_invalid: clamp`,
		`kind: categorical, categories: [a, "3", z], other: z, on_invalid: other`,
		`kind: boolean`, `kind: boolean, missing: [""]`, `kind: boolean, categories: ["no", "yes"]`,
		`kind: boolean, categories: ["2", "1"]`,
	} {
		s.words(t, parse(t, "columns: [{name: v, "+c+"}]\n"))
	}
}

// ask returns the codes of the values of a query with one column, v.
func (s *server) ask(t *testing.T, of *schema.Schema, kind, values string) (codes []int) {
	t.Helper()
	rows, err := of.ForPrivate().RowCodec()
	if err != nil {
		t.Fatal(err)
	}
	c := column{rows.Codecs()[0], kind}
	value := stattest.Must(c.value("v"))
	found, err := s.db.Query(fmt.Sprintf("SELECT %s FROM (SELECT %s AS v0 FROM (%s) t) t",
		c.code("v0"), value, values))
	if err != nil {
		t.Fatalf("%s: %v", kind, err)
	}
	defer found.Close()
	for found.Next() {
		var code sql.NullInt64
		if err := found.Scan(&code); err != nil || !code.Valid {
			t.Fatalf("%s: %v, %v", kind, code, err)
		}
		codes = append(codes, int(code.Int64))
	}
	if err := found.Err(); err != nil {
		t.Fatalf("%s: %v", kind, err)
	}
	return codes
}

// points compares at many numbers.
func (s *server) points(t *testing.T, of *schema.Schema, kinds []string) {
	t.Helper()
	rows := stattest.Must(of.ForPrivate().RowCodec())
	codec := rows.Codecs()[0]
	var points []float64
	codes := codec.Size()
	if _, missing := codec.MissingCode(); missing {
		codes--
	}
	for i := range codes {
		lo, hi := codec.Bin(uint16(i))
		points = append(points, lo, hi)
	}
	for _, x := range slices.Clone(points) {
		points = append(points, math.Nextafter(x, math.Inf(1)), math.Nextafter(x, math.Inf(-1)), x+1, x-1,
			x+.5, x-.5, x+.3, x*1.7)
	}
	points = append(points, 0, math.Copysign(0, -1), -9, 1000, 1e18, -1e18, 0.49999999999999994,
		2.5, -2.5, 5e-324, 1e301, -1e301, math.MaxFloat64, math.NaN(), math.Inf(1), math.Inf(-1))
	for _, kind := range kinds {
		var values []string
		var want []int
		for _, x := range points {
			v, as := schema.Value{Int: int64(x), Float: x}, schema.StoredInt
			literal := fmt.Sprint(v.Int)
			switch {
			case strings.HasPrefix(kind, "float"):
				if as = schema.StoredFloat; kind == "float4" {
					v.Float = float64(float32(x))
					if math.IsInf(v.Float, 0) != math.IsInf(x, 0) || v.Float == 0 && x != 0 {
						continue
					}
				}
				literal = fmt.Sprintf("'%v'", strings.Replace(fmt.Sprint(v.Float), "Inf", "Infinity", 1))
			case kind == "numeric":
				as = schema.StoredFloat
				literal = fmt.Sprintf("'%v'", strings.Replace(fmt.Sprint(x), "Inf", "Infinity", 1))
			case math.IsNaN(x) || math.Abs(x) > 1e18 || kind == "int2" && math.Abs(x) > 3e4 ||
				kind == "int4" && math.Abs(x) > 2e9:
				continue
			case kind == "date":
				if as = schema.StoredDays; math.Abs(x) > 1e6 {
					continue
				}
				literal = fmt.Sprintf("DATE '1970-01-01' + %d", v.Int)
			case strings.HasPrefix(kind, "timestamp"):
				if as = schema.StoredMicros; math.Abs(x) > 2e17 {
					continue
				}
				literal = fmt.Sprintf("'1970-01-01 00:00:00+00'::timestamptz + make_interval(secs => 1) * %d "+
					"+ make_interval(secs => 0.000001) * %d", v.Int/1_000_000, v.Int%1_000_000)
				if kind == "timestamp" {
					literal = strings.Replace(literal, "+00'::timestamptz", "'::timestamp", 1)
				}
			}
			values = append(values, "("+literal+"::"+kind+")")
			if strings.HasPrefix(kind, "date") || strings.HasPrefix(kind, "time") {
				values[len(values)-1] = "(" + literal + ")"
			}
			code, err := codec.EncodeValue(as, v)
			want = append(want, int(code))
			if err != nil {
				want[len(want)-1] = -1
			}
		}
		code, err := codec.EncodeMissing()
		if want = append(want, int(code)); err != nil {
			want[len(want)-1] = -1
		}
		values = append(values, "(NULL)")
		got := s.ask(t, of, kind, "SELECT * FROM (VALUES "+strings.Join(values, ", ")+") t(v)")
		for i := range want {
			if got[i] != want[i] {
				text, _ := of.YAML()
				t.Errorf("%s as %s: code %d, want %d, of\n%s", values[i], kind, got[i], want[i], text)
			}
		}
	}
}

// words compares at many texts, integers and booleans.
func (s *server) words(t *testing.T, of *schema.Schema) {
	t.Helper()
	rows := stattest.Must(of.ForPrivate().RowCodec())
	codec := rows.Codecs()[0]
	compare := func(kind string, literals []string, encode func(i int) (uint16, error)) {
		t.Helper()
		values := "SELECT * FROM (VALUES (" + strings.Join(literals, "::"+kind+"), (") + "::" + kind +
			")) t(v)"
		for i, got := range s.ask(t, of, kind, values) {
			want, err := encode(i)
			if err == nil && got != int(want) || err != nil && got != -1 {
				yaml, _ := of.YAML()
				t.Errorf("%s as %s: code %d, want %d, %v, of\n%s", literals[i], kind, got, want, err, yaml)
			}
		}
	}
	words := []string{"", "?", "a", "A", "b", "it's", `a\b`, "ä", "Ä", "3", "03", "-4", "007", "7", "5",
		"z", "true", "TRUE", "t", "T", "F", "yes", "Yes", "no", "NO", "1", "0", "2", "false", "a ",
		strings.Repeat("x", 6)}
	var literals []string
	for _, w := range words {
		literals = append(literals, text(w))
	}
	for _, kind := range []string{"text", "varchar"} {
		compare(kind, literals, func(i int) (uint16, error) { return codec.EncodeText([]byte(words[i])) })
	}
	ints := []int64{0, 1, 2, 3, -4, 5, 7, 100}
	compare("int8", []string{"0", "1", "2", "3", "(-4)", "5", "7", "100"},
		func(i int) (uint16, error) {
			return codec.EncodeValue(schema.StoredInt, schema.Value{Int: ints[i]})
		})
	compare("bool", []string{"false", "true"}, func(i int) (uint16, error) {
		return codec.EncodeValue(schema.StoredBool, schema.Value{Int: int64(i)})
	})
}
