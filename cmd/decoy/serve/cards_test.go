package serve

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEdit: what cards say takes the place of what the text says, and of nothing else.
func TestEdit(t *testing.T) {
	const text = `decoy: 1
# a comment
columns:
  - {name: sex, kind: categorical, categories: [f, m], missing: ["", NA]}
  - {name: kind, kind: integer, min: 0, max: 9, bins: 3} # the third
  - {name: b, kind: boolean}
  - {name: e, kind: real, edges: [0, 2, 9]}
`
	same := url.Values{"cards": {"yes"}, "text": {text}, "0.kind": {"categorical"},
		"0.categories": {"f\r\nm"}, "0.missing": {"yes"}, "1.kind": {"integer"}, "1.min": {"0"},
		"1.max": {"9"}, "2.kind": {"boolean"}, "3.kind": {"real"}, "3.min": {"0"}, "3.max": {"9"}}
	for _, tt := range []struct{ key, value, want string }{
		{"", "", `{name: sex, kind: categorical, categories: [f, m], missing: ["", NA]}`},
		{"0.missing", "", "{name: sex, kind: categorical, categories: [f, m]}\n"},
		{"0.categories", "\r\nno\r\n1: {x}\r\n\"", `categories: ["", "no", '1: {x}', '"']`},
		{"1.kind", "real", "{name: kind, min: 0, max: 9, bins: 3, kind: real} # the third"},
		{"1.max", " 1, x: 2} ", "bins: 3, max: '1, x: 2}'}"},
		{"1.after", "sex", "bins: 3, after: sex}"},
		{"1.missing", "yes", `missing: [""]}`},
		{"2.ignore", "yes", "# the third\n    - {name: e"},
		{"3.min", "-1", "edges: [-1, 2, 9]}"},
		{"3.max", "x", "edges: [0, 2, x]}"},
		{"3.min", "2", "edges: [2, 9]}"},
		{"3.max", "1.5", "edges: [0, 1.5]}"},
		{"0.kind", "boolean", `- {name: sex, missing: ["", NA], kind: boolean}`},
		{"3.kind", "integer", "- {name: e, kind: integer, min: 0, max: 9}"},
		{"3.kind", "categorical", "- {name: e, kind: categorical}"},
	} {
		form := url.Values{}
		for key, value := range same {
			form[key] = value
		}
		form.Set(tt.key, tt.value)
		if got := edit(form); !strings.Contains(got, tt.want) || !strings.Contains(got, "# a comment") {
			t.Errorf("%s = %q: no %q in %s", tt.key, tt.value, tt.want, got)
		}
	}
	same.Del("cards")
	if got := edit(same); got != text+"\n" {
		t.Errorf("a form without cards is %q", got)
	}
	for _, odd := range []string{"", "a", "columns: [3, [a]]", "tables: [1]", "\x00", "a: &a [*a]",
		"columns: [{name: [a], kind: {b: c}}, {edges: []}]", "columns: &a\n- *a"} {
		form := url.Values{"cards": {"yes"}, "text": {odd}, "0.kind": {"real"}}
		judge(edit(form))
	}
}

// TestCards: what is wrong stands in the card, by the key that it is about.
func TestCards(t *testing.T) {
	v := visit(t)
	wrong := map[string]string{"1.kind": "integer", "1.min": "9", "1.max": "3", "0.kind": ""}
	fields := []string{"cards", "yes", "table", "p.csv", "name", "c.yaml", "text",
		"decoy: 1\ncolumns:\n- {name: a}\n- {name: age, kind: integer, min: 0, max: 5}\n"}
	for key, value := range wrong {
		fields = append(fields, key, value)
	}
	for _, path := range []string{"/schema/check", "/schema/save"} {
		v.post(path, fields...).says(200, `id="wrong-1-min" data-live>min 9 is greater than max 3`,
			`id="wrong-0-kind" data-live>a column needs a kind`)
	}
	if _, err := os.Stat(filepath.Join(v.dir, "c.yaml")); err == nil {
		t.Error("a wrong schema was saved")
	}
	v.post("/schema/check", append(fields[:8], "0.kind", "categorical")...).says(200, "One value")
	v.post("/schema/save", append(fields[:8], "0.kind", "boolean", "1.kind", "integer", "1.min", "9",
		"1.max", "30")...).says(200, "Plan the release")
	got, err := os.ReadFile(filepath.Join(v.dir, "c.yaml"))
	check(t, err)
	if want := "{name: age, kind: integer, max: 30, min: 9}"; !strings.Contains(string(got), want) &&
		!strings.Contains(string(got), "min: 9, max: 30") {
		t.Errorf("the schema is %s", got)
	}
	v.get("/schema?table=p.csv&do=edit&header-is-public=yes").says(200, `name="0.kind"`, "sapsii")
	if body := v.get("/schema?table=p.csv&do=edit").says(200); strings.Contains(body, "sapsii") {
		t.Error("names are shown that nobody said are public")
	}
	v.decoy("ledger", "limit", "q.ledger", "--epsilon", "9", "--delta", "1e-6", "--unit", "row")
	v.run("/describe", "table", "p.csv", "header-is-public", "yes", "epsilon", "3", "out",
		"p.schema.yaml", "ledger", "q.ledger")
	v.get("/run/1").says(200, "Describing the columns", "&ledger=q.ledger&schema=p.schema.yaml")
	v.get("/schema?table=p.csv&schema=p.schema.yaml&do=edit&ledger=q.ledger").says(200,
		"A whole number from ", "<b>ε 3</b> spent of <b>9</b>", `hidden" name="ledger" value="q.ledger"`)
}

// TestBatch: a batch is planned, run and judged, and names files of the folder alone.
func TestBatch(t *testing.T) {
	v := visit(t)
	const jobs = `name: autumn
tables: [{name: p, input: INPUT, schema: p.yaml}]
methods: [mst]
epsilons: [0.5, 1]
job: {out: "OUT/{epsilon}.csv", evaluate: {}}
`
	text := func(input, out string) string {
		return strings.NewReplacer("INPUT", input, "OUT", out).Replace(jobs)
	}
	check(t, os.Symlink(t.TempDir(), filepath.Join(v.dir, "link")))
	for _, place := range [][2]string{{"../p.csv", "out"}, {"p.csv", "../out"}, {"p.csv", "link"},
		{"p.csv", "link/new"}, {"/etc/passwd.csv", "out"}, {"postgres://h/d", "out"}} {
		v.write("jobs.yaml", text(place[0], place[1]))
		v.get("/batch?batch=jobs.yaml").says(422, "jobs.yaml names ")
		v.post("/batch", "batch", "jobs.yaml").says(422)
	}
	v.get("/batch?batch=p.yaml").says(422, "unknown key")
	v.write("jobs.yaml", text("p.csv", "out"))
	v.decoy("ledger", "limit", "p.csv.ledger", "--epsilon", "1.5", "--delta", "1e-6", "--schema",
		"p.yaml")
	v.get("/").says(200, `href="/batch?batch=jobs.yaml"`)
	v.get("/batch?batch=jobs.yaml").says(200, "out/0.5.csv", "ready", "ε 1.5", "epsilon 1.5")
	r := v.run("/batch", "batch", "jobs.yaml")
	v.get("/run/"+r.ID).says(200, "p-mst-0.5-1, of p.csv: done", "not private",
		"Do the columns look alike?", "Back to its plan")
	v.get("/batch?batch=jobs.yaml").says(200, "paid")
	v.get("/download?file=out/1.csv").says(422) // no model shows that it is synthetic
}
