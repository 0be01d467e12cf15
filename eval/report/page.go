package report

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/decoy-dp/decoy/eval"
)

//go:embed page.html
var pageText string

// headText is how each page begins, with what it may load: nothing.
//
//go:embed head.html
var headText string

//go:embed page.css
var pageStyle string

var page = pageOf(pageText, template.FuncMap{
	"percent": percent[number],
	"fixed":   fixed[number],
	"digits":  twoDigits,
	"short":   short[number],
	"verdict": verdict,
	"draw":    func(part interface{ chart() template.HTML }) template.HTML { return part.chart() },
	"maps":    (*associations).maps,
	"listed":  (*associations).listed,
	"numbers": column.numbers,
	"row":     rowOf,
})

func pageOf(text string, funcs template.FuncMap) *template.Template {
	return template.Must(template.New("page").Funcs(funcs).Parse(headText + text))
}

// verdict is a status in the words of its question.
func verdict(f finding) string {
	words := map[status]string{good: "✓ good", mixed: "~ mixed", poor: "✗ poor",
		unknown: "? cannot be told"}
	if strings.HasSuffix(f.Question, " copied?") {
		words[good], words[mixed], words[poor] = "✓ no sign of it", "! a sign of it", "✗ it seems so"
	}
	return words[f.Status]
}

// view is the page of a report.
type view struct {
	*Report
	Style         template.CSS
	Shown, Folded []column
	Numbers       []column // with numbers
	HasHoldout    bool     // beside each column
	Percent       string
	Pictures      []picture // of linked tables
}

// metricRow is one metric in the table of all.
type metricRow struct {
	metric
	Head []result // shown at once
	Tail []result // shown on demand
	Sum  string   // of the values, where there are many
}

const (
	mostCards = 30 // columns that are drawn at once
	mostHead  = 6  // values of a metric that are shown at once
)

// HTML writes the report as one page that needs no network.
func (r *Report) HTML(w io.Writer) error {
	v := view{Report: r, Style: template.CSS(pageStyle), Percent: percent(r.Settings.Level)}
	columns := r.byStatus()
	for _, c := range columns {
		if c.codec != nil && c.Values != nil && c.Values.Real != nil {
			v.Numbers = append(v.Numbers, c)
		}
	}
	if r.Histories != nil {
		v.Pictures = r.Histories.Pictures(r.Summary)
	}
	most := min(mostCards, len(columns))
	v.HasHoldout = most > 0 && columns[0].Holdout != nil
	v.Shown, v.Folded = columns[:most], columns[most:]
	return write(w, page, v)
}

func write(w io.Writer, t *template.Template, data any) error {
	var b bytes.Buffer
	if err := t.Execute(&b, data); err != nil {
		return err
	}
	// a number and its sign stay together
	_, err := w.Write(bytes.ReplaceAll(visible(b.Bytes()), []byte(" %"), []byte("\u00A0%")))
	return err
}

// numbers writes what sums up the numbers of a column, of the real table and of the synthetic one.
func (c column) numbers() (out [6][2]string) {
	for i, s := range []*eval.Summary{c.Values.Real, c.Values.Synthetic} {
		value := func(x number) string { return c.codec.Show(float64(x), short) }
		for k, text := range []string{value(s.Mean), c.codec.ShowDifference(float64(s.Std), short),
			value(s.P05), value(s.Median), value(s.P95), value(s.Min) + " – " + value(s.Max)} {
			out[k][i] = text
		}
	}
	return out
}

// visible replaces characters that a page should not have: controls, and those that turn the
// direction of writing, with which a name could make its surroundings read otherwise.
func visible(text []byte) []byte {
	return bytes.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			return '\uFFFD'
		}
		return r
	}, text)
}

func rowOf(m metric) metricRow {
	r := metricRow{metric: m, Head: m.Values}
	if len(m.Values) <= mostHead {
		return r
	}
	if !m.ByColumn {
		r.Head, r.Tail = m.Values[:mostHead], m.Values[mostHead:]
		return r
	}
	r.Head, r.Tail = nil, m.Values
	goal := map[bool]number{true: 1}[m.Goal == "1"]
	off := func(v result) float64 { return math.Abs(float64(v.Value - goal)) }
	sorted := slices.SortedStableFunc(slices.Values(m.Values), func(a, b result) int {
		return cmp.Compare(off(a), off(b))
	})
	worst := sorted[len(sorted)-1]
	r.Sum = fmt.Sprintf("%d values, median %.3f, worst %.3f (%s)", len(sorted),
		float64(sorted[len(sorted)/2].Value), float64(worst.Value), worst.Of)
	return r
}

// JSON writes the report for programs.
func (r *Report) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(r)
}

// Text writes the summary and the metrics for a terminal; of a metric with many columns or pairs,
// what sums them up.
func (r *Report) Text(w io.Writer) error {
	var b bytes.Buffer
	b.WriteString("NOT PRIVATE: computed from the real rows without noise; keep it as safe as " +
		"they are.\n\n")
	if t := r.Tables[len(r.Tables)-1]; t.Name != "" && r.Histories == nil {
		fmt.Fprintln(&b, t.Name)
	}
	if r.Claim != nil {
		fmt.Fprintln(&b, r.Claim.Text)
	}
	for _, f := range r.Summary {
		fmt.Fprintf(&b, "%-9s %s\n          %s\n", "["+string(f.Status)+"]", f.Question,
			strings.ReplaceAll(f.Answer, "\n", "\n          "))
	}
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "\nmetric\tvalue\tinterval\tgoal\tof\n")
	for _, m := range r.Metrics {
		row := rowOf(m)
		switch {
		case m.LeftOut != "":
			fmt.Fprintf(t, "%s\t–\t\t\t%s\n", m.Name, m.LeftOut)
		case row.Sum != "":
			fmt.Fprintf(t, "%s\t\t\t%s\t%s\n", m.Name, m.Goal, row.Sum)
			row.Tail = nil
		}
		for _, v := range slices.Concat(row.Head, row.Tail) {
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
	_, err := w.Write(bytes.ReplaceAll(visible(b.Bytes()), []byte("\t"), []byte("\uFFFD")))
	return err
}
