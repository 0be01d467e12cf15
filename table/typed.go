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
type typedFile struct {
	*source
	columns []typedColumn
	runs
}

// typedColumn is a column of a file.
type typedColumn struct {
	name string
	leaf *leaf
	err  error // why it cannot be read, if so
}

// runs are the row groups or record batches of a file.
type runs interface {
	// next goes on to the next run, and tells its rows and how much of the file is read with it, 0 if
	// that is not known; io.EOF behind the last
	next() (rows int64, read float64, err error)
	// column hands on the values of column i of the run; several may be read at once
	column(i int, s *sink) error
}

// stride is the most values of a column that are handed on at once.
const stride = 1024

// openTyped opens a file of typed columns.
func openTyped(ctx context.Context, f *opened) (*typedFile, error) {
	s, err := newSource(ctx, f.file)
	if err != nil {
		return nil, err
	}
	t := &typedFile{source: s}
	if f.format == Arrow {
		err = t.openArrow()
	} else {
		err = catch(t.openParquet)
	}
	if err == nil && len(t.columns) > maxColumns {
		err = errDamaged
	}
	if err != nil {
		return nil, s.failure(fmt.Errorf("table: %w", err))
	}
	return t, nil
}

func (f *typedFile) names() (names []string) {
	for _, c := range f.columns {
		names = append(names, c.name)
	}
	return names
}

// ReadArrow reads a table from the bytes of an Arrow stream or file, as [Read] does one on disk.
func ReadArrow(
	ctx context.Context, data []byte, s *schema.Schema, o ReadOptions,
) (*Table, Report, error) {
	return inBytes(data).table(ctx, s, o)
}

// readTyped reads a file with this layout; put takes the runs in their order. Columns are read in
// parallel. A file has at most as many cells, columns a row, as its length lets expect: a run of
// equal values takes a few bytes, whatever its length.
func (l *layout) readTyped(f *typedFile, o ReadOptions, put func(part) error) error {
	var used []int
	for i, d := range l.columns {
		if d.to == toNothing {
			continue
		}
		used = append(used, i)
		if err := f.columns[i].err; err != nil {
			return l.wrap("", 0, i, err)
		}
	}
	if err := o.begin(); err != nil {
		return err
	}
	for rows, most := 0, l.maxRows(f.size); ; {
		n, read, err := f.next()
		switch {
		case err == io.EOF:
			return nil
		case err == nil && (n < 0 || n > most-int64(rows)):
			err = errTooMuch
		}
		if err != nil {
			return f.failure(fmt.Errorf("table: %w", err))
		}
		out, errs := l.newPart(int(n)), make([]error, len(l.columns))
		if l.rows != nil {
			out.values = make([]values, len(l.place))
		}
		var wg sync.WaitGroup
		busy := make(chan struct{}, o.workers)
		for _, i := range used {
			busy <- struct{}{}
			wg.Go(func() {
				s := newSink(l, f, i, &out, o.maxCell)
				errs[i] = catch(func() error { return f.column(i, s) })
				s.close()
				<-busy
			})
		}
		wg.Wait()
		if err = l.complete(&out, rows, errs); err == nil {
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

// complete makes rows of the columns of a run that comes after rows other rows; errs are the errors
// by file column.
func (l *layout) complete(out *part, rows int, errs []error) error {
	if err := l.firstError(errs, rows); err != nil {
		return err
	}
	if out.values != nil {
		if row, column, err := newRelated(l).settleRows(out); err != nil {
			return l.wrap("row", rows+row+1, column, err)
		}
		out.values = nil
	}
	if l.unit >= 0 && l.lenient {
		out.dropNobody(l.unit)
	}
	return nil
}

// badCell is what is wrong with the first bad cell of a column.
type badCell struct {
	row    int // from 0 in its run
	column int
	err    error
}

func (b *badCell) Error() string { return b.err.Error() }

// firstError returns the error about the first bad cell of each column of a row group, or that
// about the first column that could not be read to its end.
func (l *layout) firstError(errs []error, rows int) error {
	var bad []*badCell
	for i, err := range errs {
		var one *badCell
		switch {
		case err == nil:
		case !errors.As(err, &one):
			return l.wrap("", 0, i, err)
		default:
			bad = append(bad, one)
		}
	}
	slices.SortStableFunc(bad, func(a, b *badCell) int { return cmp.Compare(a.row, b.row) })
	var out mistakes
	for _, one := range bad {
		err := l.wrap("row", rows+one.row+1, one.column, one.err)
		out.add(mistake{err, strconv.Itoa(one.column)})
	}
	return out.err(nil)
}
