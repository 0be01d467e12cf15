package serve

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/disk"
	"github.com/decoy-dp/decoy/internal/spelling"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/ledger"
)

// account is the ledger of a table.
type account struct {
	File    string
	Spent   accountant.Budget
	Limit   *accountant.Budget // nil: none is set
	Runs    []ledger.Summary
	Problem string // why the ledger could not be read
}

// ledger is the account in a file, nil if it is not there yet.
func (f *folder) ledger(file string) *account {
	a := account{File: file}
	if _, err := f.root.Lstat(file); err != nil {
		return nil
	}
	full, err := configs.LedgerAt(filepath.Join(f.dir, filepath.FromSlash(a.File)))
	var l *ledger.Ledger
	if err == nil {
		l, err = ledger.NewFile(full).Read()
	}
	if err != nil {
		a.Problem = spelling.Plain(err) + ": no run of this table can begin"
		return &a
	}
	a.Spent, a.Runs = l.Spent(), l.Runs()
	if limit, ok := l.LimitInForce(); ok {
		a.Limit = limit.Budget
	}
	return &a
}

// tables is step 1: which table.
func (q *request) tables() error {
	list := q.folder.files(tables)
	for i, f := range list {
		list[i].Ledger = q.folder.ledger(f.Name + ".ledger")
	}
	return q.show("table.html", map[string]any{"Tables": list, "Batches": q.folder.described(true)})
}

// schema is step 2: what is publicly known of the columns. A schema is bought in the run, chosen,
// or written as text.
func (q *request) schema() error {
	c := q.choice
	err := q.folder.have(tables, c["table"])
	model, drawn := q.model(q.r.Context(), c["table"])
	body := map[string]any{"Drawn": drawn, "Model": model,
		"Free":    q.folder.free(stem(c["table"])+".schema", ".yaml"),
		"Schemas": q.folder.described(false), "Tables": q.others(c["table"])}
	if q.value("do") == "edit" {
		if err == nil && !c.Bought() {
			body["Text"], err = q.folder.text(c["schema"])
		} else if err == nil && c["header-is-public"] != "" {
			text := "decoy: 1\nlenient: true\ncolumns:\n"
			header, _, _ := configs.Header(filepath.Join(q.folder.dir, c["table"]), schema.CSV{})
			for _, name := range header {
				text += fmt.Sprintf("  - {name: %q}\n", name)
			}
			body["Text"] = text
		}
		body["Name"] = cmp.Or(c["schema"], q.folder.free(stem(c["table"]), ".yaml"))
	}
	if err != nil {
		return err
	}
	return q.show("schema.html", body)
}

func (f *folder) text(name string) (string, error) {
	file, err := f.open(schemas, name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, mostBody))
	if len(b) > mostBody/2 {
		return "", problemf("%s is too long for this page: edit it in an editor", name)
	}
	return string(b), err
}

// judgement is what is to be said of a text that should be a schema.
type judgement struct {
	Problem string
	Rest    string         // of it, what is about no column
	Schema  *schema.Schema // nil of linked tables
	Cards   []*card
}

// judge reads a schema, as 'schema check' does.
func judge(text string) (out judgement) {
	columns(text, func(table string, column *yaml.Node) bool {
		out.Cards = append(out.Cards, cardOf(table, column))
		return false
	})
	var err error
	if out.Schema, err = schema.Parse([]byte(text)); errors.Is(err, schema.ErrLinked) {
		_, err = schema.ParseLinked([]byte(text))
	}
	if err != nil {
		out.Problem = strings.TrimSpace(err.Error())
	}
	out.Rest = place(out.Cards, out.Problem)
	return out
}

// check is the live check of the editor: a part of the page.
func (q *request) check() error {
	name := map[bool]string{true: "cards", false: "checked"}[q.value("cards") != ""]
	return q.write(200, name, judge(edit(q.r.Form)))
}

// save writes the schema and goes on to the plan.
func (q *request) save() error {
	c, name := q.choice, q.value("name")
	text := edit(q.r.Form)
	if wrong := judge(text).Problem; wrong != "" && q.value("cards") != "" {
		return q.show("schema.html", map[string]any{"Text": text, "Name": name})
	} else if wrong != "" {
		return problemf("The schema was not saved:\n%s", wrong)
	}
	if err := q.folder.place(schemas, name); err != nil {
		return err
	}
	_, err := q.folder.root.Lstat(name)
	if err == nil && (name != c["schema"] || q.value("replace") == "") {
		return problemf("schema: %s is there already: choose another name", name)
	}
	full := filepath.Join(q.folder.dir, filepath.FromSlash(name))
	if err := disk.WriteFile(full, []byte(text), 0o644); err != nil {
		return err
	}
	c["schema"] = name
	return q.redirect(c.To("/plan"))
}

// A group is the picture of some people in the table, seen through the noise: where their released
// count lies 19 times of 20.
type group struct {
	Size, Low, High, Width int
	Class                  string
}

// groups draws groups of 15, 50 and 500 rows, of which the noise of one count has a standard
// deviation of sigma.
func groups(sigma float64) (out []group) {
	for _, n := range []float64{15, 50, 500} {
		low, high := math.Max(0, n-1.96*sigma), n+1.96*sigma
		g := group{int(n), int(math.Round(low)), int(math.Round(high)), int(high - low), "good"}
		if 3*sigma > n {
			g.Class = "poor"
		} else if 10*sigma > n {
			g.Class = "mixed"
		}
		out = append(out, g)
	}
	return out
}

// outcome is the plan of a choice, as a part of the page that is made anew when ε changes.
type outcome struct {
	Choice  choice
	Planned struct { // what 'plan --json' says, as far as a page shows it
		Method string
		Cost   accountant.Budget
		Usable float64                        `json:"smallest_usable_count"` // three standard deviations
		Rows   struct{ Column, Pair float64 } `json:"rows_needed"`
		Needs  struct {
			Memory  int64 `json:"memory_bytes"`
			Seconds float64
		}
	}
	Schema  judgement
	Names   []string // of the columns, one of which may be the outcome
	More    []string // of the columns of a linked table, if the header is public
	Likely  string   // the one that most likely is; ""
	Groups  []group
	Ledger  *account
	Command string
	After   float64 // ε of the ledger after the run
	Over    bool
	Talk    []string // warnings
	Problem string   // of the budget
}

// outcome plans. An error is of the files.
func (q *request) outcome() (*outcome, error) {
	c := q.choice
	out := &outcome{Choice: c, Ledger: q.folder.ledger(c.Ledger())}
	if err := q.folder.have(tables, c["table"]); err != nil || c.Bought() {
		if err == nil && c["header-is-public"] != "" {
			names := func(file string) ([]string, string) {
				return configs.Outcomes(nil, filepath.Join(q.folder.dir, filepath.FromSlash(file)), c["unit"])
			}
			if c["more"] != "" {
				err = q.folder.have(tables, c["more"])
				out.More, _ = names(c["more"])
			} else {
				args, _, _ := q.folder.command("schema infer", c)
				if out.Talk, err = q.program.ask(q.r.Context(), nil, append(args, "--dry-run")...); err != nil {
					out.Problem = err.Error()
					return out, nil
				}
			}
			out.Names, out.Likely = names(c["table"])
		}
		return out, err
	}
	text, err := q.folder.text(c["schema"])
	if err != nil {
		return nil, err
	}
	if out.Schema = judge(text); out.Schema.Problem != "" {
		return nil, problem(out.Schema.Problem)
	}
	if (out.Schema.Schema == nil) != (c["more"] != "") {
		return nil, problemf("%s does not fit one table, or two that are linked: choose again what the "+
			"people have rows in", c["schema"])
	}
	out.Names, out.Likely = configs.Outcomes(out.Schema.Schema, "", "")
	args, _, err := q.folder.command("plan", c)
	if err != nil {
		return nil, err
	}
	out.Command = shown(args)
	if out.Talk, err = q.program.ask(q.r.Context(), &out.Planned, args...); err != nil {
		out.Problem = err.Error()
		return out, nil
	}
	out.Groups, out.After = groups(out.Planned.Usable/3), out.Planned.Cost.Epsilon
	if l := out.Ledger; l != nil {
		out.After += l.Spent.Epsilon
		out.Over = l.Limit != nil && out.After > l.Limit.Epsilon*(1+1e-12)
	}
	return out, nil
}

// plan is step 3: how much noise, for how much budget.
func (q *request) plan() error {
	name, ending := "out", ".csv"
	if q.choice["more"] != "" {
		name, ending = "out-dir", ""
	}
	if q.choice[name] == "" {
		q.choice[name] = q.folder.free(stem(q.choice["table"])+"-synthetic", ending)
	}
	out, err := q.outcome()
	if err != nil {
		return err
	}
	if q.part() {
		return q.write(200, "figures", out)
	}
	return q.show("plan.html", out)
}

// others are the tables of the folder but for one, and those that a run of this page wrote.
func (q *request) others(table string) []entry {
	return slices.DeleteFunc(q.folder.files(tables), func(e entry) bool {
		return e.Name == table || q.runs.of(e.Name) != nil
	})
}

// generate is step 4: run.
func (q *request) generate() error {
	q.choice["model"] = stem(cmp.Or(q.choice["out-dir"], q.choice["out"])) + ".decoy"
	return q.begin("generate")
}

// begin starts the run of a step and shows it.
func (q *request) begin(verb string) error {
	args, written, err := q.folder.command(verb, q.choice)
	if err != nil {
		return err
	}
	return q.start(verb, args, written)
}

func (q *request) start(verb string, args, written []string) (err error) {
	if q.run, err = q.runs.start(verb, args, written, q.choice); err != nil {
		return err
	}
	return q.redirect("/run/" + q.run.ID)
}

// again resumes a run that stopped, at no further cost.
func (q *request) again() error {
	v := q.runs.now(q.run)
	if !v.Resumable {
		return problemf("This run cannot be resumed.")
	}
	q.choice = v.Choice
	return q.start(v.Verb, append(slices.Clip(q.run.args), "--resume"), q.run.outputs)
}

func (q *request) showRun() error {
	v := q.runs.now(q.run)
	if v.Verb == "batch" && !v.Working() {
		v.Results = q.folder.results(v)
	}
	if q.part() {
		return q.write(200, "state", v)
	}
	q.choice = v.Choice
	return q.show("run.html", v)
}

func (q *request) stop() error {
	q.runs.interrupt(q.run)
	return q.redirect("/run/" + q.run.ID)
}

func (q *request) history() error {
	var accounts []*account
	for _, f := range q.folder.files(ledgers) {
		accounts = append(accounts, q.folder.ledger(f.Name))
	}
	return q.show("runs.html", map[string]any{"Runs": q.runs.list(),
		"Models": q.folder.files(models), "Ledgers": accounts})
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
	var rows bytes.Buffer
	q.program.ask(q.r.Context(), &rows, "sample", model, "--rows=6", "--out=-") // not of linked ones
	var made []entry
	body := map[string]any{"Model": model, "Claim": claim, "Rows": rows.String(),
		"Free": q.folder.free(stem(model)+"-sample", ".csv"), "Seed": rand.Uint64N(1e9)}
	if _, err := q.program.ask(q.r.Context(), nil, "verify", model); err != nil {
		body["Wrong"] = err.Error()
	}
	for _, f := range q.folder.files(tables) {
		if q.proposed(f.Name)["model"] == model {
			_, f.Drawn = q.model(q.r.Context(), f.Name)
			made = append(made, f)
		}
	}
	if r := q.runs.of(model); r != nil {
		v := q.runs.now(r)
		body["Run"], q.choice = v, v.Choice
		body["Tables"] = q.others(v.Choice["table"])
	}
	if r := q.runs.last(func(v view) bool {
		return v.Verb == "evaluate" && v.State == done && v.Choice["model"] == model
	}); r != nil {
		body["Report"] = q.runs.now(r)
	}
	body["Made"] = made
	return q.show("result.html", body)
}

// certificate is the page of a model, which may be given away with it.
func (q *request) certificate() error {
	var page bytes.Buffer
	model := q.choice["model"]
	err := q.folder.have(models, model)
	if err == nil {
		_, err = q.program.ask(q.r.Context(), &page, "inspect", model, "--report", "-")
	}
	if err != nil {
		return err
	}
	q.w.Header().Set("Content-Security-Policy",
		"default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'")
	q.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, err = page.WriteTo(q.w)
	return err
}

// evaluate compares with the real rows, without protection.
func (q *request) evaluate() error {
	id := q.value("run")
	made := q.runs.last(func(v view) bool { return v.ID == id && v.Verb == "generate" })
	if made == nil {
		return errMissing
	}
	c := maps.Clone(made.Choice)
	if c["link"] != "" {
		c["schema"] = path.Join(c["out-dir"], "tables.schema.yaml")
	} else if c.Bought() {
		c["schema"] = stem(c["model"]) + ".schema.yaml"
	}
	c["train"], c["holdout"] = strings.TrimSuffix(c["table"]+","+c["more"], ","), q.choice["holdout"]
	c["synthetic"] = strings.Join(made.outputs[:len(made.outputs)-1], ",")
	c["report"], c["json"] = q.folder.free(stem(c["model"])+"-NOT-PRIVATE", ".html"), "-"
	q.choice = c
	return q.begin("evaluate")
}

// report shows the page of an evaluation, the only one with figures of the real rows that are not
// private. It brings its own style, and no script.
func (q *request) report() error {
	v := q.runs.now(q.run)
	if v.Verb != "evaluate" || v.State != done {
		return errMissing
	}
	q.w.Header().Set("Content-Security-Policy",
		"default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	return q.send(reports, v.Outputs[0], "text/html; charset=utf-8")
}

// download gives a model, all of which is noise or public, or a table that a model gives.
func (q *request) download() error {
	name, k := q.value("file"), models
	if _, drawn := q.model(q.r.Context(), name); drawn {
		k.endings = append(slices.Clip(k.endings), outputs.endings...)
	}
	q.w.Header().Set("Content-Disposition",
		"attachment; filename*=UTF-8''"+url.PathEscape(path.Base(name)))
	return q.send(k, name, "application/octet-stream")
}

func (q *request) send(k kind, name, mime string) error {
	f, err := q.folder.open(k, name)
	if err != nil {
		return err
	}
	defer f.Close()
	q.w.Header().Set("Content-Type", mime)
	http.ServeContent(q.w, q.r, "", time.Time{}, f)
	return nil
}
