package worker

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"

	"github.com/decoy-dp/decoy/data/engine/sums"
	"github.com/decoy-dp/decoy/data/table"
)

// What a task tells besides counts, as cells below zero. Each comes with a number, and the numbers
// of all tasks are added up.
const (
	TaskRows = -2 // rows that were counted, told at the end
	BadPlan  = -3 // 1: the plan cannot be read, or its cells are read or added up in another way
)

// Run is the worker: it counts the lines of standard input, of which the first is the plan, and
// does not return. Its exit status is 0, also where it tells of something wrong, which would be
// wrong again; it is 1 where the task should be tried again. Whoever starts it throws its standard
// error away, so that no text of it, nor of Go's run time, gets into the logs of Spark.
func Run() {
	debug.SetTraceback("none")
	runtime.GOMAXPROCS(1) // a task has one core
	status := 1
	func() {
		defer func() { _ = recover() }()
		if count(os.Stdin, os.Stdout) == nil {
			status = 0
		}
	}()
	os.Exit(status)
}

// count counts the lines of in as the plan in the first says, and writes the counts to out.
func count(in io.Reader, out io.Writer) error {
	w := bufio.NewWriterSize(out, 1<<16)
	lines := scan(in)
	if !lines.Scan() && lines.Err() != nil {
		return errLine
	}
	c, err := newCounter(lines.Text(), w)
	if err != nil {
		if _, err := io.Copy(io.Discard, in); err != nil {
			return err
		}
		fmt.Fprintf(w, "%d\t1\n", BadPlan)
		return w.Flush()
	}
	if err := c.take(lines); err != nil {
		return err
	}
	c.write()
	return w.Flush()
}

// counter counts.
type counter struct {
	plan    *Plan
	counts  []int64   // of the answer, of a question of any kind but that of sum
	sets    [][]int   // of columns, of a question about them
	sum     *sums.Sum // of a question about gradients
	rows    int64
	counted *block // rows that are counted
	texts   *texts // of a question about texts
	out     io.Writer
}

// blockRows is how many rows are turned into codes at a time.
const blockRows = 1 << 15

// newCounter is a counter for the plan of a word.
func newCounter(word string, out io.Writer) (*counter, error) {
	p, err := decode(word)
	if err != nil {
		return nil, err
	}
	c := &counter{plan: p, out: out}
	if err = c.answer(); err == nil {
		c.counted, err = newBlock(p.Columns)
	}
	return c, err
}

// maxLine is the longest line that is read.
const maxLine = 64 << 20

// scan reads lines one by one.
func scan(in io.Reader) *bufio.Scanner {
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 1<<18), maxLine)
	lines.Split(func(data []byte, end bool) (length int, line []byte, err error) {
		if at := bytes.IndexByte(data, '\n'); at >= 0 {
			return at + 1, data[:at], nil
		}
		if end && len(data) > 0 {
			err = errLine // the last line has no end
		}
		return 0, nil, err
	})
	return lines
}

// take takes all rows.
func (c *counter) take(lines *bufio.Scanner) error {
	for lines.Scan() {
		err := c.counted.add(lines.Bytes())
		if err == nil && c.counted.n == blockRows {
			err = c.count()
		}
		if err != nil {
			return err
		}
	}
	if lines.Err() != nil {
		return errLine
	}
	return c.count()
}

// count counts the rows that were kept.
func (c *counter) count() error {
	b := c.counted
	if b.n == 0 {
		return nil
	}
	if c.texts != nil {
		t, err := b.texts(len(c.plan.Columns))
		if err != nil {
			return errLine
		}
		c.rows += int64(len(t.Columns[0].Cells))
		c.texts.add(t)
		return nil
	}
	t, err := b.table(c.plan)
	if err != nil {
		return errLine
	}
	c.rows += int64(t.Rows())
	c.add(t)
	return nil
}

// add counts a table.
func (c *counter) add(t *table.Table) {
	if c.sum != nil {
		c.sum.Add(t)
	}
	counts := c.counts
	for _, set := range c.sets {
		of := t.Counts(set...)
		for k, n := range of {
			counts[k] += n
		}
		counts = counts[len(of):]
	}
}

// halves are numbers as cells that can be added up without running over: of each, the lower 32 bits
// and then the rest. Whole makes them numbers again, modulo 2^64.
func halves(xs []int64) (cells []int64) {
	for _, x := range xs {
		cells = append(cells, int64(uint32(x)), x>>32)
	}
	return cells
}

// Whole is the reverse of halves, of one or of several that were added up.
func Whole(cells []int64) (xs []int64) {
	for i := 0; i < len(cells); i += 2 {
		xs = append(xs, cells[i]+cells[i+1]<<32)
	}
	return xs
}

// put tells of a cell and its number.
func (c *counter) put(cell, n int64) {
	var b [48]byte
	line := strconv.AppendInt(b[:0], cell, 10)
	line = strconv.AppendInt(append(line, '\t'), n, 10)
	c.out.Write(append(line, '\n'))
}

// write writes the counts that are not zero, and what else there is to tell.
func (c *counter) write() {
	if c.sum != nil {
		c.counts = halves(c.sum.Answer)
	}
	for cell, n := range c.counts {
		if n != 0 {
			c.put(int64(cell), n)
		}
	}
	if c.texts != nil {
		c.texts.tell()
	}
	c.put(TaskRows, c.rows)
}
