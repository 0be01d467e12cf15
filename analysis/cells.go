package analysis

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

// labelCells tells positive rows (1) from others (0).
type labelCells struct {
	column   int
	codes    int // of the column
	positive uint16
	text     string
}

func newLabel(synthetic *table.Table, o Evaluation) (*labelCells, error) {
	s := synthetic.Schema()
	l := &labelCells{column: s.Index(o.Target)}
	if l.column < 0 {
		return nil, fmt.Errorf("publish: the schema has no target column %q: %w", o.Target,
			eval.ErrColumn)
	}
	codec, err := schema.NewCodec(s.Columns[l.column])
	if err != nil {
		return nil, err
	}
	l.codes = codec.Size()
	if l.codes < 2 {
		return nil, fmt.Errorf("publish: target column %q has one value: %w", o.Target, eval.ErrColumn)
	}
	counts := make([]int64, l.codes)
	synthetic.CountTo(counts, []int{l.column})
	missing, hasMissing := codec.MissingCode()
	found, best := false, int64(0)
	for code, n := range counts {
		at := uint16(code)
		switch {
		case o.Positive != "":
			if codec.Label(at) == o.Positive {
				l.positive, found = at, true
			}
		case n > 0 && (!found || n < best) && !(hasMissing && at == missing):
			l.positive, best, found = at, n, true
		}
	}
	if !found {
		return nil, fmt.Errorf("publish: target column %q has no value %q: %w", o.Target,
			o.Positive, eval.ErrColumn)
	}
	l.text = codec.Label(l.positive)
	return l, nil
}

// query counts the other and the positive rows.
func (l *labelCells) query() privacy.Marginal {
	groups := make([]uint16, l.codes)
	groups[l.positive] = 1
	return privacy.Marginal{Cols: []int{l.column}, Groups: [][]uint16{groups}}
}

// scoreCells puts a row by the bin of its score and by its label: cell 2·bin + 1 is the positive
// rows of a bin. The model and the edges of the bins come from synthetic rows.
type scoreCells struct {
	schema *schema.Schema
	label  *labelCells
	edges  []float64 // increasing; a score is in the bin of the number of edges that it reaches
	score  func(*table.Table) ([]float64, error)
}

const defaultBins = 12

func newScores(synthetic *table.Table, o Evaluation, l *labelCells) (*scoreCells, error) {
	if o.Bins == 0 {
		o.Bins = defaultBins
	}
	if o.Bins < 2 || o.Bins > 1000 {
		return nil, fmt.Errorf("publish: %d bins of a score, 2 to 1000 are possible: %w", o.Bins,
			eval.ErrColumn)
	}
	free := *synthetic.Schema()
	free.Unit, free.MaxRowsPerUnit = "", 0
	c := &scoreCells{schema: &free, label: l}
	model, err := eval.Task{Label: o.Target, Positive: l.positive, Drop: o.Drop,
		Learner: o.Learner}.Train(synthetic)
	if err != nil {
		return nil, err
	}
	c.score = model.Scores
	scores, err := c.score(synthetic)
	if err != nil {
		return nil, err
	}
	slices.Sort(scores)
	for k := 1; k < o.Bins; k++ {
		c.edges = append(c.edges, scores[k*len(scores)/o.Bins])
	}
	c.edges = slices.Compact(c.edges)
	return c, nil
}

// Size is two cells a bin.
func (c *scoreCells) Size() int { return 2 * (len(c.edges) + 1) }

// CellsTo scores every row by its own codes.
func (c *scoreCells) CellsTo(dst []uint32, columns []table.Codes) {
	for i := range dst {
		dst[i] = 0
		if columns[c.label.column].At(i) == c.label.positive {
			dst[i] = 1
		}
	}
	t, err := table.FromColumns(c.schema, columns, nil)
	if err != nil {
		return // codes of the same schema: it cannot happen; the rows count in the first bin
	}
	scores, err := c.score(t)
	if err != nil {
		return
	}
	for i, x := range scores {
		dst[i] += 2 * uint32(sort.Search(len(c.edges), func(k int) bool { return c.edges[k] > x }))
	}
}

// binnedAUROC is the area under the ROC curve of the binned scores, from a noisy histogram: cell
// 2·i is the negative rows of bin i, 2·i + 1 the positive ones, bins in the order of the score,
// each cell with independent noise of standard deviation sigma. With p_i, n_i the counts, P, N
// their sums and C_i = Σ_{j<i} n_j + n_i/2,
//
//	A = Σ p_i·C_i / (P·N).
//
// The standard error joins the noise, by ∂A/∂p_i = (C_i − A·N)/(P·N) and likewise for n_i, with
// that of the rows drawn (Hanley & McNeil 1982, equation 1). A bin counts ties as half, so that A
// is a little nearer to ½ than the area of the scores themselves. It is left out where either class
// is not clear of the noise.
func binnedAUROC(counts []int64, sigma float64) (out estimate) {
	bins := len(counts) / 2
	var positive, negative float64
	for i := range bins {
		negative += float64(counts[2*i])
		positive += float64(counts[2*i+1])
	}
	if clear := 3 * sigma * math.Sqrt(float64(bins)); positive < clear || negative < clear {
		out.LeftOut = "too few rows of one class for this budget"
		return out
	}
	area, below := 0., 0.
	for i := range bins {
		n, p := float64(counts[2*i]), float64(counts[2*i+1])
		area += p * (below + n/2)
		below += n
	}
	area /= positive * negative
	gradient, above := 0., positive // Σ of squares; the positive rows from bin i on
	below = 0
	for i := range bins {
		n, p := float64(counts[2*i]), float64(counts[2*i+1])
		byPositive := (below + n/2 - area*negative) / (positive * negative)
		byNegative := (above - p/2 - area*positive) / (positive * negative)
		gradient += byPositive*byPositive + byNegative*byNegative
		below += n
		above -= p
	}
	a := min(1, max(0, area))
	q1, q2 := a/(2-a), 2*a*a/(1+a)
	drawn := (a*(1-a) + (positive-1)*(q1-a*a) + (negative-1)*(q2-a*a)) / (positive * negative)
	out.Value, out.StdErr = a, math.Sqrt(sigma*sigma*gradient+max(0, drawn))
	return out
}
