package sql

import (
	"fmt"
	"strconv"
	"strings"
)

// class is what values of an engine's type are.
type class string

// The classes. moment is a time with its zone or in UTC, whole an integer, truth a boolean.
const (
	whole  class = "whole"
	real   class = "real"
	text   class = "text" // and what is read as its text: numbers of more digits than float64 has
	truth  class = "truth"
	date   class = "date"
	moment class = "moment"
)

// dialect is all in which the SQL of one engine differs from that of others. %s stand for
// expressions, in the order of a field's comment.
type dialect struct {
	quote        string // around names
	escapes      bool   // a backslash in a text between quotes is an escape
	whole, small string // names of int64, and of int32 or more
	real, text   string // names of float64 and of text
	binary       string // text as one that is compared by its bytes
	octets       string // function of a text: its bytes
	trim         string // text, characters: without these at both ends
	match        string // text, regular expression as text: whether some of it matches
	from, to     string // begin and end of the text, in regular expressions
	parse        string // a text of a number whose exponent has at most 3 digits as float64
	draw         string // text as a whole number below 2^32: the first bytes of its SHA-256
	divide       string // two whole numbers, the first not below 0: the quotient, rounded down
	array        string // list as an array
	block        int    // cells that a block of columns has at most, if a single set has not more
	explode      string // array, select: a select of the elements for each row, as cell
	// characters of codes in a select. Spark makes a method of a select if the one around it uses each
	// of its columns twice, and one of 8,000 bytes and more is not compiled
	long    int
	nan     string // float64: whether it is not a number
	barrier string // behind a select whose columns are to be computed once a row
	classes map[string]class
	// value of a type or, if that is not there, of a class as float64, days or microseconds since
	// 1970, where a cast is not enough; one of 32 bits is the shortest decimal that it has, as in CSV
	numbers   map[class]string
	catalogue string // statement of names and types, of what stands behind FROM
	prepare   string // statements that come before
	check     string // a statement: one that has it understood, and reads no row
}

// hex is the beginning of a SHA-256 in hexadecimal, from the 1st to the 8th digit.
const hex = "SUBSTR(%s, 1, 8)"

// postgreSQL is that of a server of version 14 or later.
var postgreSQL = &dialect{
	quote: `"`, whole: "bigint", small: "int", real: "float8", text: "text",
	binary: `%s::text COLLATE "C"`, octets: "octet_length", trim: "btrim(%s, %s)",
	match: "%s ~ '%s'", from: "^", to: "$",
	parse: "(CASE WHEN abs(%[1]s::numeric) >= 1.797693134862315807e308 THEN sign(%[1]s::numeric) * " +
		"1.7976931348623157e308 WHEN abs(%[1]s::numeric) > 2.4703282292062327208e-324 THEN " +
		"%[1]s::numeric ELSE 0 END)::float8",
	draw:   "('x' || substr(encode(sha256(convert_to(%s, 'UTF8')), 'hex'), 1, 8))::bit(32)::bigint",
	divide: "%s / %s", array: "ARRAY[%s]", explode: "SELECT unnest(%s) AS cell FROM (%s) t",
	block: 1 << 15, long: 1 << 30, nan: "%s = 'NaN'", barrier: " OFFSET 0",
	classes: map[string]class{"int2": whole, "int4": whole, "int8": whole, "float4": real,
		"float8": real, "numeric": text, "text": text, "varchar": text, "bpchar": text,
		"citext": text, "name": text, "enum": text, "uuid": text, "bool": truth, "date": date,
		"timestamp": moment, "timestamptz": moment},
	numbers: map[class]string{"float4": "%s::text::float8",
		date: "CASE WHEN isfinite(%[1]s) THEN (%[1]s - DATE '1970-01-01')::float8 " +
			"WHEN %[1]s IS NOT NULL THEN 'Infinity' END",
		moment: "CASE WHEN isfinite(%[1]s) THEN (extract(epoch FROM %[1]s) * 1000000)::float8 " +
			"WHEN %[1]s IS NOT NULL THEN 'Infinity' END"},
	// a domain has the type below it
	catalogue: "WITH RECURSIVE found AS (SELECT a.attname, a.attnum, a.atttypid AS type FROM " +
		"pg_attribute a JOIN pg_class c ON c.oid = a.attrelid WHERE a.attrelid = to_regclass(%s) AND " +
		"a.attnum > 0 AND NOT a.attisdropped AND c.relispopulated AND " +
		"has_column_privilege(c.oid, a.attnum, 'SELECT') " +
		"UNION ALL SELECT f.attname, f.attnum, t.typbasetype FROM found f JOIN pg_type t ON t.oid = " +
		"f.type WHERE t.typtype = 'd') SELECT f.attname, CASE WHEN t.typtype = 'e' THEN 'enum' WHEN " +
		"t.typcategory = 'A' THEN format_type(t.oid, NULL) ELSE t.typname END FROM found f " +
		"JOIN pg_type t ON t.oid = f.type WHERE t.typtype <> 'd' ORDER BY f.attnum",
	// names are those of the catalogue, a backslash is one in a text, and rows that the user may not
	// see are an error
	prepare: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL search_path = pg_catalog; " +
		"SET LOCAL standard_conforming_strings = on; SET LOCAL row_security = off; " +
		"SET LOCAL jit = off; SET LOCAL work_mem = '128MB'; SET LOCAL extra_float_digits = 1; " +
		// how long it takes is for the rows to say, and a statement that has begun is paid for
		"SET LOCAL statement_timeout = 0",
	check: "PREPARE decoy AS %s; DEALLOCATE decoy", // planned when it is executed
}

// duckDB is that of version 1.5 or later.
var duckDB = &dialect{
	quote: `"`, whole: "BIGINT", small: "INTEGER", real: "DOUBLE", text: "VARCHAR",
	binary: `CAST(%s AS VARCHAR) COLLATE "C"`, octets: "strlen", trim: "trim(%s, %s)",
	match: "regexp_matches(%s, '%s')",
	from:  `\A`, to: `\z`, parse: "CAST(%s AS DOUBLE)",
	draw:   "CAST('0x' || " + fmt.Sprintf(hex, "sha256(%s)") + " AS BIGINT)",
	divide: "%s // %s", array: "[%s]", explode: "SELECT unnest(%s) AS cell FROM (%s) t",
	block: 1 << 15, long: 1 << 30, nan: "isnan(%s)",
	classes: map[string]class{"tinyint": whole, "smallint": whole, "integer": whole,
		"bigint": whole, "utinyint": whole, "usmallint": whole, "uinteger": whole, "ubigint": text,
		"uhugeint": text, "float": real, "double": real, "decimal": text, "hugeint": text,
		"varchar": text, "enum": text, "uuid": text, "boolean": truth, "date": date,
		"timestamp": moment, "timestamp_s": moment, "timestamp_ms": moment, "timestamp_ns": moment,
		"timestamp with time zone": moment},
	numbers: map[class]string{"float": "CAST(CAST(%s AS VARCHAR) AS DOUBLE)",
		date: "CASE WHEN isfinite(%[1]s) THEN CAST(%[1]s - DATE '1970-01-01' AS DOUBLE) " +
			"WHEN %[1]s IS NOT NULL THEN CAST('Infinity' AS DOUBLE) END",
		moment: "CASE WHEN isfinite(%[1]s) THEN CAST(epoch_us(%[1]s) AS DOUBLE) " +
			"WHEN %[1]s IS NOT NULL THEN CAST('Infinity' AS DOUBLE) END",
		// rounded down, and not to 1970
		"timestamp_ns": "CASE WHEN isfinite(%[1]s) THEN CAST(epoch_ns(%[1]s) // 1000 - CASE WHEN " +
			"epoch_ns(%[1]s) %% 1000 < 0 THEN 1 ELSE 0 END AS DOUBLE) " +
			"WHEN %[1]s IS NOT NULL THEN CAST('Infinity' AS DOUBLE) END"},
	prepare:   "SET preserve_insertion_order = false;",
	check:     "PREPARE decoy AS %s",
	catalogue: "SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM %s)",
}

// spark is that of version 4.0 or later.
var spark = &dialect{
	quote: "`", escapes: true, whole: "BIGINT", small: "INT", real: "DOUBLE", text: "STRING",
	binary: "CAST(%s AS STRING) COLLATE UTF8_BINARY", octets: "octet_length", trim: "trim(BOTH %[2]s FROM %[1]s)",
	match: "%s RLIKE '%s'", from: `\\A`, to: `\\z`, parse: "CAST(%s AS DOUBLE)",
	draw:   "CAST(conv(" + fmt.Sprintf(hex, "sha2(%s, 256)") + ", 16, 10) AS BIGINT)",
	divide: "%s div %s", array: "array(%s)", explode: "SELECT explode(%s) AS cell FROM (%s) t",
	block: 1 << 11, long: 4000, nan: "isnan(%s)",
	classes: map[string]class{"tinyint": whole, "smallint": whole, "int": whole, "bigint": whole,
		"float": real, "double": real, "decimal": text, "string": text, "varchar": text,
		"char": text, "boolean": truth, "date": date, "timestamp": moment, "timestamp_ntz": moment},
	numbers: map[class]string{"float": "CAST(CAST(%s AS STRING) AS DOUBLE)", date: "CAST(unix_date(%s) AS DOUBLE)",
		moment: "CAST(unix_micros(CAST(%s AS TIMESTAMP)) AS DOUBLE)"}, // the session's zone is UTC
	check: "DESCRIBE QUERY %s",
}

// name is a name in SQL.
func (d *dialect) name(s string) string {
	return d.quote + strings.ReplaceAll(s, d.quote, d.quote+d.quote) + d.quote
}

// literal is a text in SQL.
func (d *dialect) literal(s string) string {
	if d.escapes {
		s = strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`, "\r", `\r`).Replace(s)
	} else {
		s = strings.ReplaceAll(s, "'", "''")
	}
	return "'" + s + "'"
}

// What forms ask of a text: see [schema.SQL].

func (d *dialect) Matches(text, pattern string) string {
	return fmt.Sprintf(d.match, text, d.from+"("+pattern+")"+d.to)
}

func (d *dialect) Trim(text, characters string) string {
	return fmt.Sprintf(d.trim, text, d.literal(characters))
}

func (d *dialect) Float(text string) string { return fmt.Sprintf(d.parse, text) }
func (d *dialect) Whole(text string) string { return "CAST(" + text + " AS " + d.whole + ")" }
func (d *dialect) ToFloat(a string) string  { return "CAST(" + a + " AS " + d.real + ")" }
func (d *dialect) Over(a string, b int) string {
	return fmt.Sprintf(d.divide, "("+a+")", strconv.Itoa(b))
}

func (d *dialect) Number(x float64) string {
	return fmt.Sprintf("CAST('%s' AS %s)", strconv.FormatFloat(x+0, 'g', -1, 64), d.real)
}

// classOf is the class of a type, "" of one that is not read.
func (d *dialect) classOf(kind string) class {
	if kind = strings.ToLower(kind); strings.HasSuffix(kind, "]") {
		return "" // an array
	}
	kind, _, _ = strings.Cut(kind, "(") // what its parameters are
	if c := d.classes[kind]; c != "" {
		return c
	}
	kind, _, collated := strings.Cut(kind, " collate ")
	if !collated {
		return ""
	}
	return d.classes[kind]
}
