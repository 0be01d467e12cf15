package serve

import (
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

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
	Runs    []map[string]any `json:"runs"`
	Problem string           `json:"-"` // why the ledger could not be read
}

// Left is what may still be spent of a limit.
func (a *account) Left() float64 { return math.Max(0, a.Limit.Epsilon-a.Spent.Epsilon) }

// Share of the limit that is spent, 0 to 100.
func (a *account) Share() int {
	return int(math.Round(100 * math.Min(1, a.Spent.Epsilon/math.Max(a.Limit.Epsilon, 1e-300))))
}

// refuses says why no run that protects such units may begin, or nothing.
func (a *account) refuses(unit string) string {
	switch {
	case a == nil || a.Problem == "" && a.Unit == unit:
		return ""
	case a.Problem != "":
		return "This run would be refused: the ledger of the table cannot be read. " + a.Problem
	}
	people := func(unit string) string {
		if unit != "" {
			return "all rows of one " + unit
		}
		return "one row"
	}
	return fmt.Sprintf("This run would be refused: the ledger of the table counts %s, and the "+
		"schema protects %s. Costs of the two do not add up: take a schema with the ledger's unit.",
		people(a.Unit), people(unit))
}

// ledger is the account of a table, nil if it has none yet.
func (q *request) ledger(table string) *account {
	a := account{File: table + ".ledger"}
	info, err := q.folder.root.Stat(a.File)
	if table == "" || err != nil {
		return nil
	}
	if !info.Mode().IsRegular() { // to open a pipe would wait for somebody who writes into it
		a.Problem = a.File + " is not a file: no run of this table can begin"
	} else if _, err := q.program.ask(q.r.Context(), &a, "ledger", "show", a.File); err != nil {
		a.Problem = err.Error()
	}
	return &a
}

// mostLedgers are read for one page.
const mostLedgers = 40

// tables is step 1: which table.
func (q *request) tables() error {
	type row struct {
		entry
		Ledger *account
	}
	var rows, made []row
	files, more := q.folder.files(tables)
	asked := 0
	for _, f := range files {
		r := row{entry: f}
		if asked < mostLedgers {
			if r.Ledger = q.ledger(f.Name); r.Ledger != nil {
				asked++
			}
		}
		if q.synthetic(f.Name) {
			made = append(made, r)
		} else {
			rows = append(rows, r)
		}
	}
	return q.show("table.html", map[string]any{"Rows": rows, "Made": made, "More": more})
}

// synthetic tells whether a table is the output of a run of this page, as that left it. The names
// of the files beside a table say nothing: a schema or a model may as well be of its private rows.
func (q *request) synthetic(name string) bool {
	r := q.runs.of(name)
	return r != nil && r.left(q.folder.root, name)
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
	percent := func(x float64) float64 { return 100 * math.Min(x, widest) / widest }
	for _, n := range []float64{15, 50, 500} {
		low, high := math.Max(0, n-1.96*sigma), n+1.96*sigma
		g := group{Size: int(n), Low: int(math.Round(low)), High: int(math.Round(high)),
			At: percent(n), From: percent(low), Length: percent(high) - percent(low),
			Words: "seen well", Class: "good"}
		if 3*sigma > n {
			g.Words, g.Class = "lost in the noise", "poor"
		} else if 10*sigma > n {
			g.Words, g.Class = "seen, roughly", "mixed"
		}
		out = append(out, g)
	}
	return out
}

// columnNoise is how many rows the noise moves in the counts of one column.
type columnNoise struct {
	Name   string
	Rows   int
	Length float64 // percent of the noisiest
}

func columnNoises(columns []schema.ColumnOverview, sigma float64) (out []columnNoise) {
	// Half the sum of the absolute errors: each is |N(0, σ²)|, σ√(2/π) on average.
	each := 0.5 * sigma * math.Sqrt(2/math.Pi)
	most := 1.0
	for _, c := range columns {
		most = max(most, each*float64(c.Codes))
	}
	for _, c := range columns {
		rows := each * float64(c.Codes)
		out = append(out, columnNoise{c.Name, int(math.Round(rows)), 100 * rows / most})
	}
	return out
}

// outcome is the plan of a choice, as a part of the page that is made anew when ε changes.
type outcome struct {
	Choice  choice
	Planned struct { // what 'plan --json' says, as far as a page shows it
		Method string
		Cost   accountant.Budget
		Usable float64            `json:"smallest_usable_count"` // three standard deviations
		Rows   map[string]float64 `json:"rows_needed"`
		Needs  struct {
			Memory  int64 `json:"memory_bytes"`
			Seconds float64
		}
	}
	Schema struct { // what 'schema check --json' says
		Unit string
		Each []schema.ColumnOverview
	}
	Groups  []group
	Columns []columnNoise
	Ledger  *account
	Command string
	After   float64 // ε of the ledger after the run
	Over    bool
	Refused string   // why the ledger would refuse the run, whatever is left in it
	Talk    []string // warnings
	Problem string   // of the budget
}

// outcome plans. An error is of the files.
func (q *request) outcome() (out outcome, err error) {
	c := q.choice
	if err := q.folder.reads(c); err != nil {
		return out, err
	}
	if c.Bought() {
		_, _, err = q.header(c["table"])
		out.Schema.Unit = c["unit"]
	} else {
		_, err = q.program.ask(q.r.Context(), &out.Schema, "schema", "check", c["schema"])
	}
	if err != nil {
		return out, err
	}
	out.Choice, out.Ledger = c, q.ledger(c["table"])
	out.Refused = out.Ledger.refuses(out.Schema.Unit)
	out.Talk, err = c.budget()
	if err == nil && !c.Bought() { // else what is found decides the rest
		err = q.planned(&out)
	}
	if err != nil {
		out.Problem = err.Error()
	}
	return out, nil
}

// planned is the part of an outcome that follows from a schema.
func (q *request) planned(out *outcome) error {
	args, _, err := q.folder.command("plan", q.choice)
	if err != nil {
		return err
	}
	talk, err := q.program.ask(q.r.Context(), &out.Planned, args...)
	out.Talk, out.Command = append(talk, out.Talk...), shown(args)
	sigma := out.Planned.Usable / 3
	out.Groups, out.Columns = groups(sigma), columnNoises(out.Schema.Each, sigma)
	out.After = out.Planned.Cost.Epsilon
	if l := out.Ledger; l != nil {
		out.After += l.Spent.Epsilon
		out.Over = l.Limit != nil && out.After > l.Limit.Epsilon*(1+1e-12)
	}
	return err
}

// plan is step 3: how much noise, for how much budget.
func (q *request) plan() error {
	out, err := q.outcome()
	if err != nil {
		return err
	}
	if q.choice["out"] == "" {
		q.choice["out"] = q.folder.free(stem(q.choice["table"])+"-synthetic", ".csv")
	}
	return q.show("plan.html", out)
}

func (q *request) figures() error {
	out, err := q.outcome()
	if err != nil {
		return err
	}
	return q.write(200, "figures", out)
}

// modelOf is where the model of a synthetic table is kept, boughtOf a schema that its run bought.
func modelOf(out string) string  { return stem(out) + ".decoy" }
func boughtOf(out string) string { return stem(out) + ".schema.yaml" }

// generate is step 4: run.
func (q *request) generate() error {
	c := q.choice
	c["model"] = modelOf(c["out"])
	if _, err := c.budget(); err != nil {
		return err
	}
	if err := q.folder.reads(c); err != nil {
		return err
	}
	return q.begin("generate")
}

// begin starts the run of a step and shows it.
func (q *request) begin(verb string) error {
	args, written, err := q.folder.command(verb, q.choice)
	if err != nil {
		return err
	}
	if verb == "generate" && q.choice.Bought() {
		written = append(written, boughtOf(q.choice["out"]))
	}
	return q.start(verb, args, written)
}

func (q *request) start(verb string, args, written []string) error {
	r, err := q.runs.start(verb, args, written, q.choice)
	if err != nil {
		return err
	}
	return q.toRun(r)
}

func (q *request) toRun(r *run) error { return q.redirect("/run/" + r.now().ID) }

// again resumes a run that stopped, at no further cost.
func (q *request) again() error {
	v := q.run.now()
	if !v.Resumable {
		return problemf("This run cannot be resumed.")
	}
	args := slices.Clone(q.run.args)
	if !slices.Contains(args, "--resume") {
		args = append(args, "--resume")
	}
	q.choice = v.Choice
	return q.start(v.Verb, args, q.run.outputs)
}

func (q *request) showRun() error {
	select { // a run that is soon done has the time to be
	case <-q.run.done:
	case <-time.After(300 * time.Millisecond):
	}
	v := q.run.now()
	q.choice = v.Choice
	return q.show("run.html", v)
}

func (q *request) history() error {
	models, _ := q.folder.files(models)
	files, _ := q.folder.files(ledgers)
	var accounts []*account
	for _, f := range files[:min(len(files), mostLedgers)] {
		accounts = append(accounts, q.ledger(strings.TrimSuffix(f.Name, ".ledger")))
	}
	return q.show("runs.html", map[string]any{"Runs": q.runs.list(), "Models": models,
		"Ledgers": accounts})
}

// result is step 5: what came of it.
func (q *request) result() error {
	model := q.choice["model"]
	if err := q.folder.have(models, model); err != nil {
		return err
	}
	claim := map[string]any{}
	if _, err := q.program.ask(q.r.Context(), &claim, "inspect", model); err != nil {
		return err
	}
	body := map[string]any{"Model": model, "Claim": claim,
		"Free": q.folder.free(stem(model)+"-sample", ".csv")}
	if _, err := q.program.ask(q.r.Context(), nil, "verify", model); err != nil {
		body["Wrong"] = err.Error()
	}
	if r := q.runs.of(model); r != nil {
		v := r.now()
		body["Run"], q.choice = v, v.Choice
		others, _ := q.folder.files(tables)
		body["Tables"] = slices.DeleteFunc(others, func(e entry) bool {
			return e.Name == v.Choice["table"] || q.synthetic(e.Name)
		})
		if q.synthetic(v.Outputs[0]) {
			body["Preview"], _ = q.preview(v.Outputs[0])
		}
	}
	if r := q.runs.last(func(v view) bool {
		return v.Verb == "evaluate" && v.State == done && modelOf(v.Choice["out"]) == model
	}); r != nil {
		body["Report"] = r.now().ID
	}
	return q.show("result.html", body)
}

// evaluate compares with the real rows, without protection.
func (q *request) evaluate() error {
	id := q.value("run")
	made := q.runs.last(func(v view) bool { return v.ID == id && v.Verb == "generate" })
	if made == nil {
		return errMissing
	}
	c := maps.Clone(made.now().Choice)
	delete(c, "resume")
	if c.Bought() {
		c["schema"] = boughtOf(c["out"])
	}
	c["train"], c["synthetic"], c["holdout"] = c["table"], c["out"], q.choice["holdout"]
	c["report"] = q.folder.free(stem(c["out"])+"-NOT-PRIVATE", ".html")
	q.choice = c
	return q.begin("evaluate")
}

// report shows the page of an evaluation, the only one with figures of the real rows that are not
// private. It brings its own style, and no script.
func (q *request) report() error {
	v := q.run.now()
	if v.Verb != "evaluate" || v.State != done {
		return errMissing
	}
	q.w.Header().Set("Content-Security-Policy",
		"default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	return q.send(v.Outputs[0], "text/html; charset=utf-8")
}

// model downloads a model: all in it is noise or public.
func (q *request) model() error {
	if err := q.folder.have(models, q.choice["model"]); err != nil {
		return err
	}
	return q.download(q.choice["model"])
}

// file downloads an output of a run.
func (q *request) file() error {
	v := q.run.now()
	n, err := strconv.Atoi(q.r.PathValue("n"))
	if err != nil || n < 0 || n >= len(v.Outputs) || v.Verb == "evaluate" {
		return errMissing
	}
	return q.download(v.Outputs[n])
}

func (q *request) download(name string) error {
	q.w.Header().Set("Content-Disposition",
		"attachment; filename*=UTF-8''"+url.PathEscape(path.Base(name)))
	return q.send(name, "application/octet-stream")
}

func (q *request) send(name, mime string) error {
	f, err := q.folder.open(name)
	if err != nil {
		return errMissing
	}
	defer f.Close()
	q.w.Header().Set("Content-Type", mime)
	http.ServeContent(q.w, q.r, "", time.Time{}, f)
	return nil
}

// preview is the first rows of a synthetic CSV file, which may be shown to anyone.
func (s *Server) preview(name string) (rows [][]string, err error) {
	if !strings.HasSuffix(name, ".csv") {
		return nil, errMissing
	}
	_, comma, err := s.header(name)
	if err != nil {
		return nil, err
	}
	f, err := s.folder.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	const most, mostBytes = 7, 64 << 10
	lines := csv.NewReader(io.LimitReader(f, mostBytes))
	lines.Comma, lines.FieldsPerRecord = rune(comma), -1
	for len(rows) < most && err == nil {
		var line []string
		if line, err = lines.Read(); err == nil {
			rows = append(rows, line)
		}
	}
	return rows, nil
}
