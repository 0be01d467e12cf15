//go:build seam

package replay

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/synth/synthtest"
)

// bigRows is the size of tables that people run.
const bigRows = 100_000

// bigColumns have all kinds of cells. A pair of towns and shops has 22,500 cells.
var bigColumns = func() string {
	list := func(letter string) string {
		var names []string
		for i := range 150 {
			names = append(names, fmt.Sprint(letter, i))
		}
		return strings.Join(names, ", ")
	}
	return `columns:
  - {name: town, kind: categorical, categories: [` + list("t") + `]}
  - {name: shop, kind: categorical, categories: [` + list("s") + `], missing: [""]}
  - {name: born, kind: date, min: "1930-01-01", max: "2020-12-31", bins: 12, on_invalid: clamp}
  - {name: seen, kind: timestamp, min: "2020-01-01T00:00:00Z", max: "2024-12-31T00:00:00Z", bins: 8}
  - {name: weight, kind: real, min: 0, max: 200, bins: 10, missing: [""], on_invalid: clamp}
  - {name: age, kind: integer, min: 0, max: 99, bins: 5}
  - {name: sex, kind: categorical, categories: [f, m], missing: [NA]}
  - {name: died, kind: boolean}
`
}()

// bigTable has rows of units, most of which have two.
func bigTable(unit bool, first ...string) string {
	u := rand.New(rand.NewPCG(17, 4))
	var b strings.Builder
	header := "town,shop,born,seen,weight,age,sex,died\n"
	if unit {
		header = "id," + header
	}
	b.WriteString(header)
	for _, row := range first {
		b.WriteString(row + "\n")
	}
	for i := range bigRows {
		if unit {
			fmt.Fprintf(&b, "Zoë %d,", i/2-i/2%5*(i%2))
		}
		town := min(u.IntN(150), u.IntN(150))
		age := u.IntN(100)
		fmt.Fprintf(&b, "t%d,", town)
		if u.IntN(50) > 0 {
			fmt.Fprintf(&b, "s%d", (town+u.IntN(4))%150)
		}
		fmt.Fprintf(&b, ",%d-0%d-1%d,202%d-1%d-0%dT0%d:30:00Z,", 2020-age*9/10, 1+u.IntN(9), u.IntN(9),
			u.IntN(4), u.IntN(3), 1+u.IntN(9), u.IntN(9))
		if u.IntN(20) > 0 {
			fmt.Fprintf(&b, "%.1f", 40+float64(u.IntN(700))/10)
		}
		fmt.Fprintf(&b, ",%d,%s,%v\n", age, [...]string{"f", "m", "f", "m", "NA"}[u.IntN(5)],
			u.IntN(100) < 5+age/2)
	}
	return b.String()
}

// bigWorlds are tables of that size, in which x and x′ differ in their first unit.
var bigWorlds = sync.OnceValue(func() []world {
	const (
		row   = "t3,s100,1999-12-31,2021-03-04T05:06:07Z,77.7,44,m,true"
		other = "t140,s2,1931-01-01,2024-12-30T00:00:00Z,0.1,1,f,false"
		bad   = ",,never,\"then,,x,,"
	)
	visits := make([]string, 40) // of one unit
	for i := range visits {
		visits[i] = fmt.Sprintf("new,t%d,s%d,1999-12-31,2021-03-04T05:06:07Z,,%d,NA,true", 100+i%40,
			i, i)
	}
	lenient := "decoy: 1\nlenient: true\n"
	units := lenient + "unit: id\nmax_rows_per_unit: 3\n"
	none := "0 0 0"
	x, of := bigTable(false), bigTable(true)
	return []world{
		{"big", lenient, x, []neighbour{
			{name: "one row", table: bigTable(false, row), first: "1 1 1"},
			{name: "one row that cannot be read", table: bigTable(false, bad), first: "1 1 1"},
		}, bigColumns, none},
		{"big units", units, of, []neighbour{
			{name: "one unit", table: bigTable(true, visits...), first: "1 40 3"},
		}, bigColumns, none},
		{"big replaced", lenient, bigTable(false, row), []neighbour{
			{name: "another row", table: bigTable(false, other), first: "1 1 1"},
		}, bigColumns, "1 1 1"},
		{"big units replaced", units, bigTable(true, "old,"+row, "old,"+other), []neighbour{
			{name: "another unit", table: bigTable(true, visits...), first: "1 40 3"},
		}, bigColumns, "1 2 2"},
	}
})

var inBig = []string{"big", "big units", "big replaced", "big units replaced"}

// TestBigMethods fits with each method on tables of the size that people have.
func TestBigMethods(t *testing.T) {
	var stories []story
	add := func(method, settings string, worlds []string) {
		stories = append(stories, story{method, []string{fmt.Sprintf("generate in.csv --schema %s.yaml "+
			"--epsilon 1 %s %s RELATION --seed 7 --rows 100 --out out.csv",
			cmp.Or(synthtest.Tables[method], "in"),
			quick(method), settings)}, worlds})
	}
	settings := map[string]string{"mst": "--set iterations=20", "aim": "--set memory_mb=1",
		"mwem": "--set rounds=6", "pategan": pateganBig}
	worlds := map[string][]string{"aim": inBig[:2], "mwem": inBig[1:3], "bayes": inBig[2:],
		"smalldb": inBig[1:3], "wgan": inBig[:2]}
	for _, name := range synth.Names() {
		in := worlds[name]
		if in == nil {
			in = inBig
		}
		add(name, settings[name], in)
	}
	add("wgan", "--set rate=0.02", inBig)
	add("wgan", "--set rate=0.02 --set mode=ball --set lipschitz=interpolates", inBig[1:3])
	add("wgan", "--set mode=box --set lipschitz=interpolates", inBig[3:])
	add("wgan", "--set mode=thesis", inBig[2:3])
	add("pategan", pateganBig+" --set directions=2 --set aggregator=lnmax", inBig[1:2])
	compare(t, stories)
}

const pateganBig = "--set questions=100 --set shard_rows=400"

// TestBigVerbs runs the verbs that ask the gate, on such tables.
func TestBigVerbs(t *testing.T) {
	compare(t, []story{
		{"schema infer", []string{
			"schema infer in.csv --header-is-public --epsilon 1 --out s.yaml UNIT RELATION",
		}, inBig},
		{"generate without a schema", []string{
			"generate in.csv --header-is-public --epsilon 1 --method mst --set iterations=20 --seed 7 " +
				"--rows 100 --out out.csv UNIT RELATION",
		}, inBig},
		{"generate for a target", []string{
			"generate in.csv --header-is-public --epsilon 1 --method aim --set memory_mb=1 --seed 7 " +
				"--target died --rows 100 --out out.csv",
		}, inBig[:1]},
		{"schema units", []string{
			"schema units in.csv --schema in.yaml --epsilon 1 RELATION",
		}, []string{"big units", "big units replaced"}},
		{"bins", []string{
			"generate in.csv --schema bins.yaml --epsilon 1 --method mst --set iterations=20 --seed 7 " +
				"--rows 100 --out out.csv RELATION",
		}, inBig},
		{"train", []string{
			"train in.csv --schema in.yaml --epsilon 1 --target died --out c.json --drop " +
				"town,born,seen,weight RELATION",
		}, inBig[:3]},
		{"train by output", []string{
			"train in.csv --schema in.yaml --epsilon 0.02 --target died --by output --rows 100000 " +
				"--drop town,shop,born,seen,weight --out d.json RELATION",
		}, []string{"big", "big units replaced"}},
		{"validate", []string{
			"validate in.csv --schema in.yaml --epsilon 1 --statistic mean:weight --rows 100000 " +
				"RELATION",
			"validate in.csv --schema in.yaml --epsilon 1 --statistic auroc:died --blocks 250 RELATION",
		}, inBig},
		{"evaluate", []string{
			"evaluate --holdout in.csv --synthetic syn.csv --schema in.yaml --epsilon 1 --json e.json " +
				"--target died RELATION",
		}, inBig},
		{"counted elsewhere", []string{
			"generate sc://h/t --schema in.yaml --epsilon 1 --method mst --set iterations=20 --ledger " +
				"my.ledger --seed 7 --rows 100 --out out.csv RELATION",
		}, []string{"big", "big replaced"}},
		{"resume", []string{
			"3! generate in.csv --schema in.yaml --epsilon 1 --method mst --set iterations=20 --seed 7 " +
				"--rows 100 --out out.csv RELATION",
			"generate in.csv --schema in.yaml --epsilon 1 --method mst --set iterations=20 --seed 7 " +
				"--rows 100 --out out.csv --resume RELATION",
		}, inBig},
	})
}
