package stats

import (
	"fmt"
	"math"
	"slices"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/privacy"
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
		return nil, fmt.Errorf("the schema has no target column %q: %w", o.Target,
			eval.ErrColumn)
	}
	codec, err := schema.NewCodec(s.Columns[l.column])
	if err != nil {
		return nil, err
	}
	l.codes = codec.Size()
	if l.codes < 2 {
		return nil, fmt.Errorf("target column %q has one value: %w", o.Target, eval.ErrColumn)
	}
	counts := synthetic.Counts(l.column)
	for code := range uint16(l.codes) {
		rare := counts[code] > 0 && int(code) < codec.Values() &&
			(l.text == "" || counts[code] < counts[l.positive])
		if label := codec.Label(code); label == o.Positive || o.Positive == "" && rare {
			l.positive, l.text = code, label
		}
	}
	if l.text == "" {
		return nil, fmt.Errorf("target column %q has no value %q: %w", o.Target,
			o.Positive, eval.ErrColumn)
	}
	return l, nil
}

// query counts the other and the positive rows.
func (l *labelCells) query() privacy.Marginal {
	groups := make([]uint16, l.codes)
	groups[l.positive] = 1
	return privacy.Marginal{Cols: []int{l.column}, Groups: [][]uint16{groups}}
}

// scoreBins is how many bins a score has: more cost more noise, fewer blur the curve.
const scoreBins = 12

// newScores is a histogram by the bin of a score and by the label. The model, a logistic
// regression, and the edges of the bins come from synthetic rows.
func newScores(synthetic *table.Table, o Evaluation, l *labelCells) (*privacy.Scores, error) {
	model, err := eval.Task{Label: o.Target, Positive: l.positive, Drop: o.Drop}.Train(synthetic)
	if err != nil {
		return nil, err
	}
	out := &privacy.Scores{Column: l.column, Code: l.positive}
	if out.Numbers, err = numbersOf(model, synthetic.Schema()); err != nil {
		return nil, err
	}
	var scores []float64
	for r := range synthetic.Rows() {
		scores = append(scores, out.Of(func(c int) uint16 { return synthetic.Column(c).At(r) }))
	}
	slices.Sort(scores)
	for k := 1; k < scoreBins; k++ {
		out.Edges = append(out.Edges, scores[k*len(scores)/scoreBins])
	}
	out.Edges = slices.Compact(out.Edges)
	return out, nil
}

// numbersOf is what each code of each column adds to the score of a linear model: by how much the
// score of a row with this code is above that of the row whose codes are all 0.
func numbersOf(model eval.Classifier, s *schema.Schema) ([][]float64, error) {
	free, sizes, rows := *s, s.Sizes(), 1
	free.Unit, free.MaxRowsPerUnit = "", 0
	for _, n := range sizes {
		rows += n
	}
	columns, at := make([]table.Codes, len(sizes)), 1
	for c, n := range sizes {
		columns[c] = table.NewCodes(n, rows)
		for code := range n {
			columns[c].Set(at+code, uint16(code))
		}
		at += n
	}
	t, err := table.FromColumns(&free, columns, nil)
	if err != nil {
		return nil, err
	}
	scores, err := model.Scores(t)
	if err != nil {
		return nil, err
	}
	out, rest := make([][]float64, len(sizes)), scores[1:]
	for c, n := range sizes {
		for _, x := range rest[:n] {
			out[c] = append(out[c], x-scores[0])
		}
		rest = rest[n:]
	}
	return out, nil
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
