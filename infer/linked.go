package infer

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy/mech/text"
)

// The most rows of a unit that are used where its numbers of rows do not stand out of the noise.
const usedRows = 16

// buyLinked is [InferencePlan.Buy] for linked tables on the session that has them. What is bought
// is their columns, and how many rows of a unit are used. A unit has a say in each table by one of
// its rows, whatever number it has. An error that wraps [release.ErrNothing]: nothing of a table
// could be described, or the column of an order has none.
func (p InferencePlan) buyLinked(
	ctx context.Context, s *text.Session, l *schema.Linked, progress func(float64),
) (*Inferred, error) {
	out, all := &Inferred{base: *l.Tables[0].Schema}, []*Inferred(nil)
	l = &schema.Linked{Unit: l.Unit, Tables: slices.Clone(l.Tables), Alone: l.Alone}
	for i := range l.Tables {
		t, own, part := &l.Tables[i], s.Of(i), p
		part.Columns = len(own.Names())
		if part.Share *= float64(part.Columns) / float64(p.Columns); part.Columns == 0 {
			continue // units of which nothing is known
		}
		want := Inference{CSV: t.Schema.CSV, part: true}
		if i > 0 {
			want.Ordered = []string{t.Order.By, own.Names()[part.Columns-1]}
		}
		r, err := part.Buy(ctx, own, want, func(done float64) {
			progress((float64(i) + done) / float64(len(l.Tables)))
		})
		if err == nil && i > 0 {
			err = r.takeRowCounts(t)
		}
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", t.Name, err)
		}
		// not lenient: private rows of linked tables are read so anyway
		r.ofLinked, r.base.Lenient, r.base.MaxRowsPerUnit = true, false, max(1, t.Order.Rows)
		t.Schema = r.Schema()
		all = append(all, r)
		if i == 0 {
			*out = *r
		}
	}
	out.Tables = all
	yaml, err := l.YAML()
	if err == nil {
		out.linked, err = schema.ParseLinked(yaml)
	}
	return out, err
}

// takeRowCounts takes the last column of a child table, that of numbers of rows, for what it says
// of the order of t.
func (r *Inferred) takeRowCounts(t *schema.LinkedTable) error {
	last := len(r.Columns) - 1
	rows := r.Columns[last].Found
	r.Columns = r.Columns[:last]
	t.Weight, t.Order.Rows = 1, usedRows
	if rows != nil && rows.Kind.Whole() {
		t.Order.Rows = int(min(max(rows.Max, 2), schema.MaxLinkedRows))
	}
	for _, c := range r.Columns {
		if c.Name == t.Order.By && (c.Found == nil || !c.Found.Kind.Ordered()) {
			return fmt.Errorf("the column %q, which --order names, has no numbers, dates or times "+
				"that stand out of the noise (%s): %w", c.Name,
				cmp.Or(strings.TrimPrefix(c.Note, "left out: "), "its cells look like texts"),
				release.ErrNothing)
		}
	}
	return nil
}

// Linked is the schema of the tables. Of the first of them is the rest.
func (r *Inferred) Linked() *schema.Linked { return cmp.Or(r.linked, schema.One(r.Schema())) }
