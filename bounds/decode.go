package bounds

// This file is for whoever has a released vector: all of it is public.

// DecodeTo turns a released (encoded and noised) vector, in steps of Grid, into the estimate of the
// batch's gradient sum, and of its sum of inputs if inputs is not nil (mode Residual only), in
// units of the data. rows is the public number of rows whose centres are put back: the rate times
// the public row count. It panics on lengths that do not fit.
func (c *Certificate) DecodeTo(gradient, inputs []float64, released []int64, rows float64) {
	length("released", len(released), len(c.scales))
	length("gradient", len(gradient), c.Parameters())
	n := c.Inputs()
	if inputs != nil || n == 0 {
		length("inputs", len(inputs), n)
	}
	step, f2 := c.Grid(), c.factor*c.factor
	value := func(k int) float64 { return float64(released[k])*step + float64(c.centre[k])*f2*rows }
	for k := range gradient {
		gradient[k] = value(n + k)
	}
	if n == 0 {
		return
	}
	if inputs == nil {
		inputs = make([]float64, n)
	}
	for i := range inputs {
		inputs[i] = value(i)
	}
	predict(gradient, inputs, c.residual.slope, c.residual.linear, c.sizes[1], c.factor)
}

// PredictorTo sets what mode [Residual] takes off, in units of the data and row-major, inputs ×
// units of the first layer: weights_ij is M_ij, which Σx_i predicts of the gradient of W¹_ij, and
// output_ij what it predicts of that of W²_j (zero unless there is one hidden layer). In other
// modes it sets both to zero. It panics on lengths that do not fit.
func (c *Certificate) PredictorTo(weights, output []float64) {
	n := c.sizes[0] * c.sizes[1]
	length("weights", len(weights), n)
	length("output", len(output), n)
	clear(weights)
	clear(output)
	if c.residual == nil {
		return
	}
	for k, m := range c.residual.slope {
		weights[k] = float64(m) * c.factor
	}
	for k, l := range c.residual.linear {
		output[k] = float64(l) * c.factor
	}
}

// TotalStd is the root of the total variance of the noise on the decoded gradient, per unit of z.
// In mode Residual it counts the noise that the inputs' sum brings to the gradient, and not that on
// the sum itself.
func (c *Certificate) TotalStd() float64 { return c.total }
