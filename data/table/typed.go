package table

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/decoy-dp/decoy/data/schema"
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
	// next goes on to the next run, and tells its rows; io.EOF behind the last
	next() (rows int64, err error)
	// column hands on the values of column i of the run; several may be read at once
	column(i int, s *sink) error
}

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
		err := f.columns[i].err
		if err == nil && d.codec != nil {
			err = d.codec.Fits(storedAs[f.columns[i].leaf.form])
		}
		if err != nil {
			return l.wrap("", 0, i, err)
		}
	}
	if err := o.Begin(); err != nil {
		return err
	}
	for rows, most := 0, l.maxRows(f.size); ; {
		n, err := f.next()
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
				if err := catch(func() error { return f.column(i, s) }); err != nil {
					errs[i] = l.wrap("row", s.bad(rows), i, err)
				}
				s.close()
				<-busy
			})
		}
		wg.Wait()
		if err = firstOf(errs); err == nil {
			err = l.complete(&out, rows)
		}
		if err == nil {
			rows += int(n)
			err = put(out)
		}
		if err != nil {
			return f.failure(err)
		}
	}
}

// complete makes rows of the columns of a run that comes after rows other rows.
func (l *layout) complete(out *part, rows int) error {
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

// dropNobody leaves out the rows whose text at that place is of no unit.
func (p *part) dropNobody(at int) {
	keep := 0
	for row, u := range p.texts[at].Cells {
		if u == nobody {
			continue
		}
		for i := range p.texts {
			p.texts[i].Cells[keep] = p.texts[i].Cells[row]
		}
		for _, c := range p.codes {
			if c.Len() > 0 {
				c.Set(keep, c.At(row))
			}
		}
		keep++
	}
	p.cut(keep)
}
