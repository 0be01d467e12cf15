package bounds

import (
	"math"
	"testing"
	"time"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/bounds/modes"
)

func BenchmarkCertify(b *testing.B) {
	for _, shape := range []struct {
		name   string
		blocks []int
		hidden []int
	}{
		{"adult 200-64-1", adult, []int{64}},
		{"64-128-128-1", []int{16, 8, 8, 16, 8, 8}, []int{128, 128}},
	} {
		in := oneHot(b, shape.blocks...)
		n := randomNetwork(in, .2, 1, shape.hidden...)
		for _, mode := range append(unclipped, modes.Ball(2)) {
			c := Config{Mode: mode, Adjacency: accountant.AddRemove}
			b.Run(shape.name+"/"+mode.String(), func(b *testing.B) {
				b.ReportAllocs()
				least := time.Duration(math.MaxInt64) // the mean is that of a shared machine
				for b.Loop() {
					start := time.Now()
					if _, err := Certify(n, in, c); err != nil {
						b.Fatal(err)
					}
					least = min(least, time.Since(start))
				}
				b.ReportMetric(float64(least.Nanoseconds()), "min-ns/op")
			})
		}
	}
}
