package infer

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/mech/text"
)

// Rules are bought in two questions: of many candidates in how many rows they hold, and once more
// of the few that seem to. They take at most rulesShare of Mu², and nothing where it would show
// nothing: the rows must be leastRule times the noise of the first question, or as many candidates
// as make it so are left out.
const (
	rulesShare = .05
	scoutPart  = .6 // of it, for the first question
	leastRule  = 3.3
	finalists  = 12

	scoutHeld   = .5  // of the rows that say something: an identity holds by chance in hardly any
	scoutOrder  = .85 // an order holds by chance in many
	scoutSigmas = 2.
	alwaysHeld  = .98 // least share of the rows that say something, of a rule that is kept
	ruleSigmas  = 2.  // of noise below that, but not more than
	ruleMargin  = .03 // so far
	orderMargin = .02 // of an order, and the most noise
	namedMargin = .03 // of one that names speak for
	sureSigmas  = 3.  // of noise above what is no rule
	noRule      = .8
	tellsShare  = .02 // of the rows that must say something
	mostLikely  = 6
)

// Rule is a relation of the columns of the table.
type Rule struct {
	schema.Candidate
	Share float64 // of the rows that say something of it, those that keep it: noisy; NaN: not asked
	Noise float64 // standard deviation of that
	Kept  bool    // it is in the schema; else it is likely, and the noise hides it
}

// relation is a candidate with what was asked of it.
type relation struct {
	Rule
	holds, breaks, sigma float64 // of the noise of both, in rows
	gaps                 []int64 // of an order: rows by the difference, with noise gapSigma
	gapSigma             float64
	by                   *schema.Made // a column that has the difference
}

// buyRules asks for what always holds between the columns of a row, and has the schema keep it.
// Candidates follow from what was bought before, and from names. The target stays a column of its
// own.
func (r *Inferred) buyRules(s *text.Session, verdicts []*verdict, target string) error {
	known := r.known()
	candidates := slices.DeleteFunc(schema.Candidates(known), func(c schema.Candidate) bool {
		return c.Name == target || c.Kind == schema.NotBefore && c.Of[0] == target
	})
	slices.SortStableFunc(candidates, func(a, b schema.Candidate) int { // the likely ones first
		return map[bool]int{true: 1}[b.Named] - map[bool]int{true: 1}[a.Named]
	})
	most := math.Pow(r.Rows/(leastRule*r.noiseOf(rulesShare*scoutPart, 1)), 2)
	asked := candidates[:int(min(float64(len(candidates)), most))]
	all := make([]relation, len(candidates))
	for i, c := range candidates {
		all[i].Rule = Rule{Candidate: c, Share: math.NaN(), Noise: math.NaN()}
	}
	if len(asked) > 0 {
		err := r.ask(s, known, all[:len(asked)])
		if errors.Is(err, privacy.ErrElsewhere) { // where rows are counted one column at a time
			return nil
		} else if err != nil {
			return err
		}
	}
	r.keep(all, verdicts, target)
	return nil
}

// known is what was bought of the columns with an order.
func (r *Inferred) known() (out []schema.Known) {
	for i := range r.Columns {
		c := &r.Columns[i]
		if c.Found == nil || !c.bought {
			continue
		}
		k := schema.Known{Column: *c.Found}
		if !c.Found.Kind.Ordered() {
			if k, ok := c.factor(); ok {
				out = append(out, k)
			}
			continue
		}
		for _, m := range c.counts.cells {
			k.Masses = append(k.Masses, schema.Mass{Lo: m.lo, Hi: m.hi, Rows: m.rows, Sigma: m.sigma})
		}
		out = append(out, k)
	}
	return out
}

// factor is a column of categories that are numbers.
func (c *inferredColumn) factor() (schema.Known, bool) {
	k, ok := c.Found.Factor()
	codec, err := schema.NewCodec(k.Column)
	if !ok || err != nil {
		return k, false
	}
	for _, f := range c.counts.texts {
		if x, ok := codec.ParseValue(f.Text); ok && slices.Contains(c.Found.Categories, f.Text) {
			k.Masses = append(k.Masses, schema.Mass{Lo: x, Hi: x, Rows: float64(f.Rows),
				Sigma: c.counts.sigma})
		}
	}
	slices.SortFunc(k.Masses, func(a, b schema.Mass) int { return cmp.Compare(a.Lo, b.Lo) })
	return k, true
}

// ask asks both questions.
func (r *Inferred) ask(s *text.Session, known []schema.Known, all []relation) error {
	var columns []schema.Column
	for _, k := range known {
		columns = append(columns, k.Column)
	}
	sigma := r.noiseOf(rulesShare*scoutPart, len(all))
	questions := make([]text.Relation, len(all))
	for i := range all {
		questions[i].Made = all[i].Made
	}
	counts, err := s.Relations(columns, questions, sigma)
	if err != nil {
		return err
	}
	var left []*relation
	for i := range all {
		f := &all[i]
		f.add(counts[i], sigma)
		if f.seems(r.Rows) {
			left = append(left, f)
		}
	}
	slices.SortStableFunc(left, func(a, b *relation) int {
		return cmp.Compare(min(1, b.Share), min(1, a.Share))
	})
	left = left[:min(len(left), finalists)]
	questions = questions[:0]
	for _, f := range left {
		questions = append(questions, text.Relation{Made: f.Made})
	}
	for _, f := range left { // of an order, also by how much
		if f.Kind == schema.NotBefore {
			questions = append(questions, text.Relation{Made: f.Made, By: schema.Gaps})
		}
	}
	if len(left) == 0 {
		return nil
	}
	sigma = r.noiseOf(rulesShare*(1-scoutPart), len(questions))
	if counts, err = s.Relations(columns, questions, sigma); err != nil {
		return err
	}
	gaps := counts[len(left):]
	for i, f := range left {
		f.add(counts[i], sigma)
		if f.Kind == schema.NotBefore {
			f.gaps, gaps, f.gapSigma = gaps[0], gaps[1:], sigma
		}
	}
	return nil
}

// add adds an answer: the mean of all, each by the inverse of its variance.
func (f *relation) add(counts []int64, sigma float64) {
	holds, breaks, weight := float64(counts[0]), float64(counts[1]), 1.
	if f.sigma > 0 {
		weight = f.sigma * f.sigma / (f.sigma*f.sigma + sigma*sigma)
		sigma = f.sigma * sigma / math.Hypot(f.sigma, sigma)
	}
	f.holds += weight * (holds - f.holds)
	f.breaks += weight * (breaks - f.breaks)
	f.sigma = sigma
	total := f.holds + f.breaks
	f.Share = f.holds / total
	f.Noise = sigma * math.Hypot(f.Share, 1-f.Share) / total
}

// seems reports whether a candidate may be a rule, by the first question.
func (f *relation) seems(rows float64) bool {
	least := scoutHeld
	if f.Kind == schema.NotBefore {
		least = scoutOrder - scoutSigmas*f.Noise
	}
	return f.tells(rows) && f.Share >= least
}

// tells reports whether enough rows say something.
func (f *relation) tells(rows float64) bool {
	noise := scoutSigmas * f.sigma
	return f.holds > noise && f.holds+f.breaks > max(noise, tellsShare*rows)
}

// always reports whether a candidate is a rule.
func (f *relation) always(rows float64) bool {
	margin := ruleMargin
	if f.Kind == schema.NotBefore {
		if margin = orderMargin; f.Named {
			margin = namedMargin
		}
		if f.gaps == nil || f.Noise > margin {
			return false
		}
	}
	return f.tells(rows) && f.Share >= alwaysHeld-min(ruleSigmas*f.Noise, margin) &&
		f.Share-sureSigmas*f.Noise >= noRule
}

// keep takes the rules into the schema: first the identities, those that hold most surely before
// others, then the orders, the closest dates first.
func (r *Inferred) keep(all []relation, verdicts []*verdict, target string) {
	var identities, orders []*relation
	for i := range all {
		switch f := &all[i]; {
		case f.Kind == schema.NotBefore && (r.implied(f, all) || f.always(r.Rows)):
			orders = append(orders, f)
		case f.Kind == schema.NotBefore || !f.always(r.Rows):
		default:
			identities = append(identities, f)
		}
	}
	slices.SortStableFunc(identities, func(a, b *relation) int {
		return cmp.Compare(b.Share, a.Share)
	})
	for _, f := range identities {
		r.makeRule(f, target)
	}
	slices.SortStableFunc(orders, func(a, b *relation) int { return cmp.Compare(a.gap(), b.gap()) })
	for _, f := range orders {
		r.orderColumn(f, verdicts)
	}
	for i := range all {
		if all[i].Kept {
			r.Rules = append(r.Rules, all[i].Rule)
		}
	}
	kept := len(r.Rules)
	for i := range all {
		if f := &all[i]; f.likely() && len(r.Rules) < kept+mostLikely &&
			!slices.ContainsFunc(r.Rules, func(x Rule) bool { return x.Name == f.Name }) {
			r.Rules = append(r.Rules, f.Rule)
		}
	}
}

// implied reports whether a difference that is never negative says that an order holds, and takes
// the column that has it.
func (r *Inferred) implied(f *relation, all []relation) bool {
	at := slices.IndexFunc(all, func(x relation) bool {
		return x.Kind == schema.Difference && x.In != 0 && x.Of[0] == f.Name && x.Of[1] == f.Of[0] &&
			x.always(r.Rows) && r.column(x.Name).Found.Min >= 0
	})
	if at >= 0 {
		f.by = &all[at].Made
	}
	return at >= 0
}

// gapsOf are the cells of by how much the dates of a relation are apart: those of the column that
// has the difference, or what was asked.
func (r *Inferred) gapsOf(f *relation) (cells []magnitude, sigma float64) {
	if f.by == nil {
		cells = possible(schema.Gaps, 0, f.gaps, f.gapSigma)
		return slices.DeleteFunc(cells, func(m magnitude) bool { return m.hi < 0 }), f.gapSigma
	}
	from, err := schema.NewCodec(*r.column(f.Of[0]).Found)
	if err != nil {
		return nil, 0
	}
	c := r.column(f.by.Name)
	step := math.Pow10(-f.by.Decimals) // a number stands for those that are rounded to it
	below, above := step/2, step/2
	if f.by.Round == schema.Down {
		below, above = 0, step
	}
	scale := f.by.In.Micros() / from.AfterMicros()
	for _, m := range c.counts.cells {
		first, last := m.ends(c.Found)
		m.lo, m.hi = math.Ceil((first-below)*scale), math.Ceil((last+above)*scale)-1
		if m.lo = max(m.lo, 0); m.lo <= m.hi {
			cells = append(cells, m)
		}
	}
	return cells, c.counts.sigma
}

// likely reports whether noise may hide a rule that names and kinds speak for.
func (f *relation) likely() bool {
	return f.Named && (math.IsNaN(f.Share) || f.Share+ruleSigmas*f.Noise >= alwaysHeld)
}

// column is that of a name.
func (r *Inferred) column(name string) *inferredColumn {
	return &r.Columns[r.place(name)]
}

func (r *Inferred) place(name string) int {
	return slices.IndexFunc(r.Columns, func(c inferredColumn) bool { return c.Name == name })
}

// makeRule has a column of an identity follow from the others: the one that it was asked of or, if
// that is made already, another for which a sum can be solved, the last first.
func (r *Inferred) makeRule(f *relation, target string) {
	r.makeColumn(f)
	for i := len(r.Columns) - 1; i >= 0 && !f.Kept; i-- {
		c := &r.Columns[i]
		if c.Name == target || c.Found == nil || c.Found.After != "" {
			continue
		}
		of := func(name string) schema.Column { return *r.column(name).Found }
		if solved, ok := f.Solved(c.Name, of); ok {
			asked := f.Made
			f.Made = solved
			if r.makeColumn(f); !f.Kept {
				f.Made = asked
			}
		}
	}
}

// makeColumn has a column follow from others, unless it does already, or these follow from it.
func (r *Inferred) makeColumn(f *relation) {
	c := r.column(f.Name)
	if c.Made != nil || r.follows(f.Operands(), f.Name) {
		return
	}
	c.Made = &f.Made
	if r.Schema().Validate() != nil {
		c.Made = nil
		return
	}
	f.Kept = true
	c.rule = f.note(c.Found)
}

// follows reports whether one of some columns is of a name, or follows from it.
func (r *Inferred) follows(names []string, from string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		c := r.column(name)
		return name == from || c.Made != nil && r.follows(c.Made.Operands(), from) ||
			c.Found != nil && c.Found.After != "" && r.follows([]string{c.Found.After}, from)
	})
}

// orderColumn has a date follow another, as a difference.
func (r *Inferred) orderColumn(f *relation, verdicts []*verdict) {
	c, from := r.column(f.Name), r.column(f.Of[0])
	if f.by == nil && f.gaps == nil || c.Made != nil || c.Found.After != "" || from.Made != nil ||
		r.follows(f.Of, f.Name) {
		return
	}
	v := *verdicts[r.place(f.Name)]
	v.kind, v.format, v.decimals = schema.Gaps.Kind, "", 0
	if v.missing == nil && from.Found.Missing != nil {
		v.missing = from.Found.Missing
	}
	cells, sigma := r.gapsOf(f)
	var column *schema.Column
	if within := cells; f.by != nil && len(cells) > 0 {
		column = v.column(c.Name, cells, false, sigma)
	} else if column, within = bounds(c.Name, schema.Gaps, cells, &v, sigma); column != nil {
		cells = within
	}
	if column == nil {
		return
	}
	before, counts := c.Found, c.counts
	column.After, column.Min = from.Name, 0
	if len(column.Edges) > 0 {
		column.Edges[0] = 0
	}
	c.Found = column
	c.counts = countsOf(cells, nil, v, sigma)
	if r.Schema().Validate() != nil {
		c.Found, c.counts = before, counts
		return
	}
	f.Kept = true
	c.rule = f.note(before)
}

// gap is how far two dates are apart, on average.
func (f *relation) gap() (mean float64) {
	if f.by != nil {
		return 0
	}
	rows := 0.
	for i, n := range f.gaps {
		if lo, hi := schema.Gaps.Bounds(i); lo >= 0 && lo <= hi {
			mean, rows = mean+float64(n)*(lo/2+hi/2), rows+float64(n)
		}
	}
	return mean / rows
}

// String says a rule, with its noisy share.
func (r Rule) String() string {
	if math.IsNaN(r.Share) {
		return r.Made.String()
	}
	return fmt.Sprintf("%v, in %.1f %% of the rows (noise ±%.1f %%)", r.Made, 100*min(1, r.Share),
		100*r.Noise)
}

// note says a rule, and the column that it stands for.
func (f *relation) note(c *schema.Column) string {
	return f.Rule.String() + ".\nWithout this rule it is:\n" + c.Item()
}

// writeLikely writes the rules that noise hides.
func (r *Inferred) writeLikely(w io.Writer) {
	head := `# Names and kinds speak for these rules, and the rows are too few for the noise to tell. If one
# always holds, this line in place of that of the column keeps it, for nothing. MOST is the greatest
# difference, in days between dates, else in seconds, or minutes if there are none.
`
	for _, rule := range r.Rules {
		if !rule.Kept {
			fmt.Fprintf(w, "%s#  %s\n", head, rule.Line())
			head = ""
		}
	}
}
