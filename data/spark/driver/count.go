package driver

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"reflect"
	"slices"
	"strings"

	"github.com/apache/spark-connect-go/v35/spark/sparkerrors"
	"github.com/apache/spark-connect-go/v35/spark/sql"
	"github.com/apache/spark-connect-go/v35/spark/sql/types"

	"github.com/decoy-dp/decoy/data/engine"
	sqltext "github.com/decoy-dp/decoy/data/engine/sql"
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/spark/worker"
)

var (
	errAddress = errors.New("spark: this is not the address of a Spark Connect server")
	errColumns = errors.New("spark: the source has a column that cannot be read: text, booleans, " +
		"numbers, decimals, dates and timestamps can")
)

// failure is an error of the cluster in our words, and Spark's name for its kind. It has nothing of
// Spark's own words, which may quote cells of the table.
func failure(what string, err error) error {
	if spark := (*sparkerrors.SparkError)(nil); errors.As(err, &spark) && spark.ErrorClass != "" {
		what += " (" + spark.ErrorClass + ")"
	}
	return errors.New("spark: " + what + "; the log of the Spark Connect server says more")
}

// Count answers a question about a table. program is the path of this program.
func Count(ctx context.Context, r engine.Request, program string) ([]int64, error) {
	source, err := parseSource(r.Source)
	if err != nil {
		return nil, err
	}
	s, err := schema.Parse([]byte(r.Schema))
	if err != nil {
		return nil, err
	}
	s = s.ForPrivate()
	conn, err := newConnection(source)
	if err != nil {
		return nil, err
	}
	session, err := sql.NewSessionBuilder().WithChannelBuilder(conn).Build(ctx)
	if err != nil {
		return nil, errAddress
	}
	defer conn.conn.Close()
	// whose name the client keeps to itself
	defer conn.release(reflect.ValueOf(session).Elem().FieldByName("sessionId").String())
	if len(r.Nonce) == 0 {
		r.Nonce = make([]byte, 16)
		rand.Read(r.Nonce)
	}
	job := &job{Request: r, source: source, schema: s, session: session}
	counts, err := job.run(ctx, program)
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return counts, err
}

// job is one count.
type job struct {
	engine.Request
	source  *Source
	schema  *schema.Schema
	session session

	names []string          // of the columns of the source
	kinds map[string]string // and their types

	plan  worker.Plan
	cells []string // expressions of a line
}

// session is what is needed of a session of Spark.
type session interface {
	Sql(ctx context.Context, query string) (sql.DataFrame, error)
}

// settings of the session: names are as they are written, and times are of one zone. Plans are
// made once: an adaptive plan starts shuffles from other threads, and one that starts after the
// session has cancelled everything runs to its end.
var settings = []string{"SET spark.sql.caseSensitive=true", "SET spark.sql.session.timeZone=UTC",
	"SET spark.sql.adaptive.enabled=false"}

func (j *job) run(ctx context.Context, program string) ([]int64, error) {
	for _, set := range settings {
		if _, err := j.session.Sql(ctx, set); err != nil {
			host, _, _ := net.SplitHostPort(j.source.Host) // a port may be a password without its @
			return nil, failure("no connection to "+host, err)
		}
	}
	if _, err := j.session.Sql(ctx, j.source.viewOf(j.schema.CSV)); err != nil {
		return nil, failure("the source is not there, or cannot be read", err)
	}
	if err := j.describe(ctx); err != nil {
		return nil, err
	}
	if j.Question.Kind == engine.Columns {
		return j.listed(), nil
	}
	q, err := j.inSQL()
	if err != nil {
		return nil, err
	}
	if q != nil {
		return q.Run(ctx, j.texts, j.Check)
	}
	word, err := j.bind()
	if err != nil {
		return nil, err
	}
	if j.source.Program != "" {
		program = j.source.Program
	}
	if !programs.MatchString(program) {
		return nil, errors.New("spark: the path of decoy-spark must be of letters, digits and _./+-")
	}
	if len(word) > maxPlan {
		return nil, fmt.Errorf("spark: schema and question are %d bytes for each task, of at most %d: "+
			"name fewer sets, or take a smaller network", len(word), maxPlan)
	}
	lines := fmt.Sprintf("SELECT %s AS line FROM %s", lineOf(j.cells), view)
	if j.schema.Unit != "" {
		lines, err = sqltext.SparkUnits(j.schema, fmt.Sprintf("%x", j.Nonce), view, lineOf(j.cells),
			j.kinds)
	}
	if err != nil || j.Check {
		return nil, err
	}
	command := "exec " + program + " " + Verb + " 2>/dev/null"
	told, err := sqltext.Cells(ctx, j.texts, counting(lines, command, word))
	if err != nil {
		return nil, err
	}
	if len(told) == 0 { // Spark starts no child for a part without rows
		told, err = sqltext.Cells(ctx, j.texts, "SELECT 0, COUNT(*) FROM ("+lines+")")
		if err != nil || told[0] > 0 {
			return nil, cmp.Or(err, errTotal)
		}
		return make([]int64, 1+j.Question.Length), nil
	}
	return j.check(told)
}

// What one statement of SQL may be: Spark makes one method of it, which is not compiled if it is
// long. A table with more is counted by workers.
const (
	maxColumns = 12
	maxCells   = 66 // of each row: all pairs of these
)

// inSQL is the question as a statement, nil if workers must answer it: of another kind, about a CSV
// file, whose cells are all texts, or about many columns.
func (j *job) inSQL() (*sqltext.Query, error) {
	units := j.Question.Kind == engine.Units
	if !units && (j.source.Format == "csv" || j.source.Program != "") {
		return nil, nil
	}
	q, err := sqltext.AskSpark(j.schema, j.Question, fmt.Sprintf("%x", j.Nonce), view, j.kinds)
	if !units && (err != nil || q.Columns > maxColumns || q.Cells > maxCells) {
		return nil, nil // what is wrong is then said of the workers' query
	}
	return q, err
}

// texts has a statement run, and hands on the first two cells of its rows as texts.
func (j *job) texts(ctx context.Context, statement string, each func(row []string) error) error {
	var rows []types.Row
	frame, err := j.session.Sql(ctx, statement)
	if err == nil {
		rows, err = frame.Collect(ctx)
	}
	if err != nil {
		return failure("the source cannot be read", err)
	}
	for _, r := range rows {
		if err := each([]string{fmt.Sprint(r.At(0)), fmt.Sprint(r.At(1))}); err != nil {
			return err
		}
	}
	return nil
}

// listed is the answer to a question of kind engine.Columns.
func (j *job) listed() []int64 {
	text, _ := json.Marshal(j.names) // of texts, which does not fail
	out := []int64{0}
	for _, b := range text {
		out = append(out, int64(b))
	}
	return out
}

// Verb is what tasks call this program with.
const Verb = "count-worker"

// maxPlan is the longest word of a plan, in bytes.
const maxPlan = 4 << 20

// describe asks for the columns of the source.
func (j *job) describe(ctx context.Context) error {
	j.kinds = map[string]string{}
	partitions := false // which follow the columns, and are among them
	return j.texts(ctx, "DESCRIBE TABLE "+view, func(row []string) error {
		if partitions = partitions || row[0] == "" || strings.HasPrefix(row[0], "#"); !partitions {
			j.names, j.kinds[row[0]] = append(j.names, row[0]), row[1]
		}
		return nil
	})
}

// bind decides which columns of the source go to the workers, and returns the plan as their word.
// Its error is that of a local run whose file has these columns.
func (j *job) bind() (word string, err error) {
	rows := *j.schema // of which a unit has lost some before
	rows.Unit, rows.MaxRowsPerUnit = "", 0
	text, err := rows.YAML()
	if err != nil {
		return "", err
	}
	j.plan = worker.Plan{Schema: string(text), Nonce: j.Nonce, Question: j.Question}
	wanted := []string{}
	asked, texts := engine.AskedTexts(j.Question)
	beside := map[string]bool{} // not asked about, but part of what tells the rows of a unit apart
	for i, c := range j.schema.Columns {
		if beside[c.Name] = texts && !slices.Contains(asked, i); !beside[c.Name] ||
			j.schema.Unit != "" {
			wanted = append(wanted, c.Name)
		}
	}
	for _, m := range j.schema.Made {
		wanted = append(wanted, m.Name)
	}
	for i, want := range wanted {
		if slices.Contains(wanted[:i], want) {
			continue
		}
		kind, is := j.kinds[want]
		if !is && texts {
			return "", fmt.Errorf("spark: the source has other columns than before: %w", schema.ErrSchema)
		}
		if !is {
			continue
		}
		cell, t := cellOf(want, kind, j.source.Format == "csv")
		switch {
		case t == "" && beside[want]:
			continue
		case t == "":
			return "", fmt.Errorf("%w: column %q: %w", errColumns, want, schema.ErrSchema)
		}
		j.cells = append(j.cells, cell)
		j.plan.Columns = append(j.plan.Columns, worker.Column{Name: want, Type: t})
	}
	return j.plan.Encode()
}

var (
	errForm  = errors.New("spark: the workers have said something else than counts")
	errTotal = errors.New("spark: what the workers have said was lost")
)

// check turns what all tasks told into an answer, and refuses what cannot be of one table.
func (j *job) check(told map[int64]int64) ([]int64, error) {
	if told[worker.BadPlan] > 0 {
		return nil, errors.New("spark: decoy-spark on the workers is of a version that reads cells " +
			"in another way than the one here, or asks otherwise, or adds up by other arithmetic")
	}
	rows, isThere := told[worker.TaskRows]
	if !isThere {
		return nil, errTotal
	}
	gradient, all := j.Question.Kind == engine.GradientKind, j.Question.Length
	if gradient {
		all *= 2 // halves
	}
	answer := make([]int64, 1+all)
	answer[0] = rows
	var listed []int64
	for cell, n := range told {
		switch {
		case n < 0 && (!gradient || cell < 0):
			return nil, errForm
		case cell >= engine.FirstKey && j.Question.Listed:
			listed = append(listed, cell)
		case cell >= int64(all):
			return nil, errForm
		case cell >= 0:
			answer[1+cell] = n
		case cell != worker.TaskRows:
			return nil, errForm
		}
	}
	if gradient {
		answer = append(answer[:1], worker.Whole(answer[1:])...)
	}
	for _, cell := range slices.Sorted(slices.Values(listed)) {
		answer = append(answer, cell, told[cell])
	}
	return answer, nil
}
