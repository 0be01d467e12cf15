package report

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/eval/linked"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

//go:embed linked.html
var linkedText string

var linkedPage = template.Must(template.New("linked").Funcs(template.FuncMap{
	"verdict": verdict,
}).Parse(headText + linkedText))

// linkedReport is what was found about linked tables. Its JSON names are an interface.
type linkedReport struct {
	Format       int           `json:"decoy_linked_report"` // version of these names
	NotPrivate   bool          `json:"not_private"`         // always true
	Warning      string        `json:"warning"`
	Tool         string        `json:"tool,omitempty"`
	SchemaSHA256 string        `json:"schema_sha256"`
	Seed         uint64        `json:"seed"` // public, of how units are dealt anew and of the test of predictions
	Claim        *Claim        `json:"claim,omitempty"`
	Tables       []linkedTable `json:"tables"`
	Summary      []finding     `json:"summary"`
	// distances, each beside its floor: see linked.Families
	Families    []linked.Family     `json:"families"`
	Predictions []linked.Prediction `json:"predictions"`
	// by child table: the metrics of copies, of summaries of histories
	Copies map[string]map[string][]result `json:"copies"`
	Notes  []string                       `json:"notes"`
}

// linkedTable is one of the tables, in its real and in its synthetic file.
type linkedTable struct {
	Name      string `json:"name"`
	Real      int    `json:"real_rows"`
	Synthetic int    `json:"synthetic_rows"`
	Unused    int    `json:"real_rows_not_used"` // of those that have a unit
}

// linkedAnswers are what the families answer, in the order of linked.Families: the question, what a
// person would count of a part (of its column, real, here), and what the picture shows.
var linkedAnswers = []struct{ question, words, caption string }{
	{"Does a unit have as many rows?", "A unit has %[2]s rows on average, and %[3]s here.",
		"Shares of units, by their number of rows."},
	{"Do rows fit the unit they belong to?", "", "Distances of a column of the unit with one of its " +
		"rows, the worst first. Grey: what chance alone makes of it."},
	{"Does the next row follow from the last?", "%[1]s stays the same in %[2]s of the real steps, " +
		"and in %[3]s here.",
		"How often a column is the same in the next row, real and here, the worst first."},
	{"Is the time between rows right?", "", "Shares of steps, by how much the order grows."},
	{"Does a history keep its thread?", "%[1]s is the same three rows on in %[2]s of the real " +
		"cases, and in %[3]s here.",
		"How often a column is the same three rows on, real and here, the worst first."},
	{"Do values come back as often?", "A unit has %[2]s different values of %[1]s on average, and " +
		"%[3]s here.",
		"How many different values a unit has on average, real and here, the worst first."},
	{"Has every row a unit, and its place?", "%[1]s: %[2]s in the real files, %[3]s here.",
		"Shares of the rows of the files."},
	{"Do the columns of a row fit each other?", "", "Distances of two columns of a row, the worst " +
		"first. Grey: what chance alone makes of it."},
	{"Can a model be trained on histories?", "", "AUROC on real units: 1 is perfect, 0.5 is " +
		"guessing. What is predicted of a unit, from its rows, and of the next row."},
}

// linkedPoor is how far beyond the limit of a family its mean is poor: so much of what is compared
// happens to other rows.
const linkedPoor = .15

// linkedPartPoor is how far beyond its limit a single part is poor.
const linkedPartPoor = .20

// farFactor is how many times too large a mean is not good: distances of groups hardly see the
// largest values. Where either table has fewer than fewUnits units, chance moves means so far where
// they have long tails, and a model learns less, whatever the rows are like.
const farFactor, fewUnits = 1.5, 200

// manySteps is the share of the steps that do what real ones never do from which on a family is
// poor.
const manySteps = .1

// hardlyPredicted is an AUROC of real rows from which on a prediction says something.
const hardlyPredicted = .6

// ComputeLinked compares real linked tables with synthetic ones, the second, and looks for copies
// beside a holdout, the third: units that the synthesizer did not see, or nil. It compares columns
// with the cells that the files have, of each table by itself: alone, which may be none. Of the
// options it
// takes Seed, Tool and Progress. Errors are those of [linked.Families] and [Compute].
func ComputeLinked(
	s *schema.Linked, tables [3]*linked.Tables, alone []Tables, claim *Claim, o Options,
) (r *linkedReport, err error) {
	real, synthetic := tables[0], tables[1]
	if o.Progress == nil {
		o.Progress = func(string, float64) {}
	}
	r = &linkedReport{Format: format, NotPrivate: true, Warning: warning, Tool: o.Tool, Claim: claim,
		SchemaSHA256: s.Fingerprint(), Seed: cmp.Or(o.Seed, 1), Notes: []string{}}
	o.Progress("comparing histories", 0)
	if r.Families, err = linked.Families(real, synthetic, r.Seed); err != nil {
		return nil, err
	}
	o.Progress("predictions", .2)
	if r.Predictions, err = linked.Predict(real, synthetic, nil, r.Seed); err != nil {
		return nil, err
	}
	r.Tables = []linkedTable{{real.Name, real.Parents.Rows(), synthetic.Parents.Rows(), 0}}
	for i := range real.Children {
		a, b := &real.Children[i], &synthetic.Children[i]
		t := linkedTable{a.Name, a.Rows.Rows(), b.Rows.Rows(), real.History(a).Unused}
		r.Tables = append(r.Tables, t)
	}
	for i, a := range linkedAnswers {
		r.Summary = append(r.Summary, answered(a.question, "", func(f *finding) { r.judge(i, f) }))
	}
	for _, in := range alone {
		w, err := start(in, Options{Seed: r.Seed})
		if err == nil {
			err = w.shapes()
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", in.Synthetic.Name, err)
		}
		r.Summary = append(r.Summary, answered("Do the columns of "+in.Synthetic.Name+" look alike?",
			w.alikeRule(), w.alike))
		w.inOrder(&r.Summary[len(linkedAnswers)-2]) // do the columns of a row fit each other?
	}
	if alone == nil {
		r.Notes = append(r.Notes, "The cells themselves were not compared, because a table came from "+
			"where it can be read once only: what the schema moves is not seen.")
	}
	var rows [3][]*table.Table
	for k, of := range tables {
		if of != nil && err == nil {
			rows[k], err = linked.Summaries(real, of)
		}
	}
	if err != nil {
		return nil, err
	}
	r.Summary = append(r.Summary, answered("Are real histories copied?",
		"Histories are compared where each file has some.",
		func(f *finding) { err = r.copied(rows, f) }))
	return r, err
}

// copied looks for copies as in one table, whose rows are summaries of the histories of the real
// tables, the synthetic ones and the holdout, by child table. Without a holdout
// only those are seen which leave synthetic histories nearer to real ones than these are to others.
func (r *linkedReport) copied(rows [3][]*table.Table, f *finding) error {
	r.Copies = map[string]map[string][]result{}
	var last *work
	for i := range rows[0] {
		if rows[0][i].Rows() == 0 || rows[1][i].Rows() == 0 || rows[2] != nil && rows[2][i].Rows() == 0 {
			f.say("Histories of %s are not compared: one of the files has none.", r.Tables[i+1].Name)
			continue
		}
		in := Tables{Train: Table{Rows: rows[0][i]}, Synthetic: Table{Rows: rows[1][i]}}
		if rows[2] != nil {
			in.Holdout.Rows = rows[2][i]
		}
		w, err := start(in, Options{Seed: r.Seed})
		if err == nil {
			err = errors.Join(w.nearest(), w.closest(),
				w.measure("IdenticalMatchShare", "UniqueExactMatches"))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", r.Tables[i+1].Name, err)
		}
		r.Copies[r.Tables[i+1].Name], f.Rule = w.values, inHistories.Replace(w.copiedRule())
		if near := w.out.Nearest; w.Holdout == nil && near != nil &&
			.5-near.Train.Mean > max(eval.MetricOf("PrivacyLoss").Poor, 3*near.Train.StdErr) {
			f.see(poor, "Synthetic rows are nearer to real ones than these are to others: adversarial "+
				"accuracy %s, where chance is 0.5.", fixed(near.Train.Mean))
			continue
		}
		if last = w; w.Holdout != nil {
			w.copied(f)
		}
	}
	if last != nil && last.Holdout == nil && f.Status == unknown {
		last.copied(f)
	}
	f.Answer = inHistories.Replace(f.Answer)
	return nil
}

// inHistories says of histories what is said of rows.
var inHistories = strings.NewReplacer("rows", "histories", "row", "history", "in every column",
	"in the summary")

// The real rows that do not count, from which on the number of rows is not good, and is poor.
const someUnused, manyUnused = .05, .2

// used says which real rows the schema leaves out.
func (r *linkedReport) used(f *finding) {
	for _, t := range r.Tables[1:] {
		if share := float64(t.Unused) / float64(t.Real); share > 0 {
			f.see(grade(share, someUnused, manyUnused), "That is of the rows that count: %s of the real "+
				"rows of %s do not. They are beyond the first of their unit that the schema uses, or have no "+
				"place in the order.", percent(share), t.Name)
		}
	}
}

// broken gives the verdict of the family of orphans and order.
func (r *linkedReport) broken(i int, out *finding) {
	out.Rule = "Good if these are at most twice as frequent as in the real files, so none where " +
		"those have none; else poor. Order is that of the rows in the file."
	if out.Status = poor; r.Families[i].Good {
		out.Status = good
	}
	for _, p := range r.Families[i].Parts {
		out.say("%s", r.inWords(i, p))
	}
	if twice := r.Families[i].Parts[0]; *twice.Real > someUnused {
		out.see(mixed, "What is the id of a unit should be there once: is it the right column?")
	}
}

// judge gives a verdict: of a family or, last, of predictions.
func (r *linkedReport) judge(i int, out *finding) {
	switch {
	case i == len(r.Families):
		r.learnt(out)
		return
	case r.Families[i].Name == linked.OrphansOrder:
		r.broken(i, out)
		return
	case i == 0:
		defer r.used(out)
	}
	f := &r.Families[i]
	out.Rule = fmt.Sprintf(
		"The figure is a total variation distance: 0 is equal, 1 is nothing in common. Good up to %s: "+
			"0.02 beyond the worst of 63 times that the real and the synthetic units are dealt anew into "+
			"two groups. Poor beyond that by %.2f. A single part beyond its own limit makes it mixed, and "+
			"by %.2f poor. It is mixed, too, if of 5 %% of the units or more a share of rows, or the "+
			"number of rows, is off by more than half, and by more than chance explains, or if a mean is; "+
			"or if %s of the steps do what at most %s of the real ones do, such as a number that falls. "+
			"From %s of the steps on it is poor.",
		fixed(f.Limit), linkedPoor, linkedPartPoor, percent(linked.SomeSteps), percent(linked.NeverShare),
		percent(manySteps))
	if len(f.Parts) == 0 {
		out.say("There is no column to compare.")
		return
	}
	beyond := func(p linked.Part) float64 { return p.Off - p.Limit }
	worst, groups := worstFirst(f.Parts, beyond)[0], worstFirst(f.Parts, apart)
	verdict := good
	switch part := beyond(worst); {
	case f.Off > f.Limit+linkedPoor || part > linkedPartPoor ||
		groups[0].Group != nil && groups[0].Group.Units == linked.Steps && apart(groups[0]) >= manySteps:
		verdict = poor
	case !f.Good || worst.Mean && factor(worst) > farFactor && r.units() >= fewUnits:
		verdict = mixed
	case f.Floor > fewTell:
		verdict = unknown
		out.say("The units are too few to tell.")
	}
	out.see(verdict, "Off by %s; by chance alone it would be %s.", fixed(f.Off),
		fixed(f.Floor))
	if len(f.Parts) > 1 && worst.Off > worst.Floor {
		out.say("Furthest off: %s, by %s.", r.name(worst), fixed(worst.Off))
	}
	if f.Name == linked.FanOut {
		worst = f.Parts[0]
	}
	if linkedAnswers[i].words != "" {
		out.say("%s", r.inWords(i, worst))
	} else if worst.Mean && *worst.Real > 0 {
		out.say("On average it is %s times that of the real rows.", short(*worst.Synthetic / *worst.Real))
	}
	for i, p := range groups[:min(3, len(groups))] {
		switch g := p.Group; {
		case g == nil || i > 0 && g.Units != linked.Steps:
		case g.Units == linked.Steps:
			out.say("%s in %s of the steps, and in %s of the real ones.", r.named(p, g.Of),
				percent(g.Synthetic), percent(g.Real))
		case g.Of == linked.Rows:
			out.say("Units with %s have %s rows on average, and %s here.", g.Units, short(g.Real),
				short(g.Synthetic))
		default:
			out.say("Rows of units with %s have %s in %s of the real cases, and in %s here.", g.Units,
				g.Of, percent(g.Real), percent(g.Synthetic))
		}
	}
}

// units is how many the smaller of the two tables of units has.
func (r *linkedReport) units() int { return min(r.Tables[0].Real, r.Tables[0].Synthetic) }

// worstFirst sorts what is off by so much.
func worstFirst[T any](all []T, off func(T) float64) []T {
	return slices.SortedStableFunc(slices.Values(all), func(a, b T) int {
		return cmp.Compare(off(b), off(a))
	})
}

// apart is how far the group of a part is off.
func apart(p linked.Part) float64 {
	if p.Group == nil {
		return 0
	}
	return p.Group.Off
}

// factor is how many times one mean is the other.
func factor(p linked.Part) float64 { return max(*p.Real / *p.Synthetic, *p.Synthetic / *p.Real) }

func partOff(p linked.Part) float64    { return p.Off }
func lost(p linked.Prediction) float64 { return p.Real - p.Synthetic }

// name is that of a part, with its table where there are several.
func (r *linkedReport) name(p linked.Part) string { return r.named(p, p.Of) }

// named names something of a part.
func (r *linkedReport) named(p linked.Part, of string) string {
	if len(r.Tables) > 2 || p.Table == r.Tables[0].Name {
		return p.Table + ": " + of
	}
	return of
}

// inWords is what a person would count of a part of family i.
func (r *linkedReport) inWords(i int, p linked.Part) string {
	if p.Real == nil {
		return ""
	}
	a, b := counted(p)
	return fmt.Sprintf(linkedAnswers[i].words, r.name(p), a, b)
}

// counted writes the shares, or the means, of a part.
func counted(p linked.Part) (real, synthetic string) {
	if p.Mean {
		return short(*p.Real), short(*p.Synthetic)
	}
	return percent(*p.Real), percent(*p.Synthetic)
}

// learnt says whether models trained on synthetic histories work on real ones.
func (r *linkedReport) learnt(out *finding) {
	m := eval.MetricOf("TSTR")
	out.Rule = fmt.Sprintf("By how much the AUROC "+
		"on real units falls, on average over what real units predict to %.1f or more: good up to %.2f, "+
		"poor beyond %.2f. A quarter of the real units is the test.", hardlyPredicted, m.Good, m.Poor)
	told := slices.DeleteFunc(worstFirst(r.Predictions, lost), func(p linked.Prediction) bool {
		return p.Real < hardlyPredicted
	})
	if len(told) == 0 {
		out.say("Even real rows predict nothing here.")
		return
	}
	mean, worst := 0., told[0]
	for _, p := range told {
		mean += lost(p) / float64(len(told))
	}
	verdict := judge("TSTR", mean)
	if r.units() < fewUnits {
		verdict = unknown
		out.say("The units are too few to tell: %d are needed in each table.", fewUnits)
	}
	out.see(verdict, "On average the AUROC is lower by %s than with real rows. Lowest "+
		"beside them is that of %s: %s, with real rows %s. (1 is perfect, 0.5 is guessing.)",
		fixed(mean), predicted(worst), fixed(worst.Synthetic), fixed(worst.Real))
}

// predicted names what is predicted.
func predicted(p linked.Prediction) string {
	if p.Next {
		return fmt.Sprintf("next %s: %s", p.Column, p.Positive)
	}
	return fmt.Sprintf("%s: %s, from %s", p.Column, p.Positive, p.Table)
}

// JSON writes the report for programs.
func (r *linkedReport) JSON(w io.Writer) error { return writeJSON(w, r) }

// Text writes the summary and the families for a terminal.
func (r *linkedReport) Text(w io.Writer) error {
	return terminal(w, "", r.Claim, r.Summary, r.Notes, func(t io.Writer) {
		fmt.Fprintf(t, "\nfamily\toff\tby chance\tgood up to\tfurthest off\n")
		for _, f := range r.Families {
			for _, p := range worstFirst(f.Parts, partOff)[:min(1, len(f.Parts))] {
				fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s %s\n", f.Name, fixed(f.Off), fixed(f.Floor),
					fixed(f.Limit), r.name(p), fixed(p.Off))
			}
		}
		fmt.Fprintf(t, "\nAUROC of\tsynthetic\treal\n")
		for _, p := range r.Predictions {
			fmt.Fprintf(t, "%s\t%s\t%s\n", predicted(p), fixed(p.Synthetic), fixed(p.Real))
		}
	})
}

// linkedPicture is the drawing of an answer.
type linkedPicture struct {
	finding
	Off      string // of a family
	Drawings []template.HTML
	Caption  string
}

// HTML writes the report as one page that needs no network.
func (r *linkedReport) HTML(w io.Writer) error {
	v := struct {
		*linkedReport
		Style    template.CSS
		Pictures []linkedPicture
	}{linkedReport: r, Style: template.CSS(pageStyle)}
	for i, f := range r.Summary[:len(linkedAnswers)] {
		p := linkedPicture{finding: f, Caption: linkedAnswers[i].caption}
		if i == len(r.Families) {
			p.Drawings = []template.HTML{r.predictions(f.Question)}
		} else {
			p.Off, p.Drawings = fixed(r.Families[i].Off), r.drawn(r.Families[i].Parts, f.Question)
		}
		v.Pictures = append(v.Pictures, p)
	}
	return write(w, linkedPage, v)
}

const mostParts = 14 // of a family that are drawn

// drawn are the pictures of a family: shares by value, of each table, or in one picture what a
// person would count, or the distances themselves.
func (r *linkedReport) drawn(parts []linked.Part, question string) (out []template.HTML) {
	d := rows{label: question, width: 400, left: room(parts, r.name), right: 84, to: 1e-9}
	parts = worstFirst(parts, partOff)
	for _, p := range parts {
		if p.Labels != nil {
			out = append(out, r.shares(question, p))
		}
	}
	if out != nil {
		return out
	}
	for _, p := range parts[:min(mostParts, len(parts))] {
		a, b, classes, text := p.Off, p.Floor, [2]string{"synthetic", "holdout"}, fixed(p.Off)
		if p.Real != nil {
			a, b, classes = *p.Real, *p.Synthetic, [2]string{"train", "synthetic"}
			real, synthetic := counted(p)
			text = real + ", " + synthetic
		}
		d.to = max(d.to, a, b)
		d.rows = append(d.rows, row{name: r.name(p), text: text,
			tip: fmt.Sprintf("%s: off by %s, by chance %s", r.name(p), fixed(p.Off), fixed(p.Floor)),
			marks: []mark{{class: classes[0], value: a, bar: true},
				{class: classes[1], value: b, bar: true}}})
	}
	return []template.HTML{d.draw()}
}

// room is the width that names need, up to half of a picture.
func room[T any](all []T, name func(T) string) float64 {
	longest := 0
	for _, x := range all {
		longest = max(longest, len([]rune(name(x))))
	}
	return min(200, 6*float64(longest)+8)
}

// shares draws the two distributions of a part.
func (r *linkedReport) shares(question string, p linked.Part) template.HTML {
	f := steps{label: question + " " + p.Table, width: 400, height: 190, left: 44,
		edges:  append(slices.Clone(p.Labels), ""),
		series: []shares{{"train", p.RealShares}, {"synthetic", p.SyntheticShares}}}
	for i, label := range p.Labels {
		f.tips = append(f.tips, fmt.Sprintf("from %s on: real %s, here %s", label,
			percent(p.RealShares[i]), percent(p.SyntheticShares[i])))
	}
	d := f.plot()
	d.text(d.x(.5), d.down+28, "tick", "middle", r.name(p), 60)
	return d.done()
}

// predictions draws the AUROC of what is predicted.
func (r *linkedReport) predictions(question string) template.HTML {
	f := rows{label: question, width: 400, left: room(r.Predictions, predicted), right: 20, to: 1,
		ticks: numberTicks(0, .25, .5, .75, 1)}
	for _, p := range worstFirst(r.Predictions, lost)[:min(mostParts, len(r.Predictions))] {
		f.rows = append(f.rows, row{name: predicted(p),
			tip:   fmt.Sprintf("%s: real %s, here %s", predicted(p), fixed(p.Real), fixed(p.Synthetic)),
			marks: []mark{{class: "train", value: p.Real}, {class: "synthetic", value: p.Synthetic}}})
	}
	return f.draw()
}
