package analysis

import (
	"context"
	"errors"
	"math"

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
}

// noise is what the answers have in common.
type noise struct {
	Kinds  float64        // σ of the classes of a column, in rows
	Values text.Selection // σ of magnitudes and texts, in rows; δ of the texts of a column
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
	r.Plan, r.Price, r.Method, r.Program = plan.Composition(), nil, "schema infer", r.Tool
	return release.Run(ctx, text.Open, t, r.Options, func(s *text.Session) (*Inferred, error) {
		out, err := plan.Buy(ctx, t, s, o, func(done float64) { r.report("measuring columns", done) })
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
	ctx context.Context, t *text.Table, s *text.Session, o Inference, progress func(float64),
) (*Inferred, error) {
	names := s.Names()
	asked, err := o.Asked(names)
	if err != nil || len(asked) != p.Columns {
		return nil, errors.Join(err, errors.New("infer: the plan is for another number of columns"))
	}
	r := &Inferred{InferencePlan: p, base: schema.Schema{Lenient: true, CSV: o.CSV}}
	if unit, k := t.Unit(); unit != "" {
		r.base.Unit, r.base.MaxRowsPerUnit = unit, k
	}
	classes, again, err := r.kinds(ctx, s, p, asked)
	if err != nil {
		return nil, err
	}
	verdicts := make([]*judged, len(names)) // nil: not asked
	questions, texts := 0, p.Columns
	for i, at := range asked {
		v := verdict(classes[i], r.Rows, r.rowsNoise(), r.Noise.Kinds)
		v.declare(&o.Declared.Columns[o.Declared.Index(names[at])])
		v.target = o.Target == names[at]
		if verdicts[at] = &v; v.kind != 0 {
			questions++
		}
		if v.seeks {
			texts--
		}
	}
	for _, at := range asked { // which needs another question if they are texts after all
		if v := verdicts[at]; v.mixed && texts > 0 {
			questions, texts = questions+1, texts-1
		} else if v.mixed {
			v.list()
		}
	}
	r.Noise.Values = p.values(again, max(1, questions))
	r.Threshold = text.SelectionThreshold(p.Neighbours, r.Noise.Values)
	r.Columns = make([]inferredColumn, len(names))
	var todo []int
	for i, v := range verdicts {
		c := &r.Columns[i]
		c.Name = names[i]
		switch at := o.Declared.Index(names[i]); {
		case v != nil && v.kind != 0:
			todo = append(todo, i)
		case v != nil:
			r.column(v, text.Held{}, c)
		case at >= 0:
			c.Found, c.Note = &o.Declared.Columns[at], "declared, and not bought"
		default:
			c.Note = "left out: not declared"
		}
	}
	for { // again those that are texts after all
		progress(1 - float64(len(todo))/float64(len(names)))
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(todo) == 0 {
			return r, r.check()
		}
		var of []text.Wanted
		for _, i := range todo {
			of = append(of, r.question(i, verdicts[i]))
		}
		held, err := s.Values(of, r.Noise.Values)
		if err != nil {
			return nil, err
		}
		asked := todo
		todo = nil
		for k, i := range asked {
			if !r.column(verdicts[i], held[k], &r.Columns[i]) {
				todo = append(todo, i)
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

// column describes a column of the kind that was found by what it holds. If that kind turns out to
// be wrong, it is false, and the column is to be asked again.
func (r *Inferred) column(v *judged, held text.Held, c *inferredColumn) bool {
	sigma := r.Noise.Values.Sigma
	coarse := perPower(r.Rows, sigma) == 1
	if v.kind.Ordered() {
		if !v.token(held.Texts, sigma, r.Noise.Kinds) {
			return false
		}
		m := r.question(0, v).Magnitudes
		var within []magnitude // the bounds
		c.Found, within = bounds(c.Name, m, possible(m, v.decimals, held.Magnitudes), v, sigma)
		c.counts = countsOf(within, nil, *v, sigma)
		if c.Found == nil && v.mixed && len(held.Texts) > 0 {
			v.list() // the few numbers among tokens are others
		}
	}
	switch v.kind {
	case schema.Boolean:
		c.Found, c.counts = boolean(c.Name, held.Texts, *v), countsOf(nil, held.Texts, *v, sigma)
	case schema.Categorical:
		c.counts = countsOf(nil, held.Texts, *v, sigma)
		c.Found = categories(c.Name, held.Texts, v, r.Threshold, sigma)
	}
	c.Commas, c.bought = v.commas > 0, c.Found != nil
	switch {
	case !c.bought:
	case c.Found.Kind == schema.Timestamp && c.Found.Format == "":
		v.say("written like 2022-04-08T20:11:00Z; to write 2022-04-08 20:11:00, put " +
			"YYYY-MM-DD hh:mm:ss for the format")
	case v.kind == schema.Integer && coarse && c.Found.Max > 1 &&
		c.Found.Max-c.Found.Min < fewCodes:
		c.Codes = true
		v.say("from about %v to about %v: if these are codes, some may not exist", c.Found.Min,
			c.Found.Max)
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

// coarseRows is how many times the noise of a magnitude the rows are, at least, for bounds that are
// finer than powers of two.
const coarseRows = 150

// perPower is how fine the magnitudes are asked for: the more rows for the noise, the finer.
func perPower(rows, sigma float64) int {
	switch ratio := rows / sigma; {
	case ratio < coarseRows:
		return 1
	case ratio < 500:
		return 2
	case ratio < 1500:
		return 4
	}
	return 8
}
