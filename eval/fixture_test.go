package eval

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
)

// expected holds the reference values of testdata/expected.json, computed with scikit-learn 1.2.1
// and NumPy: nearest neighbours by brute force, AUROC, average precision and an unpenalised
// logistic regression on the CSV files beside it.
type expected struct {
	Continuous map[string]Terms `json:"nnaa_continuous"`
	Discrete   map[string]Terms `json:"nnaa_discrete"`
	Scores     struct {
		AUROC            float64 `json:"auroc"`
		AveragePrecision float64 `json:"average_precision"`
	}
	PMSE struct {
		PMSE      float64
		Coef      []float64
		Intercept float64
	} `json:"pmse_continuous"`
}

func loadExpected(t testing.TB) expected { return load[expected](t, "expected.json") }

// load reads a JSON file of testdata.
func load[T any](t testing.TB, name string) (out T) {
	t.Helper()
	text := stattest.Must(os.ReadFile(filepath.Join("testdata", name)))
	stattest.Check(t, json.Unmarshal(text, &out))
	return out
}

// fits are what scikit-learn fitted to rows of codes; the script of the file's name wrote them.
type fits[F any] struct {
	Sizes  []int
	Codes  [][]int
	Labels []bool
	Fits   []F
}

// table is the rows, in columns of a sort.
func (f fits[F]) table(t testing.TB, column func(string, int) schema.Column) *table.Table {
	var columns []schema.Column
	for i, size := range f.Sizes {
		columns = append(columns, column(fmt.Sprint("column", i), size))
	}
	return tableOf(t, schemaOf(t, columns...), f.Codes...)
}

// loadNumbers reads a CSV file of numbers, row-major, leaving out skip lines at the top.
func loadNumbers(t testing.TB, name string, skip int) (x []float64, columns int) {
	t.Helper()
	f := stattest.Must(os.Open(filepath.Join("testdata", name)))
	defer f.Close()
	records := stattest.Must(csv.NewReader(f).ReadAll())
	for _, record := range records[skip:] {
		for _, cell := range record {
			v := stattest.Must(strconv.ParseFloat(cell, 64))
			x = append(x, v)
		}
	}
	return x, len(records[0])
}

func near[F ~float64](got F, want, tolerance float64) bool {
	return math.Abs(float64(got)-want) <= tolerance
}
