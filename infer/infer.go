// Package infer buys a schema for a private table that nobody has described, from noisy counts
// alone ([Infer]): kinds, bounds, categories and missing tokens follow from these counts and from
// nothing else. Every table without a schema passes it.
package infer

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/ledger"
	"github.com/decoy-dp/decoy/privacy/mech/text"
)

// Inference is what a schema is bought for.
type Inference struct {
	CSV      schema.CSV      // of the file, for the schema
	Declared *schema.Partial // what is known already; nil: everything is open
	Target   string          // a column that no rule makes; or ""
	Ordered  []string        // columns whose numbers, dates or times are no codes
	// of linked tables, in place of the others: names, units, parents, the columns of their orders,
	// and how their files are written
	Linked *schema.Linked
	part   bool // of these, of which no rules are bought
}

// Run says at what price a schema is bought, and where that is written down.
type Run struct {
	privacy.Options // without Plan, Price, Method and Program, which are filled in
	// may be nil
	Progress func(stage string, fraction float64)
	// makes the result durable: the run is closed after it. May be nil
	Deliver func(*Inferred) error
}

// noise is what the answers have in common.
type noise struct {
	Kinds    float64        // σ of the classes of a column, in rows
	Texts    text.Selection // σ of texts, in rows; δ of those of a column
	Values   text.Selection // of magnitudes, and of the texts among them
	Parts    text.Selection // of the parts of magnitudes and of heaps
	partsMu2 float64        // the part of Mu² for these, of each column of numbers
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
	ctx context.Context, t *text.Table, o Inference, r Run,
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
		out, err := plan.Buy(ctx, s, o, func(done float64) {
			if r.Progress != nil {
				r.Progress("measuring columns", done)
			}
		})
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
		return nil, errors.Join(err, errors.New("the plan is for another number of columns"))
	}
	r := &Inferred{InferencePlan: p, base: schema.Schema{Lenient: true, CSV: o.CSV}}
	r.Tables = []*Inferred{r}
	if unit, k := s.Unit(); unit != "" {
		r.base.Unit, r.base.MaxRowsPerUnit = unit, k
	}
	classes, again, err := r.askKinds(ctx, s, p, asked)
	if err != nil {
		return nil, err
	}
	verdicts, questions := r.verdicts(&o, names, asked, classes)
	r.Noise = p.values(again, r.Rows, max(1, questions))
	r.Threshold = text.SelectionThreshold(p.Neighbours, r.Noise.Texts)
	todo := r.describeUnasked(o.Declared, names, verdicts)
	for len(todo) > 0 && err == nil { // again those that are something else after all
		progress(1 - float64(len(todo))/float64(len(names)))
		if err = ctx.Err(); err == nil {
			todo, err = r.askValues(s, verdicts, todo)
		}
	}
	progress(1)
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return nil, err
	}
	err = cmp.Or(r.refine(s, verdicts), r.checkSchema())
	if err == nil && !o.part {
		err = r.buyRules(s, verdicts, o.Target)
	}
	for i, v := range verdicts {
		if v != nil {
			r.Columns[i].Cut = v.cutOffNote()
		}
	}
	return r, err
}

// verdicts are what the classes say of each column, nil of one that is not asked about, and how
// many questions follow from them.
func (r *Inferred) verdicts(
	o *Inference, names []string, asked []int, classes [][]float64,
) (verdicts []*verdict, questions int) {
	// of a class or two a column, and what is missing of those that do not stand out
	rowsNoise := r.Noise.Kinds * math.Hypot(.5, math.Sqrt(2/float64(r.InferencePlan.Columns)))
	verdicts = make([]*verdict, len(names))
	empty := leastEmpty(classes, r.Noise.Kinds)
	for i, at := range asked {
		name, ordered := names[at], slices.Contains(o.Ordered, names[at])
		if ordered {
			name = "" // which might say otherwise
		}
		v := judge(name, classes[i], r.Rows, rowsNoise, r.Noise.Kinds, empty)
		if ordered && v.kind.Ordered() {
			v.declared = v.kind
		}
		v.declare(&o.Declared.Columns[o.Declared.Index(names[at])])
		if verdicts[at] = &v; v.kind != 0 {
			questions++
		}
		if v.mixed || v.ifNumbers != 0 { // which needs another question if they are not what they seem
			questions++
		}
	}
	return verdicts, questions
}

// describeUnasked describes the columns about which nothing more is asked, and returns the others.
func (r *Inferred) describeUnasked(
	declared *schema.Partial, names []string, verdicts []*verdict,
) (todo []int) {
	r.Columns = make([]inferredColumn, len(names))
	for i, v := range verdicts {
		c := &r.Columns[i]
		c.Name = names[i]
		switch at := declared.Index(names[i]); {
		case v != nil && v.kind != 0:
			todo = append(todo, i)
		case v != nil:
			r.fillIn(v, text.Answer{}, r.Noise.Texts, c)
		case at >= 0:
			c.Found, c.Note = &declared.Columns[at], "declared, and not bought"
		default:
			c.Note = "left out: not declared"
		}
	}
	return todo
}

// askValues asks for the values of columns, first of those of an ordered kind, and returns the
// columns that are to be asked again, as they are something else.
func (r *Inferred) askValues(
	s *text.Session, verdicts []*verdict, asked []int,
) (again []int, err error) {
	done := map[int]bool{}
	for _, ordered := range []bool{true, false} {
		var questions []text.Question
		d := r.Noise.Texts
		if ordered {
			d = r.Noise.Values
		}
		for _, i := range asked {
			if verdicts[i].kind.Ordered() == ordered && !done[i] {
				questions = append(questions, r.question(i, verdicts[i]))
			}
		}
		held, err := s.Values(questions, d)
		if err != nil {
			return nil, err
		}
		for k, w := range questions {
			done[w.Column] = r.fillIn(verdicts[w.Column], held[k], d, &r.Columns[w.Column])
			if !done[w.Column] && !ordered { // else it is asked next
				again = append(again, w.Column)
			}
		}
	}
	return again, nil
}

// askKinds asks for the classes of every column, once more where the rows are few for the noise,
// and says so.
func (r *Inferred) askKinds(
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
		r.Rows = 0 // the mean, over the columns, of the classes that stand out
		for _, column := range classes {
			for class, n := range column {
				if n > countedSigmas*r.Noise.Kinds && (!schema.Class(class).Looks().Rare ||
					n > rareSigmas*r.Noise.Kinds) {
					r.Rows += n / float64(len(classes))
				}
			}
		}
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

// question is what column i is asked, of the kind that was found.
func (r *Inferred) question(i int, v *verdict) text.Question {
	if !v.kind.Ordered() {
		return text.Question{Column: i, Texts: true}
	}
	return text.Question{Column: i, Texts: v.asks, Magnitudes: schema.Magnitudes{Kind: v.kind,
		PerPower: perPower(r.Rows, r.Noise.Values.Sigma), Format: v.format}}
}

// fillIn describes a column of the kind that was found by what it holds, with noise d. If that
// kind turns out to be wrong, it is false, and the column is to be asked again.
func (r *Inferred) fillIn(v *verdict, held text.Answer, d text.Selection, c *inferredColumn) bool {
	if v.kind.Ordered() {
		m := r.question(0, v).Magnitudes
		held.Texts = slices.DeleteFunc(held.Texts, func(f text.Found) bool {
			at, ok := m.Of(schema.Censored([]byte(f.Text))) // 90+
			if ok {
				held.Magnitudes[at] += f.Rows
				v.texts -= float64(f.Rows)
				v.addNote("%q is read as its number", f.Text)
			}
			return ok
		})
		if !v.keepKind(held.Texts, d.Sigma, r.Noise.Kinds) {
			return false
		}
		var within []magnitude // the bounds
		c.Found, within = bounds(c.Name, m, possible(m, v.decimals, held.Magnitudes, d.Sigma), v, d.Sigma)
		c.counts = countsOf(within, nil, *v, d.Sigma)
		if c.Found == nil && len(held.Texts) > 0 {
			v.readAsTexts() // the few numbers among tokens are others
		}
	}
	switch {
	case v.kind.Stored() == schema.StoredBool:
		c.Found, c.counts = boolean(c.Name, held.Texts, *v), countsOf(nil, held.Texts, *v, d.Sigma)
	case v.kind != 0 && !v.kind.Ordered():
		c.counts = countsOf(nil, held.Texts, *v, d.Sigma)
		c.Found = categories(c.Name, held.Texts, v, text.SelectionThreshold(r.Neighbours, d), d.Sigma)
		if v.ifNumbers != 0 && (c.Found == nil || v.measured(held.Texts, c.counts.rest.rows)) {
			// ids, each its own, or measured after all
			v.kind, v.ifNumbers, v.asks, v.note = v.ifNumbers, 0, false, ""
			v.format = cmp.Or(v.padding.Format, v.ifFormat)
			return false
		}
	}
	c.Doubt, c.bought, c.Taken = v.doubt, c.Found != nil, v.asMissing
	switch {
	case !c.bought:
	case c.Found.Kind.Stored() == schema.StoredMicros && c.Found.Format == "":
		v.addNote("written like 2022-04-08T20:11:00Z; to write 2022-04-08 20:11:00, put " +
			"YYYY-MM-DD hh:mm:ss for the format")
	case v.kind.Whole() && r.Rows < endRows*d.Sigma && c.Found.Max > 1 &&
		c.Found.Max-c.Found.Min < maxCodes:
		c.Codes = true
		v.addNote("if these are codes, one at an end may be missing, or may not exist")
	}
	c.Note = v.note
	return true
}

// measured reports whether numbers of texts that may be codes are measured ones: few of them are in
// frequent texts, of all but a heap such as that of zeros.
func (v *verdict) measured(found []text.Found, rest float64) bool {
	heap := 0.0
	for _, f := range found {
		heap = max(heap, float64(f.Rows))
	}
	return (v.padding.Kind != 0 || v.ifNumbers.Stored() == schema.StoredFloat) &&
		rest > (1-listedShare)*(v.values-heap)
}

// maxCodes is how many whole numbers may be codes.
const maxCodes = 16

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
