package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/table"
)

const (
	mostAssociatedRows = 200_000 // rows of a table
	mostPairs          = 100     // pairs that the JSON names
	mostJoint          = 12      // groups of a column in the drawing of a pair
)

// associate measures how strongly every two columns go together in each table.
func (w *work) associate() error {
	if w.Missing(eval.Pairs) != "" {
		return nil
	}
	if w.Train.Rows() > mostAssociatedRows {
		w.note("Associations are measured on at most %d rows of each table, drawn from seed %d.",
			mostAssociatedRows, w.Seed)
	}
	real, synthetic := w.Cut(w.Train, mostAssociatedRows, 20),
		w.Cut(w.Synthetic, mostAssociatedRows, 21)
	holdout := w.Cut(w.Holdout, mostAssociatedRows, 22)
	lost, err := eval.LostAssociations(real, synthetic, holdout)
	if err != nil {
		return err
	}
	a := &associations{Real: numbers(lost.Real), Synthetic: numbers(lost.Synthetic),
		Holdout: numbers(lost.Holdout), Band: number(lost.Band)}
	for _, c := range w.codecs {
		a.Columns = append(a.Columns, c.Column().Name)
	}
	invented, err := eval.Invented(real, synthetic, holdout, inventedShare)
	if err != nil {
		return err
	}
	for _, c := range invented[:min(len(invented), mostPairs)] {
		a.Invented = append(a.Invented, inventedPair{a.Columns[c.First], a.Columns[c.Second],
			w.codecs[c.First].Label(c.Codes[0]), w.codecs[c.Second].Label(c.Codes[1]),
			number(float64(c.Rows) / float64(synthetic.Rows()))})
	}
	for i, p := range lost.Pairs {
		out := pairLoss{First: a.Columns[p.First], Second: a.Columns[p.Second], Real: number(p.Real),
			Holdout: number(p.Holdout), Synthetic: number(p.Synthetic), Excess: number(p.Excess)}
		if w.o.Pairs < 0 || i < w.o.Pairs {
			out.Joint = w.joint(p.First, p.Second)
		}
		a.pairs = append(a.pairs, out)
	}
	a.Pairs = a.pairs[:min(len(a.pairs), max(mostPairs, w.o.Pairs))]
	if w.o.Pairs < 0 {
		a.Pairs = a.pairs
	}
	w.out.Associations = a
	if !math.IsNaN(lost.Kept) {
		w.put("AssociationKept", eval.SyntheticRows, lost.Kept)
	}
	return nil
}

// joint counts the rows by groups of two columns.
func (w *work) joint(x, y int) *joint {
	gx, gy := group(w.codecs[x], count(w.Train, x), mostJoint),
		group(w.codecs[y], count(w.Train, y), mostJoint)
	shares := func(t *table.Table) [][]float64 {
		out := make([][]float64, len(gx.Labels))
		for i := range out {
			out[i] = make([]float64, len(gy.Labels))
		}
		a, b := t.Column(x), t.Column(y)
		for i := range t.Rows() {
			out[gx.group[a.At(i)]][gy.group[b.At(i)]] += 1 / float64(t.Rows())
		}
		return out
	}
	return &joint{gx.Labels, gy.Labels, shares(w.Train), shares(w.Synthetic)}
}

// numbers is nil for nil.
func numbers(m [][]float64) [][]number {
	if m == nil {
		return nil
	}
	out := make([][]number, len(m))
	for i, row := range m {
		for _, v := range row {
			out[i] = append(out[i], number(v))
		}
	}
	return out
}

const (
	goodPair, poorPair = .15, .40 // how far one pair is off, less the band
	// least share of the synthetic rows that have two values which no real row has together
	inventedShare = .005
)

// associated says whether columns that go together still do.
func (w *work) associated() finding {
	all, associated := eval.MetricOf("ColumnPairTrends"), eval.MetricOf("AssociationKept")
	f := finding{Question: "Are associations kept?", Status: Unknown, Rule: fmt.Sprintf(
		"Of the strength of the pairs that are associated in the real table, good from %s on and "+
			"poor below %s; no pair may be off by more than %.2f (poor from %.2f on), beyond what two "+
			"real tables differ by; no two values that %s of the synthetic rows have together may be "+
			"together in no real row. ColumnPairTrends, over all pairs: good from %s on, poor below %s.",
		percent(associated.Good), percent(associated.Poor), goodPair, poorPair, percent(inventedShare),
		percent(all.Good), percent(all.Poor))}
	trends, ok := w.first("ColumnPairTrends")
	if !ok {
		f.Answer = "There is one column only."
		return f
	}
	f.Status = grade(trends.Value, all.Good, all.Poor)
	if a := w.out.Associations; a != nil && len(a.pairs) > 0 {
		kept, some := w.first("AssociationKept")
		if some {
			f.Status = worse(f.Status, grade(kept.Value, associated.Good, associated.Poor))
			f.Answer = fmt.Sprintf("Columns that go together in the real table keep %s of the "+
				"strength of their associations.", percent(max(0, kept.Value)))
		} else {
			f.Answer = "Nothing to keep: no two columns of the real table go together."
		}
		f.Status = worse(f.Status, grade(a.pairs[0].Excess, goodPair, poorPair))
		var lost, strong []string
		for _, p := range a.pairs {
			if p.Excess <= goodPair {
				break
			}
			s := fmt.Sprintf("%s and %s: %s in the real table, %s here", p.First, p.Second,
				twoDigits(p.Real), twoDigits(p.Synthetic))
			if math.Abs(float64(p.Real)) >= math.Abs(float64(p.Synthetic)) || p.Real*p.Synthetic < 0 {
				lost = append(lost, s)
			} else {
				strong = append(strong, s)
			}
		}
		for i, list := range [][]string{lost, strong} {
			if list != nil {
				f.Answer += []string{" Lost: ", " Too strong: "}[i] +
					few(list, "; ", "; ", "and %d more pairs") + "."
			}
		}
		if len(a.Invented) > 0 {
			f.Status = worse(f.Status, Mixed)
			f.Answer += " " + impossible(a.Invented)
		}
		if !some && f.Status == Good {
			f.Status = Unknown
		}
	}
	f.Answer += fmt.Sprintf(" Pairs of columns match to %s%s.", percent(trends.Value),
		w.yardstick("ColumnPairTrends"))
	return f
}

// impossible names combinations that no real row has.
func impossible(list []inventedPair) string {
	var out []string
	for _, v := range list {
		out = append(out, fmt.Sprintf("%s = %s with %s = %s (%s of the synthetic rows)", v.First,
			v.FirstValue, v.Second, v.SecondValue, percent(v.Share)))
	}
	return "No real row has " + few(out, "; ", "; ", "and %d more") + ". If it cannot be by public " +
		"knowledge (not because these rows do not show it), a rule or a lookup keeps it out " +
		"(docs/schema.md)."
}

// twoDigits is a correlation as papers write it: .74.
func twoDigits(x number) string {
	s := fmt.Sprintf("%.2f", math.Abs(float64(x)))
	switch {
	case x != x: // a column of one value goes together with none
		return "–"
	case s == "0.00":
		return "0"
	case s == "1.00":
		s = "1"
	}
	s = strings.TrimPrefix(s, "0")
	if x < 0 {
		return "−" + s
	}
	return s
}
