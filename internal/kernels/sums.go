package kernels

// AddScaledTo adds x·y to dst, exactly but for wrapping around. x and every element of y lie in [−2³¹, 2³¹).
func AddScaledTo(dst []int64, x int32, y []int64) {
	same("AddScaled", len(dst), len(y))
	n := len(y) &^ 3
	if cpu != plain && n > 0 {
		addScaledAVX2(n, &dst[0], int64(x), &y[0])
	} else {
		n = 0
	}
	for i, y := range y[n:] {
		dst[n+i] += int64(x) * y
	}
}

// AddTo adds src to dst, element by element.
func AddTo(dst, src []float32) {
	same("Add", len(dst), len(src))
	n := len(src) &^ 7
	if cpu != plain && n > 0 {
		addAVX2(n, &dst[0], &src[0])
	} else {
		n = 0
	}
	for i, x := range src[n:] {
		dst[n+i] += x
	}
}
