package noise

// Source is secret randomness: ChaCha8 keyed from crypto/rand. It is not safe for concurrent use.
type Source struct{ state func() *bits }

type bits struct{}

func NewSource() *Source                             { panic("noise: not written yet") }
func (s *Source) Uint64() uint64                     { panic("noise: not written yet") }
func (s *Source) Uint64N(n uint64) uint64            { panic("noise: not written yet") }
func (s *Source) Bernoulli(num, den uint64) bool     { panic("noise: not written yet") }
func (s *Source) BernoulliExp(num, den uint64) bool  { panic("noise: not written yet") }
func (s *Source) Perm(n int) []int                   { panic("noise: not written yet") }
func (s *Source) Shuffle(n int, swap func(i, j int)) { panic("noise: not written yet") }

// DiscreteLaplace is the distribution on the integers with P(x) ∝ exp(−|x|/scale).
type DiscreteLaplace struct{}

func NewDiscreteLaplace(scale float64) (*DiscreteLaplace, error) { panic("noise: not written yet") }
func (d *DiscreteLaplace) Sample(src *Source) int64              { panic("noise: not written yet") }
func (d *DiscreteLaplace) AddTo(dst []int64, src *Source)        { panic("noise: not written yet") }

// DiscreteGaussian is the distribution on the integers with P(x) ∝ exp(−x²/2σ²).
type DiscreteGaussian struct{}

func NewDiscreteGaussian(sigma float64) (*DiscreteGaussian, error) { panic("noise: not written yet") }
func (d *DiscreteGaussian) Sample(src *Source) int64               { panic("noise: not written yet") }
func (d *DiscreteGaussian) AddTo(dst []int64, src *Source)         { panic("noise: not written yet") }

// RoundedGaussian is the distribution of a real N(0, σ²) rounded to the nearest integer.
type RoundedGaussian struct{}

func NewRoundedGaussian(sigma float64) (*RoundedGaussian, error) { panic("noise: not written yet") }
func (d *RoundedGaussian) Sample(src *Source) int64              { panic("noise: not written yet") }
func (d *RoundedGaussian) AddTo(dst []int64, src *Source)        { panic("noise: not written yet") }

// GaussianVector is independent noise round(N(0, scales[k]²)/grid) in each coordinate k, in units of grid.
type GaussianVector struct{}

func NewGaussianVector(scales []float64, grid float64) (*GaussianVector, error) {
	panic("noise: not written yet")
}
func (g *GaussianVector) AddTo(dst []int64, src *Source) { panic("noise: not written yet") }

// Select is the exact exponential mechanism: P(t) ∝ exp(lambda·scores[t]).
func Select(src *Source, scores []int64, lambda float64) (int, error) {
	panic("noise: not written yet")
}
