package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/table"
)

// Stays in hospital, with constraints and without.
const (
	freeColumns = `
  - {name: admitted, kind: date, min: 2015-01-01, max: 2025-12-31, bins: 22}
  - {name: age, kind: integer, min: 0, max: 99, bins: 20}
  - {name: sex, kind: categorical, categories: [female, male]}
  - {name: pregnant, kind: boolean, categories: [no, yes]}
  - {name: zip, kind: categorical, categories: [a, b, c, d, e, f]}
  - {name: diastolic, kind: integer, min: 40, max: 109, bins: 14}
  - {name: beds, kind: integer, min: 0, max: 9}
  - {name: cots, kind: integer, min: 0, max: 9}
`
	plainStays = "decoy: 1\ncolumns:" + freeColumns + `
  - {name: discharged, kind: date, min: 2015-01-01, max: 2026-03-31, bins: 22}
  - {name: state, kind: categorical, categories: [X, Y, Z]}
  - {name: systolic, kind: integer, min: 60, max: 209, bins: 15}
  - {name: places, kind: integer, min: 0, max: 18}
  - {name: most, kind: integer, min: 0, max: 9}
`
	constrainedStays = "decoy: 1\ncolumns:" + freeColumns + `
  - {name: discharged, kind: integer, after: admitted, min: 0, max: 90, bins: {count: 12, spacing: log}}
  - {name: state, kind: lookup, of: zip, map: {a: X, b: X, c: Y, d: Y, e: Y, f: Z}}
  - {name: systolic, kind: integer, after: diastolic, min: 20, max: 100, bins: 15}
  - {name: places, kind: sum, of: [beds, cots]}
  - {name: most, kind: max, of: [beds, cots]}
rules:
  - {when: {sex: male}, then: {pregnant: no}}
  - {when: {age: {below: 10}}, then: {pregnant: no}}
`
	// for smalldb, which is for tables of a few cells
	plainSmall = `decoy: 1
columns:
  - {name: sex, kind: categorical, categories: [female, male]}
  - {name: pregnant, kind: boolean, categories: [no, yes]}
`
	constrainedSmall = plainSmall + "rules: [{when: {sex: male}, then: {pregnant: no}}]\n"
)

// constraints prints one line for each method: how many of the rows that it makes break a
// constraint, and the mean two-way error of as many rows as fitted ones, on the cells as they are
// written; each with constraints in the schema and without. The table is drawn here.
func constraints(args []string) {
	flags := flag.NewFlagSet("constraints", flag.ExitOnError)
	variants := flags.String("variants",
		"mst,aim,mwem rounds=10,wgan,pategan,smalldb", "methods, each with its settings")
	b := budgetOf(flags)
	fitted := flags.Int("fitted", 20_000, "rows of the table")
	sampled := flags.Int("rows", 1_000_000, "rows that are looked at for each method")
	runs := runsOf(flags, 3)
	flags.Parse(args)
	stays := drawStays(*fitted)
	fmt.Printf("epsilon %v, delta %v, %d rows fitted, %d runs\n\n", b.Epsilon, b.Delta, *fitted, *runs)
	fmt.Printf("| method | rows that break a constraint, of %d: without | with | "+
		"two-way error without | with |\n| --- | --- | --- | --- | --- |\n", *sampled)
	for _, variant := range split(*variants) {
		f := must(fitterOf(variant))
		texts := []string{plainStays, constrainedStays}
		if variant == "smalldb" {
			texts = []string{plainSmall, constrainedSmall}
		}
		judge := must(schema.Parse([]byte(texts[0])))
		real := must(readStays(stays, judge))
		var broken [2]int
		var errs [2][]float64
		for k, text := range texts {
			for run := range *runs {
				x, n := oneConstrained(text, stays, real, f, *b, *sampled, run == 0)
				broken[k], errs[k] = broken[k]+n, append(errs[k], x)
			}
		}
		fmt.Printf("| `%s` | %d | %d | %s | %s |\n", variant, broken[0], broken[1], spread(errs[0], 4),
			spread(errs[1], 4))
	}
}

// oneConstrained fits once with the schema in text: the two-way error, as the schema of real sees
// the cells, and of the sampled rows how many break a constraint.
func oneConstrained(
	text string, stays []byte, real *table.Table, f synth.Fitter, b accountant.Budget, sampled int,
	count bool,
) (twoWay float64, broken int) {
	s := must(schema.Parse([]byte(text)))
	train := must(readStays(stays, s))
	m := fitted(train, f, b)
	var rows bytes.Buffer
	check(writeStays(&rows, m, real.Rows()))
	syn := must(readStays(rows.Bytes(), real.Schema()))
	if twoWay = must(eval.MarginalError(real, syn, 2)); !count {
		return twoWay, 0
	}
	in, out := io.Pipe()
	go func() { out.CloseWithError(writeStays(out, m, sampled)) }()
	return twoWay, must(countBroken(in))
}

func writeStays(w io.Writer, m *release.Model, n int) error {
	seed := rand.Uint64()
	out, err := table.NewWriter(w, table.CSV, m.Schema(), release.ValueRand(seed),
		table.WriterOptions{})
	if err != nil {
		return err
	}
	if err := m.Sample(context.Background(), n, seed, out.Write); err != nil {
		return err
	}
	return out.Close()
}

// drawStays draws rows that keep all constraints.
func drawStays(n int) []byte {
	u := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	b.WriteString("admitted,discharged,age,sex,pregnant,zip,state,diastolic,systolic,beds,cots," +
		"places,most\n")
	first := time.Date(2015, 1, 1, 0, 0, 0, 0, time.UTC)
	for range n {
		age, female := min(99, int(18+u.NormFloat64()*15+u.ExpFloat64()*20)), u.IntN(2) == 0
		age = max(age, 0)
		pregnant := female && age > 17 && age < 45 && u.Float64() < .15
		from := first.AddDate(0, 0, u.IntN(4018))
		stay := min(90, int(u.ExpFloat64()*(4+float64(age)/10)))
		zip := u.IntN(6)
		low := max(40, min(109, 60+age/4+int(u.NormFloat64()*9)))
		high := low + max(20, min(100, 35+age/3+int(u.NormFloat64()*8)))
		beds := u.IntN(10)
		cots := min(9, u.IntN(4)+beds/2)
		fmt.Fprintf(&b, "%s,%s,%d,%s,%s,%c,%c,%d,%d,%d,%d,%d,%d\n", from.Format(time.DateOnly),
			from.AddDate(0, 0, stay).Format(time.DateOnly), age,
			map[bool]string{true: "female", false: "male"}[female],
			map[bool]string{true: "yes", false: "no"}[pregnant], "abcdef"[zip], "XXYYYZ"[zip], low, high,
			beds, cots, beds+cots, max(beds, cots))
	}
	return b.Bytes()
}

// countBroken counts the rows of a file that break a constraint, by their cells.
func countBroken(r io.Reader) (broken int, err error) {
	in := csv.NewReader(r)
	in.ReuseRecord = true
	head, err := in.Read()
	if err != nil {
		return 0, err
	}
	at := map[string]int{}
	for i, name := range slices.Clone(head) {
		at[strings.Clone(name)] = i
	}
	for {
		row, err := in.Read()
		if err == io.EOF {
			return broken, nil
		} else if err != nil {
			return 0, err
		}
		cell := func(name string) string {
			if i, ok := at[name]; ok {
				return row[i]
			}
			return ""
		}
		number := func(name string) int {
			x, _ := strconv.Atoi(cell(name))
			return x
		}
		bad := cell("sex") == "male" && cell("pregnant") == "yes"
		if len(at) > 2 {
			zip := strings.Index("abcdef", cell("zip"))
			bad = bad || cell("discharged") < cell("admitted") || number("age") < 10 &&
				cell("pregnant") == "yes" || cell("state") != "XXYYYZ"[zip:zip+1] ||
				number("systolic") < number("diastolic")+20 ||
				number("places") != number("beds")+number("cots") ||
				number("most") != max(number("beds"), number("cots"))
		}
		if bad {
			broken++
		}
	}
}
