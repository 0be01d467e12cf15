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

	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/schema"
)

//go:embed model.html
var modelText string

var modelTemplate = template.Must(template.New("model").Parse(modelText))

// modelPage is the page of a model.
type modelPage struct {
	*release.Model
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

// Model writes a page about a model that may be given away with it: it is made of the model alone,
// and costs nothing. It believes the file; [release.Model.Verify] checks it.
func Model(w io.Writer, m *release.Model) error {
	p := modelPage{Model: m, Style: template.CSS(pageStyle),
		Factor: short(math.Exp(m.Claim.Epsilon))}
	codecs, err := m.Schema().Codecs()
	if err != nil {
		return err
	}
	overviews, err := m.Schema().Overview()
	if err != nil {
		return err
	}
	byName, kinds := map[string]*schema.Codec{}, map[string]string{}
	for i, c := range codecs {
		byName[c.Column().Name], kinds[c.Column().Name] = c, overviews[i].KindAndUnit()
	}
	together := map[[2]string]bool{}
	u, err := m.Uncertainty()
	if p.Kept = err == nil; p.Kept {
		p.add(u, byName, kinds, together)
	}
	columns := m.Schema().Columns
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
func (p *modelPage) add(
	u *release.Uncertainty, codecs map[string]*schema.Codec, kinds map[string]string,
	together map[[2]string]bool,
) {
	finest := map[string]int{}
	for k, n := range u.Marginals {
		name := strings.Join(n.Columns, " × ")
		if old, ok := finest[name]; !ok || len(n.Noisy) > len(u.Marginals[old].Noisy) {
			finest[name] = k
		}
	}
	total := max(1, u.Rows)
	type pair struct {
		*release.NoisyMarginal
		name   string
		stands float64
	}
	var pairs []pair
	for k, n := range u.Marginals {
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
			c := codecs[n.Columns[0]]
			m.Kind, m.Drawing = kinds[n.Columns[0]], columnOf(n, c, total).chart(sampling{})
			p.Columns, p.Column = append(p.Columns, m), max(p.Column, m.Smallest)
			continue
		}
		p.Others, p.Pair = append(p.Others, m), max(p.Pair, m.Smallest)
		if len(n.Groups) == 2 && len(n.Groups[0]) <= mostSides && len(n.Groups[1]) <= mostSides {
			pairs = append(pairs, pair{&u.Marginals[k], m.Name, standsOut(n)})
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(b.stands, a.stands) })
	for _, n := range pairs[:min(len(pairs), mostDrawn)] {
		p.Drawn = append(p.Drawn, labelled{fmt.Sprintf("%s, each cell ± %s rows", n.name,
			short(2*n.Sigma)), jointOf(*n.NoisyMarginal, total).chart(n.name, "measured", "the model")})
	}
}

// standsOut is how far a noisy pair is from independence: the sum of squares of its cells less what
// its own sums of rows and columns imply, in σ, as a normal score of what noise alone makes.
func standsOut(n release.NoisyMarginal) float64 {
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
func columnOf(n release.NoisyMarginal, codec *schema.Codec, total float64) Column {
	c := Column{Name: n.Columns[0], codec: codec}
	g := grouping{group: make([]int, len(n.Noisy))}
	if len(n.Noisy) == codec.Size() { // every code by itself
		counts := make([]int64, len(n.Noisy))
		for i, x := range n.Noisy {
			counts[i] = int64(x)
		}
		g = group(codec, counts, mostBins)
	} else {
		for i := range n.Noisy {
			g.group[i] = i
			g.labels = append(g.labels, groupLabel(n.Groups[0][i]))
		}
	}
	c.Labels, c.Edges, c.Bounds, c.Missing, c.Rest = g.labels, g.edges, g.bounds, g.miss, g.rest
	noisy, model, cells := make([]float64, len(g.labels)), make([]float64, len(g.labels)),
		make([]float64, len(g.labels))
	for i, at := range g.group {
		noisy[at] += n.Noisy[i]
		model[at] += n.Model[i]
		cells[at]++
	}
	for i := range noisy {
		half := 2 * n.Sigma * math.Sqrt(cells[i]) // the noise of each cell is its own
		c.Train = append(c.Train, number(noisy[i]/total))
		c.Synthetic = append(c.Synthetic, number(model[i]/total))
		c.halves = append(c.halves, half/total)
		c.tips = append(c.tips, fmt.Sprintf("measured %s ± %s rows, %s in the model", short(noisy[i]),
			short(half), short(model[i])))
	}
	return c
}

// jointOf is a noisy marginal of two columns as the report draws it.
func jointOf(n release.NoisyMarginal, total float64) *joint {
	j := &joint{}
	for _, g := range n.Groups[0] {
		j.First = append(j.First, groupLabel(g))
	}
	for _, g := range n.Groups[1] {
		j.Second = append(j.Second, groupLabel(g))
	}
	for i := range j.First {
		var noisy, model []number
		for k := range j.Second {
			noisy = append(noisy, number(n.Noisy[i*len(j.Second)+k]/total))
			model = append(model, number(n.Model[i*len(j.Second)+k]/total))
		}
		j.Real, j.Synthetic = append(j.Real, noisy), append(j.Synthetic, model)
	}
	return j
}

// groupLabel names a group by its values.
func groupLabel(values []string) string {
	if len(values) <= 3 {
		return strings.Join(values, ", ")
	}
	return fmt.Sprintf("%s and %d others", values[0], len(values)-1)
}
