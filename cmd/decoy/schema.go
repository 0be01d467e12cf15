package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/eval/linked"
	"github.com/decoy-dp/decoy/infer"
	"github.com/decoy-dp/decoy/internal/spelling"
	"github.com/decoy-dp/decoy/model/release"
)

// manyCodes is where a column gets so fine that at usual budgets most of its cells are below the
// noise: at ε = 1 and 15 columns, σ of a one-way marginal is some 20 rows (decoy plan).
const manyCodes = 1000

func schemaCheckCommand(t *terminal) *cobra.Command {
	return t.verb("schema check", func(cmd *cobra.Command, t *terminal, args []string) error {
		s, err := configs.LoadSchema(args[0])
		read := reader{cmd.Context(), t, t.progress()}
		if errors.Is(err, schema.ErrLinked) {
			return checkLinked(read, args[0], args[1:])
		}
		if err == nil && len(args) > 2 {
			err = usagef("unexpected operand %q", args[2])
		}
		if err != nil {
			return err
		}
		return checkOne(read, schema.LinkedTable{Schema: s}, s, strings.Join(args[1:], ""))
	})
}

// checkLinked checks the schema of linked tables, and their files, table by table.
func checkLinked(read reader, path string, files []string) error {
	l, err := schema.LoadLinked(path)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		files = make([]string, len(l.Described()))
	} else if files, err = configs.LinkedFiles("TABLE", l, files...); err != nil {
		return err
	}
	for i, one := range l.Described() {
		inFile, _ := l.Written(len(l.Tables)-len(l.Described())+i, one.Schema)
		inFile.Unit = one.Keys()[0]
		err = errors.Join(err, checkOne(read, one, inFile, files[i]))
	}
	if err != nil || files[0] == "" || l.Alone {
		return err
	}
	tables, err := linked.Read(read.ctx, l, files)
	if err != nil {
		return err
	}
	read.t.say("%s: %d rows have an id of a row before, and one row of an id is used", tables.Name,
		tables.Doubled)
	for i, c := range tables.Children {
		orphans, parents := 0, l.Tables[i+1].Parent
		for _, unit := range c.Parent {
			if unit < 0 {
				orphans++
			}
		}
		read.t.say("%s: %d of %d rows have an id that %s has not, and are left out", c.Name, orphans,
			len(c.Parent), parents)
		if c.Doubled > 0 {
			read.t.say("%s: %d rows have an id of a row before, and rows of that key are those of both: "+
				"number the rows of all units apart, or name the id of the unit, too: id: [%s]",
				c.Name, c.Doubled, strings.Join(l.Tables[i+1].Keys(), ", "))
		}
	}
	return nil
}

// checkOne checks the file of a table, unless it is "", and shows its schema; inFile has the
// columns of ids, too.
func checkOne(read reader, of schema.LinkedTable, inFile *schema.Schema, file string) error {
	s := of.Schema
	t, out := read.t, checkedSchema{of.Name, of.Parent, of.Order.By, len(s.Columns), cells(s), s.Unit,
		max(1, s.MaxRowsPerUnit), s.Lenient, columnsOf(s), s.Constraints(), advice(s), s}
	for _, text := range out.Advice {
		t.say("advice: %s", text)
	}
	if file != "" {
		t.say("not private: whether %s fits, and where not, follows from its rows without noise; "+
			"this is for whoever holds them", file)
		if err := fits(read, file, inFile); err != nil {
			return err
		}
	}
	return t.print(out)
}

// fits tells the holder of a table whether it fits, and which cells the schema moves to the nearest
// value, or makes missing, where on_invalid is clamp: a wrong date form looks like a table that
// fits.
func fits(read reader, path string, s *schema.Schema) error {
	strict := s.Clone()
	strict.Lenient = false
	if _, err := read.codes(path, path, strict); err != nil {
		return err
	}
	read.t.say("every row of %s fits", path)
	clamps := false
	for i := range strict.Columns {
		if c := &strict.Columns[i]; c.OnInvalid == schema.Clamp {
			c.OnInvalid, clamps = schema.Refuse, true
		}
	}
	if !clamps {
		return nil
	}
	if _, err := read.codes(path, path, strict); err != nil {
		read.t.say("but on_invalid: clamp moves cells of it to the nearest value, or makes them "+
			"missing: %s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return nil
}

// checkedSchema is a schema that is valid.
type checkedSchema struct {
	Table          string                         `json:"table,omitempty"`
	Parent         string                         `json:"parent,omitempty"`
	Order          string                         `json:"order,omitempty"`
	Columns        int                            `json:"columns"`
	Cells          float64                        `json:"cells"`
	Unit           string                         `json:"unit,omitempty"`
	MaxRowsPerUnit int                            `json:"max_rows_per_unit"`
	Lenient        bool                           `json:"lenient"`
	Each           listing[schema.ColumnOverview] `json:"each"`
	Constraints    []string                       `json:"constraints,omitempty"`
	Advice         []string                       `json:"advice,omitempty"`
	Schema         *schema.Schema                 `json:"-"`
}

// schemaSize is the size of a schema in words.
func schemaSize(s *schema.Schema) string { return sizeText(len(s.Columns), cells(s)) }

// sayGuarantee says what a model promises, and what is taken for granted besides.
func (t *terminal) sayGuarantee(m *release.Model) {
	t.say("guarantee: %v", m.Claim)
	n := 0
	for _, one := range m.Tables().Described() {
		n += len(one.Schema.Constraints())
	}
	if n > 0 {
		t.say("kept in every row: %s of the schema (decoy inspect names them)",
			plural(n, "constraint", "constraints"))
	}
}

// sayKnown says before a run what of its schema is worth a second look: differences, in their
// units, and doubts.
func (t *terminal) sayKnown(s *schema.Schema) {
	all, k := s.Constraints(), 0 // which begin with those of after
	for _, c := range s.Columns {
		if c.After != "" {
			t.say("taken as public knowledge: %s", spelling.Visible(all[k]))
			k++
		}
	}
	for _, text := range doubts(s) {
		t.say("warning: %s", text)
	}
}

// columnsOf are the columns of a valid schema.
func columnsOf(s *schema.Schema) listing[schema.ColumnOverview] {
	columns, err := s.Overview()
	if err != nil {
		panic("decoy: " + err.Error()) // the schema was validated
	}
	return listing[schema.ColumnOverview]{columns, "COLUMN\tKIND\tCODES\tMISSING\tFROM\tTO",
		func(c schema.ColumnOverview) string {
			return row(c.Name, c.KindAndUnit(), c.Codes,
				map[bool]string{true: "yes", false: "no"}[c.Missing], clip(c.From), clip(c.To))
		}}
}

// clip shortens a label for the table.
func clip(label string) string {
	const most = 32
	label = spelling.Visible(label)
	if r := []rune(label); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return label
}

// doubts names what a schema may mean, but hardly does: a slip that no later output would show.
func doubts(s *schema.Schema) (out []string) {
	for i, c := range columnsOf(s).items {
		x := &s.Columns[i]
		if c.Unit == "seconds" && x.Max < 3600 || c.Unit == "minutes" && x.Max < 60 {
			out = append(out, fmt.Sprintf("column %q is at most %v %s after %q, less than an hour (a day "+
				"is 86400 seconds or 1440 minutes); longer ones break the schema or count as that",
				c.Name, x.Max, c.Unit, x.After))
		}
		if x.Kind == schema.Date && s.Lenient && len(x.Missing) == 0 {
			out = append(out, fmt.Sprintf("column %q: a cell that is no date in its format counts as the "+
				"first bin, %s; with missing: [\"\"] it is missing", c.Name, c.From))
		}
	}
	return out
}

// advice names what is allowed but makes a poor synthetic table.
func advice(s *schema.Schema) []string {
	out := doubts(s)
	if text := unordered(s); text != "" {
		out = append(out, text)
	}
	for _, c := range s.Columns {
		texts := slices.Concat([]string{c.Name}, c.Categories, c.Missing[:min(1, len(c.Missing))])
		if i := slices.IndexFunc(texts, table.Formula); i >= 0 {
			out = append(out, fmt.Sprintf("column %q: a spreadsheet would run %q as a formula; "+
				"--spreadsheet-safe of generate and sample writes it as a text", c.Name, texts[i]))
		}
	}
	for i, size := range s.Sizes() {
		name := s.Columns[i].Name
		switch {
		case size > manyCodes:
			out = append(out, fmt.Sprintf("column %q has %d codes: at usual budgets most of them "+
				"drown in noise; fewer bins, or rare categories joined into one (on_invalid: other), keep "+
				"more of the rest", name, size))
		case size == 1:
			out = append(out, fmt.Sprintf("column %q has one code only: it says nothing, and measuring it "+
				"still costs", name))
		}
	}
	return out
}

// unordered names the dates and timestamps of a schema in which nothing is after another; "" for
// fewer than two.
func unordered(s *schema.Schema) string {
	var dates []string
	for _, c := range s.Columns {
		switch {
		case c.After != "":
			return ""
		case c.Kind.Ordered() && !c.Kind.Numeric():
			dates = append(dates, fmt.Sprintf("%q", c.Name))
		}
	}
	if len(dates) < 2 {
		return ""
	}
	return fmt.Sprintf("dates are not kept in order (%s): a row may end before it begins, unless a "+
		"schema says that one is after another (decoy help schema)", strings.Join(dates, ", "))
}

// sayIDs warns of columns whose public names are those of ids, in a table without a unit. s is its
// schema, or nil: columns of listed codes are none.
func sayIDs(t *terminal, unit string, names []string, s *schema.Schema) {
	var ids []string
	for i, name := range names {
		listed := s != nil && !s.Columns[i].Kind.Ordered()
		if unit == "" && !listed && infer.NamesID(name) {
			ids = append(ids, name)
		}
	}
	if len(ids) > 0 {
		looks := map[bool]string{true: "looks like an id", false: "look like ids"}[len(ids) == 1]
		t.say("warning: %s %s: every row counts as another person. If a person has several rows, or to "+
			"leave the ids out: --unit, or 'unit:' in a schema, names that column", quoted(ids), looks)
	}
}

// sayHeader tells of names in the header, which is public, that promise trouble, before a schema is
// bought.
func sayHeader(t *terminal, unit string, names []string) {
	sayIDs(t, unit, names, nil)
	padded := slices.DeleteFunc(slices.Clone(names), func(n string) bool {
		return strings.TrimSpace(n) == n
	})
	t.sayNames(padded, nil, "warning: blanks around names are part of them. Where commas separate, "+
		"sed -E 's/ *(^|,|$) */\\1/g' OLD.csv > NEW.csv takes them out")
}

func schemaDraftCommand(t *terminal) *cobra.Command {
	public := false
	return t.verb("schema draft", func(_ *cobra.Command, t *terminal, args []string) error {
		if !public {
			return usagef("a draft shows every category and every extreme of the file without " +
				"protection: --public says that the rows are public. The schema of a private file is " +
				"written by hand, or drafted from a public sample")
		}
		return draft(t, args[0])
	}, flags{"public": &public})
}

func draft(t *terminal, path string) error {
	if err := checkTable("FILE", path); err != nil {
		return err
	}
	for _, name := range []string{path, configs.Resolve(path)} {
		if _, err := os.Lstat(name + ".ledger"); err == nil {
			return usagef("%s has a ledger, %s.ledger: somebody keeps the account of what was spent on it, "+
				"so it is private, and --public would void every guarantee. Buy the schema ('decoy schema "+
				"infer'), or draft it from a public sample", path, name)
		}
	}
	// A notice about a leak is no talk: --quiet does not silence it.
	fmt.Fprintf(t.stderr, "NOTICE: %s is read as PUBLIC. The draft below holds values from its "+
		"rows, without any protection.\n"+
		"NOTICE: if these rows are private, delete the draft: a guarantee that rests on it is void.\n",
		path)
	var drafter *schema.Drafter
	_, csv, _ := configs.Header(path, schema.CSV{})
	err := table.ScanText(path, table.ScanOptions{CSV: csv}, func(names, row []string) error {
		if drafter == nil {
			drafter = schema.NewDrafter(names)
		}
		drafter.Add(row)
		return nil
	})
	if err != nil {
		return err
	}
	if drafter == nil {
		return fmt.Errorf("%s has no rows to draft from: %w", path, schema.ErrSchema)
	}
	s, err := drafter.Schema()
	if err != nil {
		return err
	}
	s.CSV = csv
	yaml, err := s.YAML()
	if err == nil {
		// without bins a fit buys them, which is closer (docs/decisions/006)
		yaml = bytes.ReplaceAll(yaml, []byte("    bins: 32\n"), nil)
		_, err = fmt.Fprintf(t.stdout, "# Drafted from rows that were declared public. Check every "+
			"kind, bound, category and bin before use.\n%s", yaml)
	}
	return err
}
