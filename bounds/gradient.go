package bounds

import "github.com/decoy-dp/decoy/accountant"

// GradientBounds returns an interval for each coordinate of a row's gradient, in the order W¹, b¹,
// W², b², ... (weights row-major), over all rows of the domain and all roundings of the package
// comment, with one-hot blocks taken as such. They are tight to rounding for one hidden layer,
// where every coordinate's ends are attained as far as those of δ and x are. factor is F, 0 for
// [DefaultFactor]. Errors are those of [Certify].
//
// Certificates do not need it: it is for looking at a network, one coordinate at a time.
func GradientBounds[T Float](n Network[T], in *Input, factor float64) (lo, hi []float64,
	err error) {
	c, err := Config{Adjacency: accountant.AddRemove, Factor: factor}.checked()
	if err != nil {
		return nil, nil, err
	}
	net, err := load(n, in.size)
	if err != nil {
		return nil, nil, err
	}
	r := propagate(net, in, c.Factor)
	if err := r.check(c.Factor); err != nil {
		return nil, nil, err
	}
	add := func(i interval) { lo, hi = append(lo, i.lo), append(hi, i.hi) }
	for k, field := range in.fields {
		for cell := range field.width() {
			at := (field.offset + cell) * net.sizes[1]
			for j, delta := range r.delta[0] {
				switch {
				case field.cells == 0:
					delta = delta.times(r.act[0][field.offset])
				case field.cells == 1:
				default:
					if r.decides(k, j) {
						delta = r.given(net, c.Factor, k, j, net.w[0].at(at+j))
					}
					delta = interval{min(delta.lo, 0), max(delta.hi, 0)}
				}
				add(delta)
			}
		}
	}
	for l, delta := range r.delta {
		if l > 0 {
			for _, x := range r.act[l] {
				for _, d := range delta {
					add(x.times(d))
				}
			}
		}
		for _, d := range delta {
			add(d)
		}
	}
	return lo, hi, nil
}
