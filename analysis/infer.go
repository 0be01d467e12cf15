package analysis

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/decoy-dp/decoy/ledger"
	"github.com/decoy-dp/decoy/privacy/text"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/schema"
)

// Inference is what a schema is bought for.
type Inference struct {
	CSV      schema.CSV      // of the file, for the schema
	Declared *schema.Partial // what is known already; nil: everything is open
	Target   string          // a column of texts that keeps a category for those not found; or ""
	Ordered  []string        // columns whose numbers, dates or times are no codes
	// of linked tables, in place of the others: names, units, parents, the columns of their orders,
	// and how their files are written
	Linked *schema.Linked
}

// noise is what the answers have in common.
type noise struct {
	Kinds  float64        // σ of the classes of a column, in rows
	Texts  text.Selection // σ of texts, in rows; δ of those of a column
	Values text.Selection // of magnitudes, and of the texts among them
	Fine   text.Selection // of the parts of magnitudes and of heaps
	fine   float64        // the part of Mu² for these, of each column of numbers
}

// Infer buys a schema: it writes one for a private table that nobody has described, from noisy
// counts alone.
//
// For each column it asks the gate what the cells look like ([text.Session.Kinds]), decides on a
// kind by a public rule, and asks for the magnitudes of a column of numbers, dates or timestamps,
// or for the frequent texts of another. Kinds, bounds, categories and missing tokens follow from
// these counts and from nothing else. The names of the columns are public. All is one reservation,
// which needs δ > 0. Errors before it have spent nothing; the session is nil then. One that wraps
// [release.ErrNothing]: no column could be described, as the budget was too small for the table.
func Infer(
	ctx context.Context, t *text.Table, o Inference, r Run[*Inferred],
) (*Inferred, *text.Session, error) {
	asked, err := o.Asked(t.Names())
	if err != nil {
		return nil, nil, err
	}
	plan, err := PlanInference(len(asked), t.Neighbours(r.Adjacency), r.Budget)
	if err != nil {
		return nil, nil, err
	}
	r.Plan, r.Price, r.Method, r.Program = plan.Composition(), nil, "schema infer", r.Tool+r.Program
	return release.Run(ctx, text.Open, t, r.Options, func(s *text.Session) (*Inferred, error) {
		out, err := plan.Buy(ctx, s, o, func(done float64) { r.report("measuring columns", done) })
		if err != nil {
			return nil, err
		}
		yaml, err := out.YAML()
		s.Deliver(ledger.HashFile(yaml))
		return out, err
	}, r.Deliver)
}

// Buy asks what the plan has paid for on a session that has reserved its composition, and that the
// caller ends.
func (p InferencePlan) Buy(
	ctx context.Context, s *text.Session, o Inference, progress func(float64),
) (*Inferred, error) {
	if o.Linked != nil {
		return p.buyLinked(ctx, s, o.Linked, progress)
	}
	names := s.Names()
	asked, err := o.Asked(names)
	if err != nil || len(asked) != p.Columns {
		return nil, errors.Join(err, errors.New("infer: the plan is for another number of columns"))
	}
	r := &Inferred{InferencePlan: p, base: schema.Schema{Lenient: true, CSV: o.CSV}}
	r.Tables = []*Inferred{r}
	if unit, k := s.Unit(); unit != "" {
		r.base.Unit, r.base.MaxRowsPerUnit = unit, k
	}
	classes, again, err := r.kinds(ctx, s, p, asked)
	if err != nil {
		return nil, err
	}
	verdicts := make([]*judged, len(names)) // nil: not asked
	questions := 0
	for i, at := range asked {
		name, ordered := names[at], slices.Contains(o.Ordered, names[at])
		if ordered {
			name = "" // which might say otherwise
		}
		v := verdict(name, classes[i], r.Rows, r.rowsNoise(), r.Noise.Kinds)
		if ordered && v.kind.Ordered() {
			v.declared = v.kind
		}
		v.declare(&o.Declared.Columns[o.Declared.Index(names[at])])
		v.target = o.Target == names[at]
		if verdicts[at] = &v; v.kind != 0 {
			questions++
		}
		if v.mixed || v.number != 0 { // which needs another question if they are not what they seem
			questions++
		}
	}
	r.Noise = p.values(again, r.Rows, max(1, questions))
	r.Threshold = text.SelectionThreshold(p.Neighbours, r.Noise.Texts)
	r.Columns = make([]inferredColumn, len(names))
	var todo []int
	for i, v := range verdicts {
		c := &r.Columns[i]
		c.Name = names[i]
		switch at := o.Declared.Index(names[i]); {
		case v != nil && v.kind != 0:
			todo = append(todo, i)
		case v != nil:
			r.column(v, text.Held{}, r.Noise.Texts, c)
		case at >= 0:
			c.Found, c.Note = &o.Declared.Columns[at], "declared, and not bought"
		default:
			c.Note = "left out: not declared"
		}
	}
	for { // again those that are something else after all
		progress(1 - float64(len(todo))/float64(len(names)))
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(todo) == 0 {
			err := cmp.Or(r.finer(s, verdicts), r.check())
			for i, v := range verdicts {
				if v != nil {
					r.Columns[i].Cut = v.cut()
				}
			}
			return r, err
		}
		asked, done := todo, map[int]bool{}
		todo = nil
		for _, ordered := range []bool{true, false} {
			var of []text.Wanted
			d := r.Noise.Texts
			if ordered {
				d = r.Noise.Values
			}
			for _, i := range asked {
				if verdicts[i].kind.Ordered() == ordered && !done[i] {
					of = append(of, r.question(i, verdicts[i]))
				}
			}
			held, err := s.Values(of, d)
			if err != nil {
				return nil, err
			}
			for k, w := range of {
				done[w.Column] = r.column(verdicts[w.Column], held[k], d, &r.Columns[w.Column])
				if !done[w.Column] && !ordered { // else it is asked next
					todo = append(todo, w.Column)
				}
			}
		}
	}
}

// kinds asks for the classes of every column, once more where the rows are few for the noise, and
// says so.
func (r *Inferred) kinds(
	ctx context.Context, s *text.Session, p InferencePlan, asked []int,
) ([][]float64, bool, error) {
	classes := make([][]float64, p.Columns)
	ask := func(sigma, weight float64) error {
		for i, at := range asked {
			if err := ctx.Err(); err != nil {
				return err
			}
			counts, err := s.Kinds(at, sigma)
			if err != nil {
				return err
			}
			if classes[i] == nil {
				classes[i] = make([]float64, len(counts))
			}
			for j, n := range counts {
				classes[i][j] += weight * (float64(n) - classes[i][j])
			}
		}
		r.Rows = rowsOf(classes, r.Noise.Kinds)
		return nil
	}
	r.Noise.Kinds = p.sigma(kindShare, p.Columns)
	err := ask(r.Noise.Kinds, 1)
	again := r.Rows < fewRows*r.Noise.Kinds
	if err == nil && again { // a mean, each by the inverse of its variance
		r.Noise.Kinds = p.sigma(kindShare+againShare, p.Columns)
		err = ask(p.sigma(againShare, p.Columns), againShare/(kindShare+againShare))
	}
	return classes, again, err
}

// rowsOf is the noisy number of rows: the mean, over the columns, of the classes that stand out.
func rowsOf(classes [][]float64, sigma float64) float64 {
	rows := 0.0
	for _, column := range classes {
		for _, n := range column {
			if n > counted*sigma {
				rows += n / float64(len(classes))
			}
		}
	}
	return rows
}

// question is what column i is asked, of the kind that was found.
func (r *Inferred) question(i int, v *judged) text.Wanted {
	if !v.kind.Ordered() {
		return text.Wanted{Column: i, Texts: true}
	}
	return text.Wanted{Column: i, Texts: v.seeks, Magnitudes: schema.Magnitudes{Kind: v.kind,
		PerPower: perPower(r.Rows, r.Noise.Values.Sigma), Format: v.format}}
}

// column describes a column of the kind that was found by what it holds, with noise d. If that kind
// turns out to be wrong, it is false, and the column is to be asked again.
func (r *Inferred) column(v *judged, held text.Held, d text.Selection, c *inferredColumn) bool {
	if v.kind.Ordered() {
		m := r.question(0, v).Magnitudes
		held.Texts = slices.DeleteFunc(held.Texts, func(f text.Found) bool {
			at, ok := m.Of(schema.Censored([]byte(f.Text))) // 90+
			if ok {
				held.Magnitudes[at] += f.Rows
				v.texts -= float64(f.Rows)
				v.say("%q is read as its number", f.Text)
			}
			return ok
		})
		if !v.token(held.Texts, d.Sigma, r.Noise.Kinds) {
			return false
		}
		var within []magnitude // the bounds
		c.Found, within = bounds(c.Name, m, possible(m, v.decimals, held.Magnitudes, d.Sigma), v, d.Sigma)
		c.counts = countsOf(within, nil, *v, d.Sigma)
		if c.Found == nil && len(held.Texts) > 0 {
			v.list() // the few numbers among tokens are others
		}
	}
	switch v.kind {
	case schema.Boolean:
		c.Found, c.counts = boolean(c.Name, held.Texts, *v), countsOf(nil, held.Texts, *v, d.Sigma)
	case schema.Categorical:
		c.counts = countsOf(nil, held.Texts, *v, d.Sigma)
		c.Found = categories(c.Name, held.Texts, v, text.SelectionThreshold(r.Neighbours, d), d.Sigma)
		if v.number != 0 && (c.Found == nil || v.number == schema.Real && c.counts.rest.rows >
			(1-listed)*v.values) {
			// ids, each its own, or measured after all
			v.kind, v.number, v.seeks, v.note = v.number, 0, false, ""
			return false
		}
	}
	c.Commas, c.Doubt, c.bought, c.Taken = v.commas > 0, v.doubt, c.Found != nil, v.taken
	switch {
	case !c.bought:
	case c.Found.Kind == schema.Timestamp && c.Found.Format == "":
		v.say("written like 2022-04-08T20:11:00Z; to write 2022-04-08 20:11:00, put " +
			"YYYY-MM-DD hh:mm:ss for the format")
	case v.kind == schema.Integer && r.Rows < endRows*d.Sigma && c.Found.Max > 1 &&
		c.Found.Max-c.Found.Min < fewCodes:
		c.Codes = true
		v.say("if these are codes, one at an end may be missing, or may not exist")
	}
	c.Note = v.note
	return true
}

// fewCodes is how many whole numbers may be codes.
const fewCodes = 16

// rowsNoise is that of Rows: of a class or two a column, and what is missing of those that do not
// stand out.
func (r *Inferred) rowsNoise() float64 {
	return r.Noise.Kinds * math.Hypot(.5, math.Sqrt(2/float64(r.InferencePlan.Columns)))
}

// coarseRows is how many times the noise of a magnitude the rows are, at least, for bounds to be
// where the rows end, and not a cell beyond.
const coarseRows = 25

// endRows is how many times that noise they are for a whole number at an end that 3 % have to be
// seen.
const endRows = 100

// perPower is how fine the magnitudes are asked for: the more rows for the noise, the finer.
func perPower(rows, sigma float64) int {
	switch ratio := rows / sigma; {
	case ratio < 400:
		return 2
	case ratio < 1200:
		return 4
	}
	return 8
}
