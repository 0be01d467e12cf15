package table

// columnReader decodes one column of one row group.
//
// Pages and the values inside of them are decoded here: Arrow's decoders
// drop errors, can go round for ever on a page that ends early, and believe counts that make them
// ask for more memory than there is, which ends the process.
type columnReader struct {
	*sink
	rows int // of the row group
	seen int // of them

	dictionary *dictionary // of the column
	levels     *hybrid     // of the page; nil if it has no nulls
	indices    *hybrid     // of the page, into the dictionary; or
	values     *plain      // of the page
	present    [stride]uint32
	index      [stride]uint32 // 1 for a value, 0 for a null
	cells      [stride]uint32
}

// dictionary has the cells of those entries that have been used.
type dictionary struct {
	entries [][]byte
	cells   []uint32
	known   []bool
}

func newDictionary(entries [][]byte) *dictionary {
	return &dictionary{entries, make([]uint32, len(entries)), make([]bool, len(entries))}
}

// read hands on the values of all rows.
func (r *columnReader) read(pages *pageReader) error {
	for r.seen < r.rows {
		if err := r.source.ctx.Err(); err != nil {
			return err
		}
		p, err := pages.next()
		if err == nil && p.kind == pageDictionary {
			err = r.openDictionary(p)
		} else if err == nil {
			err = r.openData(p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *columnReader) openDictionary(p page) error {
	// Every entry takes a byte at least: this bounds what a wrong count can do.
	if r.dictionary != nil || p.encoding != encodingPlain && p.encoding != encodingPlainDict ||
		r.physical == physicalBool || p.values > int64(min(len(p.data), maxEntries)) {
		return errDamaged
	}
	values, entries := plain{p.data, r.width}, make([][]byte, p.values)
	for i := range entries {
		var err error
		if entries[i], err = values.next(); err != nil {
			return err
		}
	}
	r.dictionary = newDictionary(entries)
	return nil
}

// openData hands on a page of data. One of the first version has its levels before the values,
// behind their length.
func (r *columnReader) openData(p page) (err error) {
	if p.values > int64(r.rows-r.seen) {
		return errDamaged
	}
	r.levels, r.indices, r.values = nil, nil, nil
	if r.nullable && p.kind == pageV1 {
		if p.levelCoded != encodingRLE {
			return errDamaged
		}
		if p.levels, err = prefixed(p.data); err != nil {
			return err
		}
		p.data = p.data[4+len(p.levels):]
	}
	if r.nullable {
		r.levels = &hybrid{data: p.levels, width: 1}
	}
	if err := r.open(p); err != nil {
		return err
	}
	for n := int(p.values); n > 0; n -= stride {
		if err := r.take(min(n, stride)); err != nil {
			return err
		}
	}
	return nil
}

// open makes ready for the values of a page. Booleans are indices of a dictionary of two.
func (r *columnReader) open(p page) (err error) {
	isIndex := p.encoding == encodingPlainDict || p.encoding == encodingRLEDict
	switch {
	case r.physical == physicalBool && p.encoding == encodingPlain:
		r.indices = &hybrid{data: p.data, width: 1, packed: 8 * len(p.data)}
	case r.physical == physicalBool && p.encoding == encodingRLE:
		if p.data, err = prefixed(p.data); err == nil {
			r.indices = &hybrid{data: p.data, width: 1}
		}
	case !isIndex:
		r.values, err = newPlain(r.leaf, p.encoding, p.data)
		return err
	case r.dictionary == nil || r.physical == physicalBool:
		return errDamaged
	case len(p.data) == 0: // of a page of nulls
		r.indices = &hybrid{}
	default:
		r.indices, err = newHybrid(p.data[1:], int(p.data[0]))
	}
	if r.physical == physicalBool && r.dictionary == nil {
		r.dictionary = newDictionary([][]byte{{0}, {1}})
	}
	return err
}

// take hands on the next n rows of a page.
func (r *columnReader) take(n int) (err error) {
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
	if r.indices != nil {
		if err := r.indices.read(r.index[:count]); err != nil {
			return err
		}
	}
	at := 0
	for row := range n {
		if r.levels != nil && r.present[row]&1 == 0 {
			r.cells[row], err = r.cell(nil)
		} else {
			r.cells[row], err = r.next(at)
			at++
		}
		if err != nil {
			return r.refuse(r.seen+row, err)
		}
	}
	r.put(r.seen, r.cells[:n])
	r.seen += n
	return nil
}

// next is the cell of the next value, which is the i-th of those that are taken.
func (r *columnReader) next(i int) (uint32, error) {
	if r.indices == nil {
		b, err := r.values.next()
		if err != nil {
			return 0, err
		}
		return r.cell(b)
	}
	d, k := r.dictionary, r.index[i]
	if uint64(k) >= uint64(len(d.known)) {
		return 0, errDamaged
	}
	if !d.known[k] {
		cell, err := r.cell(d.entries[k])
		if err != nil {
			return 0, err
		}
		d.cells[k], d.known[k] = cell, true
	}
	return d.cells[k], nil
}
