package table_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"strings"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
)

var ward = &schema.Schema{
	CSV: schema.CSV{Comma: ','},
	Columns: []schema.Column{
		{Name: "sex", Kind: schema.Categorical, Categories: []string{"f", "m"}},
		{Name: "age", Kind: schema.Integer, Min: 0, Max: 99, Bins: 5},
	},
}

func ExampleTable_Counts() {
	in := "bed,age,sex\n1,17,f\n2,81,m\n3,12,f\n4,99,m\n"
	t, report, err := table.ReadCSV(context.Background(), strings.NewReader(in), int64(len(in)), ward,
		table.ReadOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("rows:", t.Rows(), "ignored columns:", report.Ignored)
	counts := t.Counts(0, 1)
	fmt.Println("f:", counts[:5])
	fmt.Println("m:", counts[5:])
	// Output:
	// rows: 4 ignored columns: [1]
	// f: [2 0 0 0 0]
	// m: [0 0 0 0 2]
}

// An error says where, and never what.
func ExampleReadCSV() {
	in := "age,sex\n17,f\n81,male\n"
	_, _, err := table.ReadCSV(context.Background(), strings.NewReader(in), -1, ward,
		table.ReadOptions{})
	fmt.Println(err)
	// Output:
	// table: line 3, column 2 ("sex"): not one of the declared categories
}

func ExampleNewWriter() {
	t, err := table.FromColumns(ward, []table.Codes{{U8: []uint8{0, 1, 1}}, {U8: []uint8{0, 4, 4}}},
		nil)
	if err != nil {
		log.Fatal(err)
	}
	w, err := table.NewWriter(os.Stdout, table.CSV, ward, rand.New(rand.NewPCG(1, 2)),
		table.WriterOptions{})
	if err != nil {
		log.Fatal(err)
	}
	if err := errors.Join(w.Write(t), w.Close()); err != nil {
		log.Fatal(err)
	}
	// Output:
	// sex,age
	// f,15
	// m,92
	// m,95
}
