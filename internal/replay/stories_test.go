//go:build seam

package replay

import (
	"cmp"
	"fmt"
	"testing"

	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/synth/synthtest"
)

var everywhere = []string{"strict", "units", "nobody", "no unit"}

// quick is the flags of a method with settings with which it takes a moment.
func quick(method string) string { return "--method " + method + " " + synthtest.Quick[method] }

// TestMethods fits with each method and makes tables.
func TestMethods(t *testing.T) {
	var stories []story
	add := func(method, settings string) {
		stories = append(stories, story{method, []string{fmt.Sprintf("generate in.csv --schema %s.yaml "+
			"--epsilon 1 %s %s --seed 7 --out out.csv --model m.decoy",
			cmp.Or(synthtest.Tables[method], "in"),
			quick(method), settings)}, everywhere})
	}
	for _, name := range synth.Names() {
		add(name, "")
	}
	add("wgan", "--set mode=box --set lipschitz=interpolates")
	add("wgan", "--set mode=thesis")
	add("pategan", "--set directions=2")
	add("pategan", "--set aggregator=interactive")
	compare(t, stories)
}

// TestParties adds up over two parties, of which one has the table.
func TestParties(t *testing.T) {
	var stories []story
	for _, name := range []string{"mst", "wgan"} {
		one := func(table, k string) string {
			return fmt.Sprintf("party run %s --schema in.yaml --epsilon 1 %s --parties parties.yaml "+
				"--key %s.key --model %s.decoy", table, quick(name), k, k)
		}
		stories = append(stories, story{name, []string{
			one("in.csv", "1") + " & " + one("other.csv", "2"), "verify 1.decoy", "inspect 2.decoy",
			"sample 1.decoy --seed 4 --out out.csv",
		}, []string{"strict", "units", "no unit"}})
	}
	compare(t, stories)
}

// TestVerbs runs the verbs that release or tell something, in the ways they can be asked to.
func TestVerbs(t *testing.T) {
	const infer = "schema infer in.csv --header-is-public "
	compare(t, []story{
		{"fit", []string{
			"fit in.csv --schema in.yaml --epsilon 1 --model m.decoy",
			"sample m.decoy --out out.parquet --seed 4",
			"inspect m.decoy",
			"inspect --json m.decoy",
			"verify m.decoy",
			"queries answer m.decoy --json --where sex=f",
			"queries answer m.decoy --rows 100 --seed 3 --where sex=f",
			"ledger show in.csv.ledger",
			"ledger verify in.csv.ledger",
			"? fit in.csv --schema in.yaml --epsilon 1 --model m.decoy",
			"release m.decoy --ledger in.csv.ledger --sign sign.key --rows 20 --seed 3 --out r.zip",
			"fit in.csv --schema in.yaml --epsilon 1 --model m.decoy --force",
			"ledger limit in.csv.ledger --epsilon 2.5 --delta 1e-6",
			"? fit in.csv --schema in.yaml --epsilon 1 --model n.decoy",
			"ledger show in.csv.ledger",
			"ledger show --json in.csv.ledger",
		}, everywhere},
		{"generate", []string{
			"generate in.csv --schema bins.yaml --epsilon 1 --seed 7 --out out.parquet",
			"generate in.csv --schema in.yaml --epsilon 1 --seed 7 --adjacency replace-one " +
				"--ledger other.ledger --out -",
		}, everywhere},
		{"Parquet", []string{
			"generate in.parquet --schema in.yaml --epsilon 1 --seed 7 --out out.csv",
			"schema infer in.parquet --header-is-public --epsilon 50 --out s.yaml",
		}, []string{"strict"}},
		{"packed", []string{
			"generate in.csv.gz --schema in.yaml --epsilon 1 --seed 7 --out out.csv.gz",
		}, []string{"strict", "units", "related"}},
		{"Arrow", []string{
			"generate in.arrow --schema in.yaml --epsilon 1 --seed 7 --out out.arrow",
		}, []string{"strict", "units", "related"}},
		{"standard input", []string{
			"fit - --schema in.yaml --epsilon 1 --ledger my.ledger --model m.decoy",
			"generate - --schema in.yaml --epsilon 1 --ledger my.ledger --method aim " +
				"--set memory_mb=1 --seed 7 --out out.csv",
		}, everywhere},
		{"counted elsewhere", []string{
			"fit sc://h/t --schema in.yaml --epsilon 1 --method mst --ledger my.ledger --model m.decoy",
			"generate sc://h/t --schema in.yaml --epsilon 1 --ledger my.ledger --method aim " +
				"--set memory_mb=1 --seed 7 --out out.csv",
			"fit sc://h/t --schema in.yaml --epsilon 1 " + quick("wgan") +
				" --ledger my.ledger --model w.decoy",
			"evaluate --holdout sc://h/t --synthetic syn.csv --schema in.yaml --epsilon 1 --ledger " +
				"my.ledger --json e.json",
			"ledger show my.ledger",
		}, everywhere},
		{"join", []string{
			"fit in.csv --schema in.yaml --epsilon 1 --method mst --model m.decoy",
			"fit syn.csv --schema syn.yaml --epsilon 1 --method mst --model n.decoy",
			"join m.decoy n.decoy --people may-overlap --out j.decoy",
			"verify j.decoy", "sample j.decoy --seed 4 --out out.csv",
		}, []string{"strict"}},
		{"served", []string{ // the command lines of the page
			"plan --schema=in.yaml --epsilon=1 --method=mst",
			"generate in.csv --schema=in.yaml --epsilon=1 --method=mst --out=s.csv --model=s.decoy " +
				"--seed 7",
			"ledger show in.csv.ledger",
			"sample s.decoy --rows=9 --out=t.csv --seed 4",
		}, []string{"strict", "units"}},
		{"linked", []string{
			"generate people.csv in.csv --schema linked.yaml --epsilon 1 --seed 7 --out-dir out " +
				"--model m.decoy",
			"verify m.decoy", "inspect m.decoy", "sample m.decoy --seed 4 --out-dir more",
		}, []string{"units", "no unit"}},
		{"linked without a schema", []string{
			"generate people.csv in.csv --header-is-public --link in.id=people.id --order in.age " +
				"--epsilon 50 --seed 7 --out-dir out --model m.decoy",
			"generate in.csv --header-is-public --unit id --order age --epsilon 50 --seed 7 --out out.csv",
			"verify m.decoy", "inspect m.decoy",
		}, []string{"units"}},
		{"constraints", []string{
			"generate in.csv --schema in.yaml --epsilon 1 --seed 7 --out out.csv --model m.decoy",
			"generate in.csv --schema in.yaml --epsilon 1 --seed 7 --method aim " +
				"--set memory_mb=1 --out out.parquet",
			"inspect m.decoy",
		}, []string{"related"}},
		{"schema infer", []string{
			infer + "--epsilon 50 --out s.yaml",
			"schema check s.yaml",
			"? " + infer + "--epsilon 0.01 --out -",
		}, []string{"strict"}},
		{"generate without a schema", []string{
			"generate in.csv --header-is-public --epsilon 50 --seed 7 --out out.csv --model m.decoy",
			"generate in.csv --header-is-public --epsilon 50 --seed 7 --method mst --out two.parquet",
			"inspect m.decoy",
			"verify m.decoy",
			"fit in.csv --header-is-public --epsilon 50 --model n.decoy",
			"? generate in.csv --header-is-public --epsilon 0.01 --seed 7 --out none.csv",
		}, []string{"strict"}},
		{"generate without a schema, with units", []string{
			"generate in.csv --header-is-public --epsilon 50 --seed 7 --out out.csv --unit id " +
				"--max-rows-per-unit 1",
		}, []string{"units"}},
		{"schema infer of nothing", []string{"? " + infer + "--epsilon 2 --out s.yaml"},
			[]string{"nobody", "no unit"}},
		{"schema infer --unit", []string{
			infer + "--epsilon 50 --out s.yaml --unit id --max-rows-per-unit 1",
			"schema check s.yaml",
		}, []string{"units"}},
		{"schema units", []string{
			"schema units in.csv --schema in.yaml --epsilon 1",
			"schema units in.csv --schema in.yaml --epsilon 1 --json",
		}, []string{"units", "no unit"}},
		{"train", []string{
			"train in.csv --schema in.yaml --epsilon 1 --target died --out c.json",
			"verify c.json",
			"predict c.json syn.csv --out p.csv",
			"train in.csv --schema in.yaml --epsilon 1 --target sex --rows 200 --ledger o.ledger " +
				"--drop age --adjacency replace-one --out -",
			"train in.csv --schema in.yaml --epsilon 1 --target died --by output --out c.json --force",
			"train in.csv --schema in.yaml --epsilon 1 --target sex --by objective --out - " +
				"--adjacency replace-one --ledger o.ledger",
			"train in.csv --schema in.yaml --epsilon 1 --target died --by pate --out p.json",
			"train in.csv --schema in.yaml --epsilon 1 --target sex --by pate --aggregator interactive " +
				"--student syn.csv --rows 200 --out q.json --adjacency replace-one --ledger o.ledger",
			"? train in.csv --schema in.yaml --epsilon 1 --target age --out n.json",
			"ledger show in.csv.ledger",
		}, everywhere},
		{"validate", []string{
			"validate in.csv --schema in.yaml --epsilon 1 --statistic mean:age",
			"validate in.csv --schema in.yaml --epsilon 1 --statistic quantile:age,0.5",
			"validate in.csv --schema in.yaml --epsilon 1 --statistic coefficient:died~age+sex " +
				"--lower -1 --upper 1 --blocks 9 --adjacency replace-one --ledger o.ledger --json",
			"validate in.csv --schema in.yaml --epsilon 1 --statistic auroc:died --rows 2000",
			"? validate in.csv --schema in.yaml --epsilon 1 --statistic mean:nothing",
			"ledger show in.csv.ledger",
		}, everywhere},
		{"resume train", []string{
			"4! train in.csv --schema in.yaml --epsilon 1 --target died --by pate --out p.json",
			"train in.csv --schema in.yaml --epsilon 1 --target died --by pate --out p.json --resume",
			"verify p.json",
		}, []string{"strict", "units"}},
		{"count", []string{
			"queries answer --table in.csv --schema in.yaml --epsilon 1 --delta 0 --where sex=f",
			"queries answer --table in.csv --schema in.yaml --epsilon 1 --where sex=f --where died=true " +
				"--json",
			"ledger show in.csv.ledger",
		}, everywhere},
		{"holdout", []string{
			"evaluate holdout in.csv --train syn.csv --schema in.yaml --epsilon 1 --questions asked.txt " +
				"--corrections 3 --tolerance 0.2",
			"ledger show in.csv.ledger",
		}, everywhere},
		{"collect", []string{
			"collect in.csv --schema in.yaml --epsilon 2 --out a.csv",
			"? collect in.csv --schema in.yaml --epsilon 2 --out b.csv",
			"collect in.csv --schema small.yaml --epsilon 1",
			"fit --randomized a.csv --schema in.yaml --epsilon 2 --model m.decoy",
			"verify m.decoy",
			"ledger show in.csv.ledger",
		}, []string{"respondent"}},
		{"evaluate", []string{
			"evaluate --train in.csv --synthetic syn.csv --schema in.yaml --epsilon 1 --target died",
			"evaluate --holdout in.csv --synthetic syn.csv --schema in.yaml --epsilon 1 --target died " +
				"--json e.json",
			"verify e.json",
		}, everywhere},
	})
}

// TestBatch runs jobs under one ledger, the last of which exceeds its limit, and again; and two at
// a time, one of which may take longer.
func TestBatch(t *testing.T) {
	compare(t, []story{
		{"batch", []string{
			"batch jobs.yaml --only 0",
			"ledger limit in.csv.ledger --epsilon 3 --delta 1e-6",
			"batch jobs.yaml --jobs 1 --dry-run",
			"? batch jobs.yaml --jobs 1",
			"ledger show in.csv.ledger",
			"? batch jobs.yaml --jobs 1",
		}, []string{"strict", "units", "no unit"}},
		{"two at a time", []string{"batch two.yaml --jobs 2"}, []string{"units"}},
		{"two of one ledger at a time", []string{"batch one.yaml --jobs 2", "ledger show in.csv.ledger"},
			[]string{"strict", "units"}},
	})
}

// TestBare runs the verbs that buy a schema, on tables with cells of all kinds.
func TestBare(t *testing.T) {
	const bare = "generate in.csv --header-is-public --seed 7 --rows 40 --epsilon 8 --method mst " +
		"UNIT RELATION "
	in := []string{"bare", "bare units", "bare replaced"}
	compare(t, []story{
		{"generate", []string{
			bare + "--out a.csv --model m.decoy", "inspect --json m.decoy", "verify m.decoy",
		}, in},
		{"generate for a target", []string{
			"generate in.csv --header-is-public --seed 7 --rows 40 --epsilon 8 --target died " +
				"--out b.parquet",
		}, in[:1]},
		{"resume", []string{
			"5! " + bare + "--out a.csv --model m.decoy",
			"? " + bare + "--out a.csv --model m.decoy",
			"12! " + bare + "--out a.csv --model m.decoy --resume",
			bare + "--out a.csv --model m.decoy --resume",
			"verify m.decoy",
		}, in},
		{"batch", []string{
			"batch bare.yaml --jobs 2", "batch bare.yaml", "ledger show --json in.csv.ledger",
		}, in[:1]},
		{"declared in part", []string{
			"schema infer in.csv --schema part.yaml --header-is-public --epsilon 2 --out s.yaml",
			"schema infer in.csv --schema names.yaml --epsilon 2 --out n.yaml",
			"generate in.csv --schema n.yaml --epsilon 1 --method mst --seed 3 --rows 40 --out n.csv",
		}, in[:1]},
	})
}
