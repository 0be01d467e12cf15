package gan

import (
	"fmt"
	"math"
	"slices"
	"sync"

	g "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/decoy-dp/decoy/gan/critic"
	"github.com/decoy-dp/decoy/internal/matrix"
)

// This file has what the default of wgan does not use: weight clipping, spectral norms, and the
// graphs of Gorgonia. They stand here to compare with.

// Clip moves every weight (not the biases) into [−limit, limit] (Arjovsky et al. 2017, arXiv
// 1701.07875).
func Clip(c *critic.Critic, limit float32) {
	for _, layer := range views(c, c.Parameters()) {
		for i, w := range layer.W.Data {
			layer.W.Data[i] = min(max(w, -limit), limit)
		}
	}
}

// LimitSpectral divides every W^l by its spectral norm over limit where that exceeds 1, so that D
// is about limit^L-Lipschitz. The norm is estimated by iterations ≥ 1 more steps of the power
// method, which starts where the last call ended (Miyato et al. 2018, arXiv 1802.05957, algorithm
// 1, as a projection). It returns the estimated norms before.
func (t *Tutor) LimitSpectral(limit float64, iterations int) []float64 {
	norms := make([]float64, len(t.layers))
	for l, layer := range t.layers {
		v, u := matrix.Dense(layer.W.Cols, 1, t.spectral[l]), matrix.New(layer.W.Rows, 1)
		for range max(iterations, 1) {
			matrix.MulTo(u, 1, layer.W, v, 0)
			norms[l] = normalise(u.Data)
			matrix.MulTo(v, 1, layer.W.T(), u, 0)
			normalise(v.Data)
		}
		if norms[l] > limit {
			factor := float32(limit / norms[l])
			for i := range layer.W.Data {
				layer.W.Data[i] *= factor
			}
		}
	}
	return norms
}

// normalise scales x to length 1, unless it is 0, and returns its length.
func normalise(x []float32) float64 {
	sum := 0.
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	norm := math.Sqrt(sum)
	if norm > 0 {
		for i := range x {
			x[i] = float32(float64(x[i]) / norm)
		}
	}
	return norm
}

// building is held while a graph is built: some of Gorgonia's constructors, Rectify among them,
// number groups of nodes with a global counter that is not synchronised. Running graphs in parallel
// is safe.
var building sync.Mutex

// graph is a Gorgonia graph that is built once, run often by one goroutine, and shares its
// parameters with a network of this package.
type graph struct {
	g  *g.ExprGraph
	vm g.VM
	// a column of ones, one a row of the batch: turns biases into products, whose gradients
	// Gorgonia gets right
	ones    *g.Node
	layers  [][2]*g.Node
	results []g.Value // gradients of W¹, b¹, W², ...
}

// newGraph puts the parameters of the layers into a new graph. The nodes share their memory.
func newGraph(batch int, layers []matrix.Affine) *graph {
	b := &graph{g: g.NewGraph()}
	b.ones = b.input("ones", matrix.Dense(batch, 1, slices.Repeat([]float32{1}, batch)))
	for l, layer := range layers {
		bias := matrix.Dense(1, len(layer.B), layer.B)
		b.layers = append(b.layers, [2]*g.Node{b.input(fmt.Sprint("W", l+1), layer.W),
			b.input(fmt.Sprint("b", l+1), bias)})
	}
	return b
}

// input is a node whose value is m, in m's own memory.
func (b *graph) input(name string, m Matrix) *g.Node {
	value := tensor.New(tensor.WithShape(m.Rows, m.Cols), tensor.WithBacking(m.Data))
	return g.NewMatrix(b.g, tensor.Float32, g.WithShape(m.Rows, m.Cols), g.WithName(name),
		g.WithValue(value))
}

// affine is xW + b of layer l.
func (b *graph) affine(x *g.Node, l int) *g.Node {
	return g.Must(g.Add(g.Must(g.Mul(x, b.layers[l][0])), g.Must(g.Mul(b.ones, b.layers[l][1]))))
}

// leakyReLU is max(s, slope·s) with the derivative of kernels.DescendTo, which is slope at 0, where
// Gorgonia's Rectify and LeakyRelu have 1: s + (1−slope)·Rectify(−s). A unit with bias 0 is at 0
// exactly for every row that leaves the layer before without an active unit.
func leakyReLU(s *g.Node, slope float32) *g.Node {
	below := g.Must(g.Rectify(g.Must(g.Neg(s))))
	return g.Must(g.Add(s, g.Must(g.Mul(below, g.NewConstant(1-slope)))))
}

// compile derives the gradient of loss with respect to the parameters and makes the machine.
func (b *graph) compile(loss *g.Node) {
	var parameters g.Nodes
	for _, l := range b.layers {
		parameters = append(parameters, l[0], l[1])
	}
	gradients, err := g.Grad(loss, parameters...)
	if err != nil {
		// the graph is the same for everybody: a mistake here, not the caller's
		panic("gan: " + err.Error())
	}
	b.results = make([]g.Value, len(gradients))
	for i, node := range gradients {
		g.Read(node, &b.results[i])
	}
	b.vm = g.NewTapeMachine(b.g)
}

// run computes everything and copies the gradients to dst.
func (b *graph) run(dst []float32) error {
	b.vm.Reset()
	if err := b.vm.RunAll(); err != nil {
		return err
	}
	for _, v := range b.results {
		dst = dst[copy(dst, v.Data().([]float32)):]
	}
	return nil
}

// Close releases the machine.
func (b *graph) Close() error { return b.vm.Close() }

// GeneratorGraph is the [Generator] as a Gorgonia graph: the same network on the same parameters,
// with gradients by Gorgonia's automatic differentiation. It runs what a [Pass] drew. Its rows are
// the relaxed ones, also if the pass's head is Hard: straight-through, the gradient is theirs. It
// is for one goroutine at a time.
type GeneratorGraph struct {
	graph
	down     Matrix // weights of the rows in the loss
	rows     g.Value
	gradient []float32
}

// Graph builds the graph for the batches of p.
func (p *Pass) Graph() *GeneratorGraph {
	building.Lock()
	defer building.Unlock()
	offsets := p.g.offsets
	b := &GeneratorGraph{graph: *newGraph(p.z.Rows, p.g.layers[:]),
		down: matrix.New(p.soft.Rows, p.soft.Cols), gradient: make([]float32, p.g.count())}
	noise := b.input("noise", matrix.Dense(p.soft.Rows, p.soft.Cols, p.noise))
	x1 := leakyReLU(b.affine(b.input("z", p.z), 0), 0)
	x2 := g.Must(g.Add(x1, leakyReLU(b.affine(x1, 1), 0)))
	logits := g.Must(g.Add(b.affine(x2, 2), noise))
	powers := g.Must(g.Exp(g.Must(g.HadamardProd(logits, g.NewConstant(1/p.head.temperature())))))
	// Sums over blocks, back on every cell, are products with 0/1 matrices.
	block := matrix.New(p.soft.Cols, len(offsets)-1)
	for k := 1; k < len(offsets); k++ {
		for c := offsets[k-1]; c < offsets[k]; c++ {
			block.Row(c)[k-1] = 1
		}
	}
	member := b.input("block", block)
	sums := g.Must(g.Mul(g.Must(g.Mul(powers, member)), g.Must(g.Transpose(member))))
	rows := g.Must(g.HadamardDiv(powers, sums))
	g.Read(rows, &b.rows)
	b.compile(g.Must(g.Sum(g.Must(g.HadamardProd(rows, b.input("down", b.down))))))
	return b
}

// Gradient runs the graph on the latent and Gumbel noise of the pass's last Forward. Like
// [Pass.Backward] it takes the gradient of a loss with respect to the rows (and leaves it as it is)
// and returns that with respect to the parameters; also the rows. Results are the graph's own,
// valid until the next call. An error is Gorgonia's.
func (b *GeneratorGraph) Gradient(down Matrix) (gradient []float32, rows Matrix, err error) {
	if len(down.Data) != len(b.down.Data) {
		panic(fmt.Sprintf("gan: the gradient of %d rows for a graph of %d", down.Rows, b.down.Rows))
	}
	copy(b.down.Data, down.Data)
	if err := b.run(b.gradient); err != nil {
		return nil, rows, err
	}
	return b.gradient, matrix.Dense(b.down.Rows, b.down.Cols, b.rows.Data().([]float32)), nil
}

// CriticGraph is the training step of a [critic.Critic] at generated rows as a Gorgonia graph: the
// mean of D over one batch and weight times the gradient penalty over another, with gradients, the
// second derivatives of the penalty among them, by automatic differentiation. (Which Gorgonia gets
// right because the critic is piecewise linear.) It is for one goroutine at a time.
type CriticGraph struct {
	graph
	rows, mixed Matrix
	mean        g.Value
	penalty     g.Value
	penalised   bool
	gradient    []float32
}

// tinySquare keeps the root of a squared norm from having no derivative, at points where the critic
// does not change.
const tinySquare = 1e-20

// NewCriticGraph builds the graph for batches of the given number of rows and the penalty of
// [Tutor.AddPenalty]; a weight of 0 leaves it out.
func NewCriticGraph(c *critic.Critic, batch int, weight float32, oneSided bool) *CriticGraph {
	building.Lock()
	defer building.Unlock()
	layers := views(c, c.Parameters())
	b := &CriticGraph{graph: *newGraph(batch, layers), rows: matrix.New(batch, layers[0].W.Rows),
		mixed: matrix.New(batch, layers[0].W.Rows), gradient: make([]float32, len(c.Parameters()))}
	score := func(x *g.Node) *g.Node {
		for l := range layers {
			if x = b.affine(x, l); l < len(layers)-1 {
				x = leakyReLU(x, c.Slope())
			}
		}
		return x
	}
	mean := g.Must(g.Mean(score(b.input("rows", b.rows))))
	g.Read(mean, &b.mean)
	if weight == 0 {
		b.compile(mean)
		return b
	}
	b.penalised = true
	mixed := b.input("mixed", b.mixed)
	down, err := g.Grad(g.Must(g.Sum(score(mixed))), mixed)
	if err != nil {
		panic("gan: " + err.Error())
	}
	norms := g.Must(g.Sqrt(g.Must(g.Add(g.Must(g.Sum(g.Must(g.Square(down[0])), 1)),
		g.NewConstant(float32(tinySquare))))))
	excess := g.Must(g.Sub(norms, g.NewConstant(float32(1))))
	if oneSided {
		excess = g.Must(g.Rectify(excess))
	}
	penalty := g.Must(g.Mean(g.Must(g.Square(excess))))
	g.Read(penalty, &b.penalty)
	b.compile(g.Must(g.Add(mean, g.Must(g.Mul(penalty, g.NewConstant(weight))))))
	return b
}

// Gradient runs the graph on rows and, for the penalty, mixed (not read if there is none), and
// returns the gradient with respect to [critic.Critic.Parameters], the mean of D, and the penalty
// without its weight. The gradient is the graph's own, valid until the next call. An error is
// Gorgonia's.
func (b *CriticGraph) Gradient(
	rows, mixed Matrix,
) (gradient []float32, mean, penalty float64, err error) {
	if len(rows.Data) != len(b.rows.Data) || b.penalised && len(mixed.Data) != len(b.mixed.Data) {
		panic(fmt.Sprintf("gan: batches of %d and %d rows for a graph of %d", rows.Rows, mixed.Rows,
			b.rows.Rows))
	}
	copy(b.rows.Data, rows.Data)
	copy(b.mixed.Data, mixed.Data)
	if err := b.run(b.gradient); err != nil {
		return nil, 0, 0, err
	}
	if b.penalised {
		penalty = float64(b.penalty.Data().(float32))
	}
	return b.gradient, float64(b.mean.Data().(float32)), penalty, nil
}
