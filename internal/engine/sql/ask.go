package sql

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/decoy-dp/decoy/internal/disk"
	"github.com/decoy-dp/decoy/internal/engine"
	"github.com/decoy-dp/decoy/schema"
)

// session runs a statement and hands on its rows, cell by cell as texts.
type session = func(ctx context.Context, statement string, each func(row []string) error) error

// Count answers a question about the table at an address. If the question is only to be checked,
// the statement is run over none of the rows. From what an engine says of a statement over rows,
// nothing is repeated, as it may quote cells.
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
	from := t.from
	if r.Check {
		t.from = "(SELECT * FROM " + from + " WHERE 1 = 0) t"
	}
	q, err := t.ask(s, r.Question, fmt.Sprintf("%x", r.Nonce))
	if err != nil {
		return nil, err
	}
	counts, err := q.Run(ctx, ask)
	switch {
	case err == nil || errors.Is(err, engine.ErrCounts) || errors.Is(err, errForm):
		return counts, err
	case r.Check:
		return nil, fmt.Errorf("sql: %s cannot be counted: %w", from, err)
	}
	return nil, errors.New("sql: the statement has failed" + codeOf(err) +
		"; the log of the server says more")
}

// Run has the statement run, whose rows ask hands on as texts. Its error may have words of the
// engine's about cells.
func (q *Query) Run(ctx context.Context, ask session) ([]int64, error) {
	cells, err := cellsFrom(ctx, ask, q.text)
	if err != nil {
		return nil, err
	}
	return q.answer(cells)
}

// describe asks for the columns of a table.
func (t *relation) describe(ctx context.Context, ask session) error {
	names := fmt.Sprintf(t.catalogue, t.from)
	if t.dialect == postgreSQL { // where it stands in a text
		names = fmt.Sprintf(t.catalogue, strings.ReplaceAll(t.from, "'", "''"))
	}
	t.types = map[string]string{}
	err := ask(ctx, names, func(row []string) error {
		if len(row) < 2 {
			return errForm
		}
		t.types[row[0]] = row[1]
		return nil
	})
	if err == nil && len(t.types) == 0 {
		err = errors.New("the table is not there, or may not be read")
	}
	if err != nil {
		return fmt.Errorf("sql: %s: %w", t.from, err)
	}
	return nil
}

var errForm = errors.New("sql: the engine has said something else than counts")

// cellsFrom are the rows of a statement.
func cellsFrom(ctx context.Context, ask session, statement string) (map[int64]int64, error) {
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
	path, err := exec.LookPath(d.client[0])
	if err != nil {
		return nil, nil, nil, errors.New("sql: DuckDB is reached by its own program duckdb, of version " +
			"1.1 or later, which is not on the PATH: pip install duckdb-cli, or https://duckdb.org")
	}
	p := &program{dialect: d, path: path, args: d.client[1:]}
	file, query, _ := strings.Cut(rest, "?")
	settings, err := url.ParseQuery(query)
	table := settings.Get("table")
	if settings.Del("table"); err != nil || len(settings) > 0 || file == "" {
		return nil, nil, nil, errors.New("sql: this is not duckdb:FILE?table=TABLE or duckdb:FOLDER")
	}
	info, err := os.Stat(file)
	if err != nil && !strings.ContainsAny(file, "*:") {
		return nil, nil, nil, fmt.Errorf("sql: %w", err)
	}
	if info != nil && table == "" && strings.ContainsAny(file, "*?[") {
		return nil, nil, nil, fmt.Errorf("sql: %s: DuckDB takes *, ? and [ in a name for patterns: give "+
			"the file another name", file)
	}
	if table == "" {
		if info != nil && info.IsDir() {
			file = filepath.Join(file, "**", "*.parquet")
		} else if filepath.Ext(file) != ".parquet" {
			return nil, nil, nil, fmt.Errorf("sql: %s is not Parquet: of a database say ?table=TABLE; CSV "+
				"is read without DuckDB", file)
		}
		p.args = append(p.args[:len(p.args):len(p.args)], ":memory:")
		from := "read_parquet(" + d.literal(file) + ", hive_partitioning = false)"
		return &relation{dialect: d, from: from}, p.rows, func() {}, nil
	}
	p.args = append(p.args[:len(p.args):len(p.args)], "-readonly", file)
	from, err := d.names(table)
	return &relation{dialect: d, from: from}, p.rows, func() {}, err
}

// names is a name of parts with dots between them.
func (d *dialect) names(s string) (string, error) {
	parts := strings.Split(s, ".")
	for i, part := range parts {
		if part == "" || len(parts) > 3 {
			return "", fmt.Errorf("sql: %q is not the name of a table: its parts have dots between them", s)
		}
		parts[i] = d.name(part)
	}
	return strings.Join(parts, "."), nil
}

// program is an engine's own program, which finds passwords where it always does.
type program struct {
	dialect *dialect
	path    string
	args    []string
}

// rows is a session.
func (p *program) rows(
	ctx context.Context, statement string, each func(row []string) error,
) error {
	// for what does not fit into memory: a folder of a name that nobody knows before, ours alone
	spill := filepath.Join(os.TempDir(), "decoy-duckdb-"+rand.Text())
	if err := disk.MkdirAll(spill, 0o700); err != nil {
		return err
	}
	defer func() {
		left, _ := filepath.Glob(filepath.Join(spill, "*"))
		for _, file := range append(left, spill) {
			disk.Remove(file)
		}
	}()
	cmd := exec.CommandContext(ctx, p.path, p.args...)
	cmd.Stdin = strings.NewReader("SET temp_directory = " + p.dialect.literal(spill) + "; " +
		p.dialect.prepare + "\n" + statement + ";\n")
	cmd.WaitDelay = time.Second // a program that it started may go on
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
		cmd.Process.Kill()
	}
	if ended := cmd.Wait(); ended != nil && said.Len() > 0 {
		first, _, _ := strings.Cut(strings.TrimSpace(said.String()), "\n")
		return errors.New(first)
	} else if ended != nil {
		return ended
	}
	if err == io.EOF {
		return nil
	}
	return err
}
