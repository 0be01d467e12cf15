package table

import (
	"context"
	"math"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/parquet"

	"github.com/decoy-dp/decoy/schema"
)

// stride is the most values that are decoded at once.
const stride = 1024

// consumer takes the values of one column of a row group. The numbers that
// cell returns are handed back to put, in the order of the rows.
type consumer struct {
	cell func(v *vector, i int) (uint32, error)
	null func() (uint32, error)
	put  func(cells []uint32)
}

// badCell is what is wrong with the first bad cell of a column.
type badCell struct {
	row int64 // from 0 in its row group
	err error
}

func (b *badCell) Error() string { return b.err.Error() }

// ofCell is an error about the cell of a row, unless it is about the file.
func ofCell(row int64, err error) error {
	if err == errDamaged || err == errTooMuch {
		return err
	}
	return &badCell{row, err}
}

// columnReader decodes one column of one row group.
//
// The footer is Arrow's. Pages and the values inside of them are decoded here: Arrow's decoders
// drop errors, can go round for ever on a page that ends early, and believe counts that make them
// ask for more memory than there is, which ends the process.
type columnReader struct {
	*leaf
	consumer
	rows    int64 // of the row group
	seen    int64 // of them
	allowed *allowance

	dictionary *dictionary
	levels     *hybrid     // of the page; nil if it has no nulls
	indices    *hybrid     // of the page, into the dictionary; or
	values     valueReader // of the page
	batch      vector
	present    [stride]uint32 // 1 for a value, 0 for a null
	index      [stride]uint32
	cells      [stride]uint32
}

// dictionary is the dictionary of a column, with the cells of those entries that have been used.
type dictionary struct {
	entries vector
	cells   []uint32
	known   []bool
}

// read consumes all rows. The error is a *badCell, errDamaged or that of ctx.
func (r *columnReader) read(ctx context.Context, pages *pageReader) error {
	r.allowed = &pages.r.allowance
	for r.seen < r.rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		p, err := pages.next()
		if err == nil && p.kind == pageDictionary {
			err = r.openDictionary(p.encoding, p.data, p.values)
		} else if err == nil {
			err = r.openData(p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *columnReader) openDictionary(encoding parquet.Encoding, data []byte, n int) error {
	if r.dictionary != nil || encoding != parquet.Encodings.Plain &&
		encoding != parquet.Encodings.PlainDict {
		return errDamaged
	}
	// Every entry takes a byte at least: this bounds what a wrong count can do.
	if r.physical == parquet.Types.Boolean || n > min(len(data), maxEntries) {
		return errDamaged
	}
	values, err := newValueReader(r.leaf, parquet.Encodings.Plain, data, n)
	if err != nil {
		return err
	}
	d := &dictionary{cells: make([]uint32, n), known: make([]bool, n)}
	r.dictionary = d
	return values(&d.entries, n)
}

// openData consumes a page of data. One of the first version has its levels before the values,
// behind their length.
func (r *columnReader) openData(p page) (err error) {
	r.levels = nil
	if r.nullable && p.kind == pageV1 {
		if p.levelCoded != parquet.Encodings.RLE {
			return errDamaged
		}
		if p.levels, err = prefixed(p.data); err != nil {
			return err
		}
		p.data = p.data[4+len(p.levels):]
	}
	if r.nullable {
		if r.levels, err = newHybrid(p.levels, 1); err != nil {
			return err
		}
	}
	return r.page(p.encoding, p.data, p.values)
}

// page consumes the n rows of a page whose values are in data.
func (r *columnReader) page(encoding parquet.Encoding, data []byte, n int) error {
	if n < 0 || int64(n) > r.rows-r.seen {
		return errDamaged
	}
	var err error
	r.indices, r.values = nil, nil
	if encoding == parquet.Encodings.PlainDict || encoding == parquet.Encodings.RLEDict {
		switch {
		case r.dictionary == nil:
			return errDamaged
		case len(data) == 0: // of a page of nulls
			r.indices, err = newHybrid(nil, 0)
		default:
			r.indices, err = newHybrid(data[1:], int(data[0]))
		}
	} else {
		r.values, err = newValueReader(r.leaf, encoding, data, n)
	}
	if err != nil {
		return err
	}
	for n > 0 {
		k := min(n, stride)
		if err := r.rowsOf(k); err != nil {
			return err
		}
		n -= k
		r.seen += int64(k)
	}
	return nil
}

// rowsOf consumes the next n rows of a page.
func (r *columnReader) rowsOf(n int) error {
	count := n
	if r.levels != nil {
		if err := r.levels.read(r.present[:n]); err != nil {
			return err
		}
		count = 0
		for _, p := range r.present[:n] {
			count += int(p & 1)
		}
	}
	var err error
	if r.indices != nil {
		err = r.indices.read(r.index[:count])
	} else {
		err = r.values(&r.batch, count)
		if err == nil {
			err = r.allowed.take(len(r.batch.arena))
		}
	}
	if err != nil {
		return err
	}
	value := 0
	for row := range n {
		if r.levels != nil && r.present[row]&1 == 0 {
			r.cells[row], err = r.null()
		} else {
			r.cells[row], err = r.cellOf(value)
			value++
		}
		if err != nil {
			return ofCell(r.seen+int64(row), err)
		}
	}
	r.put(r.cells[:n])
	return nil
}

// cellOf returns the cell of a value of the batch.
func (r *columnReader) cellOf(value int) (uint32, error) {
	if r.indices == nil {
		return r.cell(&r.batch, value)
	}
	d, i := r.dictionary, r.index[value]
	if uint64(i) >= uint64(len(d.known)) {
		return 0, errDamaged
	}
	if !d.known[i] {
		cell, err := r.cell(&d.entries, int(i))
		if err != nil {
			return 0, err
		}
		d.cells[i], d.known[i] = cell, true
	}
	return d.cells[i], nil
}

// consumerOf takes the values of a column to out; done is to be called behind the last.
func (a *allowance) consumerOf(
	leaf *leaf, l *layout, d destination, out *part, maxCell int,
) (c consumer, done func()) {
	if l.relates(d) {
		at := d.code
		if d.check >= 0 {
			at = len(l.sizes) + d.check
		}
		return a.valuesConsumer(leaf, l, d, &out.values[at], maxCell), func() {}
	}
	if d.codec != nil {
		return codesConsumer(leaf, d.codec, &out.codes[d.code], l.lenient, maxCell), func() {}
	}
	var numbers numbering
	t := &out.texts[d.text]
	return a.textsConsumer(leaf, &numbers, t, d.unit, l.lenient, maxCell),
		func() { t.words = numbers.take() }
}

// codesConsumer turns values into codes, which go to out.
func codesConsumer(l *leaf, c *schema.Codec, out *Codes, lenient bool, maxCell int) consumer {
	scratch := make([]byte, 0, 64)
	narrow := c.Size() <= 256
	return consumer{
		cell: func(v *vector, i int) (uint32, error) {
			if err := l.checkText(v, i, maxCell); err != nil && !lenient {
				return 0, err
			} else if lenient && len(v.texts) > 0 && len(v.texts[i]) > maxCell {
				return uint32(c.Unreadable()), nil
			}
			code, err := l.encode(c, v, i, scratch)
			return uint32(code), err
		},
		null: func() (uint32, error) {
			code, err := c.EncodeMissing()
			return uint32(code), err
		},
		put: func(cells []uint32) {
			for _, x := range cells {
				if narrow {
					out.U8 = append(out.U8, uint8(x))
				} else {
					out.U16 = append(out.U16, uint16(x))
				}
			}
		},
	}
}

// valueCost is what a value of a related column is counted as, in bytes, besides its text.
const valueCost = 48

// valuesConsumer keeps the values of a related column until their rows are settled.
func (a *allowance) valuesConsumer(
	l *leaf, layout *layout, d destination, out *values, maxCell int,
) consumer {
	rows, scratch := layout.rows, make([]byte, 0, 64)
	add := func(v value, err error) (uint32, error) {
		if err != nil {
			return 0, err
		}
		out.of = append(out.of, v)
		return uint32(len(out.of) - 1), a.take(valueCost + len(v.made))
	}
	made := func(text []byte) (uint32, error) { return add(value{made: string(text)}, nil) }
	want := schema.StoredText
	if d.codec != nil {
		want = d.codec.Column().Kind.Stored()
	}
	out.number = []uint32{}
	return consumer{
		cell: func(v *vector, i int) (uint32, error) {
			err := l.checkText(v, i, maxCell)
			long := len(v.texts) > 0 && len(v.texts[i]) > maxCell
			if err != nil && !layout.lenient {
				return 0, err
			} else if long && d.codec != nil {
				return add(value{code: d.codec.Unreadable(), x: math.NaN()}, nil)
			}
			text, as, of := l.value(want, v, i, scratch[:0])
			var cell value
			switch {
			case d.codec == nil:
				return made(text)
			case text != nil:
				cell.code, cell.x, err = rows.Cell(d.code, text)
			default:
				cell.code, cell.x, err = rows.Value(d.code, as, of)
			}
			return add(cell, err)
		},
		null: func() (cell uint32, err error) {
			if d.codec == nil {
				return made(nil)
			}
			code, x, err := rows.Value(d.code, schema.StoredText, schema.Value{Missing: true})
			return add(value{code: code, x: x}, err)
		},
		put: func(cells []uint32) { out.number = append(out.number, cells...) },
	}
}

// nobody is the number of no unit.
const nobody = math.MaxUint32

// textsConsumer numbers values by their texts; the numbers go to out. In a
// lenient file what is no text is empty, and what is no id is nobody's.
func (a *allowance) textsConsumer(
	l *leaf, numbers *numbering, out *texts, unit, lenient bool, maxCell int,
) consumer {
	var scratch []byte
	number := func(text []byte, err error) (uint32, error) {
		if unit && err == nil {
			if text = idOf(text); len(text) == 0 {
				err = errEmptyUnit
			}
		}
		switch {
		case err == nil:
			return a.number(numbers, text)
		case !lenient:
			return 0, err
		case unit:
			return nobody, nil
		}
		return a.number(numbers, nil)
	}
	return consumer{
		cell: func(v *vector, i int) (uint32, error) {
			if err := l.checkText(v, i, maxCell); err != nil {
				return number(nil, err)
			}
			scratch = l.appendText(scratch[:0], v, i)
			return number(scratch, nil)
		},
		null: func() (uint32, error) { return number(nil, nil) },
		put:  func(cells []uint32) { out.number = append(out.number, cells...) },
	}
}

// number is u.addBytes within the allowance of the file.
func (a *allowance) number(u *numbering, text []byte) (uint32, error) {
	before, cost := len(u.words), lookupCost
	n := u.addBytes(text)
	if len(u.words) > before {
		cost = unitCost + len(text)
	}
	return n, a.take(cost)
}

// checkText applies to a text what CSV demands of a cell.
func (l *leaf) checkText(v *vector, i int, maxCell int) error {
	switch {
	case len(v.texts) == 0:
		return nil
	case len(v.texts[i]) > maxCell:
		return errLongCell(maxCell)
	case l.form != formText:
		return nil
	}
	for _, b := range v.texts[i] {
		if b == 0 || b >= utf8.RuneSelf {
			if err := checkText(v.texts[i]); err != errNUL {
				return err
			}
			return errNULInside
		}
	}
	return nil
}
