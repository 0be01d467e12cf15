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

	"gonum.org/v1/gonum/floats"

	"github.com/decoy-dp/decoy/schema"
)

//go:embed model.html
var modelText string

var modelTemplate = template.Must(template.New("model").Parse(modelText))

// Released is what a model says of itself.
type Released struct {
	Method, Tool string
	Created      time.Time
	Rows         float64 // that it stands for
	Claim        Claim
	Overlap      bool    // a privacy unit may be in the tables of several parties
	Layers       []Layer // of the guarantee
	Schema       *schema.Schema
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
	Below   []bool       // the noise
}

// modelPage is the page of a model.
type modelPage struct {
	Released
	Style    template.CSS
	Factor   string     // e^ε
	Kept     bool       // the model keeps its noisy marginals
	Columns  []measured // each once, as finely as it was measured
	Others   []measured // of several columns, or of groups of values
	Drawn    []labelled // those pairs of Others that stand out most
	Column   float64    // smallest group that stands out, in rows: in a column
	Pair     float64    // and in a pair
	Pairs    int        // that were measured, of
	AllPairs int
	Missing  int      // AllPairs less Pairs
	Unknown  []string // the first mostNamed pairs that were not
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

// The page stays of a size that a browser shows, whatever the model.
const (
	mostSides = 40  // groups of a column that the drawing of a pair has room for
	mostDrawn = 20  // pairs that are drawn
	mostNamed = 100 // pairs that are named as not measured
)

// Model writes a page about a model that may be given away with it: it is made of what the model
// says, and costs nothing. It believes that.
func Model(w io.Writer, m Released) error {
	p := modelPage{Released: m, Style: template.CSS(pageStyle), Kept: m.Marginals != nil,
		Factor: short(math.Exp(m.Claim.Epsilon))}
	together, err := p.add()
	if err != nil {
		return err
	}
	columns := m.Schema.Columns
	p.Pairs, p.AllPairs = len(together)/2, len(columns)*(len(columns)-1)/2
	p.Missing = p.AllPairs - p.Pairs
	for i := 0; i < len(columns) && p.Kept; i++ {
		for j := 0; j < i && len(p.Unknown) < mostNamed; j++ {
			if a, b := columns[j].Name, columns[i].Name; !together[[2]string{a, b}] {
				p.Unknown = append(p.Unknown, a+" × "+b)
			}
		}
	}
	return write(w, modelTemplate, p)
}

// add takes in the marginals, and which columns they have together. A marginal that was measured
// several times is there as finely as it was measured.
func (p *modelPage) add() (together map[[2]string]bool, err error) {
	codecs, err := p.Schema.Codecs()
	if err != nil {
		return nil, err
	}
	overviews, err := p.Schema.Overview()
	if err != nil {
		return nil, err
	}
	finest := map[string]int{}
	for k, n := range p.Marginals {
		name := strings.Join(n.Columns, " × ")
		if old, ok := finest[name]; !ok || len(n.Noisy) > len(p.Marginals[old].Noisy) {
			finest[name] = k
		}
	}
	total := max(1, p.Rows)
	type pair struct {
		Marginal
		name   string
		stands float64
	}
	together = map[[2]string]bool{}
	var pairs []pair
	for k, n := range p.Marginals {
		m := measured{Name: strings.Join(n.Columns, " × "), Sigma: short(n.Sigma),
			Smallest: math.Ceil(2 * n.Sigma)}
		if finest[m.Name] != k {
			continue
		}
		var sides []string
		for _, g := range n.Groups {
			sides = append(sides, fmt.Sprint(len(g)))
		}
		m.Cells = strings.Join(sides, "\u00a0×\u00a0")
		for _, below := range n.Below {
			if below {
				m.Below++
			}
		}
		for i, a := range n.Columns {
			for _, b := range n.Columns[:i] {
				together[[2]string{a, b}], together[[2]string{b, a}] = true, true
			}
		}
		if len(n.Columns) == 1 {
			at := p.Schema.Index(n.Columns[0])
			m.Kind, m.Drawing = overviews[at].KindAndUnit(), columnOf(n, codecs[at], total).chart()
			p.Columns, p.Column = append(p.Columns, m), max(p.Column, m.Smallest)
			continue
		}
		p.Others, p.Pair = append(p.Others, m), max(p.Pair, m.Smallest)
		if len(n.Groups) == 2 && len(n.Groups[0]) <= mostSides && len(n.Groups[1]) <= mostSides {
			pairs = append(pairs, pair{n, m.Name, standsOut(n)})
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(b.stands, a.stands) })
	for _, n := range pairs[:min(len(pairs), mostDrawn)] {
		p.Drawn = append(p.Drawn, labelled{fmt.Sprintf("%s, each cell ± %s rows", n.name,
			short(2*n.Sigma)), jointOf(n.Marginal, total).draw(n.name, "measured", "the model")})
	}
	return together, nil
}

// standsOut is how far a noisy pair is from independence: the sum of squares of its cells less what
// its own sums of rows and columns imply, in σ, as a normal score of what noise alone makes.
func standsOut(n Marginal) float64 {
	wide := len(n.Groups[1])
	first, second, total := make([]float64, len(n.Groups[0])), make([]float64, wide), 0.0
	for i, x := range n.Noisy {
		first[i/wide] += x
		second[i%wide] += x
		total += x
	}
	square := 0.0
	for i, x := range n.Noisy {
		d := (x - first[i/wide]*second[i%wide]/max(1, total)) / max(n.Sigma, 1e-9)
		square += d * d
	}
	k := float64(len(n.Noisy))
	return (square - k) / math.Sqrt(2*k)
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
		c.groups = group(codec, counts, mostBins)
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
		c.peaks = append(c.peaks, max(c.Train[i]+c.halves[i], c.Synthetic[i]))
		c.tips = append(c.tips, fmt.Sprintf("%s: measured %s ± %s rows, %s in the model", c.Labels[i],
			short(noisy[i]), short(half), short(model[i])))
	}
	return c
}

// jointOf is a noisy marginal of two columns as the report draws it.
func jointOf(n Marginal, total float64) *joint {
	j := &joint{First: groupLabels(n.Groups[0]), Second: groupLabels(n.Groups[1])}
	shares := func(counts []float64) (out [][]float64) {
		for row := range slices.Chunk(counts, len(j.Second)) {
			out = append(out, floats.ScaleTo(make([]float64, len(row)), 1/total, row))
		}
		return out
	}
	j.Real, j.Synthetic = shares(n.Noisy), shares(n.Model)
	return j
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
