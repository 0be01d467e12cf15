package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/eval/linked"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	private "github.com/decoy-dp/decoy/privacy/mech/linked"
	"github.com/decoy-dp/decoy/synth"
)

// linkedTables are linked tables that are fitted.
type linkedTables struct {
	schema  *schema.Linked
	paths   []string
	real    *linked.Tables
	coarse  *table.Table // the children, with the bins of the schema also in their order
	targets map[string][]uint16
}

// linkedTargets are what is predicted: a column of the parents, and one of the next row.
var linkedTargets = map[string]map[string][]uint16{
	"nafld":   {"status": {1}, "event": {4, 5, 6, 7, 8, 9}},           // of the heart or the brain
	"nlswork": {"grade": {7, 8, 9, 10}, "ln_wage": {7, 8, 9, 10, 11}}, // 15 years of school or more
}

// linkedHeads are the families in their order, the two predictions, and seconds of the processor.
var linkedHeads = []measure{{name: "fan-out", digits: 3}, {name: "cross", digits: 3},
	{name: "transition", digits: 3}, {name: "gap", digits: 3}, {name: "third-next", digits: 3},
	{name: "distinct", digits: 3}, {name: "broken", digits: 3}, {name: "pairs", digits: 3},
	{name: "AUC parent", digits: 3}, {name: "AUC next", digits: 3}, {name: "CPU s", digits: 1}}

// linkedBench compares ways to synthetic linked tables: decoy's own; "given", a row of each unit
// with its parent and the number of rows, from which further rows are drawn as if they were
// independent; "first M", the first M rows as further columns of the parent. All are fitted by
// aim.
func linkedBench(args []string) {
	flags := flag.NewFlagSet("linked", flag.ExitOnError)
	dir := flags.String("data", "", "folder that cmd/bench/linked.py has written")
	names := flags.String("tables", "nlswork,nafld", "of the folder")
	ways := flags.String("variants", "aim,given,first 2,first 4", "methods, each with its settings; "+
		"given; first M")
	epsilons := flags.String("epsilon", "1,10", "budgets")
	delta := flags.Float64("delta", 1e-6, "")
	runs := flags.Int("runs", 5, "of each line")
	done := flags.String("done", "", doneUsage)
	flags.Parse(args)
	if *dir == "" {
		fmt.Println("skipped: -data names no folder of linked tables")
		return
	}
	log := must(openRuns(*done))
	for _, name := range strings.Split(*names, ",") {
		t := openLinked(*dir, name)
		_, floor := t.score(t.real)
		fmt.Printf("\n### %s\n\n%d units, delta %v, %d runs: mean (worst)", name,
			t.real.Parents.Rows(), *delta, *runs)
		heading(linkedHeads)
		first := cell{label: "floor, real | –", runs: []doneRun{{Scores: floor}}, worst: true}
		first.print(linkedHeads)
		for _, b := range must(budgetsOf(*epsilons, *delta)) {
			for _, way := range split(*ways) {
				key := lineKey{"linked " + name, way, t.real.Parents.Rows(), b.Epsilon, b.Delta}
				c := &cell{label: fmt.Sprintf("%s | %v", way, b.Epsilon), worst: true}
				c.runs = log.line(key, *runs, func() (scores, error) { return t.run(way, b), nil })
				c.print(linkedHeads)
			}
		}
	}
}

func openLinked(dir, name string) *linkedTables {
	dir = filepath.Join(dir, name)
	l := must(schema.LoadLinked(filepath.Join(dir, "schema.yaml")))
	paths := must(configs.LinkedFiles("-data", l, dir))
	return &linkedTables{schema: l, paths: paths, targets: linkedTargets[name],
		real:   must(linked.Read(context.Background(), l, paths)),
		coarse: must(read(paths[1], l.Tables[1].Schema))}
}

// score is of synthetic tables, and beside it what chance alone makes of the real ones.
func (t *linkedTables) score(made *linked.Tables) (out, floor scores) {
	families := must(linked.Families(t.real, made, 1))
	for i, f := range families {
		out[i], floor[i] = f.Off, f.Floor
	}
	for _, p := range must(linked.Predict(t.real, made, t.targets, 1)) {
		at := len(families)
		if p.Next {
			at++
		}
		out[at], floor[at] = p.Synthetic, p.Real
	}
	return out, floor
}

// run makes synthetic tables in a way, and scores them.
func (t *linkedTables) run(way string, b accountant.Budget) scores {
	used := cpu()
	var made []*table.Table
	first, number, _ := strings.Cut(way, " ")
	switch rows, _ := strconv.Atoi(number); first {
	case "given":
		made = t.flat(0, b)
	case "first":
		made = t.flat(rows, b)
	default: // as the command makes them
		ctx := context.Background()
		m, _, err := synth.Run(ctx, must(private.Files(t.schema, t.paths)), must(fitter(way)),
			synth.RunOptions{Options: privacy.Options{Budget: b, Tool: "bench"}})
		check(err)
		units := max(1, int(math.Round(m.Rows)))
		made = must(m.Params().(*release.Linked).Draw(ctx, units, rand.Uint64()))
	}
	used = cpu() - used
	var tables []table.Linked
	for _, one := range made {
		rows := table.Linked{Table: one, Key: one.Units()}
		for row := range one.Rows() {
			rows.ID = append(rows.ID, uint32(row))
		}
		tables = append(tables, rows)
	}
	out, _ := t.score(must(linked.Of(t.schema, tables)))
	out[len(out)-1] = used
	return out
}
