package smalldb_test

import (
	"fmt"

	"github.com/decoy-dp/decoy/synth/smalldb"
)

// How many multisets there are decides whether SmallDB can serve a domain.
func Example() {
	for _, queries := range []int{5, 20, 100} {
		m := smalldb.RowsFor(queries, .3)
		fmt.Printf("%d queries: %d rows, %v multisets of 16 cells\n", queries, m,
			smalldb.Candidates(16, m))
	}
	// Output:
	// 5 queries: 7 rows, 170544 multisets of 16 cells
	// 20 queries: 12 rows, 17383860 multisets of 16 cells
	// 100 queries: 21 rows, 5567902560 multisets of 16 cells
}
