package table

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
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

// adultCSV writes rows rows of random cells.
func adultCSV(rows int) []byte {
	s := adult()
	rng := rand.New(rand.NewPCG(7, 8))
	var b bytes.Buffer
	for i, c := range s.Columns {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(c.Name)
	}
	b.WriteByte('\n')
	var cell []byte
	for range rows {
		for i, c := range s.Columns {
			if i > 0 {
				b.WriteByte(',')
			}
			switch {
			case c.Kind == schema.Categorical:
				b.WriteString(c.Categories[rng.IntN(len(c.Categories))])
			case c.Name == "gain" || c.Name == "loss":
				if rng.IntN(10) > 0 {
					b.WriteByte('0')
					break
				}
				fallthrough
			default:
				cell = strconv.AppendInt(cell[:0], int64(c.Min)+rng.Int64N(int64(c.Max-c.Min)+1), 10)
				b.Write(cell)
			}
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

func BenchmarkReadParquet(b *testing.B) {
	const rows = 1_000_000
	s := adult()
	rng := rand.New(rand.NewPCG(1, 2))
	in := write(b, Parquet, 1, s, randomCodes(b, s, rows, rng))
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		t, err := parquetOf(in, s, ReadOptions{})
		if err != nil || t.Rows() != rows {
			b.Fatal(err)
		}
	}
}

func BenchmarkReadCSV(b *testing.B) {
	const rows = 1_000_000
	in := adultCSV(rows)
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			b.SetBytes(int64(len(in)))
			b.ReportAllocs()
			for b.Loop() {
				t, _, err := ReadCSV(context.Background(), bytes.NewReader(in), -1, adult(),
					ReadOptions{workers: workers})
				if err != nil || t.Rows() != rows {
					b.Fatal(err)
				}
			}
		})
	}
}
