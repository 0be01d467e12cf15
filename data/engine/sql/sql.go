// Package sql has an engine count a private table in its own SQL: it turns a schema and a question
// into one statement, has it run, and checks what comes back. Rows become codes by the schema's own
// edges and texts, which are constants that package schema has computed. Where a column's cells
// cannot be read as schema reads those of a file, it is refused by its name and type.
package sql

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/decoy-dp/decoy/data/engine"
	"github.com/decoy-dp/decoy/data/schema"
)

// relation is a table as an engine has it.
type relation struct {
	*dialect
	from  string            // what stands behind FROM
	files []string          // of Parquet, from which it is read; nil: of a table
	types map[string]string // of the columns, in the words of the engine
}

// AskSpark turns a question into a statement for Spark, about a table by what stands behind FROM
// and the types of its columns. The session must be case-sensitive, and its zone UTC. By seed the
// rows of units are chosen.
func AskSpark(
	s *schema.Schema, q engine.Question, seed, from string, types map[string]string,
) (*Query, error) {
	return (&relation{dialect: spark, from: from, types: types}).ask(s, q, seed)
}

// SparkClass is what values of a type of Spark are: text, truth, whole, real, date or moment, "" of
// one that is not read.
func SparkClass(kind string) string { return string(spark.classOf(kind)) }

// SparkUnits is a select, for Spark, of an expression of each row as line: of at most
// max_rows_per_unit rows of each unit, which stay by their lines and the seed.
func SparkUnits(
	s *schema.Schema, seed, from, line string, types map[string]string,
) (string, error) {
	t := &relation{dialect: spark, types: types}
	unit, err := t.unit(s.Unit)
	return t.thinned(fmt.Sprintf("SELECT %s AS u, %s AS line FROM %s", unit, line, from), "line",
		s.MaxRowsPerUnit, seed), err
}

// Query is a question as one statement, whose rows are two whole numbers: of a cell, each once, and
// of its rows, above zero. Cells that no row is in may be left out.
type Query struct {
	text    string
	check   string // has an engine see whether it can run the statement, and read no row
	Columns int    // that the statement computes
	Cells   int    // that a row is counted in
	answer  func(cells map[int64]int64) ([]int64, error)
}

// ask turns a question into a statement. Of units with more than max_rows_per_unit rows, seed
// decides which stay: it need not be secret, but whoever writes rows must not know it beforehand.
func (t *relation) ask(s *schema.Schema, q engine.Question, seed string) (*Query, error) {
	s = s.ForPrivate()
	if q.Kind == engine.Units {
		return t.units(s, q)
	}
	from, sizes, err := t.codes(s)
	if err != nil {
		return nil, err
	}
	sets, err := engine.AskedSets(q, s.Sizes())
	if err != nil || len(sets) == 0 {
		return nil, errors.New("sql: nothing but marginals and numbers of rows of units is counted in " +
			"SQL: take Spark, or an extract of the rows as a file")
	}
	if s.Unit != "" {
		from = t.bounded(from, sizes, s.MaxRowsPerUnit, seed)
	}
	b := blocksOf(sets, sizes, t.block)
	var cells []string
	for i, set := range b.columns {
		cell, size := strconv.Itoa(b.first[i]), 1
		for _, c := range slices.Backward(set) {
			cell += strings.Replace(fmt.Sprintf(" + %d * c%d", size, c), " 1 * ", " ", 1)
			size *= sizes[c]
		}
		cells = append(cells, cell)
	}
	exploded := fmt.Sprintf(t.explode, fmt.Sprintf(t.array, strings.Join(cells, ", ")), from)
	return t.query(exploded, &Query{Columns: len(sizes), Cells: len(cells), answer: b.answer}), nil
}

// query counts the cells of a select.
func (d *dialect) query(cells string, q *Query) *Query {
	q.text = "SELECT cell, COUNT(*) AS n FROM (" + cells + ") t GROUP BY cell"
	q.check = fmt.Sprintf(d.check, q.text)
	return q
}

// codes is a select of the codes c0, c1, ... of the rows, and of their unit u if there is one.
func (t *relation) codes(s *schema.Schema) (sql string, sizes []int, err error) {
	rows, err := s.RowCodec()
	if err != nil {
		return "", nil, err
	}
	if rows.Relates() {
		return "", nil, fmt.Errorf("sql: the schema has after or rules, by which a cell depends on "+
			"others of its row; that is not counted in SQL: leave them out, or fit a file: %w",
			schema.ErrSchema)
	}
	var values, codes []string
	var of [][]string // names of the values that a code is of
	for i, codec := range rows.Codecs() {
		n := codec.Column().Name
		c := column{t.dialect, codec, t.types[n], t.classOf(t.types[n])}
		if c.kind == "" {
			return "", nil, fmt.Errorf("sql: the table has no column %q%s: %w", n,
				cmp.Or(t.hint(n), ", or it may not be read"), schema.ErrSchema)
		}
		value, cell, err := c.value(t.name(n))
		if err != nil {
			return "", nil, err
		}
		names := []string{fmt.Sprintf("v%d", i)}
		if values = append(values, value+" AS "+names[0]); cell != "" {
			names = append(names, fmt.Sprintf("w%d", i))
			values = append(values, cell+" AS "+names[1])
			cell = names[1]
		}
		codes = append(codes, fmt.Sprintf("%s AS c%d", c.code(names[0], cell), i))
		of = append(of, names)
	}
	if s.Unit != "" {
		unit, err := t.unit(s.Unit)
		if err != nil {
			return "", nil, err
		}
		values, codes, of = append(values, unit+" AS u"), append(codes, "u"), append(of, []string{"u"})
	}
	sql = t.each(values, t.from)
	for i := 0; i < len(codes); {
		var columns []string // of the codes that are there, of some more, and values of the others
		for done := range i {
			columns = append(columns, fmt.Sprintf("IF(c%[1]d < 0, 0, c%[1]d) AS c%[1]d", done))
		}
		for long := 0; i < len(codes) && (long == 0 || long+len(codes[i]) < t.long); i++ {
			columns, long = append(columns, codes[i]), long+len(codes[i])
		}
		for _, name := range slices.Concat(of[i:]...) {
			columns = append(columns, fmt.Sprintf("COALESCE(%[1]s, %[1]s) AS %[1]s", name))
		}
		sql = t.each(columns, sql)
	}
	return sql, s.Sizes(), nil
}

// hint asks whether the column nearest to a name that the table does not have was meant.
func (t *relation) hint(name string) string {
	there := &schema.Schema{}
	for _, n := range slices.Sorted(maps.Keys(t.types)) {
		there.Columns = append(there.Columns, schema.Column{Name: n})
	}
	return there.Hint(name)
}

// each computes expressions once for each row of a table or a select.
func (t *relation) each(expressions []string, from string) string {
	if strings.HasPrefix(from, "SELECT ") {
		from = "(" + from + ") t"
	}
	return "SELECT " + strings.Join(expressions, ", ") + " FROM " + from + t.barrier
}

// unit is the expression of an id: a text without blanks at its ends, NULL of nobody's row.
func (t *relation) unit(name string) (string, error) {
	switch t.classOf(t.types[name]) {
	case text, whole:
		id := t.bytes(t.name(name))
		return fmt.Sprintf("CASE WHEN %s THEN NULLIF(%s, '') END", t.short(id),
			fmt.Sprintf(t.trim, id, t.literal(schema.IDBlanks))), nil
	case "":
		if t.types[name] == "" {
			return "", fmt.Errorf("sql: the table has no column %q, which holds the privacy unit%s: %w",
				name, t.hint(name), schema.ErrSchema)
		}
	}
	return "", fmt.Errorf("sql: the id column %q is of type %s, neither a text nor a whole number: "+
		"make a view in which it is: %w", name, t.types[name], schema.ErrSchema)
}

// thinned is a select of some columns of at most k rows of each unit u. Of n rows in the order of
// these columns, of which k are to stay, every n/k-th does, from a place that the seed and the unit
// decide: a rule of the rows of that unit alone, which gives each the chance k/n. Rows that are
// equal may change places, which nothing that is counted tells.
func (d *dialect) thinned(from, columns string, k int, seed string) string {
	from = fmt.Sprintf("SELECT u, %s, ROW_NUMBER() OVER (PARTITION BY u ORDER BY %s) AS p, "+
		"COUNT(*) OVER (PARTITION BY u) AS m FROM (%s) t WHERE u IS NOT NULL", columns, columns, from)
	start := fmt.Sprintf(d.draw, fmt.Sprintf("CONCAT(%s, u)", d.literal(seed+" ")))
	return fmt.Sprintf("SELECT %s FROM (%s) t WHERE CASE WHEN m <= %d THEN 0 ELSE MOD(p * %d + %s, "+
		"m) END < %d", columns, from, k, k, start, k)
}

// bounded is a select of the codes of at most k rows of each unit, in the order of their codes.
func (t *relation) bounded(from string, sizes []int, k int, seed string) string {
	packs, codes := []string{}, []string{}
	size, pack := 1, ""
	for i, n := range sizes {
		if pack != "" && size > (1<<53)/n {
			packs = append(packs, pack)
			size, pack = 1, ""
		}
		if pack != "" {
			pack += " + "
		}
		pack += fmt.Sprintf("CAST(c%d AS %s) * %d", i, t.whole, size)
		codes = append(codes, fmt.Sprintf("CAST(MOD(%s, %d) AS %s) AS c%d",
			fmt.Sprintf(t.divide, fmt.Sprintf("k%d", len(packs)), strconv.Itoa(size)), n, t.small, i))
		size *= n
	}
	packs = append(packs, pack)
	names := make([]string, len(packs))
	for i := range packs {
		names[i] = fmt.Sprintf("k%d", i)
		packs[i] += " AS " + names[i]
	}
	list := strings.Join(names, ", ")
	from = fmt.Sprintf("SELECT u, %s FROM (%s) t", strings.Join(packs, ", "), from)
	return t.each(codes, t.thinned(from, list, k, seed))
}

// units counts the units with each of some numbers of rows. In its answer the number of rows is
// that of units.
func (t *relation) units(s *schema.Schema, q engine.Question) (*Query, error) {
	var upTo []int
	if json.Unmarshal(q.Of, &upTo) != nil || q.Length != len(upTo)+1 || s.Unit == "" {
		return nil, errors.New("sql: this is not a question about units")
	}
	unit, err := t.unit(s.Unit)
	if err != nil {
		return nil, err
	}
	cell := strconv.Itoa(len(upTo))
	for i, most := range slices.Backward(upTo) {
		cell = fmt.Sprintf("CASE WHEN m <= %d THEN %d ELSE %s END", most, i, cell)
	}
	rows := fmt.Sprintf("SELECT u, COUNT(*) AS m FROM (SELECT %s AS u FROM %s) t WHERE u IS NOT "+
		"NULL GROUP BY u", unit, t.from)
	rows = fmt.Sprintf("SELECT %s AS cell FROM (%s) t", cell, rows)
	return t.query(rows, &Query{answer: blocksOf([][]int{{0}}, []int{q.Length}, q.Length).answer}), nil
}

// blocks are sets of columns over which rows are counted: few of them have all sets that are asked
// about as parts. (Of thirteen columns of twelve codes, 13 sets of four columns have all 78 pairs.)
type blocks struct {
	sets, columns [][]int
	of            []int // the block of each set
	first         []int // cell of each block
	sizes         []int
}

// blocksOf finds blocks: the largest set that is in none gets one, which grows by the column that
// brings most of the others in, while it has at most so many cells.
func blocksOf(sets [][]int, sizes []int, most int) *blocks {
	b := &blocks{sets: sets, of: make([]int, len(sets)), sizes: sizes, first: []int{0}}
	with := make([][]int, len(sizes)) // the sets that have a column
	base := make([]int, len(sizes))   // what it brings a block that has nothing yet
	var order []int
	for i, set := range sets {
		order = append(order, i)
		b.of[i] = -1
		for _, c := range set {
			with[c] = append(with[c], i)
			base[c] += gain(len(set))
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return len(sets[j]) - len(sets[i]) })
	left := make([]int, len(sets)) // columns of a set that are in no block that grows
	for _, first := range order {
		if b.of[first] >= 0 {
			continue
		}
		var block, begun []int
		cells, brings := 1, slices.Clone(base)
		add := func(column int) {
			block, cells = append(block, column), cells*sizes[column]
			for _, i := range with[column] {
				if b.of[i] >= 0 {
					continue
				}
				if left[i] == 0 {
					left[i], begun = len(sets[i]), append(begun, i)
				}
				left[i]--
				for _, c := range sets[i] {
					brings[c] += gain(left[i]) - gain(left[i]+1)
				}
			}
		}
		for _, c := range sets[first] {
			add(c)
		}
		for {
			next := bestOf(brings, func(c int) bool {
				return cells*sizes[c] <= most && !slices.Contains(block, c)
			})
			if next < 0 {
				break
			}
			add(next)
		}
		b.of[first] = len(b.columns)
		for _, i := range begun {
			if left[i] == 0 {
				b.of[i] = len(b.columns)
				for _, c := range sets[i] {
					base[c] -= gain(len(sets[i]))
				}
			}
			left[i] = 0
		}
		slices.Sort(block)
		b.columns = append(b.columns, block)
		b.first = append(b.first, b.first[len(b.first)-1]+cells)
	}
	return b
}

// bestOf is the first of the columns that may be added and bring most; −1 if none brings anything.
func bestOf(brings []int, may func(column int) bool) int {
	best := -1
	for c, x := range brings {
		if x > 0 && (best < 0 || x > brings[best]) && may(c) {
			best = c
		}
	}
	return best
}

// gain is what a column brings a block that lacks so many columns of a set, this one among them: a
// set that is nearly in counts too.
func gain(lacks int) int {
	if lacks == 0 {
		return 0
	}
	return 1 << 20 / (lacks * lacks)
}

// answer is the number of rows, and the counts of the sets. Every block must have as many rows.
func (b *blocks) answer(cells map[int64]int64) ([]int64, error) {
	answer := []int64{0}
	starts := make([]int, len(b.sets))
	for i, set := range b.sets {
		starts[i] = len(answer)
		answer = append(answer, make([]int64, engine.CellsOf(set, b.sizes))...)
	}
	rows := make([]int64, len(b.columns))
	parts := make([][]int, len(b.columns))
	for i, block := range b.of {
		parts[block] = append(parts[block], i)
	}
	codes := make([]int, len(b.sizes))
	for cell, n := range cells {
		block, is := slices.BinarySearch(b.first, int(cell))
		if !is {
			block--
		}
		if block < 0 || block >= len(b.columns) || n < 0 {
			return nil, engine.ErrCounts
		}
		rest := int(cell) - b.first[block]
		for _, c := range slices.Backward(b.columns[block]) {
			codes[c], rest = rest%b.sizes[c], rest/b.sizes[c]
		}
		for _, i := range parts[block] {
			at := 0
			for _, c := range b.sets[i] {
				at = at*b.sizes[c] + codes[c]
			}
			answer[starts[i]+at] += n
		}
		rows[block] += n
	}
	for _, n := range rows {
		if n != rows[0] {
			return nil, engine.ErrCounts
		}
	}
	answer[0] = rows[0]
	return answer, nil
}
