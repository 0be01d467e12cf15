package serve

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"html/template"
	"io"
	"math"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/internal/spelling"
)

// request is one request and its answer.
type request struct {
	w http.ResponseWriter
	r *http.Request
}

// parse reads the form. One that is too long, or is none, is an error before a step sees less than
// was sent.
func (q *request) parse() error {
	err := q.r.ParseForm()
	if large := (*http.MaxBytesError)(nil); err != nil && !errors.As(err, &large) {
		return problemf("The request is not a form of this page.")
	}
	return err
}

// value is a field of the form that parse has read.
func (q *request) value(name string) string { return strings.TrimSpace(q.r.Form.Get(name)) }

func (q *request) redirect(to string, values url.Values) error {
	if len(values) > 0 {
		to += "?" + values.Encode()
	}
	http.Redirect(q.w, q.r, to, http.StatusSeeOther)
	return nil
}

// choice is what a person has chosen on the way. It goes from step to step in the address: names of
// files and columns and a budget, all of which are public, and never a cell.
type choice struct {
	Table, Schema   string
	Header          string // "public" without a schema: the names of the columns may be shown
	Unit, UnitRows  string
	Epsilon, Delta  string
	Target, Method  string
	Out, SampleRows string
}

// parts are the choices by their names in an address.
func (c *choice) parts() map[string]*string {
	return map[string]*string{"table": &c.Table, "schema": &c.Schema, "header": &c.Header,
		"unit": &c.Unit, "unit_rows": &c.UnitRows, "epsilon": &c.Epsilon, "delta": &c.Delta,
		"target": &c.Target, "method": &c.Method, "out": &c.Out, "rows": &c.SampleRows}
}

func choiceOf(q *request) (c choice) {
	for name, part := range c.parts() {
		*part = q.value(name)
	}
	c.Epsilon = cmp.Or(c.Epsilon, "1")
	return c
}

func (c choice) values() url.Values {
	v := url.Values{}
	for name, part := range c.parts() {
		if *part != "" {
			v.Set(name, *part)
		}
	}
	return v
}

// To is the address of another step with the same choices.
func (c choice) To(path string) string { return path + "?" + c.values().Encode() }

// Bought tells whether the schema is bought in the run.
func (c choice) Bought() bool { return c.Schema == "" }

// flags adds --name=value for each name that has a value: one argument, so that a value is never
// taken for a flag.
func flags(args []string, namesAndValues ...string) []string {
	for pair := range slices.Chunk(namesAndValues, 2) {
		if pair[1] != "" {
			args = append(args, "--"+pair[0]+"="+pair[1])
		}
	}
	return args
}

// budget is the part of the command line that plan and generate share.
func (c choice) budget(args []string) []string {
	return flags(args, "epsilon", c.Epsilon, "delta", c.Delta, "method", c.Method, "target", c.Target)
}

// checked are the figures of a choice, of which the program is asked only if they can be: its own
// checks say the rest.
func (c choice) checked() (j configs.Job, err error) {
	j = configs.Job{}.WithDefaults()
	for _, f := range []struct {
		name, text string
		figure     *float64
	}{{"epsilon", c.Epsilon, &j.Epsilon}, {"delta", c.Delta, &j.Delta}} {
		if x, err := strconv.ParseFloat(f.text, 64); f.text != "" && err != nil {
			return j, problemf("%s: %q is not a number", f.name, f.text)
		} else if f.text != "" {
			*f.figure = x
		}
	}
	if n, err := strconv.ParseInt(c.SampleRows, 10, 64); c.SampleRows != "" &&
		(err != nil || n < 1) {
		return j, problemf("rows: %q is not a whole number from 1", c.SampleRows)
	}
	if err := j.CheckBudget(); err != nil {
		return j, problem{spelling.Plain(err)}
	}
	return j, nil
}

// weak is what is to be said of a budget: of ε for a run whose schema is bought, as the command
// line says it, since there is no plan that would; and of δ, which the command line holds against
// the noisy number of rows, when it is spent.
func (c choice) weak(j configs.Job) (out []string) {
	const largeDelta = 1e-6
	if weak := configs.Weakness(j.Epsilon); c.Bought() && weak != "" {
		out = append(out, weak)
	}
	if j.Delta > largeDelta {
		out = append(out, fmt.Sprintf("delta %v is large: in a table of %s rows or more, showing the "+
			"row of one person at random would be within the guarantee; take 1e-9", j.Delta,
			short(math.Ceil(1/j.Delta))))
	}
	return out
}

// view is what every page is given.
type page struct {
	Title  string
	Step   int // 1 to 5; 0 is no step
	Choice choice
	Ledger *account
	Folder string
	Body   any
}

// show writes a page.
func (s *Server) show(q *request, name string, p page) error {
	p.Folder = s.folder.dir
	return s.template(q, http.StatusOK, name, p)
}

func (s *Server) template(q *request, status int, name string, data any) error {
	var out bytes.Buffer
	if err := s.templates.ExecuteTemplate(&out, name, data); err != nil {
		return err
	}
	q.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	q.w.WriteHeader(status)
	_, err := io.Copy(q.w, &out)
	return err
}

// fail shows an error: a page, or for a part of a page its text alone.
func (s *Server) fail(q *request, err error) {
	status, text := http.StatusInternalServerError, "Something went wrong: "+err.Error()
	var p problem
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		status, text = http.StatusRequestEntityTooLarge, "That is more than the 1 MiB "+
			"that this page takes at once: nothing was done. A schema that is longer can be written in an "+
			"editor, into the folder."
	case errors.Is(err, errMissing):
		status, text = http.StatusNotFound, "There is no such page."
	case errors.As(err, &p):
		status, text = http.StatusUnprocessableEntity, p.text
	}
	if q.r.Header.Get("X-Part") != "" {
		s.template(q, status, "problem", text)
		return
	}
	s.template(q, status, "failure.html", page{Title: "That did not work", Folder: s.folder.dir,
		Choice: choiceOf(q), Body: text})
}

var errMissing = errors.New("missing")

var functions = template.FuncMap{
	"lines": func(text string) []string { return strings.Split(text, "\n") },
	"bytes": spelling.Size,
	"short": short,
	"rows":  func(x float64) string { return short(math.Ceil(x)) },
	"time":  spelling.Time,
	"steps": func() []string { return []string{"Table", "Schema", "Plan", "Run", "Result"} },
	"next":  func(i int) int { return i + 1 },
	"base":  path.Base,
	"words": strings.Fields,
}

// short is a number with three digits, and from a thousand on with commas: 0.05, 1e-09, 15,500.
func short(x float64) string {
	if x < 1000 || x >= 1e15 {
		return strconv.FormatFloat(x, 'g', 3, 64)
	}
	unit := math.Pow(10, math.Floor(math.Log10(x))-2)
	text := strconv.FormatFloat(math.Round(x/unit)*unit, 'f', 0, 64)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
