package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/decoy-dp/decoy/internal/engine"
	"github.com/decoy-dp/decoy/schema"
)

// patience is how long the server may take to cancel a query.
const patience = 10 * time.Second

// oldest is the first version whose extract(epoch) is exact.
const oldest = 140_000

// settings of the transaction: names are those of the catalogue, a backslash is one in a text, and
// rows that the user may not see are an error.
const settings = "SET LOCAL search_path = pg_catalog; " +
	"SET LOCAL standard_conforming_strings = on; SET LOCAL row_security = off; SET LOCAL jit = off"

// count counts a table.
func count(ctx context.Context, r engine.Request) ([]int64, error) {
	key := make([]byte, 64)
	rand.Read(key)
	return countBy(ctx, r, key)
}

// countBy is count by a hash key of 64 bytes, by which the rows of a unit that has too many are
// chosen.
func countBy(ctx context.Context, r engine.Request, key []byte) ([]int64, error) {
	from, err := parseSource(r.Source)
	if err != nil {
		return nil, err
	}
	s, err := schema.Parse([]byte(r.Schema))
	if err != nil {
		return nil, err
	}
	s = s.ForPrivate()
	rows, err := s.RowCodec()
	if err != nil {
		return nil, err
	}
	if rows.Relates() {
		return nil, errors.New("postgres: of a schema with after or rules, a cell " +
			"depends on others, which SQL does not count as decoy does: fit a file")
	}
	db := sql.OpenDB(stdlib.GetConnector(*from.config))
	defer db.Close()
	// one snapshot of the table, for all that is asked
	tx, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return nil, failure(ctx, "no connection to "+from.config.Host, err)
	}
	defer tx.Rollback()
	types, err := from.columns(ctx, tx)
	if err != nil {
		return nil, err
	}
	sets, cells, err := engine.AskedSets(r.Question, s.Sizes())
	if err != nil || len(sets) == 0 {
		return nil, errors.New("postgres: nothing but marginals is counted there")
	}
	q := query{schema: s, sets: sets, cells: cells, all: r.Question.Length, table: from.table}
	if err := q.bind(rows.Codecs(), types); err != nil {
		return nil, err
	}
	if r.Check {
		_, err := tx.ExecContext(ctx, "EXPLAIN SELECT * FROM "+from.table)
		return nil, failure(ctx, there, err)
	}
	counts, err := q.run(ctx, tx, key)
	return counts, failure(ctx, "the query has failed", err)
}

// failure is an error in our words: the server's may quote cells.
func failure(ctx context.Context, what string, err error) error {
	server := (*pgconn.PgError)(nil)
	switch {
	case err == nil || errors.Is(err, schema.ErrSchema):
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &server):
		what += " (SQLSTATE " + server.Code + ")"
	}
	return errors.New("postgres: " + what + "; the log of the server says more")
}

const there = "the table is not there, or may not be read"

// columns are the types of the columns of the table.
func (s *source) columns(ctx context.Context, tx *sql.Tx) (map[string]string, error) {
	if _, err := tx.ExecContext(ctx, settings); err != nil {
		return nil, failure(ctx, "the server is not one of PostgreSQL", err)
	}
	version, encoding := 0, ""
	err := tx.QueryRowContext(ctx, "SELECT current_setting('server_version_num')::int, "+
		"current_setting('server_encoding')").Scan(&version, &encoding)
	if err != nil || version < oldest || encoding != "UTF8" {
		return nil, errors.Join(ctx.Err(), fmt.Errorf("postgres: a server of version %d or later is "+
			"needed, and a database in UTF8", oldest/10_000))
	}
	found, err := tx.QueryContext(ctx, "SELECT a.attname, t.typname FROM pg_attribute a JOIN pg_type "+
		"t ON t.oid = a.atttypid WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT "+
		"a.attisdropped", s.table)
	if err != nil {
		return nil, failure(ctx, there, err)
	}
	defer found.Close()
	types := map[string]string{}
	for found.Next() {
		var name, kind string
		if err := found.Scan(&name, &kind); err != nil {
			return nil, failure(ctx, there, err)
		}
		types[name] = kind
	}
	if err := found.Err(); err != nil || len(types) == 0 {
		return nil, failure(ctx, there, errors.Join(err, errors.New("no columns")))
	}
	return types, nil
}

// query is what the server is asked.
type query struct {
	schema *schema.Schema
	sets   [][]int
	cells  []int // of each set
	all    int   // cells
	table  string

	values, codes []string // expressions, by column
	unit          string   // of the id, as text; "" without one
}

// bind finds the expressions of the columns.
func (q *query) bind(codecs []*schema.Codec, types map[string]string) error {
	for i, codec := range codecs {
		n := codec.Column().Name
		c := column{codec, types[n]}
		value, code := "NULL", ""
		if c.kind != "" {
			var err error
			if value, err = c.value(name(n)); err != nil {
				return err
			}
			code = c.code(fmt.Sprintf("v%d", i))
		} else if absent, err := codec.Absent(); err != nil {
			return fmt.Errorf("postgres: the table has no column %q: %w", n, schema.ErrSchema)
		} else {
			code = c.result(absent, nil)
		}
		q.values = append(q.values, fmt.Sprintf("%s AS v%d", value, i))
		q.codes = append(q.codes, fmt.Sprintf("%s AS c%d", code, i))
	}
	if q.schema.Unit == "" {
		return nil
	}
	kinds := []string{"text", "varchar", "int2", "int4", "int8", "uuid"}
	if !slices.Contains(kinds, types[q.schema.Unit]) {
		return fmt.Errorf("postgres: the id column %q is not there, or of no type whose texts are one "+
			"for each id, which are %s: %w", q.schema.Unit, strings.Join(kinds, ", "), schema.ErrSchema)
	}
	q.unit = "nullif(btrim(" + name(q.schema.Unit) + "::text, '" + schema.IDBlanks +
		`'), '') COLLATE "C"`
	return nil
}

// sql is the query: cells, numbered from 0 through the sets, or below 0 for a column with a cell
// that the schema does not allow, and their counts. $1 and $2 are the two blocks of the key.
//
// Of a unit with too many rows, those stay whose HMAC-SHA256 is smallest: of how many rows with the
// same codes came before the row, of its codes, and of the unit. (Which of two rows with the same
// codes stays is nothing that can be counted.)
func (q *query) sql() string {
	var codes, cells []string
	for i := range q.codes {
		codes = append(codes, fmt.Sprintf("c%d", i))
	}
	sizes, offset := q.schema.Sizes(), 0
	for i, set := range q.sets {
		cell := "0"
		for _, c := range set {
			cell = fmt.Sprintf("(%s) * %d + c%d", cell, sizes[c], c)
		}
		cells = append(cells, fmt.Sprintf("%d + %s", offset, cell))
		offset += q.cells[i]
	}
	list := strings.Join(codes, ", ")
	extra, counted := "", "ARRAY["+strings.Join(cells, ", ")+"]"
	from := fmt.Sprintf("SELECT %s FROM %s", strings.Join(q.values, ", "), q.table)
	if q.unit != "" {
		from = fmt.Sprintf("SELECT %s, %s AS u FROM %s", strings.Join(q.values, ", "), q.unit, q.table)
		extra = ", u"
	}
	// OFFSET 0: what follows is computed once a row, not once for each use of it
	from = fmt.Sprintf("SELECT %s%s FROM (%s) t OFFSET 0", strings.Join(q.codes, ", "), extra, from)
	if q.unit != "" {
		row := "convert_to(concat_ws(',', twin, " + list + ", u), 'UTF8')"
		from = fmt.Sprintf("SELECT %s, u, row_number() OVER (PARTITION BY u ORDER BY "+
			"sha256($2 || sha256($1 || %s))) AS place FROM (SELECT *, row_number() OVER (PARTITION BY u, "+
			"%s) - 1 AS twin FROM (%s) t) t", list, row, list, from)
		counted = fmt.Sprintf("CASE WHEN u IS NULL OR place > %d THEN '{}' ELSE %s END",
			q.schema.MaxRowsPerUnit, counted)
	}
	return fmt.Sprintf("SELECT cell, count(*) FROM (SELECT unnest(%s) AS cell FROM (%s) t) t "+
		"GROUP BY cell", counted, from)
}

// run asks, and puts the counts into their places, behind the number of rows in the first set. That
// the other sets have as many is checked by whoever asked.
func (q *query) run(ctx context.Context, tx *sql.Tx, key []byte) ([]int64, error) {
	var arguments []any
	if q.unit != "" {
		inner, outer := slices.Clone(key), slices.Clone(key) // RFC 2104: the key is one block
		for i := range key {
			inner[i] ^= 0x36
			outer[i] ^= 0x5c
		}
		arguments = []any{inner, outer}
	}
	found, err := tx.QueryContext(ctx, q.sql(), arguments...)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	answer := make([]int64, 1+q.all)
	for found.Next() {
		var cell int
		var n int64
		if err := found.Scan(&cell, &n); err != nil {
			return nil, err
		}
		if cell < 0 || cell >= q.all {
			return nil, errors.New("the server has counted a cell that none is")
		}
		answer[1+cell] = n
	}
	for _, n := range answer[1 : 1+q.cells[0]] {
		answer[0] += n
	}
	return answer, found.Err()
}
