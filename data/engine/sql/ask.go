package sql

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/decoy-dp/decoy/data/engine"
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/disk"
)

// session runs a statement and hands on its rows, cell by cell as texts.
type session = func(ctx context.Context, statement string, each func(row []string) error) error

// Count answers a question about the table at an address. If the question is only to be checked,
// no row is read. Of what an engine says nothing is repeated once rows may have been read.
func Count(ctx context.Context, r engine.Request) ([]int64, error) {
	s, err := schema.Parse([]byte(r.Schema))
	if err != nil {
		return nil, err
	}
	t, ask, end, err := open(ctx, r.Source)
	if err != nil {
		return nil, err
	}
	defer end()
	counts, err := t.count(ctx, ask, s, r)
	return counts, cmp.Or(ctx.Err(), err)
}

// count answers a question about a table whose Types are not known yet.
func (t *relation) count(
	ctx context.Context, ask session, s *schema.Schema, r engine.Request,
) ([]int64, error) {
	if err := t.describe(ctx, ask); err != nil {
		return nil, err
	}
	q, err := t.ask(s, r.Question, fmt.Sprintf("%x", r.Nonce))
	if err != nil {
		return nil, err
	}
	return q.Run(ctx, ask, r.Check)
}

var errFailed = errors.New("the statement has failed; what the engine says of it may tell " +
	"of rows, and is not shown: its own log has it")

// Run has the statement run, whose rows ask hands on as texts, or only has it checked.
func (q *Query) Run(ctx context.Context, ask session, check bool) ([]int64, error) {
	if check {
		if err := ask(ctx, q.check, func([]string) error { return nil }); err != nil {
			return nil, fmt.Errorf("the table cannot be counted: %w", err)
		}
		return nil, nil
	}
	cells, err := Cells(ctx, ask, q.text)
	if err != nil {
		return nil, err
	}
	return q.answer(cells)
}

// describe asks for the columns of a table.
func (t *relation) describe(ctx context.Context, ask session) error {
	from := t.from
	if t.dialect == postgreSQL { // where it stands in a text
		from = t.literal(from)
	}
	names := []string{fmt.Sprintf(t.catalogue, from)}
	for i, f := range t.files { // each has columns of its own
		names = append(names[:i], fmt.Sprintf(t.catalogue, t.parquet(f)))
	}
	t.types = map[string]string{}
	seen := map[string]int{}
	err := ask(ctx, strings.Join(names, " UNION ALL "), func(row []string) error {
		if len(row) < 2 {
			return errForm
		}
		if kind := t.types[row[0]]; kind != "" && kind != row[1] {
			return fmt.Errorf("column %q is of type %s in one file, of %s in another", row[0], kind, row[1])
		}
		t.types[row[0]] = row[1]
		seen[row[0]]++
		return nil
	})
	for name, n := range seen {
		if err == nil && n < len(t.files) {
			err = fmt.Errorf("column %q is not in each of the files", name)
		}
	}
	if err == nil && len(t.types) == 0 {
		err = fmt.Errorf("%s is not there, may not be read, or is a view without data", t.from)
	}
	if err != nil {
		return fmt.Errorf("sql: %w", err)
	}
	return nil
}

var errForm = errors.New("sql: the engine has said something else than counts")

// Cells are the rows of a statement, each a cell and its number. Its error is the same whatever the
// rows are, and whatever an engine says of them.
func Cells(ctx context.Context, ask session, statement string) (map[int64]int64, error) {
	cells := map[int64]int64{}
	err := ask(ctx, statement, func(row []string) error {
		if len(row) != 2 {
			return errForm
		}
		cell, isCell := strconv.ParseInt(row[0], 10, 64)
		n, isCount := strconv.ParseInt(row[1], 10, 64)
		if _, twice := cells[cell]; isCell != nil || isCount != nil || twice {
			return errForm
		}
		cells[cell] = n
		return nil
	})
	if err != nil && err != errForm {
		err = errFailed
	}
	return cells, err
}

// open reads an address and begins a session:
//
//	postgres://USER@HOST:PORT/DATABASE/[SCHEMA.]TABLE?SETTING=VALUE
//	duckdb:FILE?table=[SCHEMA.]TABLE, duckdb:FILE.parquet, duckdb:FOLDER (of Parquet)
func open(ctx context.Context, address string) (*relation, session, func(), error) {
	rest, duckdb := strings.CutPrefix(address, "duckdb:")
	if !duckdb {
		return openServer(ctx, address)
	}
	d := duckDB
	path, err := exec.LookPath("duckdb")
	version, _ := exec.Command(path, "--version").Output()
	var major, minor int
	fmt.Sscanf(string(version), "v%d.%d", &major, &minor)
	if err != nil || major < 1 || major == 1 && minor < 5 {
		return nil, nil, nil, fmt.Errorf("sql: DuckDB is reached by its own program duckdb, of version "+
			"1.5 or later; on the PATH is %s: pip install duckdb-cli, or https://duckdb.org",
			cmp.Or(strings.TrimSpace(string(version)), "none that tells its version"))
	}
	file, query, _ := strings.Cut(rest, "?")
	settings, err := url.ParseQuery(query)
	table := settings.Get("table")
	if settings.Del("table"); err != nil || len(settings) > 0 || file == "" {
		return nil, nil, nil, errors.New("sql: this is not duckdb:FILE?table=TABLE or duckdb:FOLDER")
	}
	if elsewhere.MatchString(file) {
		return nil, nil, nil, errors.New("sql: duckdb: names a file or a folder of this machine; of " +
			"what lies elsewhere, make a view in a database: duckdb:FILE?table=VIEW")
	}
	if file, err = filepath.EvalSymlinks(file); err == nil {
		file, err = filepath.Abs(file)
	}
	if err != nil {
		return nil, nil, nil, fmt.Errorf("sql: %w", err)
	}
	p := &program{behind(path), []string{"-init", os.DevNull, "-batch", "-bail", "-csv", "-noheader",
		":memory:"}}
	t := &relation{dialect: d}
	if table == "" {
		t.files, err = filesOf(file)
		t.from = d.parquet(slices.Clone(t.files)...)
		return t, p.rows, func() {}, err
	}
	name, _, _ := strings.Cut(filepath.Base(file), ".") // as DuckDB calls it, so that views can
	if slices.Contains([]string{"", "main", "memory", "system", "temp"}, strings.ToLower(name)) {
		name += "_db"
	}
	name = d.name(name)
	t.from, err = d.names("main", table)
	t.from = name + "." + t.from
	// functions of ours are the system's, whatever macros the database has
	p.args = append(p.args, "-cmd", "ATTACH "+d.literal(file)+" AS "+name+" (READ_ONLY); "+
		"SET search_path = "+d.literal("system.main,"+name+".main"))
	if err == nil {
		err = p.rows(ctx, fmt.Sprintf(texts, d.literal(t.from)), func([]string) error { return errTexts })
	}
	return t, p.rows, func() {}, err
}

var errTexts = errors.New("sql: the view is of a function or a file that DuckDB may read before " +
	"anything is paid for: copy it into a table, or take Parquet")

// texts has a row where a table is a view which, by views and macros that it names, is of a
// function of tables or a file that is not known to have its types beside its rows.
const texts = `WITH RECURSIVE macro AS (SELECT function_name AS n, CASE function_type WHEN 'macro'
THEN 'SELECT ' ELSE '' END || macro_definition AS sql FROM duckdb_functions() WHERE NOT internal),
o AS (SELECT n, json_serialize_sql(sql)::VARCHAR AS tree FROM (FROM macro UNION ALL SELECT
view_name, regexp_replace(sql, '^CREATE VIEW ("[^"]*"|[^"])*? AS ', '', 's') FROM duckdb_views() WHERE NOT
internal)), used AS (SELECT %s AS tree, true AS named UNION SELECT o.tree, false FROM used JOIN o ON
contains(lower(used.tree), lower(CASE WHEN named THEN '"' || replace(n, '"', '""') || '"'
ELSE to_json(n)::VARCHAR END))), part AS (SELECT unnest(regexp_extract_all(tree,
'"error":true|"type":"TABLE_FUNCTION".*?"function_name":"[^"]*"|"table_name":"' ||
'(\\.|[^"\\.])*[.](\\.|[^"\\])*"')) AS p FROM used WHERE NOT named) SELECT 1 FROM part
WHERE NOT regexp_matches(lower(p), '(:"(read_parquet|parquet_scan|delta_scan|iceberg_scan|' ||
'postgres_scan|range|generate_series|unnest)|[.]parquet)"$') AND p NOT IN (SELECT p FROM macro
WHERE ends_with(p, ':"' || n || '"') AND n NOT IN (SELECT function_name FROM duckdb_functions()
WHERE internal))`

// parquet is files as DuckDB reads them.
func (d *dialect) parquet(files ...string) string {
	for i, f := range files {
		files[i] = d.literal(f)
	}
	return "read_parquet([" + strings.Join(files, ", ") + "], hive_partitioning = false)"
}

// elsewhere is how a name begins that DuckDB does not take for a file of this machine.
var elsewhere = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_+.-]+:|^:`)

// filesOf are the Parquet files of a folder and those below it, or the one of that name. What may
// not be part of the table, or not all of it, is refused.
func filesOf(path string) (files []string, err error) {
	err = filepath.WalkDir(path, func(file string, e fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("sql: %w", err)
		}
		name := strings.ToLower(e.Name())
		begins, is := name[0] == '.' || name[0] == '_', strings.HasSuffix(name, ".parquet")
		switch {
		case file != path && begins && (strings.HasSuffix(name, ".crc") || name == "_success" ||
			strings.HasSuffix(name, "_metadata")) && e.Type().IsRegular():
		case e.IsDir() && (!begins || file == path):
		case strings.ContainsAny(file, "*?["):
			return fmt.Errorf("sql: %s: DuckDB takes *, ? and [ in a name for patterns: give the file "+
				"another name", file)
		case begins || !is || !e.Type().IsRegular():
			return fmt.Errorf("sql: %s may not be part of the table: it is no Parquet file, or a link, "+
				"hidden, or of a job that has not ended. Of a database say ?table=TABLE; CSV is read "+
				"without DuckDB", file)
		default:
			files = append(files, file)
		}
		return nil
	})
	if err == nil && files == nil {
		err = fmt.Errorf("sql: %s has no Parquet file", path)
	}
	return files, err
}

// behind is the program that a script starts, as pip installs one, so that it is a child of ours.
func behind(script string) string {
	out, err := exec.Command(script, "-init", os.DevNull, "-batch", ":memory:",
		".shell readlink /proc/$PPID/exe").Output()
	if path := strings.TrimSpace(string(out)); err == nil && filepath.IsAbs(path) {
		return path
	}
	return script // the system does not tell
}

// names is TABLE or SCHEMA.TABLE as a name of two parts.
func (d *dialect) names(inSchema, s string) (string, error) {
	parts := strings.Split(s, ".")
	if len(parts) == 1 {
		parts = []string{inSchema, s}
	}
	for i, part := range parts {
		if part == "" || len(parts) > 2 {
			return "", fmt.Errorf("sql: %q is not the name of a table: its parts have dots between them", s)
		}
		parts[i] = d.name(part)
	}
	return strings.Join(parts, "."), nil
}

// public is how an error of DuckDB begins that quotes no cells.
var public = regexp.MustCompile("^(Catalog|Binder|IO) Error: ")

// program is an engine's own program, which finds passwords where it always does.
type program struct {
	path string
	args []string
}

// rows is a session.
func (p *program) rows(
	ctx context.Context, statement string, each func(row []string) error,
) error {
	// for what does not fit into memory: a folder of a name that nobody knows before, ours alone
	spill := filepath.Join(os.TempDir(), "decoy-duckdb-"+rand.Text())
	if _, err := disk.MkdirAll(spill, 0o700); err != nil {
		return err
	}
	defer func() {
		left, _ := filepath.Glob(filepath.Join(spill, "*"))
		for _, file := range append(left, spill) {
			disk.Remove(file)
		}
	}()
	runtime.LockOSThread() // with the thread that starts it, it would end too
	defer runtime.UnlockOSThread()
	cmd := exec.CommandContext(ctx, p.path, p.args...)
	together(cmd)
	cmd.Stdin = strings.NewReader("SET temp_directory = " + duckDB.literal(spill) + "; " +
		duckDB.prepare + "\n" + statement + ";\n")
	cmd.WaitDelay = time.Second
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	rows := csv.NewReader(out)
	rows.ReuseRecord = true
	for err == nil {
		var row []string
		if row, err = rows.Read(); err == nil {
			err = each(row)
		}
	}
	if err != io.EOF {
		cmd.Cancel()
	}
	ended := cmd.Wait()
	switch first, _, _ := strings.Cut(strings.TrimSpace(said.String()), "\n"); {
	case err != io.EOF:
		return err
	case public.MatchString(first):
		return errors.New(first)
	case ended != nil:
		return errFailed
	}
	return nil
}
