package gan

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/internal/kernels"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

// The experiment on a public table, outside the gate: noise is from math/rand, and the certificate
// is a sketch of package bounds'.
//
//	go test ./gan -run TestQuality -v -args -quality DIR/adult.csv -domain DIR/adult-domain.json -label 'income>50K'
var (
	qualityPath   = flag.String("quality", "", "discrete table (CSV of codes) for TestQuality")
	qualityDomain = flag.String("domain", "", "its domain (JSON, name to size)")
	qualityLabel  = flag.String("label", "income>50K", "its binary label")
	qualityConfig = flag.String(
		"try", "", "space-separated name=value changes to the default settings; several sets separated by ;")
	qualitySeeds = flag.Int("seeds", 1, "runs of each")
)

// settings of one training. The defaults are those of the first sketch.
type settings struct {
	T        int     // measurements, each of all rows
	Gs       int     // generator steps after each
	Post     int     // generator steps at the end
	Batch    int     // rows of a generator step
	Snap     int     // snapshots of a generator step
	H        int     // hidden units of the critic
	Columns  int     // that a hidden unit looks at; 0 = all
	Bins     int     // of numeric columns; 0 = as they are
	Hidden   int     // units of the generator
	Train    int     // 1: the critic is trained; 0: a fresh random one each time
	Residual int     // 1: certificate of what is left of the gradient after the marginals
	Hard     int     // 1: straight-through
	Lr, Glr  float64 // of critic and generator
	Sigma    float64 // of one measurement at the privacy aimed at: z = √T·Sigma
	Slope    float64 // of the critic's LeakyReLU
	Temp     float64 // of the Gumbel softmax
	Ema      float64 // decay of the average of the generator's weights; 0 = none
	Boost    float64 // weight of the marginals when the noise is divided; 1 = least total variance
	Out      float64 // weight of the output layer and the biases, likewise
	Decay    float64 // factor of the learning rate over the last steps
}

func defaults() settings {
	return settings{T: 24, Gs: 40, Post: 1200, Batch: 1024, Snap: 4, H: 64, Bins: 16, Hidden: 128,
		Train: 1, Lr: .01, Glr: 1e-3, Sigma: 3.730632, Slope: .2, Temp: .5, Boost: 1, Out: 1,
		Decay: 1}
}

func (s *settings) set(text string) {
	var m map[string]any
	b, _ := json.Marshal(s)
	json.Unmarshal(b, &m)
	for _, f := range strings.Fields(text) {
		k, v, _ := strings.Cut(f, "=")
		x, err := strconv.ParseFloat(v, 64)
		if _, ok := m[k]; !ok || err != nil {
			panic("unknown setting " + f)
		}
		m[k] = x
	}
	b, _ = json.Marshal(m)
	if err := json.Unmarshal(b, s); err != nil {
		panic(err)
	}
}

// discrete reads a table of codes, and groups the codes of columns of more than bins codes: those
// of money on a log scale.
func discrete(t *testing.T, bins int) (names []string, sizes []int, columns [][]uint16) {
	domain := map[string]int{}
	text, err := os.ReadFile(*qualityDomain)
	if err == nil {
		err = json.Unmarshal(text, &domain)
	}
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(*qualityPath)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	in.Scan()
	names = strings.Split(in.Text(), ",")
	columns = make([][]uint16, len(names))
	for in.Scan() {
		for k, cell := range strings.Split(in.Text(), ",") {
			v, _ := strconv.Atoi(cell)
			columns[k] = append(columns[k], uint16(v))
		}
	}
	for k, name := range names {
		size := domain[name]
		numeric := map[string]bool{"age": true, "fnlwgt": true, "hours-per-week": true,
			"capital-gain": true, "capital-loss": true}[name]
		if bins > 0 && numeric && size > bins {
			for i, c := range columns[k] {
				g := int(c) * bins / size
				if strings.HasPrefix(name, "capital") && c > 0 {
					g = 1 + int(float64(bins-1)*math.Log(float64(c))/math.Log(float64(size)))
				}
				if strings.HasPrefix(name, "capital") && c == 0 {
					g = 0
				}
				columns[k][i] = uint16(g)
			}
			size = bins
		}
		sizes = append(sizes, size)
	}
	return names, sizes, columns
}

func tableOf(t *testing.T, names []string, sizes []int, columns [][]uint16) *table.Table {
	s := &schema.Schema{}
	var codes []table.Codes
	for k, name := range names {
		c := schema.Column{Name: name, Kind: schema.Categorical}
		for i := range sizes[k] {
			c.Categories = append(c.Categories, fmt.Sprint(i))
		}
		s.Columns = append(s.Columns, c)
		x := table.NewCodes(sizes[k], len(columns[k]))
		for i, v := range columns[k] {
			if x.U8 != nil {
				x.U8[i] = uint8(v)
			} else {
				x.U16[i] = v
			}
		}
		codes = append(codes, x)
	}
	out, err := table.FromColumns(s, codes, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// distances are half the L1 distance of the tables' marginals, the mean over columns and over pairs
// of columns.
func distances(a, b *table.Table) (oneWay, twoWay float64) {
	sizes := a.Schema().Sizes()
	dist := func(cols ...int) float64 {
		n := 1
		for _, c := range cols {
			n *= sizes[c]
		}
		x, y := make([]int64, n), make([]int64, n)
		a.CountTo(x, cols)
		b.CountTo(y, cols)
		sum := 0.
		for i := range x {
			sum += math.Abs(float64(x[i])/float64(a.Rows()) - float64(y[i])/float64(b.Rows()))
		}
		return sum / 2
	}
	pairs := 0
	for i := range sizes {
		oneWay += dist(i) / float64(len(sizes))
		for j := range i {
			twoWay += dist(j, i)
			pairs++
		}
	}
	return oneWay, twoWay / float64(pairs)
}

type problem struct {
	names       []string
	sizes       []int
	train, test *table.Table
	columns     []table.Codes
	e           *Encoder
}

func (q *problem) score(t *testing.T, g *Generator, u *rand.Rand) (auroc, oneWay, twoWay float64) {
	syn := tableOf(t, q.names, q.sizes, g.Sample(q.train.Rows(), u))
	p, err := eval.TSTR(syn, q.test, eval.Task{Label: *qualityLabel, Positive: 1})
	if err != nil {
		return math.NaN(), 0, 0
	}
	oneWay, twoWay = distances(syn, q.train)
	return p.AUROC, oneWay, twoWay
}

func TestQuality(t *testing.T) {
	if *qualityPath == "" {
		t.Skip("no -quality FILE")
	}
	bins := -1
	var q *problem
	for _, text := range strings.Split(*qualityConfig, ";") {
		s := defaults()
		s.set(text)
		if s.Bins != bins {
			bins = s.Bins
			q = load(t, bins)
			real, err := eval.TRTR(q.train, q.test, eval.Task{Label: *qualityLabel, Positive: 1})
			if err != nil {
				t.Fatal(err)
			}
			one, two := distances(q.train, q.test)
			t.Logf("%d rows, cells %v = %d, real-trained AUROC %.4f, train against test one-way %.4f two-way %.4f", q.train.Rows(), q.sizes, q.e.Cells(), real.AUROC, one, two)
		}
		for seed := range *qualitySeeds {
			start := time.Now()
			auroc, one, two, loss, size := q.run(t, s, uint64(seed+1))
			t.Logf("%-60s seed %d: AUROC %.4f one-way %.4f two-way %.4f loss %.3f size %.0f %.0f s",
				text, seed, auroc, one, two, loss, size, time.Since(start).Seconds())
		}
	}
}

func load(t *testing.T, bins int) *problem {
	q := &problem{}
	var columns [][]uint16
	q.names, q.sizes, columns = discrete(t, bins)
	all := tableOf(t, q.names, q.sizes, columns)
	perm := testRand(0).Perm(all.Rows())
	k := all.Rows() * 6 / 10
	q.train, q.test = all.Select(perm[:k]), all.Select(perm[k:])
	for i := range q.sizes {
		q.columns = append(q.columns, q.train.Column(i))
	}
	q.e = testEncoder(t, q.sizes...)
	return q
}

// run trains a generator and scores it.
func (q *problem) run(t *testing.T, s settings, seed uint64) (auroc, oneWay, twoWay, loss,
	size float64) {
	u := testRand(seed)
	e, n := q.e, float64(q.train.Rows())
	g, err := NewGenerator(e, GeneratorOptions{Hidden: s.Hidden}, u)
	if err != nil {
		t.Fatal(err)
	}
	c, err := NewCritic(e, CriticOptions{Hidden: []int{s.H}, Slope: float32(s.Slope)}, u)
	if err != nil {
		t.Fatal(err)
	}
	visible := s.views(c, u)
	z := math.Sqrt(float64(s.T)) * s.Sigma
	replay := NewReplay(e, s.H, float32(s.Slope))
	pass := g.NewPass(s.Batch, Head{Temperature: float32(s.Temp), Hard: s.Hard == 1})
	tutor := c.NewTutor(4096)
	fake := g.NewPass(4096, Head{Temperature: float32(s.Temp), Hard: s.Hard == 1})
	mixed := kernels.New(4096, e.Cells())
	down := kernels.New(s.Batch, e.Cells())
	adamG := kernels.NewAdam(len(g.Parameters()), .5, .9)
	adamC := kernels.NewAdam(len(c.Parameters()), .5, .9)
	average := append([]float32(nil), g.Parameters()...)
	step := func(rate float64) {
		picks := make([]int, min(s.Snap, replay.Len()))
		for i := range picks {
			picks[i] = u.IntN(replay.Len())
		}
		x := pass.Forward(u)
		loss = .99*loss + .01*replay.GradientTo(down, x, picks)
		adamG.Update(g.Parameters(), pass.Backward(down), float32(rate))
		if s.Ema > 0 {
			for i, w := range g.Parameters() {
				average[i] += float32(1-s.Ema) * (w - average[i])
			}
		}
	}
	for range s.T {
		snap, gradient, total := q.release(s, c, visible, z, n, u)
		size = total
		if err := replay.Add(snap); err != nil {
			t.Fatal(err)
		}
		if s.Train == 1 {
			x := fake.Forward(u)
			got, _ := tutor.Gradient(x)
			MixTo(mixed, x, u)
			tutor.AddPenalty(mixed, 1, true)
			for i := range got[:len(gradient)] {
				got[i] -= gradient[i]
			}
			for i := range visible {
				if !visible[i] {
					got[i] = 0
				}
			}
			adamC.Update(c.Parameters(), got, float32(s.Lr))
		} else {
			fresh, _ := NewCritic(e, CriticOptions{Hidden: []int{s.H}, Slope: float32(s.Slope)}, u)
			copy(c.Parameters(), fresh.Parameters())
			visible = s.views(c, u)
		}
		for range s.Gs {
			step(s.Glr)
		}
	}
	if s.Ema > 0 {
		copy(average, g.Parameters())
	}
	for k := range s.Post {
		step(s.Glr * math.Pow(s.Decay, float64(k)/float64(max(s.Post, 1))))
	}
	if s.Ema > 0 {
		copy(g.Parameters(), average)
	}
	auroc, oneWay, twoWay = q.score(t, g, u)
	return
}

// views gives each hidden unit s.Columns random columns to look at, 0 for all: weights elsewhere
// become 0, larger ones where it looks.
func (s *settings) views(c *Critic, u *rand.Rand) []bool {
	w, b := c.Layer(0)
	visible := make([]bool, len(w))
	columns := c.encoder.Columns()
	for j := range s.H {
		look := u.Perm(columns)
		if s.Columns > 0 {
			look = look[:s.Columns]
		}
		for _, k := range look {
			for i := c.encoder.offsets[k]; i < c.encoder.offsets[k+1]; i++ {
				visible[i*s.H+j] = true
			}
		}
		if s.Columns > 0 {
			b[j] = float32(.2 * u.NormFloat64())
		}
	}
	for i := range w {
		if !visible[i] {
			w[i] = 0
		} else if s.Columns > 0 {
			w[i] *= float32(math.Sqrt(float64(columns) / float64(s.Columns)))
		}
	}
	return visible
}
