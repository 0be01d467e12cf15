package report

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"text/tabwriter"
	"unicode"
)

//go:embed page.html
var pageText string

//go:embed page.css
var pageStyle string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"percent": func(n Number) string { return percent(float64(n)) },
	"fixed":   fixed,
	"verdict": verdict,
}).Parse(pageText))

// verdict is a status in the words of its question.
func verdict(f Finding) string {
	words := map[Status]string{Good: "✓ good", Mixed: "~ mixed", Poor: "✗ poor",
		Unknown: "? cannot be told"}
	if f.Question == copyQuestion {
		words[Good], words[Mixed], words[Poor] = "✓ no sign of it", "! a sign of it",
			"✗ it seems so"
	}
	return words[f.Status]
}

// labelled is a drawing with its caption.
type labelled struct {
	Caption string
	Drawing template.HTML
}

// view is what the page shows.
type view struct {
	*Report
	Style                template.CSS
	Shown, Folded        []card
	Associated           []labelled
	Rocs                 []labelled
	Accuracies, Loss     template.HTML
	Distances            template.HTML
	Rare                 []labelled
	Rows                 []row
	HasHoldout           bool
	HoldoutRows, Percent string
}

// card is one column.
type card struct {
	Column
	Drawing template.HTML
}

// row is one metric in the table of all.
type row struct {
	Metric
	Head []Value // shown at once
	Tail []Value // shown on demand
	Sum  string  // of the values, where there are many
}

const (
	mostCards = 30 // columns that are drawn at once
	mostHead  = 6  // values of a metric that are shown at once
)

// HTML writes the report as one page that needs no network.
func (r *Report) HTML(w io.Writer) error {
	v := view{Report: r, Style: template.CSS(pageStyle), Percent: percent(r.Settings.Level)}
	for _, t := range r.Tables {
		v.HasHoldout = v.HasHoldout || t.Role == "holdout"
	}
	for i, c := range r.Columns {
		if at := (card{c, c.chart()}); i < mostCards {
			v.Shown = append(v.Shown, at)
		} else {
			v.Folded = append(v.Folded, at)
		}
	}
	if r.Associations != nil {
		v.Associated = r.Associations.charts()
	}
	for _, p := range r.Predictions {
		v.Rocs = append(v.Rocs, labelled{p.Learner, p.chart()})
	}
	z := math.Sqrt2 * math.Erfinv(r.Settings.Level)
	if n := r.Nearest; n != nil {
		v.Accuracies, v.Distances = n.chart(z), n.DCR.chart()
		if n.Loss != nil {
			v.Loss = n.Loss.chart(z)
		}
	}
	for _, x := range r.RareValues {
		v.Rare = append(v.Rare, labelled{x.Column + " = " + x.Value, x.chart()})
	}
	for _, m := range r.Metrics {
		v.Rows = append(v.Rows, rowOf(m))
	}
	var b bytes.Buffer
	if err := page.Execute(&b, v); err != nil {
		return err
	}
	// a number and its sign stay together
	_, err := w.Write(bytes.ReplaceAll(visible(b.Bytes()), []byte(" %"), []byte("\u00A0%")))
	return err
}

// visible replaces characters that a page should not have: controls, and those that turn the
// direction of writing, with which a name could make its surroundings read otherwise.
func visible(text []byte) []byte {
	return bytes.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			return '\uFFFD'
		}
		return r
	}, text)
}

func rowOf(m Metric) row {
	r := row{Metric: m, Head: m.Values}
	if len(m.Values) <= mostHead {
		return r
	}
	r.Head, r.Tail = nil, m.Values
	if m.Name == "NNAA" || m.Name == "AUROC" || m.Name == "AveragePrecision" || m.Name == "DCR" ||
		m.Name == "NNDR" || m.Name == "MarginalError" {
		r.Head, r.Tail = m.Values[:mostHead], m.Values[mostHead:]
		return r
	}
	sorted := slices.Clone(m.Values)
	slices.SortStableFunc(sorted, func(a, b Value) int {
		switch {
		case a.Value < b.Value:
			return -1
		case a.Value > b.Value:
			return 1
		}
		return 0
	})
	r.Sum = fmt.Sprintf("%d values, median %.3f, least %.3f (%s)", len(sorted),
		float64(sorted[len(sorted)/2].Value), float64(sorted[0].Value), sorted[0].Of)
	return r
}

// JSON writes the report for programs.
func (r *Report) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(r)
}

// Text writes the summary and the metrics for a terminal; of a metric with many values, what sums
// them up.
func (r *Report) Text(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "NOT PRIVATE: computed from the real rows without noise; keep it as safe as "+
		"they are.\n\n")
	for _, f := range r.Summary {
		fmt.Fprintf(&b, "%-9s %s\n          %s\n", "["+string(f.Status)+"]", f.Question, f.Answer)
	}
	b.WriteByte('\n')
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "metric\tvalue\tinterval\tgoal\tof\n")
	for _, m := range r.Metrics {
		row := rowOf(m)
		switch {
		case m.LeftOut != "":
			fmt.Fprintf(t, "%s\t–\t\t\t%s\n", m.Name, m.LeftOut)
		case row.Sum != "":
			fmt.Fprintf(t, "%s\t\t\t%s\t%s\n", m.Name, m.Goal, row.Sum)
		}
		for _, v := range row.Head {
			span := ""
			if v.Interval != nil {
				span = fmt.Sprintf("%s to %s", v.Interval.Low, v.Interval.High)
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", m.Name, v.Value, span, m.Goal, v.Of)
		}
	}
	t.Flush()
	b.WriteByte('\n')
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	text := bytes.Map(func(r rune) rune {
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			return '\uFFFD'
		}
		return r
	}, b.Bytes())
	_, err := w.Write(text)
	return err
}
