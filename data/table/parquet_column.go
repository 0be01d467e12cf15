package table

// columnReader decodes one column of one row group.
//
// Pages and the values inside of them are decoded here: Arrow's decoders
// drop errors, can go round for ever on a page that ends early, and believe counts that make them
// ask for more memory than there is, which ends the process.
type columnReader struct {
	*sink
	dictionary [][]byte // of the column
	levels     *hybrid  // of the page; nil if it has no nulls
	indices    *hybrid  // of the page, into the dictionary; or
	values     *plain   // of the page
}

// read hands on the values of all rows.
func (r *columnReader) read(pages *pageReader) error {
	for left := int64(r.out.rows); left > 0; {
		if err := r.source.ctx.Err(); err != nil {
			return err
		}
		p, err := pages.next()
		switch {
		case err != nil:
			return err
		case p.kind == pageDictionary:
			if err := r.openDictionary(p); err != nil {
				return err
			}
			continue
		case p.values > left:
			return errDamaged
		}
		if err := r.openData(p); err != nil {
			return err
		}
		left -= p.values
		for range p.values {
			value, key, err := r.next()
			if err == nil {
				err = r.add(value, key)
			}
			if err != nil {
				return err
			}
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
	values := plain{p.data, r.width}
	r.dictionary, r.known = make([][]byte, p.values), make([]uint32, p.values)
	for i := range r.dictionary {
		var err error
		if r.dictionary[i], err = values.next(); err != nil {
			return err
		}
	}
	return nil
}

// openData makes ready for the values of a page. One of the first version has its levels before the
// values, behind their length. Booleans are indices of a dictionary of two.
func (r *columnReader) openData(p page) (err error) {
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
	isIndex := p.encoding == encodingPlainDict || p.encoding == encodingRLEDict
	if r.physical == physicalBool {
		r.dictionary, r.known = [][]byte{{0}, {1}}, make([]uint32, 2)
	}
	switch {
	case r.physical == physicalBool && p.encoding == encodingPlain:
		r.indices = &hybrid{data: p.data, width: 1, packed: true, left: 8 * len(p.data)}
	case r.physical == physicalBool && p.encoding == encodingRLE:
		if p.data, err = prefixed(p.data); err == nil {
			r.indices = &hybrid{data: p.data, width: 1}
		}
	case !isIndex:
		r.values, err = newPlain(r.leaf, p.encoding, p.data)
	case r.dictionary == nil || r.physical == physicalBool:
		return errDamaged
	case len(p.data) == 0: // of a page of nulls
		r.indices = &hybrid{}
	default:
		r.indices, err = newHybrid(p.data[1:], int(p.data[0]))
	}
	return err
}

// next is the value of the next row, nil for a null, and its place in the dictionary; −1 for none.
func (r *columnReader) next() (value []byte, key int, err error) {
	if r.levels != nil {
		if level, err := r.levels.next(); err != nil || level&1 == 0 {
			return nil, -1, err
		}
	}
	if r.indices == nil {
		value, err = r.values.next()
		return value, -1, err
	}
	k, err := r.indices.next()
	if err == nil && uint64(k) >= uint64(len(r.dictionary)) {
		err = errDamaged
	}
	if err != nil {
		return nil, -1, err
	}
	return r.dictionary[k], int(k), nil
}
