package bounds

// PredictorTo sets what mode [Residual] takes off, in units of the data and row-major, inputs ×
// units of the first layer: weights_ij is M_ij, which Σx_i predicts of the gradient of W¹_ij, and
// output_ij what it predicts of that of W²_j (zero unless there is one hidden layer). In other
// modes it sets both to zero. It panics on lengths that do not fit.
func (c *Certificate) PredictorTo(weights, output []float64) {
	n := c.sizes[0] * c.sizes[1]
	c.length("weights", len(weights), n)
	c.length("output", len(output), n)
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
