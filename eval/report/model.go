package report

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/decoy-dp/decoy/data/schema"
)

//go:embed model.html
var modelText string

var modelTemplate = pageOf(modelText, nil)

// Released is what a model says of itself.
type Released struct {
	Method, Tool string
	Created      time.Time
	Rows         float64 // that it stands for
	Claim        Claim
	Overlap      bool    // a privacy unit may be in the tables of several parties
	Layers       []Layer // of the guarantee
	Schema       *schema.Schema
	Fingerprint  string     // of the schema
	Contents     string     // hash of what the run delivered; "" of old files
	Marginals    []Marginal // that it was made of; nil: it keeps none
}

// Layer is one of the layers of a guarantee.
type Layer struct{ Name, Text string }

// Marginal is a noisy table over groups of values, row-major, the last column fastest.
type Marginal struct {
	Columns []string
	Groups  [][][]string // per column the values of each group
	Sigma   float64      // standard deviation of the noise of every cell, in rows
	Noisy   []float64    // true counts plus noise
	Model   []float64    // what the model makes of all marginals together
}

// modelPage is the page of a model.
type modelPage struct {
	Released
	Style    template.CSS
	Factor   string // e^ε
	Belief   string // what a belief of one half becomes at most
	Unit     string // row, or the column that names it
	Audience audience
	Kept     bool       // the model keeps its noisy marginals
	Columns  []measured // each once, as finely as it was measured
	Others   []measured // of several columns, or of groups of values
	Column   float64    // smallest group that stands out, in rows: in a column
	Pair     float64    // and in a pair
	Pairs    int        // that were measured, of
	AllPairs int
}

// measured is a noisy marginal.
type measured struct {
	Name, Kind string
	Cells      string // such as 12 × 2
	Sigma      string // rows
	Smallest   float64
	Below      int // cells below the noise
	Drawing    template.HTML
}

// audience says to whom a release may go. The thresholds are those of docs/epsilon.md.
type audience struct {
	upTo                 float64 // ε
	Grade, Verdict, Text string
}

var audiences = []audience{
	{1, "good", "✓ anyone", "The guarantee is strong enough to publish the table and the model, or " +
		"to hand them to people whom you do not know."},
	{3, "mixed", "~ people you know", "The guarantee is for people whom you know, under an " +
		"agreement that they do not try to find anyone in the table."},
	{10, "mixed", "~ inside only", "The guarantee is weak. It guards against accidents among people " +
		"who might see the real rows too."},
	{math.Inf(1), "poor", "✗ nobody", "At this ε the guarantee says next to nothing about one " +
		"person. Treat the table and the model as if they were the real rows."},
}

// Model writes a page about a model that may be given away with it: it is made of what the model
// says, and costs nothing. It believes that.
func Model(w io.Writer, m Released) error {
	n := len(m.Schema.Columns)
	p := modelPage{Released: m, Style: template.CSS(pageStyle), Kept: m.Marginals != nil,
		Factor: short(math.Exp(m.Claim.Epsilon)), AllPairs: n * (n - 1) / 2,
		Unit: cmp.Or(m.Claim.Unit, "row")}
	p.Belief = fmt.Sprintf("%.3g %%", math.Ceil(1000/(1+math.Exp(-m.Claim.Epsilon)))/10)
	p.Audience = audiences[slices.IndexFunc(audiences, func(a audience) bool {
		return m.Claim.Epsilon <= a.upTo
	})]
	if err := p.add(); err != nil {
		return err
	}
	return write(w, modelTemplate, p)
}

// add takes in the marginals, each of those that were measured several times as finely as it was,
// and counts the pairs of columns that they have together.
func (p *modelPage) add() error {
	codecs, err := p.Schema.Codecs()
	if err != nil {
		return err
	}
	overviews, err := p.Schema.Overview()
	if err != nil {
		return err
	}
	finest := map[string]int{}
	for k, n := range p.Marginals {
		name := strings.Join(n.Columns, " × ")
		if old, ok := finest[name]; !ok || len(n.Noisy) > len(p.Marginals[old].Noisy) {
			finest[name] = k
		}
	}
	together := map[[2]int]bool{}
	for k, n := range p.Marginals {
		m := measured{Name: strings.Join(n.Columns, " × "), Sigma: short(n.Sigma),
			Smallest: math.Ceil(2 * n.Sigma)} // the noise alone goes higher in 2.3 % of the empty cells
		if finest[m.Name] != k {
			continue
		}
		var sides []string
		for _, g := range n.Groups {
			sides = append(sides, fmt.Sprint(len(g)))
		}
		m.Cells = strings.Join(sides, "\u00a0×\u00a0")
		for _, x := range n.Noisy {
			if x < 2*n.Sigma {
				m.Below++
			}
		}
		if at := p.Schema.Index(n.Columns[0]); len(n.Columns) == 1 {
			m.Kind = overviews[at].KindAndUnit()
			m.Drawing = columnOf(n, codecs[at], max(1, p.Rows)).chart()
			p.Columns, p.Column = append(p.Columns, m), max(p.Column, m.Smallest)
			continue
		}
		p.Others, p.Pair = append(p.Others, m), max(p.Pair, m.Smallest)
		for i, a := range n.Columns {
			for _, b := range n.Columns[:i] {
				j, k := p.Schema.Index(a), p.Schema.Index(b)
				together[[2]int{min(j, k), max(j, k)}] = true
			}
		}
	}
	p.Pairs = len(together)
	return nil
}

// columnOf is a noisy marginal of one column as the report draws it: measured shares in place of
// the training table's, with a band of two standard deviations, and the model's.
func columnOf(n Marginal, codec *schema.Codec, total float64) column {
	c := column{Name: n.Columns[0], codec: codec}
	if len(n.Noisy) == codec.Size() { // every code by itself
		counts := make([]int64, len(n.Noisy))
		for i, x := range n.Noisy {
			counts[i] = int64(x)
		}
		c.groups = group(codec, counts)
	} else {
		for i, g := range groupLabels(n.Groups[0]) {
			c.group, c.Labels = append(c.group, i), append(c.Labels, g)
		}
	}
	noisy, model, cells := make([]float64, len(c.Labels)), make([]float64, len(c.Labels)),
		make([]float64, len(c.Labels))
	for i, at := range c.group {
		noisy[at] += n.Noisy[i]
		model[at] += n.Model[i]
		cells[at]++
	}
	for i := range noisy {
		half := 2 * n.Sigma * math.Sqrt(cells[i]) // the noise of each cell is its own
		c.Train, c.Synthetic = append(c.Train, noisy[i]/total), append(c.Synthetic, model[i]/total)
		c.halves = append(c.halves, half/total)
		c.tips = append(c.tips, fmt.Sprintf("%s: measured %s ± %s rows, %s in the model", c.Labels[i],
			short(noisy[i]), short(half), short(model[i])))
	}
	return c
}

// groupLabels names groups by their values.
func groupLabels(groups [][]string) (out []string) {
	for _, values := range groups {
		label := strings.Join(values, ", ")
		if len(values) > 3 {
			label = fmt.Sprintf("%s and %d others", values[0], len(values)-1)
		}
		out = append(out, label)
	}
	return out
}
