package table

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/decoy-dp/decoy/schema"
)

// adult is a schema of the shape of the census table of that name: 15
// columns, 9 of them categorical.
func adult() *schema.Schema {
	category := func(name string, n, length int) schema.Column {
		c := schema.Column{Name: name, Kind: schema.Categorical}
		for i := range n {
			c.Categories = append(c.Categories, fmt.Sprintf("%s-%0*d", name, length, i))
		}
		return c
	}
	number := func(name string, lo, hi float64, bins int) schema.Column {
		return schema.Column{Name: name, Kind: schema.Integer, Min: lo, Max: hi, Bins: bins}
	}
	s := &schema.Schema{CSV: schema.CSV{Comma: ','}, Columns: []schema.Column{
		number("age", 17, 90, 0), category("work", 8, 2), number("fnlwgt", 10000, 1500000, 32),
		category("edu", 16, 5), number("edu-num", 1, 16, 0), category("marital", 7, 8),
		category("occupation", 14, 3), category("relation", 6, 2), category("race", 5, 1), category("sex",
			2, 2),
		number("gain", 0, 99999, 32), number("loss", 0, 4356, 32), number("hours", 1, 99, 0),
		category("country", 41, 5), category("income", 2, 1),
	}}
	s.Columns[1].Missing = []string{"?"}
	return s
}

// BenchmarkRead reads a million rows.
func BenchmarkRead(b *testing.B) {
	s := adult()
	rows := randomCodes(b, s, 1_000_000, rand.New(rand.NewPCG(1, 2)))
	for _, f := range []Format{CSV, Parquet} {
		in := write(b, f, 1, s, rows)
		b.Run(fmt.Sprint(f), func(b *testing.B) {
			b.SetBytes(int64(len(in)))
			b.ReportAllocs()
			for b.Loop() {
				file := inParquet(bytes.NewReader(in))
				if f == CSV {
					file = &opened{format: CSV, text: bytes.NewReader(in), size: -1}
				}
				if _, _, err := file.table(b.Context(), s, ReadOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
