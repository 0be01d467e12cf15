package serve

import (
	"cmp"
	"encoding/json"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/internal/disk"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/schema/exchange"
)

// schema is step 2: what is publicly known of the columns. A schema is chosen, bought in the run,
// imported, or written: in a form that begins with the names of the columns, then as text.
func (q *request) schema() error {
	c := q.choice
	if err := q.folder.have(tables, c["table"]); err != nil {
		return err
	}
	body := map[string]any{}
	switch q.value("do") {
	case "form":
		names, _, err := q.public()
		if err != nil {
			return err
		}
		const mostColumns = 300
		if len(names) > mostColumns {
			return problemf("%s has %d columns: the form takes %d. Write the schema in an editor.",
				c["table"], len(names), mostColumns)
		}
		body["Names"], body["Kinds"] = names, formKinds
	case "edit":
		if err := q.folder.have(schemas, c["schema"]); err != nil {
			return err
		}
		text, err := q.readText(c["schema"])
		if err != nil {
			return err
		}
		return q.edit(text)
	}
	body["Schemas"], _ = q.folder.files(schemas)
	body["Imports"], _ = q.folder.files(descriptions)
	body["Forms"] = exchange.Formats()
	return q.show("schema.html", body)
}

// edit shows the text of a schema, to be changed and saved.
func (q *request) edit(text string) error {
	return q.show("schema.html", map[string]any{"Text": text, "Checked": judge(text),
		"Name": q.folder.free(stem(q.choice["table"]), ".yaml")})
}

// public is header of the chosen table, whose names were said to be public.
func (q *request) public() (names []string, comma byte, err error) {
	if q.choice["header-is-public"] == "" {
		return nil, 0, problemf("Say first that the names of the columns may be shown.")
	}
	return q.header(q.choice["table"])
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
	Problem string
	Schema  *schema.Schema
	Columns []schema.ColumnOverview
}

// judge reads a schema, as 'schema check' does.
func judge(text string) (out judgement) {
	var err error
	if out.Schema, err = schema.Parse([]byte(text)); err == nil {
		out.Columns, err = out.Schema.Overview()
	}
	if err != nil {
		out.Problem = strings.TrimSpace(err.Error())
	}
	return out
}

// check is the live check of the editor: a part of the page.
func (q *request) check() error { return q.write(200, "checked", judge(q.value("text"))) }

// save writes the schema and goes on to the plan.
func (q *request) save() error {
	c := q.choice
	text := strings.ReplaceAll(q.value("text"), "\r\n", "\n") + "\n"
	if wrong := judge(text).Problem; wrong != "" {
		return problemf("The schema was not saved:\n%s", wrong)
	}
	name := q.value("name")
	place := q.folder.fresh
	if name == c["schema"] && q.value("replace") != "" {
		place = q.folder.place
	}
	if err := place(schemas, name); err != nil {
		return err
	}
	full := filepath.Join(q.folder.dir, filepath.FromSlash(name))
	if err := disk.WriteFile(full, []byte(text), 0o644); err != nil {
		return err
	}
	c["schema"] = name
	return q.redirect(c.To("/plan"))
}

// importSchema makes a schema of another tool's description.
func (q *request) importSchema() error {
	c := q.choice
	if err := q.folder.have(tables, c["table"]); err != nil {
		return err
	}
	c["out"] = q.folder.free(stem(c["table"]), ".yaml")
	args, _, err := q.folder.command("schema import", c)
	if err == nil {
		_, err = q.program.ask(q.r.Context(), nil, args...)
	}
	if err != nil {
		return err
	}
	return q.redirect(choice{"table": c["table"], "schema": c["out"], "do": "edit"}.To("/schema"))
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

// formFormats is how dates are written if the form does not say.
var formFormats = map[string]string{"date": "YYYY-MM-DD", "timestamp": "YYYY-MM-DD hh:mm:ss"}

// compose turns the form into the text of a schema, which is then shown for the last word.
func (q *request) compose() error {
	if err := q.folder.have(tables, q.choice["table"]); err != nil {
		return err
	}
	_, comma, err := q.public()
	if err != nil {
		return err
	}
	head, columns := "decoy: 1\nlenient: true\n", "columns:\n"
	if comma != ',' {
		head += "csv: {comma: " + quoted(string(rune(comma))) + "}\n"
	}
	unit := ""
	for i, name := range q.r.PostForm["name"] {
		c := formColumn{q.r.PostForm, i, name}
		switch kind := c.at("kind"); {
		case kind == "skip" || kind == "":
		case kind != "unit":
			columns += "  - " + c.text() + "\n"
		case unit != "":
			return problemf("Two columns are ids of a person: %s and %s.", unit, name)
		default:
			unit = name
			head += "unit: " + quoted(unit) + "\nmax_rows_per_unit: " + c.field("most") + "\n"
		}
	}
	delete(q.choice, "schema")
	return q.edit(head + columns)
}

// formColumn is column number i of the form.
type formColumn struct {
	form url.Values
	i    int
	name string
}

// at is what the form has of the column.
func (c formColumn) at(key string) string {
	if v := c.form[key]; c.i < len(v) {
		return strings.TrimSpace(v[c.i])
	}
	return ""
}

// field is at for a field that columns of this kind have.
func (c formColumn) field(key string) string {
	for _, k := range formKinds {
		if k.Kind == c.at("kind") && slices.Contains(strings.Fields(k.Fields), key) {
			return c.at(key)
		}
	}
	return ""
}

// text is the column as a line of a schema.
func (c formColumn) text() string {
	kind, format, after := c.at("kind"), c.field("format"), c.field("after")
	missing := slices.Contains(c.form["missing"], c.name) && kind != "id"
	var values []string
	for x := range strings.FieldsFuncSeq(c.field("values"), func(r rune) bool {
		return r == ',' || r == '\n'
	}) {
		if x = strings.TrimSpace(x); x != "" {
			values = append(values, x)
		}
	}
	other, invalid := c.field("other"), ""
	switch {
	case kind == "date" || kind == "timestamp":
		if format = cmp.Or(format, formFormats[kind]); after != "" {
			kind, format = "integer", "" // the difference, in whole numbers
		}
	case kind != "categorical" && kind != "boolean":
	case other == "": // a text that is not listed is missing, and not the first category
		missing, invalid = true, "clamp"
	default:
		invalid = "other"
		if !slices.Contains(values, other) {
			values = append(values, other)
		}
	}
	out := "{name: " + quoted(c.name) + ", kind: " + kind
	put := func(key, value string) {
		if value != "" && value != `""` {
			out += ", " + key + ": " + value
		}
	}
	if len(values) > 0 {
		put("categories", quoted(values))
	}
	put("min", c.field("min"))
	put("max", c.field("max"))
	put("decimals", c.field("decimals"))
	put("after", quoted(after))
	put("format", quoted(format))
	if missing {
		put("missing", quoted(slices.DeleteFunc([]string{"", "NA"}, func(text string) bool {
			return slices.Contains(values, text)
		})))
	}
	put("on_invalid", invalid)
	put("other", quoted(other))
	put("pattern", quoted(c.field("pattern")))
	return out + "}"
}

// quoted is a text, or a list of texts, as JSON writes it, and YAML reads it.
func quoted(v any) string {
	b, _ := json.Marshal(v) // cannot fail
	return string(b)
}
