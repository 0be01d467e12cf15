package table

import (
	"math"

	"github.com/decoy-dp/decoy/data/schema"
)

// sink takes the values of a column of a run, as its file stores them, to where they go. A value
// becomes a number first, which is kept for those of a dictionary.
type sink struct {
	*layout
	*leaf
	destination
	source  *source
	out     *part
	maxCell int
	want    schema.Stored // what the codec takes
	words   numbering
	related *values  // nil if the cells are not settled with others of their row
	row     int      // of the next value
	wrong   int      // from 1, which row of the run has a cell that is not allowed; 0: none
	known   []uint32 // the numbers of the values of a dictionary, and 1; 0 until one is used
	scratch []byte
}

func newSink(l *layout, f *typedFile, column int, out *part, maxCell int) *sink {
	s := &sink{layout: l, leaf: f.columns[column].leaf, destination: l.columns[column],
		source: f.source, out: out, maxCell: maxCell, want: schema.StoredText,
		scratch: make([]byte, 0, 64)}
	if s.destination.related {
		s.related = &out.values[s.at]
		s.related.number = make([]uint32, out.rows)
	}
	if s.codec != nil {
		s.want = s.codec.Column().Kind.Stored()
	}
	return s
}

// cell gives the number of a stored value; nil is a null. Its error is about the cell, or the file.
func (s *sink) cell(b []byte) (uint32, error) {
	err := s.check(b)
	switch {
	case s.to >= toText:
		return s.text(b, err)
	case err != nil && !s.lenient:
		return 0, err
	}
	var text []byte
	as, v := schema.StoredText, schema.Value{Missing: b == nil}
	if b != nil {
		text, as, v = s.value(s.want, b, s.scratch[:0])
	}
	var code uint16
	x := math.NaN()
	long := s.varies() && len(b) > s.maxCell
	switch {
	case long:
		code, err = s.codec.Unreadable(), nil
	case s.related != nil && text != nil:
		code, x, err = s.rows.Cell(s.at, text)
	case s.related != nil:
		code, x, err = s.rows.Value(s.at, as, v)
	case text != nil:
		code, err = s.codec.EncodeText(text)
	default:
		code, err = s.codec.EncodeValue(as, v)
	}
	if s.related == nil || err != nil {
		return uint32(code), err
	}
	s.related.of = append(s.related.of, value{code, x}) // until its row is settled
	return uint32(len(s.related.of) - 1), s.source.take(valueCost)
}

// nobody is the number of no unit.
const nobody = math.MaxUint32

// text numbers a value by its text; err is what is wrong with it. In a lenient file what is no text
// is empty, and what is no id is nobody's.
func (s *sink) text(b []byte, err error) (uint32, error) {
	var text []byte
	if err == nil && b != nil {
		text = s.appendText(s.scratch[:0], b)
		s.scratch = text
	}
	if s.to == toUnit && err == nil {
		if text = idOf(text); len(text) == 0 {
			err = errEmptyUnit
		}
	}
	switch {
	case err != nil && !s.lenient:
		return 0, err
	case err != nil && s.to == toUnit:
		return nobody, nil
	}
	known, cost := len(s.words.words), lookupCost
	n := s.words.addBytes(text)
	if len(s.words.words) > known {
		cost = unitCost + len(text)
	}
	return n, s.source.take(cost)
}

// check applies to a text what CSV demands of a cell.
func (s *sink) check(b []byte) error {
	switch {
	case !s.varies():
		return nil
	case len(b) > s.maxCell:
		return errLongCell(s.maxCell)
	case s.form != formText:
		return nil
	}
	return checkText(b)
}

// add takes the next value, nil for a null; key is its place among those of known, −1 for none.
func (s *sink) add(b []byte, key int) (err error) {
	var n uint32
	if key >= 0 && s.known[key] > 0 {
		n = s.known[key] - 1
	} else if n, err = s.cell(b); err != nil {
		if err != errDamaged && err != errTooMuch {
			s.wrong = s.row + 1
		}
		return err
	}
	if key >= 0 {
		s.known[key] = n + 1
	}
	switch {
	case s.related != nil:
		s.related.number[s.row] = n
	case s.to >= toText:
		s.out.texts[s.at].Cells[s.row] = n
	default:
		s.out.codes[s.at].Set(s.row, uint16(n))
	}
	s.row++
	return nil
}

// close is to be called behind the last value.
func (s *sink) close() {
	if s.to >= toText {
		s.out.texts[s.at].Texts = s.words.take()
	}
}

// bad is the number of the row whose cell is not allowed, of a run behind other rows; 0 for none.
func (s *sink) bad(rows int) int {
	if s.wrong == 0 {
		return 0
	}
	return rows + s.wrong
}
