package report

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/decoy-dp/decoy/eval"
)

//go:embed page.html
var pageText string

//go:embed page.css
var pageStyle string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"percent": percent[number],
	"fixed":   fixed[number],
	"digits":  twoDigits,
	"id":      anchor,
	"short":   short[number],
	"verdict": verdict,
	"draw":    func(part interface{ chart() template.HTML }) template.HTML { return part.chart() },
	"maps":    (*associations).maps,
	"listed":  (*associations).listed,
	"numbers": column.numbers,
}).Parse(pageText))

// verdict is a status in the words of its question.
func verdict(f finding) string {
	words := map[Status]string{Good: "✓ good", Mixed: "~ mixed", Poor: "✗ poor",
		Unknown: "? cannot be told"}
	if f.Question == copyQuestion {
		words[Good], words[Mixed], words[Poor] = "✓ no sign of it", "! a sign of it", "✗ it seems so"
	}
	return words[f.Status]
}

// anchor is the id of a section of a report of the page.
func anchor(name string, at int) string {
	if at == 1 {
		return name
	}
	return fmt.Sprintf("%s-%d", name, at)
}

// labelled is a drawing with its caption.
type labelled struct {
	Caption string
	Drawing template.HTML
}

// sheet is the page: one report, or several side by side.
type sheet struct {
	Style   template.CSS
	Real    []tableInfo
	Views   []*view
	Several bool
	Sides   []side
	Warning string
}

// side is one line of the comparison of several synthetic tables.
type side struct {
	Name, Goal string
	Cells      []sideCell
}

type sideCell struct {
	Text  string
	Class Status
}

// view is one report.
type view struct {
	*Report
	At            int // of the reports of the page, from 1
	Table         tableInfo
	Shown, Folded []column
	Numbers       []column   // with numbers
	Joint         []pairLoss // that are drawn
	Rows          []metricRow
	HasHoldout    bool
	Percent       string
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
	p := sheet{Style: template.CSS(pageStyle), Several: len(r.Others) > 0}
	for i, one := range append([]*Report{r}, r.Others...) {
		p.Views = append(p.Views, one.view(i+1))
	}
	for _, t := range r.Tables {
		if t.Role != "synthetic" {
			p.Real = append(p.Real, t)
		}
	}
	if p.Several {
		p.Sides = r.sides()
	}
	return write(w, page, p)
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

func (r *Report) view(at int) *view {
	v := &view{Report: r, At: at, Percent: percent(r.Settings.Level),
		Table: r.Tables[len(r.Tables)-1], HasHoldout: len(r.Tables) > 2}
	columns := r.worst()
	for _, c := range columns {
		if c.codec != nil && c.Values != nil && c.Values.Train != nil {
			v.Numbers = append(v.Numbers, c)
		}
	}
	most := min(mostCards, len(columns))
	v.Shown, v.Folded = columns[:most], columns[most:]
	if a := r.Associations; a != nil {
		for _, p := range a.Pairs {
			if p.Joint != nil {
				v.Joint = append(v.Joint, p)
			}
		}
	}
	for _, m := range r.Metrics {
		v.Rows = append(v.Rows, rowOf(m))
	}
	return v
}

// numbers writes what sums up the numbers of a column, of the real table and of the synthetic one.
func (c column) numbers() (out [6][2]string) {
	for i, s := range []*summary{c.Values.Train, c.Values.Synthetic} {
		value := func(x number) string { return c.codec.Show(float64(x), short) }
		for k, text := range []string{value(s.Mean), c.codec.ShowDifference(float64(s.Std), short),
			value(s.P05), value(s.Median), value(s.P95), value(s.Min) + " – " + value(s.Max)} {
			out[k][i] = text
		}
	}
	return out
}

// sides compares several synthetic tables: the verdicts, and the metrics that are one number each.
func (r *Report) sides() []side {
	all := append([]*Report{r}, r.Others...)
	var out []side
	for i, f := range r.Summary {
		s := side{Name: f.Question}
		for _, x := range all {
			s.Cells = append(s.Cells, sideCell{verdict(x.Summary[i]), x.Summary[i].Status})
		}
		out = append(out, s)
	}
	for i, m := range r.Metrics {
		for k, v := range m.Values[:min(len(m.Values), m.Beside)] {
			if strings.Contains(v.Of, "yardstick") {
				continue
			}
			s := side{Name: m.Name, Goal: m.Goal}
			if of := strings.TrimPrefix(v.Of, eval.SyntheticRows); of != "" && len(m.Values) > 1 {
				s.Name += ", " + strings.TrimPrefix(of, ", ")
			}
			for _, x := range all {
				text := "–"
				if k < len(x.Metrics[i].Values) {
					text = fmt.Sprintf("%.3f", x.Metrics[i].Values[k].Value)
				}
				s.Cells = append(s.Cells, sideCell{Text: text})
			}
			out = append(out, s)
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
	sorted := slices.Clone(m.Values)
	slices.SortStableFunc(sorted, func(a, b result) int { return cmp.Compare(a.Value, b.Value) })
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
		"they are.\n")
	for _, one := range append([]*Report{r}, r.Others...) {
		one.text(&b)
	}
	_, err := w.Write(bytes.ReplaceAll(visible(b.Bytes()), []byte("\t"), []byte("\uFFFD")))
	return err
}

func (r *Report) text(b *bytes.Buffer) {
	b.WriteByte('\n')
	if t := r.Tables[len(r.Tables)-1]; t.Name != "" {
		fmt.Fprintf(b, "%s\n", t.Name)
		if t.Claim != nil {
			fmt.Fprintf(b, "made by %s with %s\n", t.Claim.Method, t.Claim.Text)
		}
	}
	for _, f := range r.Summary {
		fmt.Fprintf(b, "%-9s %s\n          %s\n", "["+string(f.Status)+"]", f.Question, f.Answer)
	}
	b.WriteByte('\n')
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
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
		fmt.Fprintf(b, "note: %s\n", n)
	}
}
