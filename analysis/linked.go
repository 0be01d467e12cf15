package analysis

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/marginal"
	"github.com/decoy-dp/decoy/privacy/text"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/schema"
)

// InferredLinked is bought schemas of linked tables. All of it is public.
type InferredLinked struct {
	Tables []*Inferred // of each table; nil of that of the units if it has no columns
	linked *schema.Linked
}

// The most rows of a unit that are used where its numbers of rows do not stand out of the noise.
const usedRows = 16

// BuyLinked is [InferencePlan.Buy] for linked tables on the session that has them. In l they have
// names, units, parents, the columns of their orders, and how their files are written; what is
// bought is their columns, and how many rows of a unit are used. A unit has a say in each table by
// one of its rows, whatever number it has. An error that wraps [release.ErrNothing]: nothing of a
// table could be described, or the column of an order has none.
func (p InferencePlan) BuyLinked(
	ctx context.Context, s *text.Session, l *schema.Linked, progress func(float64),
) (*InferredLinked, error) {
	out := &InferredLinked{linked: &schema.Linked{Unit: l.Unit, Tables: slices.Clone(l.Tables),
		Alone: l.Alone}}
	for i := range l.Tables {
		t, own, part := &out.linked.Tables[i], s.Of(i), p
		part.Columns = len(own.Names())
		if part.Share *= float64(part.Columns) / float64(p.Columns); part.Columns == 0 {
			out.Tables = append(out.Tables, nil)
			continue
		}
		want := Inference{CSV: t.Schema.CSV}
		if i > 0 {
			want.Ordered = []string{t.Order.By, own.Names()[part.Columns-1]}
		}
		r, err := part.Buy(ctx, own, want, func(done float64) {
			progress((float64(i) + done) / float64(len(l.Tables)))
		})
		if err == nil && i > 0 {
			err = r.ordered(t)
		}
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", t.Name, err)
		}
		// not lenient: private rows of linked tables are read so anyway
		r.linked, r.base.Lenient, r.base.MaxRowsPerUnit = true, false, max(1, t.Order.Rows)
		t.Schema = r.Schema()
		out.Tables = append(out.Tables, r)
	}
	yaml, err := out.linked.YAML()
	if err == nil {
		out.linked, err = schema.ParseLinked(yaml)
	}
	return out, err
}

// ordered takes the last column of a child table, that of numbers of rows, for what it says of the
// order of t.
func (r *Inferred) ordered(t *schema.LinkedTable) error {
	last := len(r.Columns) - 1
	rows := r.Columns[last].Found
	r.Columns = r.Columns[:last]
	t.Weight, t.Order.Rows = 1, usedRows
	if rows != nil && rows.Kind == schema.Integer {
		t.Order.Rows = int(min(max(rows.Max, 2), schema.MaxLinkedRows))
	}
	for _, c := range r.Columns {
		if c.Name == t.Order.By && (c.Found == nil || !c.Found.Kind.Ordered()) {
			return fmt.Errorf("infer: the column %q, which --order names, has no numbers, dates or times "+
				"that stand out of the noise (%s): %w", c.Name,
				strings.TrimPrefix(c.Note, "left out: "), release.ErrNothing)
		}
	}
	return nil
}

// Schema is that of the units.
func (r *InferredLinked) Schema() *schema.Schema { return r.linked.Tables[0].Schema }

// Measurements is [Inferred.Measurements] of the units.
func (r *InferredLinked) Measurements() ([]marginal.Measurement, error) {
	if r.linked.Alone {
		return nil, nil
	}
	return r.Tables[0].Measurements()
}

// Linked is the schema of the tables.
func (r *InferredLinked) Linked() *schema.Linked { return r.linked }

// YAML is the schema file, with what was bought, at what noise, as comments.
func (r *InferredLinked) YAML() ([]byte, error) {
	text, err := r.linked.YAML()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	parts := strings.Split(string(text), "\n  - name: ") // before the tables, and each of them
	if r.linked.Alone {
		r.Tables[1].head(&b)
		r.Tables[1].notes(&b, parts[0]+"\n  - name: "+strings.Join(parts[1:], "\n  - name: "), "")
		return b.Bytes(), nil
	}
	b.WriteString(parts[0])
	for i, own := range r.Tables {
		var head bytes.Buffer
		own.head(&head)
		fmt.Fprintf(&b, "\n%s  - name: ", head.String())
		own.notes(&b, parts[1+i], "    ")
	}
	return b.Bytes(), nil
}
