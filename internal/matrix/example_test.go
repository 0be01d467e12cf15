package matrix_test

import (
	"fmt"

	"github.com/decoy-dp/decoy/internal/matrix"
)

func ExampleMulTo() {
	a := matrix.Dense(2, 3, []float32{1, 2, 3, 4, 5, 6})
	c := matrix.New(2, 2)
	matrix.MulTo(c, 1, a, a.T(), 0)
	fmt.Println(c.Data)
	// Output: [14 32 32 77]
}
