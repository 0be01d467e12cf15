package report

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/eval/linked"
)

// histories is what is found about linked tables beyond each table by itself. Its JSON names are an
// interface.
type histories struct {
	// distances, each beside its floor: see linked.Families
	Families    []linked.Family     `json:"families"`
	Predictions []linked.Prediction `json:"predictions"`

	in       Linked
	o        Options
	real     []tableInfo // the training tables
	tables   []*work     // each by itself; none where one can be read once only
	children []*work     // of summaries of histories, by child table; nil where a file has none
	values
}

// historyAnswers say what is asked of each family, what a person would count of a part (of its
// column, real, here), and what the picture shows.
var historyAnswers = map[string]struct{ question, words, caption string }{
	"FanOut": {"Does a unit have as many rows?", "A unit has %[2]s rows on average, and %[3]s here.",
		"Shares of units, by their number of rows."},
	"ParentChild": {"Do rows fit the unit they belong to?", "", "Distances of a column of the unit " +
		"with one of its rows, the worst first. Grey: what chance alone makes of it."},
	"Transition": {"Does the next row follow from the last?", "%[1]s stays the same in %[2]s of " +
		"the real steps, and in %[3]s here.",
		"How often a column is the same in the next row, real and here, the worst first."},
	"Gap": {"Is the time between rows right?", "", "Shares of steps, by how much the order grows."},
	"ThirdNext": {"Does a history keep its thread?", "%[1]s is the same three rows on in %[2]s of " +
		"the real cases, and in %[3]s here.",
		"How often a column is the same three rows on, real and here, the worst first."},
	"DistinctValues": {"Do values come back as often?", "A unit has %[2]s different values of %[1]s " +
		"on average, and %[3]s here.",
		"How many different values a unit has on average, real and here, the worst first."},
	"OrphansOrder": {"Has every row a unit, and its place?", "%[1]s: %[2]s in the real files, " +
		"%[3]s here.", "Shares of the rows of the files."},
	"ChildChild": {"Do the columns of a row fit each other?", "", "Distances of two columns of a " +
		"row, the worst first. Grey: what chance alone makes of it."},
}

const predictHistories = "Can a model be trained on histories?"

// partPoor is how far beyond its limit a single part is poor.
const partPoor = .20

// farFactor is how many times too large a mean is not good: distances of groups hardly see the
// largest values. Where either table has fewer than fewUnits units, chance moves means so far where
// they have long tails, and a model learns less, whatever the rows are like.
const farFactor, fewUnits = 1.5, 200

// manySteps is the share of the steps that do what real ones never do beyond which a family is
// poor.
const manySteps = .1

// hardlyPredicted is an AUROC of real rows from which on a prediction says something.
const hardlyPredicted = .6

func (in Linked) subject(o Options) (subject, error) {
	h, err := &histories{in: in, o: o, values: values{}}, error(nil)
	for i := 0; i < len(in.Tables) && err == nil; i++ {
		h.tables = append(h.tables, nil)
		h.tables[i], err = start(in.Tables[i], o)
	}
	return h, err
}

func (h *histories) stages(context.Context) []stage {
	out := []stage{{"comparing histories", h.compare}, {"predictions", h.predict},
		{"copies", h.summarise}}
	for _, w := range h.tables {
		out = append(out, stage{"columns of " + w.in.Synthetic.Name, w.shapes})
	}
	return out
}

// questions are those of the histories, and of the columns of each table by itself.
func (h *histories) questions() (out []question) {
	for i := range h.Families {
		f := &h.Families[i]
		judge := h.distances
		switch f.Name {
		case linked.FanOut:
			judge = h.rowsOfUnits
		case linked.OrphansOrder:
			judge = h.orphans
		}
		out = append(out, question{historyAnswers[f.Name].question, "", func(out *finding) {
			judge(f, out)
		}})
	}
	out = append(out, question{predictHistories, "", h.useful})
	for _, w := range h.tables {
		out = append(out, question{"Do the columns of " + w.in.Synthetic.Name + " look alike?", alikeRule,
			w.alike})
	}
	return append(out, question{"Are real histories copied?", inHistories.Replace(copiedRule),
		h.copied})
}

func (h *histories) describe(r *Report) {
	r.SchemaSHA256, r.Histories = h.in.Schema.Fingerprint(), h
	r.Tables = h.real
	if h.in.Holdout != nil {
		r.Tables = append(r.Tables, infos("holdout", h.in.Holdout)...)
	}
	r.Tables = append(r.Tables, infos("synthetic", h.in.Synthetic)...)
	for _, w := range h.tables {
		for _, c := range w.Columns {
			c.Name = w.in.Synthetic.Name + ": " + c.Name
			r.Columns = append(r.Columns, c)
		}
	}
	if h.tables == nil {
		r.Notes = append(r.Notes, cellsNotCompared)
	}
}

// infos describes linked tables in one of their roles.
func infos(role string, t *linked.Tables) []tableInfo {
	out := []tableInfo{{Role: role, Name: t.Name, Rows: t.Parents.Rows()}}
	for _, c := range t.Children {
		out = append(out, tableInfo{role, c.Name, c.Rows.Rows(), t.History(&c).Unused})
	}
	return out
}

// metric is an entry with the values of all tables, if there are any.
func (h *histories) metric(m eval.Metric) (metric, bool) {
	entry := metric{Metric: m, Values: h.values[m.Name]}
	for _, f := range h.Families {
		if f.Name == m.Name {
			entry.Goal = fmt.Sprintf("%s by chance; good up to %s", fixed(f.Floor),
				fixed(f.Limit))
		}
	}
	take := func(name string, w *work) {
		for _, v := range w.values[m.Name] {
			v.Of = name + ": " + v.Of
			entry.Values = append(entry.Values, v)
		}
	}
	for _, w := range h.tables {
		take(w.in.Synthetic.Name, w)
	}
	for i, w := range h.children {
		if w != nil {
			take("histories of "+h.real[i+1].Name, w)
		}
	}
	return entry, len(entry.Values) > 0
}

// compare measures distances of histories.
func (h *histories) compare() (err error) {
	h.real = infos("train", h.in.Train)
	h.Families, err = linked.Families(h.in.Train, h.in.Synthetic, h.o.Seed)
	for _, f := range h.Families {
		if len(f.Parts) > 0 {
			worst := worstFirst(f.Parts, partOff)[0]
			h.put(f.Name, "mean", f.Off)
			h.put(f.Name, "furthest off: "+h.named(worst, worst.Of), worst.Off)
		}
	}
	return err
}

// predict measures what models learn from histories.
func (h *histories) predict() (err error) {
	h.Predictions, err = linked.Predict(h.in.Train, h.in.Synthetic, nil, h.o.Seed)
	for _, p := range h.Predictions {
		h.put("TSTR", predicted(p), p.Synthetic)
		h.put("TRTR", predicted(p), p.Real)
	}
	return err
}

// summarise looks for copies as in one table, whose rows are summaries of the histories of the
// training tables, the synthetic ones and the holdout, by child table.
func (h *histories) summarise() error {
	var rows [3][]*table.Table
	for k, of := range []*linked.Tables{h.in.Train, h.in.Synthetic, h.in.Holdout} {
		var err error
		if of != nil {
			rows[k], err = linked.Summaries(h.in.Train, of)
		}
		if err != nil {
			return err
		}
	}
	h.children = make([]*work, len(rows[0]))
	for i := range h.children {
		in := Tables{Train: Table{Rows: rows[0][i]}, Synthetic: Table{Rows: rows[1][i]}}
		some := rows[0][i].Rows() > 0 && rows[1][i].Rows() > 0
		if rows[2] != nil {
			in.Holdout.Rows = rows[2][i]
			some = some && rows[2][i].Rows() > 0
		}
		if !some {
			continue
		}
		w, err := start(in, h.o)
		if err == nil {
			err = errors.Join(w.nearest(), w.closest(),
				w.measure("IdenticalMatchShare", "UniqueExactMatches"))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", h.real[i+1].Name, err)
		}
		h.children[i] = w
	}
	return nil
}

// copied looks for copies in each child table. Without a holdout only those are seen which leave
// synthetic histories nearer to real ones than these are to others.
func (h *histories) copied(f *finding) {
	var last *work
	for i, w := range h.children {
		if w == nil {
			f.say("Histories of %s are not compared: one of the files has none.", h.real[i+1].Name)
			continue
		}
		if near := w.Nearest; w.Holdout == nil && near != nil &&
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
}

// inHistories says of histories what is said of rows.
var inHistories = strings.NewReplacer("rows", "histories", "row", "history", "in every column",
	"in the summary")

// The real rows that do not count, from which on the number of rows is not good, and is poor.
const someUnused, manyUnused = .05, .2

// rowsOfUnits judges how many rows units have, and says which real rows the schema leaves out.
func (h *histories) rowsOfUnits(f *linked.Family, out *finding) {
	h.distances(f, out)
	for _, t := range h.real[1:] {
		if share := float64(t.Unused) / float64(t.Rows); share > 0 {
			out.see(grade(share, someUnused, manyUnused), "That is of the rows that count: %s of the "+
				"real rows of %s do not. They are beyond the first of their unit that the schema uses, or "+
				"have no place in the order.", percent(share), t.Name)
		}
	}
}

// orphans judges what no file of linked tables should have.
func (h *histories) orphans(f *linked.Family, out *finding) {
	out.Rule = "Good if these are at most twice as frequent as in the real files, so none where " +
		"those have none; else poor. Order is that of the rows in the file."
	if out.Status = poor; f.Good {
		out.Status = good
	}
	for _, p := range f.Parts {
		out.say("%s", h.inWords(f.Name, p))
	}
	if twice := f.Parts[0]; *twice.Real > someUnused {
		out.see(mixed, "What is the id of a unit should be there once: is it the right column?")
	}
}

// distances judges a family.
func (h *histories) distances(f *linked.Family, out *finding) {
	out.Rule = fmt.Sprintf(
		"The figure is a total variation distance: 0 is equal, 1 is nothing in common. Good up to %s: "+
			"0.02 beyond the worst of 63 times that the real and the synthetic units are dealt anew into "+
			"two groups. Poor beyond that by %.2f. A single part beyond its own limit makes it mixed, and "+
			"by %.2f poor. It is mixed, too, if of 5 %% of the units or more a share of rows, or the "+
			"number of rows, is off by more than half, and by more than chance explains, or if a mean is; "+
			"or if %s of the steps do what at most %s of the real ones do, such as a number that falls. "+
			"Beyond %s of the steps it is poor.",
		fixed(f.Limit), eval.MetricOf(f.Name).Poor, partPoor, percent(linked.SomeSteps),
		percent(linked.NeverShare), percent(manySteps))
	if len(f.Parts) == 0 {
		out.say("There is no column to compare.")
	} else {
		h.parts(f, out)
	}
	for i := 0; f.Name == linked.ChildChild && i < len(h.tables); i++ {
		h.tables[i].inOrder(out)
	}
}

// parts judges a family by its mean, its worst part, and the group that is furthest off.
func (h *histories) parts(f *linked.Family, out *finding) {
	beyond := func(p linked.Part) float64 { return p.Off - p.Limit }
	worst, groups := worstFirst(f.Parts, beyond)[0], worstFirst(f.Parts, groupOff)
	verdict := worse(judge(f.Name, f.Off-f.Limit), grade(beyond(worst), 0, partPoor))
	if g := groups[0].Group; g != nil {
		verdict = worse(verdict, mixed)
		if g.Units == linked.Steps {
			verdict = worse(verdict, grade(g.Off, 0, manySteps))
		}
	}
	if worst.Mean && factor(worst) > farFactor && h.units() >= fewUnits {
		verdict = worse(verdict, mixed)
	}
	if verdict == good && f.Floor > fewTell {
		verdict = unknown
		out.say("The units are too few to tell.")
	}
	out.see(verdict, "Off by %s; by chance alone it would be %s.", fixed(f.Off), fixed(f.Floor))
	if len(f.Parts) > 1 && worst.Off > worst.Floor {
		out.say("Furthest off: %s, by %s.", h.named(worst, worst.Of), fixed(worst.Off))
	}
	if f.Name == linked.FanOut {
		worst = f.Parts[0]
	}
	if historyAnswers[f.Name].words != "" {
		out.say("%s", h.inWords(f.Name, worst))
	} else if worst.Mean && *worst.Real > 0 {
		out.say("On average it is %s times that of the real rows.", short(*worst.Synthetic / *worst.Real))
	}
	h.sayGroups(groups[:min(3, len(groups))], out)
}

// sayGroups names the group of units that is furthest off, or what steps do that real ones do not.
func (h *histories) sayGroups(parts []linked.Part, out *finding) {
	for i, p := range parts {
		switch g := p.Group; {
		case g == nil || i > 0 && g.Units != linked.Steps:
		case g.Units == linked.Steps:
			out.say("%s in %s of the steps, and in %s of the real ones.", h.named(p, g.Of),
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
func (h *histories) units() int {
	return min(h.in.Train.Parents.Rows(), h.in.Synthetic.Parents.Rows())
}

// worstFirst sorts what is off by so much.
func worstFirst[T any](all []T, off func(T) float64) []T {
	return slices.SortedStableFunc(slices.Values(all), func(a, b T) int {
		return cmp.Compare(off(b), off(a))
	})
}

// groupOff is how far the group of a part is off.
func groupOff(p linked.Part) float64 {
	if p.Group == nil {
		return 0
	}
	return p.Group.Off
}

// factor is how many times one mean is the other.
func factor(p linked.Part) float64 { return max(*p.Real / *p.Synthetic, *p.Synthetic / *p.Real) }

func partOff(p linked.Part) float64    { return p.Off }
func lost(p linked.Prediction) float64 { return p.Real - p.Synthetic }

// named names something of a part, with its table where there are several.
func (h *histories) named(p linked.Part, of string) string {
	if len(h.real) > 2 || p.Table == h.real[0].Name {
		return p.Table + ": " + of
	}
	return of
}

// inWords is what a person would count of a part of a family.
func (h *histories) inWords(family string, p linked.Part) string {
	if p.Real == nil {
		return ""
	}
	a, b := counted(p)
	return fmt.Sprintf(historyAnswers[family].words, h.named(p, p.Of), a, b)
}

// counted writes the shares, or the means, of a part.
func counted(p linked.Part) (real, synthetic string) {
	if p.Mean {
		return short(*p.Real), short(*p.Synthetic)
	}
	return percent(*p.Real), percent(*p.Synthetic)
}

// useful says whether models trained on synthetic histories work on real ones.
func (h *histories) useful(out *finding) {
	m := eval.MetricOf("TSTR")
	out.Rule = fmt.Sprintf("By how much the AUROC "+
		"on real units falls, on average over what real units predict to %.1f or more: good up to %.2f, "+
		"poor beyond %.2f. A quarter of the real units is the test.", hardlyPredicted, m.Good, m.Poor)
	some := slices.DeleteFunc(worstFirst(h.Predictions, lost), func(p linked.Prediction) bool {
		return p.Real < hardlyPredicted
	})
	if len(some) == 0 {
		out.say("Even real rows predict nothing here.")
		return
	}
	mean, worst := 0., some[0]
	for _, p := range some {
		mean += lost(p) / float64(len(some))
	}
	verdict := judge("TSTR", mean)
	if h.units() < fewUnits {
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
