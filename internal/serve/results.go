package serve

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/decoy-dp/decoy/accountant"
)

// ofRun handles a request about a run.
func (s *Server) ofRun(handle func(*request, *run) error) func(*request) error {
	return func(q *request) error {
		r := s.runs.find(q.r.PathValue("id"))
		if r == nil {
			return errMissing
		}
		return handle(q, r)
	}
}

func (s *Server) run(q *request, r *run) error {
	r.wait(300 * time.Millisecond)
	v := r.view()
	titles := map[string]string{"generate": "Making the synthetic table",
		"sample": "Drawing a table from the model", "evaluate": "Comparing with the real table"}
	return s.show(q, "run.html", page{Title: titles[v.Verb], Step: 4, Choice: v.Choice,
		Ledger: s.ledger(q.r.Context(), v.Choice.Table), Body: v})
}

// state is the part of the page of a run that changes.
func (s *Server) state(q *request, r *run) error {
	return s.template(q, 200, "state", r.view())
}

func (s *Server) interrupt(q *request, r *run) error {
	r.interrupt()
	return q.redirect("/run/"+r.ID, nil)
}

// again resumes a run that stopped, at no further cost.
func (s *Server) again(q *request, r *run) error {
	v := r.view()
	if !v.Resumable {
		return problemf("This run cannot be resumed.")
	}
	args := r.Args
	if !slices.Contains(args, "--resume") {
		args = append(slices.Clone(args), "--resume")
	}
	return s.begin(q, r.Verb, args, r.Outputs, r.Choice)
}

func (s *Server) history(q *request) error {
	models, _ := s.folder.files(modelEndings)
	return s.show(q, "runs.html", page{Title: "Runs, models and ledgers",
		Body: map[string]any{"Runs": s.runs.list(), "Models": models, "Ledgers": s.ledgers(q)}})
}

// ledgers are those of the folder.
func (s *Server) ledgers(q *request) (out []*account) {
	files, _ := s.folder.files([]string{".ledger"})
	const most = 40
	for _, f := range files[:min(len(files), most)] {
		if a := s.ledger(q.r.Context(), f.Name[:len(f.Name)-len(".ledger")]); a != nil {
			out = append(out, a)
		}
	}
	return out
}

// inspected is what 'inspect --json' says of a model.
type inspected struct {
	Method string `json:"method"`
	Claim  struct {
		accountant.Budget
		Adjacency string `json:"adjacency"`
		Unit      string `json:"unit"`
	} `json:"claim"`
	Created string          `json:"created"`
	Tool    string          `json:"tool"`
	Rows    float64         `json:"rows"`
	Hash    string          `json:"schema_sha256"`
	Ledger  json.RawMessage `json:"ledger"`
}

// RowsText is the noisy count in whole rows.
func (m inspected) RowsText() string { return strconv.FormatFloat(m.Rows, 'f', 0, 64) }

// People are what the guarantee is about.
func (m inspected) People() string { return people(m.Claim.Unit) }

// Step 5: what came of it.
func (s *Server) result(q *request) error {
	model := q.value("model")
	if err := s.folder.have("model", model, modelEndings); err != nil {
		return err
	}
	var m inspected
	if err := s.program.ask(q.r.Context(), &m, "inspect", model); err != nil {
		return err
	}
	verified := ""
	if err := s.program.ask(q.r.Context(), nil, "verify", model); err != nil {
		verified = err.Error()
	}
	c := choiceOf(q)
	body := map[string]any{"Model": model, "Claim": m, "Wrong": verified,
		"Free": s.folder.free(stem(model)+"-sample", ".csv")}
	if r := s.runs.of(model); r != nil {
		v := r.view()
		body["Run"], c = v, v.Choice
		tables, _ := s.folder.files(tableEndings)
		body["Tables"] = slices.DeleteFunc(tables, func(e entry) bool {
			return e.Name == c.Table || s.synthetic(e.Name)
		})
		if s.synthetic(v.Outputs[0]) {
			if preview, err := s.preview(v.Outputs[0]); err == nil {
				body["Preview"] = preview
			}
		}
	}
	if r := s.runs.last(func(v view) bool {
		return v.Verb == "evaluate" && v.State == finished.String() && modelOf(v.Choice.Out) == model
	}); r != nil {
		body["Report"] = r.ID
	}
	return s.show(q, "result.html", page{Title: "The synthetic table", Step: 5, Choice: c,
		Ledger: s.ledger(q.r.Context(), c.Table), Body: body})
}

// model downloads a model: all in it is noise or public.
func (s *Server) model(q *request) error {
	name := q.value("model")
	if err := s.folder.have("model", name, modelEndings); err != nil {
		return err
	}
	return s.send(q, name)
}

// file downloads an output of a run.
func (s *Server) file(q *request, r *run) error {
	outputs := r.view().Outputs
	n, err := strconv.Atoi(q.r.PathValue("n"))
	if err != nil || n < 0 || n >= len(outputs) || r.Verb == "evaluate" {
		return errMissing
	}
	return s.send(q, outputs[n])
}

func (s *Server) send(q *request, name string) error {
	f, err := s.folder.open(name)
	if err != nil {
		return errMissing
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return errMissing
	}
	q.w.Header().Set("Content-Type", "application/octet-stream")
	q.w.Header().Set("Content-Disposition",
		"attachment; filename*=UTF-8''"+url.PathEscape(path.Base(name)))
	http.ServeContent(q.w, q.r, "", info.ModTime(), f)
	return nil
}

// sample draws another table from a model, which costs nothing.
func (s *Server) sample(q *request) error {
	c := choiceOf(q)
	model := q.value("model")
	_, err := c.checked()
	if err := cmp.Or(err, s.folder.have("model", model, modelEndings),
		s.folder.fresh("synthetic table", c.Out, outputEndings)); err != nil {
		return err
	}
	args := flags([]string{"sample", model}, "rows", c.SampleRows, "out", c.Out)
	return s.begin(q, "sample", args, []string{c.Out}, c)
}

// evaluate compares with the real rows, without protection.
func (s *Server) evaluate(q *request) error {
	made := s.runs.find(q.value("run"))
	if made == nil || made.Verb != "generate" {
		return errMissing
	}
	c := made.Choice
	if c.Bought() {
		c.Schema = boughtOf(c.Out)
	}
	holdout := q.value("holdout")
	if holdout != "" {
		if err := s.folder.have("holdout", holdout, tableEndings); err != nil {
			return err
		}
	}
	if err := cmp.Or(s.folder.have("table", c.Table, tableEndings),
		s.folder.have("synthetic table", c.Out, outputEndings),
		s.folder.have("schema", c.Schema, schemaEndings)); err != nil {
		return err
	}
	report := s.folder.free(stem(c.Out)+"-NOT-PRIVATE", ".html")
	args := flags([]string{"evaluate"}, "train", c.Table, "holdout", holdout, "synthetic", c.Out,
		"schema", c.Schema, "target", c.Target, "report", report)
	return s.begin(q, "evaluate", args, []string{report}, c)
}

// report shows the page of an evaluation, the only one with figures of the real rows that are not
// private. It brings its own style, and no script.
func (s *Server) report(q *request, r *run) error {
	v := r.view()
	if v.Verb != "evaluate" || len(v.Outputs) == 0 {
		return errMissing
	}
	f, err := s.folder.open(v.Outputs[0])
	if err != nil {
		return errMissing
	}
	defer f.Close()
	q.w.Header().Set("Content-Security-Policy",
		"default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	q.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, err = io.Copy(q.w, f)
	return err
}

// preview is the first rows of a synthetic CSV file, which may be shown to anyone.
func (s *Server) preview(name string) ([][]string, error) {
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
	var out [][]string
	for len(out) < most {
		line, err := lines.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return out, err
		}
		out = append(out, line)
	}
	return out, nil
}
