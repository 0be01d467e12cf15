package noise

// AddEachTo adds to each element of dst a draw from its own distribution, one of ds.
func AddEachTo(dst []int64, ds []RoundedGaussian, src *Source) {
	for i := range dst {
		dst[i] += ds[i].Sample(src)
	}
}
