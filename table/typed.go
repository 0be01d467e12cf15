package table

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"

	"github.com/decoy-dp/decoy/schema"
)

// typedFile is an open file of typed columns: Parquet or Arrow. Its rows come in runs.
type typedFile interface {
	names() []string
	unreadable(i int) error // why column i cannot be read; nil: it can
	// next goes on to the next run, and tells its rows and how much of the file is read with it, 0 if
	// that is not known; io.EOF behind the last
	next() (rows int64, read float64, err error)
	// column reads column i of the run; several may be read at once
	column(i int, rows int64, l *layout, out *part, maxCell int) error
	length() int64
	failure(err error) error // the error of the file or, if there was none, err
	take(bytes int) error    // of what the file may expand to
}

// openTyped opens a file of typed columns.
func openTyped(ctx context.Context, f *opened) (typedFile, error) {
	if f.format == Arrow {
		return openArrow(ctx, f.file)
	}
	return openParquet(ctx, f.file)
}

// ReadArrow reads a table from the bytes of an Arrow stream or file, as [Read] does one on disk.
func ReadArrow(
	ctx context.Context, data []byte, s *schema.Schema, o ReadOptions,
) (*Table, Report, error) {
	return inBytes(data).readTyped(ctx, s, o)
}

// readTyped reads a table from a file of typed columns.
func (f *opened) readTyped(
	ctx context.Context, s *schema.Schema, o ReadOptions,
) (*Table, Report, error) {
	l, err := newLayout(s)
	if err != nil {
		return nil, Report{}, err
	}
	typed, err := openTyped(ctx, f)
	if err != nil {
		return nil, Report{}, err
	}
	var report Report
	if report.Ignored, err = l.bindNames(typed.names()); err != nil {
		return nil, Report{}, err
	}
	a := assembly{layout: l}
	if err := l.readTyped(typed, o, a.add); err != nil {
		return nil, Report{}, err
	}
	return a.table(), report, nil
}

// readTyped reads a file with this layout; put takes the runs in their order. Columns are read in
// parallel. A file has at most as many cells, columns a row, as its length lets expect: a run of
// equal values takes a few bytes, whatever its length.
func (l *layout) readTyped(f typedFile, o ReadOptions, put func(part) error) error {
	o = o.withDefaults()
	var used []int
	for i, d := range l.columns {
		if !d.used() {
			continue
		}
		used = append(used, i)
		if err := f.unreadable(i); err != nil {
			return l.about(i, err)
		}
	}
	if err := o.begin(); err != nil {
		return err
	}
	rows, cells := 0, atLeast(maxCells, f.length())/int64(len(l.sizes)+max(1, l.texts))
	for {
		n, read, err := f.next()
		switch {
		case err == io.EOF:
			return nil
		case err == nil && (n < 0 || n > cells-int64(rows)):
			err = errTooMuch
		}
		if err != nil {
			return f.failure(fmt.Errorf("table: %w", err))
		}
		out, errs := l.newPart(), make([]error, len(l.columns))
		work := make(chan int, len(used))
		for _, i := range used {
			work <- i
		}
		close(work)
		var wg sync.WaitGroup
		for range min(o.workers, len(used)) {
			wg.Go(func() {
				for i := range work {
					errs[i] = catch(func() error { return f.column(i, n, l, &out, o.maxCell) })
				}
			})
		}
		wg.Wait()
		if err = l.complete(&out, int(n), rows, errs); err == nil {
			rows += int(n)
			err = put(out)
		}
		if err != nil {
			return f.failure(err)
		}
		if o.Progress != nil && read > 0 {
			o.Progress(read)
		}
	}
}

// newPart is for the columns of a run of rows of a typed file.
func (l *layout) newPart() part {
	out := part{codes: make([]Codes, len(l.sizes)), texts: make([]texts, l.texts)}
	if l.rows != nil {
		out.values = make([]values, len(l.sizes)+len(l.schema.Made))
	}
	return out
}

// complete makes rows of the columns of a run of n rows that comes after rows other rows; errs are
// the errors by file column.
func (l *layout) complete(out *part, n, rows int, errs []error) error {
	if err := l.firstError(errs, rows); err != nil {
		return err
	}
	out.rows = n
	if out.values != nil {
		if row, column, err := newRelated(l).settleRows(out, l.sizes); err != nil {
			return l.at("row", rows+row+1, column).wrap(err)
		}
		out.values = nil
	}
	if l.lenient && l.schema != nil && l.schema.Unit != "" {
		out.dropNobody()
	}
	return nil
}

// firstError returns the error about the first bad cell of each column of a row group, or that
// about the first column that could not be read to its end.
func (l *layout) firstError(errs []error, rows int) error {
	var bad []*badCell
	column := map[*badCell]int{}
	for i, err := range errs {
		var one *badCell
		switch {
		case err == nil:
		case !errors.As(err, &one):
			return l.about(i, err)
		default:
			bad = append(bad, one)
			column[one] = i
		}
	}
	slices.SortStableFunc(bad, func(a, b *badCell) int { return cmp.Compare(a.row, b.row) })
	var out mistakes
	for _, one := range bad {
		i := column[one]
		out.add(mistake{l.at("row", rows+int(one.row)+1, i).wrap(one.err), strconv.Itoa(i)})
	}
	return out.err(nil)
}

// about is an error about file column i as a whole.
func (l *layout) about(i int, err error) error {
	if name := l.columns[i].name; name != "" {
		return fmt.Errorf("table: column %d (%q): %w", i+1, name, err)
	}
	return fmt.Errorf("table: column %d: %w", i+1, err)
}
