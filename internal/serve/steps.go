package serve

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/schema"
)

// account is what 'ledger show --json' says.
type account struct {
	File  string            `json:"-"`
	Unit  string            `json:"unit"` // id column, "" if it counts rows
	Spent accountant.Budget `json:"spent"`
	Limit *struct {
		accountant.Budget
		Rule string `json:"rule"`
	} `json:"limit"`
	Runs []struct {
		Run    string            `json:"run"`
		Time   string            `json:"time"`
		Method string            `json:"method"`
		Budget accountant.Budget `json:"budget"`
		Status string            `json:"status"`
	} `json:"runs"`
	Problem string `json:"-"` // why the ledger could not be read
}

// Left is what may still be spent, or nothing without a limit.
func (a *account) Left() float64 { return math.Max(0, a.Limit.Epsilon-a.Spent.Epsilon) }

// Share of the limit that is spent, 0 to 100.
func (a *account) Share() int {
	if a.Limit == nil || a.Limit.Epsilon <= 0 {
		return 0
	}
	return int(math.Round(100 * math.Min(1, a.Spent.Epsilon/a.Limit.Epsilon)))
}

// refuses says why no run that protects such units may begin, or nothing.
func (a *account) refuses(unit string) string {
	switch {
	case a == nil:
		return ""
	case a.Problem != "":
		return "This run would be refused: the ledger of the table cannot be read. " + a.Problem
	case a.Unit == unit:
		return ""
	}
	return fmt.Sprintf("This run would be refused: the ledger of the table counts %s, and the "+
		"schema protects %s. Costs of the two do not add up: take a schema with the ledger's unit.",
		people(a.Unit), people(unit))
}

// people are whom a guarantee of such a unit is about.
func people(unit string) string {
	if unit != "" {
		return "all rows of one " + unit
	}
	return "one row"
}

// Day of a run.
func (a *account) Day(time string) string { day, _, _ := strings.Cut(time, "T"); return day }

// ledger is the account of a table, nil if it has none yet.
func (s *Server) ledger(ctx context.Context, table string) *account {
	file := table + ".ledger"
	info, err := s.folder.root.Stat(file)
	if table == "" || err != nil {
		return nil
	}
	a := account{File: file}
	if !info.Mode().IsRegular() { // to open a pipe would wait for somebody who writes into it
		a.Problem = file + " is not a file: no run of this table can begin"
		return &a
	}
	if err := s.program.ask(ctx, &a, "ledger", "show", file); err != nil {
		a.Problem = err.Error()
	}
	return &a
}

// Step 1: which table.
func (s *Server) tables(q *request) error {
	type row struct {
		entry
		Ledger *account
	}
	var rows, made []row
	files, more := s.folder.files(tableEndings)
	const mostLedgers = 40
	asked := 0
	for _, f := range files {
		r := row{entry: f}
		if asked < mostLedgers {
			if r.Ledger = s.ledger(q.r.Context(), f.Name); r.Ledger != nil {
				asked++
			}
		}
		if s.synthetic(f.Name) {
			made = append(made, r)
		} else {
			rows = append(rows, r)
		}
	}
	return s.show(q, "table.html", page{Title: "Choose a table", Step: 1, Choice: choiceOf(q),
		Body: map[string]any{"Rows": rows, "Made": made, "More": more, "Runs": s.runs.list()}})
}

// synthetic tells whether a table is the output of a run of this page, as that left it. The names
// of the files beside a table say nothing: a schema or a model may as well be of its private rows.
func (s *Server) synthetic(name string) bool {
	r := s.runs.of(name)
	return r != nil && r.left(s.folder.root, name)
}

// planned is what 'plan --json' says, as far as a page shows it.
type planned struct {
	Method string `json:"method"`
	Cost   accountant.Budget
	Usable float64 `json:"smallest_usable_count"` // three standard deviations
	Rows   struct {
		Least  float64 `json:"least"`
		Column float64 `json:"column"`
		Pair   float64 `json:"pair"`
	} `json:"rows_needed"`
	Needs struct {
		Memory  int64   `json:"memory_bytes"`
		Seconds float64 `json:"seconds"`
	} `json:"needs"`
}

// columns are those of a schema, as 'schema check' has them, and its unit.
func (s *Server) columns(q *request, file string) ([]schema.ColumnOverview, string, error) {
	var checked struct {
		Unit string
		Each []schema.ColumnOverview
	}
	err := s.program.ask(q.r.Context(), &checked, "schema", "check", file)
	return checked.Each, checked.Unit, err
}

// reads checks the files that a choice reads.
func (s *Server) reads(c choice) error {
	if err := s.folder.have("table", c.Table, tableEndings); err != nil {
		return err
	}
	switch {
	case !c.Bought():
		return s.folder.have("schema", c.Schema, schemaEndings)
	case c.Header == "":
		return problemf("Without a schema, say first that the names of the columns may be shown.")
	}
	return nil
}

// A group is the picture of some people in the table, seen through the noise. Lengths are percent
// of the picture's width.
type group struct {
	Size             int
	Low, High        int // where the released count lies 19 times of 20
	At, From, Length float64
	Words, Class     string
}

// groups draws groups of 15, 50 and 500 rows, of which the noise of one count has a standard
// deviation of sigma.
func groups(sigma float64) (out []group) {
	const widest = 640
	half := 1.96 * sigma
	percent := func(x float64) float64 { return 100 * math.Min(math.Max(x, 0), widest) / widest }
	for _, n := range []int{15, 50, 500} {
		low, high := math.Max(0, float64(n)-half), float64(n)+half
		g := group{Size: n, Low: int(math.Round(low)), High: int(math.Round(high)),
			At: percent(float64(n)), From: percent(low), Length: percent(high) - percent(low)}
		switch {
		case 3*sigma > float64(n):
			g.Words, g.Class = "lost in the noise", "poor"
		case 10*sigma > float64(n):
			g.Words, g.Class = "seen, roughly", "mixed"
		default:
			g.Words, g.Class = "seen well", "good"
		}
		out = append(out, g)
	}
	return out
}

// columnNoise is how many rows the noise moves in the counts of one column.
type columnNoise struct {
	Name   string
	Codes  int
	Rows   int
	Length float64 // percent of the noisiest
}

func columnNoises(columns []schema.ColumnOverview, sigma float64) (out []columnNoise) {
	most := 1.0
	for _, c := range columns {
		// Half the sum of the absolute errors: each is |N(0, σ²)|, σ√(2/π) on average.
		rows := 0.5 * sigma * math.Sqrt(2/math.Pi) * float64(c.Codes)
		most = max(most, rows)
		out = append(out, columnNoise{Name: c.Name, Codes: c.Codes, Rows: int(math.Round(rows)),
			Length: rows})
	}
	for i := range out {
		out[i].Length *= 100 / most
	}
	return out
}

// outcome is the plan of a choice, as a part of the page that is made anew when ε changes.
type outcome struct {
	Choice  choice
	Planned planned
	Sigma   float64
	Groups  []group
	Columns []columnNoise
	Ledger  *account
	Command string
	After   float64 // ε of the ledger after the run
	Over    bool
	Refused string   // why the ledger would refuse the run, whatever is left in it
	Talk    []string // warnings
}

func (s *Server) outcome(q *request, c choice) (outcome, error) {
	out := outcome{Choice: c}
	j, err := c.checked()
	if err != nil {
		return out, err
	}
	out.Talk, out.Ledger = c.weak(j), s.ledger(q.r.Context(), c.Table)
	if c.Bought() { // what is found decides the rest
		out.Refused = out.Ledger.refuses(c.Unit)
		return out, nil
	}
	if err := s.folder.have("schema", c.Schema, schemaEndings); err != nil {
		return out, err
	}
	args := c.budget([]string{"plan", "--schema=" + c.Schema})
	talk, err := s.program.hear(q.r.Context(), &out.Planned, args...)
	if err != nil {
		return out, err
	}
	out.Talk = append(talk, out.Talk...)
	columns, unit, err := s.columns(q, c.Schema)
	if err != nil {
		return out, err
	}
	out.Refused = out.Ledger.refuses(unit)
	out.Command = shown(args)
	out.Sigma = out.Planned.Usable / 3
	out.Groups = groups(out.Sigma)
	out.Columns = columnNoises(columns, out.Sigma)
	out.After = out.Planned.Cost.Epsilon
	if out.Ledger != nil {
		out.After += out.Ledger.Spent.Epsilon
		out.Over = out.Ledger.Limit != nil && out.After > out.Ledger.Limit.Epsilon*(1+1e-12)
	}
	return out, nil
}

// Step 3: how much noise, for how much budget.
func (s *Server) plan(q *request) error {
	c := choiceOf(q)
	if err := s.reads(c); err != nil {
		return err
	}
	body := map[string]any{"Methods": []string{"auto", "aim", "mst", "wgan", "pategan", "mwem"}}
	if c.Bought() {
		if _, _, err := s.header(c.Table); err != nil {
			return err
		}
	} else {
		columns, _, err := s.columns(q, c.Schema)
		if err != nil {
			return err
		}
		body["Columns"] = columns
	}
	if out, err := s.outcome(q, c); err != nil {
		body["Problem"] = err.Error()
	} else {
		body["Outcome"] = out
	}
	if c.Out == "" {
		c.Out = s.folder.free(stem(c.Table)+"-synthetic", ".csv")
	}
	return s.show(q, "plan.html", page{Title: "Plan the release", Step: 3, Choice: c,
		Ledger: s.ledger(q.r.Context(), c.Table), Body: body})
}

func (s *Server) figures(q *request) error {
	out, err := s.outcome(q, choiceOf(q))
	if err != nil {
		return err
	}
	return s.template(q, 200, "figures", out)
}

// generate is the command line of a choice.
func generate(c choice) []string {
	args := []string{"generate", c.Table}
	if c.Bought() {
		args = flags(append(args, "--header-is-public"), "unit", c.Unit, "max-rows-per-unit", c.UnitRows)
	} else {
		args = flags(args, "schema", c.Schema)
	}
	return flags(c.budget(args), "out", c.Out, "model", modelOf(c.Out))
}

// modelOf is where the model of a synthetic table is kept.
func modelOf(out string) string { return stem(out) + ".decoy" }

// boughtOf is where a schema is kept that was bought in the run.
func boughtOf(out string) string { return stem(out) + ".schema.yaml" }

// Step 4: run.
func (s *Server) start(q *request) error {
	c := choiceOf(q)
	args, place := generate(c), s.folder.fresh
	if q.value("resume") != "" {
		args, place = append(args, "--resume"), s.folder.place
	}
	_, err := c.checked()
	if err := cmp.Or(err, s.reads(c), place("synthetic table", c.Out, outputEndings),
		place("model", modelOf(c.Out), modelEndings)); err != nil {
		return err
	}
	outputs := []string{c.Out, modelOf(c.Out)}
	if c.Bought() {
		outputs = append(outputs, boughtOf(c.Out))
	}
	return s.begin(q, "generate", args, outputs, c)
}

// begin starts a run and shows it.
func (s *Server) begin(q *request, verb string, args, outputs []string, c choice) error {
	r, err := s.runs.start(verb, args, outputs, c)
	if err != nil {
		return err
	}
	return q.redirect("/run/"+r.ID, nil)
}
