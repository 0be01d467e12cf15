package serve

import (
	"cmp"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/internal/disk"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/schema/exchange"
)

// Step 2: what is publicly known of the columns. A schema is chosen, bought in the run, imported,
// or written: in a form that begins with the names of the columns, then as text.
func (s *Server) schema(q *request) error {
	c := choiceOf(q)
	if err := s.folder.have("table", c.Table, tableEndings); err != nil {
		return err
	}
	body := map[string]any{}
	switch q.value("do") {
	case "form":
		if c.Header == "" {
			return problemf("Say first that the names of the columns may be shown.")
		}
		names, _, err := s.header(c.Table)
		if err != nil {
			return err
		}
		const mostColumns = 300
		if len(names) > mostColumns {
			return problemf("%s has %d columns: the form takes %d. Write the schema in an editor.",
				c.Table, len(names), mostColumns)
		}
		body["Names"], body["Kinds"] = names, formKinds
	case "edit":
		if err := s.folder.have("schema", c.Schema, schemaEndings); err != nil {
			return err
		}
		text, err := s.readText(c.Schema)
		if err != nil {
			return err
		}
		body["Text"], body["Checked"] = text, judge(text)
	}
	if _, editing := body["Text"]; !editing {
		body["Schemas"], _ = s.folder.files(schemaEndings)
		body["Imports"], _ = s.folder.files(importEndings)
		body["Forms"] = exchange.Formats()
	}
	body["Name"] = s.folder.free(stem(c.Table), ".yaml")
	return s.show(q, "schema.html", page{Title: "Describe the columns", Step: 2, Choice: c,
		Ledger: s.ledger(q.r.Context(), c.Table), Body: body})
}

// header is the names of a table's columns and the separator of a CSV file, which they say.
func (s *Server) header(name string) (names []string, comma byte, err error) {
	names, comma, err = configs.Header(filepath.Join(s.folder.dir, filepath.FromSlash(name)), ',')
	switch {
	case err != nil:
		return nil, 0, problemf("The first line of %s could not be read: %v", name, err)
	case len(names) == 1 && strings.ContainsAny(names[0], configs.Separators):
		return nil, 0, problemf("The first line of %s is one name with ; or | or a tab in it: write "+
			"the table with one of them, or a comma, between the columns.", name)
	}
	return names, comma, nil
}

func (s *Server) readText(name string) (string, error) {
	f, err := s.folder.open(name)
	if err != nil {
		return "", problemf("%s cannot be opened", name)
	}
	defer f.Close()
	const most = mostBody / 2
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if len(b) > most {
		return "", problemf("%s is too long for this page: edit it in an editor", name)
	}
	return string(b), err
}

// judgement is what is to be said of a text that should be a schema.
type judgement struct {
	Problems []string
	Columns  []schema.ColumnOverview
	Notes    []string
}

// judge reads a schema, as 'schema check' does.
func judge(text string) (out judgement) {
	s, err := schema.Parse([]byte(text))
	if err == nil {
		out.Columns, err = s.Overview()
	}
	if err != nil {
		for line := range strings.Lines(err.Error()) {
			out.Problems = append(out.Problems, strings.TrimSpace(line))
		}
		return out
	}
	if s.Unit != "" {
		out.Notes = append(out.Notes, fmt.Sprintf("All rows of one %s are protected together; at "+
			"most %d of them are used.", s.Unit, s.MaxRowsPerUnit))
	}
	if len(s.Constraints()) > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("Constraints taken as public knowledge and kept "+
			"in every row: %d.", len(s.Constraints())))
	}
	return out
}

// check is the live check of the editor: a part of the page.
func (s *Server) check(q *request) error {
	return s.template(q, 200, "checked", judge(q.r.PostFormValue("text")))
}

// save writes the schema and goes on to the plan.
func (s *Server) save(q *request) error {
	c := choiceOf(q)
	text := q.r.PostFormValue("text")
	if wrong := judge(text); len(wrong.Problems) > 0 {
		return problemf("The schema was not saved:\n%s", strings.Join(wrong.Problems, "\n"))
	}
	name := q.value("name")
	place := s.folder.fresh
	if name == c.Schema && q.value("replace") != "" {
		place = s.folder.place
	}
	if err := place("schema", name, schemaEndings); err != nil {
		return err
	}
	if text = strings.ReplaceAll(text, "\r\n", "\n"); !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	full := filepath.Join(s.folder.dir, filepath.FromSlash(name))
	if err := disk.WriteFile(full, []byte(text), 0o644); err != nil {
		return err
	}
	c.Schema, c.Header = name, ""
	return q.redirect("/plan", c.values())
}

// importSchema makes a schema of another tool's description.
func (s *Server) importSchema(q *request) error {
	c := choiceOf(q)
	from, file := q.value("from"), q.value("file")
	if err := s.folder.have("description", file, importEndings); err != nil {
		return err
	}
	out := s.folder.free(stem(c.Table), ".yaml")
	args := flags([]string{"schema", "import", file}, "from", from, "out", out)
	r, err := s.runs.start("import", args, []string{out}, c)
	if err != nil {
		return err
	}
	<-r.done
	if v := r.view(); v.State != finished.String() {
		return problem{strings.Join(v.Talk, "\n")}
	}
	c.Schema = out
	values := c.values()
	values.Set("do", "edit")
	return q.redirect("/schema", values)
}

// formKinds are the kinds of column that the form offers, and the fields that each has.
var formKinds = []struct{ Kind, Words, Fields string }{
	{"categorical", "one of a few texts", "values other"},
	{"integer", "whole number", "min max"},
	{"real", "number with a fraction", "min max decimals"},
	{"boolean", "yes or no", "values"},
	{"date", "date without a time", "min max after format"},
	{"timestamp", "date and time", "min max after format"},
	{"unit", "id of a person: their rows are protected together", "most"},
	{"id", "made-up id, not read", "pattern"},
	{"skip", "leave the column out", ""},
}

// formColumn is a column as the form describes it, in the order of the file's keys.
type formColumn struct {
	Name       string    `yaml:"name"`
	Kind       string    `yaml:"kind"`
	Categories []string  `yaml:"categories,omitempty,flow"`
	Min        yaml.Node `yaml:"min,omitempty"`
	Max        yaml.Node `yaml:"max,omitempty"`
	Decimals   yaml.Node `yaml:"decimals,omitempty"`
	After      string    `yaml:"after,omitempty"`
	Format     string    `yaml:"format,omitempty"`
	Missing    []string  `yaml:"missing,omitempty,flow"`
	OnInvalid  string    `yaml:"on_invalid,omitempty"`
	Other      string    `yaml:"other,omitempty"`
	Pattern    string    `yaml:"pattern,omitempty"`
}

type formSchema struct {
	Version int          `yaml:"decoy"`
	Unit    string       `yaml:"unit,omitempty"`
	Rows    yaml.Node    `yaml:"max_rows_per_unit,omitempty"`
	Lenient bool         `yaml:"lenient,omitempty"`
	CSV     *formCSV     `yaml:"csv,omitempty,flow"`
	Columns []formColumn `yaml:"columns"`
}

// formCSV is the separator of a file that has another than a comma.
type formCSV struct {
	Comma yaml.Node `yaml:"comma"`
}

// unlisted says what becomes of a text that a column of texts does not list: it is another category
// if one is named, else missing. Without either, lenient reading makes it the first category.
func (c *formColumn) unlisted(other string) {
	if other == "" {
		c.OnInvalid, c.Missing = "clamp", missingTexts
	} else {
		c.OnInvalid, c.Other = "other", other
		if !slices.Contains(c.Categories, other) {
			c.Categories = append(c.Categories, other)
		}
	}
}

// missingTexts are the cells that the form takes for missing.
var missingTexts = []string{"", "NA"}

// formFormats is how dates are written if the form does not say.
var formFormats = map[string]string{"date": "YYYY-MM-DD", "timestamp": "YYYY-MM-DD hh:mm:ss"}

// compose turns the form into the text of a schema, which is then shown for the last word.
func (s *Server) compose(q *request) error {
	c := choiceOf(q)
	if err := s.folder.have("table", c.Table, tableEndings); err != nil {
		return err
	}
	if c.Header == "" {
		return problemf("Say first that the names of the columns may be shown.")
	}
	_, comma, err := s.header(c.Table)
	if err != nil {
		return err
	}
	out := formSchema{Version: 1, Lenient: true}
	if comma != ',' {
		out.CSV = &formCSV{yaml.Node{Kind: yaml.ScalarNode, Style: yaml.DoubleQuotedStyle,
			Value: string(rune(comma))}}
	}
	for i, name := range q.r.PostForm["name"] {
		if err := out.add(q.r.PostForm, i, name); err != nil {
			return err
		}
	}
	text, err := yaml.Marshal(out)
	if err != nil {
		return err
	}
	body := map[string]any{"Text": string(text), "Checked": judge(string(text)),
		"Name": s.folder.free(stem(c.Table), ".yaml")}
	c.Schema = ""
	return s.show(q, "schema.html",
		page{Title: "Describe the columns", Step: 2, Choice: c, Body: body})
}

// add takes column number i of the form.
func (s *formSchema) add(f url.Values, i int, name string) error {
	kind, fields := "", ""
	field := func(key string) string {
		if v := f[key]; i < len(v) && slices.Contains(strings.Fields(fields), key) {
			return strings.TrimSpace(v[i])
		}
		return ""
	}
	for _, k := range formKinds {
		if kinds := f["kind"]; i < len(kinds) && kinds[i] == k.Kind {
			kind, fields = k.Kind, k.Fields
		}
	}
	col := formColumn{Name: name, Kind: kind, Categories: list(field("values")),
		Min: plain(field("min")), Max: plain(field("max")), Decimals: plain(field("decimals")),
		Format: field("format"), After: field("after"), Pattern: field("pattern")}
	switch kind {
	case "skip", "":
		return nil
	case "unit":
		if s.Unit != "" {
			return problemf("Two columns are ids of a person: %s and %s.", s.Unit, name)
		}
		s.Unit, s.Rows = name, plain(field("most"))
		return nil
	case "categorical", "boolean":
		col.unlisted(field("other"))
	case "date", "timestamp":
		col.Format = cmp.Or(col.Format, formFormats[kind])
		if col.After != "" { // the difference, in whole numbers
			col.Kind, col.Format = "integer", ""
		}
	}
	if slices.Contains(f["missing"], name) && kind != "id" {
		col.Missing = missingTexts
	}
	col.Missing = slices.DeleteFunc(slices.Clone(col.Missing), func(text string) bool {
		return slices.Contains(col.Categories, text)
	})
	s.Columns = append(s.Columns, col)
	return nil
}

// plain is a scalar as it was typed, or nothing.
func plain(text string) yaml.Node {
	if text == "" {
		return yaml.Node{}
	}
	return yaml.Node{Kind: yaml.ScalarNode, Value: text}
}

// list splits texts that are typed with commas between, or one on a line.
func list(text string) (out []string) {
	for _, x := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == '\n' }) {
		if x = strings.TrimSpace(x); x != "" {
			out = append(out, x)
		}
	}
	return out
}
