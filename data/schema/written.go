package schema

import "math"

// Forms are the columns of the files whose values have an order, those that are after another and
// made ones too, and those whose categories are numbers ([Column.Factor]): how their cells are
// written, without bounds.
func (r *RowCodec) Forms() []Known {
	var out []Known
	forms := r.forms()
	for k, f := range r.file {
		form := forms[k]
		if form.root == nil {
			continue
		}
		c := form.root.column
		c = Column{Name: f.Name, Kind: c.Kind, Format: c.Format, Decimals: max(form.decimals, 0)}
		if f.Made < 0 {
			c.Missing, c.After = r.codecs[f.Column].column.Missing, r.codecs[f.Column].column.After
		}
		factor := f.Made < 0 && r.numbers[f.Column].root == nil
		out = append(out, Known{Column: c, Factor: factor})
	}
	return out
}

// formsOf are those of the columns of the files.
func (r *RowCodec) formsOf() (out []numberForm) {
	for _, f := range r.file {
		form := numberForm{}
		if f.Made >= 0 {
			form = r.made[f.Made].form
		} else if form = r.numbers[f.Column]; form.root == nil {
			form, _ = r.factor(f.Column)
		}
		out = append(out, form)
	}
	return out
}

// NumbersTo puts the values of the cells of [RowCodec.Forms] into x: NaN for one without. at says
// where in the row each cell is, −1 if it is not there.
func (r *RowCodec) NumbersTo(x []float64, row []string, at []int) {
	next, forms := 0, r.forms()
	for j, f := range r.file {
		form := forms[j]
		if form.root == nil {
			continue
		}
		k, i := at[next], next
		x[i], next = math.NaN(), next+1
		if k < 0 {
			continue
		}
		cell := []byte(row[k])
		if f.Made < 0 {
			if c := r.codecs[f.Column]; c.values < c.size && int(c.words[row[k]]) == c.values {
				continue
			}
		}
		if v, ok := form.root.parse(cell); ok && math.Abs(v) <= maxReal {
			x[i] = v
		}
	}
}

// Relations are those that the schema has its rows keep: of columns that follow from numbers, and
// of those that are after another.
func (s *Schema) Relations() (out []Made) {
	for _, c := range s.Columns {
		if c.After != "" {
			out = append(out, Made{Name: c.Name, Kind: NotBefore, Of: []string{c.After}})
		}
	}
	for _, m := range s.Made {
		if m.Kind >= madeSum {
			out = append(out, m)
		}
	}
	return out
}

// AfterMicros is how many microseconds a difference of 1 has, of a column after c, which is one of
// dates or timestamps.
func (c *Codec) AfterMicros() float64 {
	return numberForm{root: c}.unit() * float64(c.facts.unit)
}
