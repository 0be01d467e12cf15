package penalty

// This file is for whoever has a released vector: all of it is public.

// DecodeTo sets gradient, in the order W¹, b¹, W², b², ..., to what a released vector, in steps of
// Grid, says of the sum; biases get 0. It panics on lengths that do not fit.
func (p *Certificate) DecodeTo(gradient []float64, released []int64) {
	p.length("released", len(released), p.Coordinates())
	parameters := 0
	for l := range p.scales {
		parameters += (p.sizes[l] + 1) * p.sizes[l+1]
	}
	p.length("gradient", len(gradient), parameters)
	clear(gradient)
	for l := range p.scales {
		n := p.sizes[l] * p.sizes[l+1]
		for k, v := range released[:n] {
			gradient[k] = float64(v) * p.Grid()
		}
		gradient, released = gradient[n+p.sizes[l+1]:], released[n:]
	}
}

// TotalStd is the root of the total variance of the noise, per unit of z.
func (p *Certificate) TotalStd() float64 { return p.total }
