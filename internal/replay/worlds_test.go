//go:build seam

package replay

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// world is a kind of table: x, its neighbours, and how the schema has it read.
type world struct {
	name       string
	schema     string // what is before the columns
	table      string
	neighbours []neighbour
	columns    string // of in.yaml, and the rest
	first      string // with coins: of x, as a neighbour has it
}

type neighbour struct {
	name, table string
	slow        time.Duration // of standard input
	// with coins: how many units come first that the other table has not, their rows, and how many
	// of these are used
	first string
}

const columns = `columns:
  - {name: age, kind: integer, min: 0, max: 99, bins: 5}
  - {name: sex, kind: categorical, categories: [f, m]}
  - {name: died, kind: boolean}
`

// related have to do with each other: note is a number, not below age.
const related = `columns:
  - {name: note, kind: integer, after: age, min: 0, max: 50, bins: 5}
  - {name: age, kind: integer, min: 0, max: 99, bins: 5}
  - {name: sex, kind: categorical, categories: [f, m]}
  - {name: died, kind: boolean}
  - {name: number, kind: id, pattern: "P######"}
  - {name: total, kind: sum, of: [age, note]}
rules:
  - {when: {age: {below: 20}}, then: {died: "false"}}
`

// rows are n rows of people with an id, an age, a sex, a death, and a note of which nobody says
// anything.
func rows(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("p%d,%d,%c,%d,hello", i, i*37%100, "fm"[i*i/3%2], (i*i/7+i)%2)
	}
	return out
}

// mixed are n rows of people with cells of all kinds, which no schema describes. A sum is that of
// the price and a fee, and a date is not before the birth.
func mixed(n int) []string {
	u, out := rand.New(rand.NewPCG(3, 9)), make([]string, n)
	for i := range out {
		price, fee := float64(u.IntN(100000))/100, float64(i*i%997)/100
		if i%3 == 0 {
			price = 9.99
		}
		born := time.Date(1950+i*7%60, time.Month(1+i%9), 10+i%9, 0, 0, 0, 0, time.UTC)
		out[i] = fmt.Sprintf("p%d,%d,%c,%c,%.2f,%s,2021-0%d-01 10:0%d:00,%05d,town%d,no %d,%s,%.2f,"+
			"%.2f,%s", i/2, u.IntN(90), "fm"[u.IntN(2)], "tf"[min(1, u.IntN(9))], price,
			born.Format("2006-01-02"), 1+u.IntN(9), u.IntN(9), 1000+u.IntN(30),
			min(u.IntN(60), u.IntN(60)), i,
			[]string{"1.5", "N", "", "3"}[u.IntN(4)], fee, price+fee,
			born.AddDate(0, 0, i*i%400).Format("2006-01-02"))
	}
	return out
}

// bare is a table of such rows.
func bare(unit bool, rows ...string) string {
	rest := file(unit, rows...)
	_, rest, _ = strings.Cut(rest, "\n")
	names := "id,age,sex,died,price,born,seen,zip,town,note,lab,fee,total,ended\n"
	if !unit {
		_, names, _ = strings.Cut(names, ",")
	}
	return names + rest
}

// bareWorlds are tables whose schema is bought.
func bareWorlds() []world {
	const (
		one = "q,40,m,t,3.33,2001-01-01,2021-01-01 10:00:00,99999,elsewhere,uniq,77,1.00,9.99," +
			"1999-01-01"
		kinds = "q,1e400,TRUE,31/12/2000,\"1,5\",1.1.2000,never,+0049,\xff\xfe,a\x00b,1e-320,-," +
			"1e308,0001-01-01"
	)
	x := mixed(3000)
	of := func(unit bool) []neighbour {
		var out []neighbour
		for name, more := range map[string][]string{"one row": {one}, "other kinds": {kinds},
			"a long text": {"q,40," + strings.Repeat("m", 201) + ",t,3,2001-01-01,x,9," +
				strings.Repeat("z", 3<<20) + ",u,7,1,1,2000-02-30"},
			"few cells": {"q"}, "an open quote": {`q,40,"m,t,3`},
			"a unit of many rows": slices.Repeat([]string{one, kinds}, 1000)} {
			if unit || len(more) == 1 {
				out = append(out, neighbour{name: name, table: bare(unit, with(x, more...)...)})
			}
		}
		return out
	}
	return []world{
		{"bare", "decoy: 1\n", bare(false, x...), of(false), columns, ""},
		{"bare units", "decoy: 1\nunit: id\nmax_rows_per_unit: 3\n", bare(true, x...), of(true), columns,
			""},
		{"bare replaced", "decoy: 1\n", bare(false, with(x, one)...), []neighbour{{name: "another row",
			table: bare(false, with(x, kinds)...)}}, columns, ""},
	}
}

// file is a table of rows, without the ids if there is no unit.
func file(unit bool, rows ...string) string {
	var b strings.Builder
	for _, row := range append([]string{"id,age,sex,died,note"}, rows...) {
		if !unit {
			_, row, _ = strings.Cut(row, ",")
		}
		b.WriteString(row + "\n")
	}
	return b.String()
}

// with has further rows in the middle.
func with(rows []string, more ...string) []string {
	half := len(rows) / 2
	return append(append(rows[:half:half], more...), rows[half:]...)
}

func worlds() []world {
	const (
		one  = "q,40,m,1,new"
		cell = "q,forty,m,1,new"
		bare = `q,"4`
	)
	x := rows(200)
	long := "q,4" + strings.Repeat("0", 5<<20) + ",m,1,new"
	noted := "q,40,m,1," + strings.Repeat("long", 1<<19)
	visits := make([]string, 100_000) // of one unit
	for i := range visits {
		visits[i] = fmt.Sprintf("q,%d,m,1,new", i%100)
	}
	bad := func(unit bool) []neighbour {
		return []neighbour{
			{name: "one row more", table: file(unit, with(x, one)...)},
			{name: "one row more, after a while", table: file(unit, with(x, one)...), slow: aWhile},
			{name: "one unparsable cell", table: file(unit, with(x, cell)...)},
			{name: "one very long cell", table: file(unit, with(x, long)...)},
			{name: "one very long cell of no column", table: file(unit, with(x, noted)...)},
			{name: "one row that breaks off", table: file(unit, append(x[:len(x):len(x)], bare)...)},
		}
	}
	kept := make([]string, 200)
	for i := range kept {
		kept[i] = fmt.Sprintf("q,%d,%c,%d,%d", 20+i%80, "fm"[i%2], i/7%2, 20+i%80+i%40)
	}
	var breaks []neighbour
	for what, row := range map[string]string{
		"keeps all": "q,40,m,1,60", "breaks after": "q,40,m,1,20", "breaks a rule": "q,4,m,1,6",
		"breaks both": "q,4,f,1,1", "has no number": "q,40,m,1,new", "has no age": "q,,m,1,70",
	} {
		breaks = append(breaks, neighbour{name: "one row that " + what,
			table: file(false, with(kept, row)...)})
	}
	// strict for public rows: private ones are read leniently all the same
	strict, units := "decoy: 1\n", "decoy: 1\nunit: id\nmax_rows_per_unit: 1\n"
	return []world{
		{"strict", strict, file(false, x...), bad(false), columns, ""},
		{"units", units, file(true, x...), append(bad(true)[:3],
			neighbour{name: "one unit of 100,000 rows more", table: file(true, with(x, visits...)...)},
			neighbour{name: "one row more of no unit", table: file(true, with(x, ",40,m,1,new")...)}),
			columns, ""},
		{"nobody", strict, file(false), []neighbour{{name: "one row", table: file(false, one)}}, columns,
			""},
		{"no unit", units, file(true), []neighbour{{name: "one row", table: file(true, one)}}, columns,
			""},
		{"respondent", strict, file(false, x[0]), []neighbour{
			{name: "another row", table: file(false, one)},
			{name: "an unparsable cell", table: file(false, cell)},
		}, columns, ""},
		{"related", strict, file(false, kept...), breaks, related, ""},
	}
}

// flags puts what a world asks of a command into it.
func (w world) flags(args string) string {
	relation, unit := "", ""
	if strings.HasSuffix(w.name, "replaced") {
		relation = "--adjacency replace-one"
	}
	if strings.Contains(w.schema, "unit") {
		unit = "--unit id --max-rows-per-unit 3"
	}
	return strings.NewReplacer("RELATION", relation, "UNIT", unit).Replace(args)
}

// aWhile is longer than a run may take before a terminal shows its progress.
const aWhile = 2500 * time.Millisecond

// files are what is there before the first command, but in.csv.
func (w world) files() map[string]string {
	syn := "age,sex,died\n"
	for i := range 100 {
		syn += fmt.Sprintf("%d,%c,%d\n", i, "fm"[i%2], i/7%2)
	}
	if w.first != "" {
		syn = strings.Join(strings.SplitAfter(bigTable(false), "\n")[:500], "")
	}
	names := "decoy: 1\ncsv: {header: false}\ncolumns:\n"
	for i := range 13 {
		names += fmt.Sprintf("  - {name: c%d, kind: }\n", i)
	}
	people := "id,town\nq,north\n"
	for i := range 150 {
		people += fmt.Sprintf("p%d,%s\n", i, []string{"north", "south"}[i%3/2])
	}
	small := "columns: [{name: sex, kind: categorical, categories: [f, m]}, {name: died, kind: " +
		"boolean}]\n"
	return map[string]string{
		"in.yaml":    w.schema + w.columns,
		"small.yaml": w.schema + small,
		"bins.yaml":  w.schema + strings.Replace(w.columns, "bins: 5", "bins: {dp: 4, share: 0.1}", 1),
		"syn.csv":    syn,
		"asked.txt":  "sex=f\ndied=true and sex=f\nnot (died=true)\n",
		"jobs.yaml": `name: replayed
tables: [{name: t, input: in.csv, schema: in.yaml}]
methods: [mst]
epsilons: [0.5]
replicates: 2
job: {rows: 40, out: "out/{table}-{method}-{replicate}.csv"}
jobs:
  - {name: last, input: in.csv, schema: in.yaml, method: mwem, settings: {rounds: 1}, epsilon: 1,
     out: last.csv, model: last.decoy}
  - {name: poor, input: in.csv, schema: in.yaml, method: mst, epsilon: 2.5, out: poor.csv}
`,
		"two.yaml": `name: two
jobs:
  - {name: a, input: in.csv, schema: in.yaml, method: mst, epsilon: 1, rows: 40, out: a.csv}
  - {name: b, input: syn.csv, schema: syn.yaml, method: mst, epsilon: 1, rows: 40, out: b.csv}
`,
		"one.yaml": `name: one
jobs:
  - {name: a, input: in.csv, schema: in.yaml, method: mst, epsilon: 1, rows: 40, out: a.csv}
  - {name: b, input: in.csv, schema: small.yaml, method: mst, epsilon: 1, rows: 40, out: b.csv}
`,
		"bare.yaml": `name: bare
tables: [{name: t, input: in.csv}]
epsilons: [3, 4]
job: {header_is_public: true, method: mst, rows: 40, out: "out/{table}-{epsilon}.csv"}
`,
		"part.yaml": "decoy: 1\ncolumns:\n  - {name: sex, kind: categorical, categories: [f, m]}\n" +
			"  - {name: age, kind: integer, min: , max: }\n  - {name: town, kind: }\n",
		"names.yaml": names,
		"syn.yaml":   "decoy: 1\n" + columns,
		"people.csv": people, // of some that in.csv has rows of, and of q
		"linked.yaml": `decoy: 1
unit: id
tables:
  - name: people
    columns:
      - {name: town, kind: categorical, categories: [north, south]}
  - name: in
    parent: people
    key: id
    order: {by: age, rows: 4}
    remember: [sex]
` + indented(columns),
	}
}

// indented is the columns of a table among several.
func indented(text string) string {
	return "    " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n    ") + "\n"
}
