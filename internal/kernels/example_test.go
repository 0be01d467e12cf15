package kernels_test

import (
	"fmt"

	"github.com/decoy-dp/decoy/internal/kernels"
)

func ExampleMulTo() {
	a := kernels.Dense(2, 3, []float32{1, 2, 3, 4, 5, 6})
	c := kernels.New(2, 2)
	kernels.MulTo(c, 1, a, a.T(), 0)
	fmt.Println(c.Data)
	// Output: [14 32 32 77]
}
