package privacy

import (
	"fmt"
	"slices"

	"github.com/decoy-dp/decoy/privacy/internal/access"
)

// HashMeasured is the hash that the charges of [Session.MeasureAll] have in the ledger: in the view
// of that name ("": none), of the queries qs about columns of these numbers of codes, of sigma, and
// of the counts that were returned. So whoever has these can hold them to a ledger. It returns an
// error for queries that cannot be asked, or have other numbers of cells.
func HashMeasured(
	view string, sizes []int, qs []Query, sigma float64, counts [][]int64,
) (string, error) {
	queries, err := compileAll(sizes, false, qs)
	if err != nil {
		return "", err
	}
	of := access.Ask("measure").Floats(sigma)
	for i, q := range queries {
		of.Text(q.Key)
		if len(counts) != len(queries) || len(counts[i]) != q.Cells {
			return "", fmt.Errorf("the counts are not of these queries")
		}
	}
	_, of = asked(view, "", of)
	return hashOf(of.Sum(), access.Released{Ints: slices.Concat(counts...)}.Bytes()), nil
}
