package driver

import (
	"fmt"
	"strings"

	sqltext "github.com/decoy-dp/decoy/data/engine/sql"
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/spark/worker"
)

// view is the name of the source in the session.
const view = "decoy_source"

// text is a text in SQL.
func text(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`, "\x01", `\u0001`).Replace(s) + "'"
}

// name is a name in SQL.
func name(s string) string { return "`" + strings.ReplaceAll(s, "`", "``") + "`" }

// viewOf is the statement that gives a source its name.
func (s *Source) viewOf(csv schema.CSV) string {
	if s.Table != "" {
		var parts []string
		for _, p := range strings.Split(s.Table, ".") {
			parts = append(parts, name(p))
		}
		return fmt.Sprintf("CREATE OR REPLACE TEMPORARY VIEW %s AS SELECT * FROM %s", view,
			strings.Join(parts, "."))
	}
	options := []string{"path " + text(s.Path)}
	if s.Format == "csv" {
		comma := string(csv.Separator())
		if strings.HasSuffix(strings.ToLower(s.Path), ".tsv") {
			comma = "\t"
		}
		// As RFC 4180 has it, where a row is a line; one of another length ends the query. The names
		// in each file are compared with those in the first.
		options = append(options, "header 'true'", "sep "+text(comma), "encoding 'UTF-8'",
			`quote '"'`, `escape '"'`, "mode 'FAILFAST'", "enforceSchema 'false'",
			"inferSchema 'false'", "maxCharsPerColumn '1048576'", "maxColumns '65536'",
			"multiLine 'false'")
	}
	return fmt.Sprintf("CREATE OR REPLACE TEMPORARY VIEW %s USING %s OPTIONS (%s)", view, s.Format,
		strings.Join(options, ", "))
}

// cellOf is the expression of a column's cells as text, and what that stands for: "" for a type that
// decoy does not read.
func cellOf(column, kind string, csv bool) (sql string, t worker.Type) {
	n := name(column)
	t = worker.Type(sqltext.SparkClass(kind))
	switch t {
	case worker.Days:
		n = "unix_date(" + n + ")"
	case worker.Micros: // the session's time zone is UTC
		n = "unix_micros(CAST(" + n + " AS TIMESTAMP))"
	}
	null := `'\\N'`
	sql = "CAST(" + n + " AS STRING)" // of a float the shortest decimal, as in CSV
	if t == worker.Text {
		if sql = escaped(sql); csv {
			null = "''" // an empty cell, which Spark reads as NULL
		}
	}
	return "coalesce(" + sql + ", " + null + ")", t
}

// escaped is a text without the two bytes that divide cells and lines.
func escaped(n string) string {
	return `replace(replace(replace(` + n + `, '\\', '\\\\'), '\n', '\\n'), '\u0001', '\\1')`
}

// lineOf is the expression of a line of cells.
func lineOf(cells []string) string {
	return "concat_ws('\\u0001', " + strings.Join(cells, ", ") + ")"
}

// counting is the query about lines, of a select. Its rows are cells and their counts. The first
// line of each task is the plan: the low bits of monotonically_increasing_id number the rows of a
// task.
func counting(rows, command, plan string) string {
	rows = fmt.Sprintf("SELECT IF(monotonically_increasing_id() %% %d = 0, concat(%s, line), line) "+
		"AS line FROM (%s)", int64(1)<<33, text(plan+"\n"), rows)
	const delimited = `ROW FORMAT DELIMITED FIELDS TERMINATED BY '\t' LINES TERMINATED BY '\n'`
	return fmt.Sprintf("SELECT cell, SUM(n) AS n FROM (SELECT TRANSFORM (line) %s USING %s AS "+
		"(cell BIGINT, n BIGINT) %s FROM (%s)) GROUP BY cell", delimited, text(command), delimited, rows)
}
